"""Codex: a rollout of JSON lines; the conversation is what stands as Responses items in it.

Events repeat what the items say and are passed over. Old rollouts have the items bare, without
an envelope. A compaction's own summary may be encrypted; then what was kept stands for it.
"""

from __future__ import annotations

from typing import Any

from ...history.ingest.formats import RESPONSES
from ...history.ingest.heard import HeardCall
from ...model import Origin
from .telling import Foreign, Telling, fields, listed, records, text

ECHOES = frozenset(
    [
        "user_message",
        "agent_message",
        "agent_reasoning",
        "agent_reasoning_raw_content",
        "token_count",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "item_completed",
    ]
)
BARE = frozenset(
    [
        "message",
        "reasoning",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
        "web_search_call",
    ]
)

Record = dict[str, Any]


def read(data: bytes, key: str) -> Foreign:
    """The session that a rollout file holds."""
    telling = Telling("codex", Origin("openai-responses"))
    for record in records(data, telling):
        _tell(record, telling)
    return telling.finished(key)


def _tell(record: Record, telling: Telling) -> None:
    kind, payload = text(record.get("type")), fields(record.get("payload"))
    match kind:
        case "session_meta":
            _meta(payload, telling)
        case "turn_context":
            if model := text(payload.get("model")):
                telling.door = telling.door.speaking_as(Origin("openai-responses", "", model))
        case "response_item":
            _item(payload, telling)
        case "compacted":
            telling.compacted(text(payload.get("message")) or _kept(payload))
        case "event_msg":
            if text(payload.get("type")) not in ECHOES:
                telling.keep(text(payload.get("type")) or "event", record)
        case _ if kind in BARE:
            _item(record, telling)
        case _ if not kind and "id" in record and "timestamp" in record:
            _meta(record, telling)
        case _:
            telling.keep(kind or text(record.get("record_type")) or "record", record)


def _meta(meta: Record, telling: Telling) -> None:
    """A forked rollout begins with its own and then its parent's; the first counts."""
    if telling.id:
        telling.keep("session_meta", meta)
        return
    telling.id = text(meta.get("id")) or "unnamed"
    instructions = meta.get("instructions") or fields(meta.get("base_instructions")).get("text")
    if text(instructions):
        telling.system.append(text(instructions))


def _item(item: Record, telling: Telling) -> None:
    kind = text(item.get("type"))
    if kind == "local_shell_call":
        raw_id = text(item.get("call_id")) or text(item.get("id"))
        telling.say("model", HeardCall(raw_id, "local_shell", item.get("action")), joins=True)
    elif kind == "ghost_snapshot":
        telling.keep(kind, item)
    else:
        telling.message(RESPONSES, item)


def _kept(payload: Record) -> str:
    """What a compaction left, in words."""
    lines = []
    for item in listed(payload.get("replacement_history")):
        for part in listed(fields(item).get("content")):
            if said := text(fields(part).get("text")):
                lines.append(f"{text(fields(item).get('role')) or 'message'}: {said}")
    return "\n\n".join(lines) or "[The summary of the earlier conversation is encrypted and cannot be read.]"
