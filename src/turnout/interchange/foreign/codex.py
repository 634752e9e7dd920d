"""Codex: a rollout of JSON lines; the conversation is the Responses items in it.

Events repeat what the items say and are skipped, unless the item itself is missing. Old
rollouts have the items bare, without an envelope. The summary of a compaction may be encrypted;
then the messages that were kept replace it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ...history.ingest.formats import RESPONSES
from ...history.ingest.media import from_url
from ...history.ingest.message_parts import texts_in
from ...model import Origin, Text, Thinking
from ...plain import dict_in, list_in, text_in
from .foreign_transcript import ForeignSession, TranscriptBuilder
from .lines import Record, records_of_lines

ECHOES = {
    "user_message": "user",
    "agent_message": "assistant",
    "agent_reasoning": "reasoning",
    "agent_reasoning_raw_content": "reasoning",
}
"""Events that repeat an item, and the role or type of that item."""

BOOKS = frozenset(
    [
        "token_count",
        "task_started",
        "task_complete",
        "turn_started",
        "turn_complete",
        "item_started",
        "item_completed",
        "context_compacted",
    ]
)
"""Events of Codex's own bookkeeping."""

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


def read_codex(data: bytes, key: str) -> ForeignSession:
    """The session that a rollout file holds."""
    builder = TranscriptBuilder("codex", Origin("openai-responses"))
    found = records_of_lines(data)
    texts = _texts_of_items(found)
    undone = _rolled_back_places(found, texts)
    for at, record in enumerate(found):
        if at in undone:
            builder.keep_record("rolled back", record)
        else:
            _add_record(record, texts, builder)
    return builder.build_session(key)


def _add_record(record: Record, texts: dict[str, _ItemTexts], builder: TranscriptBuilder) -> None:
    kind, payload = text_in(record.get("type")), dict_in(record.get("payload"))
    match kind:
        case "session_meta":
            _add_session_meta(payload, builder)
        case "turn_context":
            builder.skip_record(kind)
            if model := text_in(payload.get("model")):
                builder.context = builder.context.speaking_as(Origin("openai-responses", "", model))
        case "response_item":
            _add_item(payload, builder)
        case "compacted":
            _add_compaction(payload, builder)
        case "event_msg":
            _add_event(payload, record, texts, builder)
        case _ if kind in BARE:
            _add_item(record, builder)
        case _ if not kind and "id" in record and "timestamp" in record:
            _add_session_meta(record, builder)
        case _:
            builder.keep_record(kind or text_in(record.get("record_type")) or "record", record)


def _add_session_meta(meta: Record, builder: TranscriptBuilder) -> None:
    """A forked rollout begins with its own record and then its parent's; the first counts."""
    if builder.id:
        builder.keep_record("session_meta", meta)
        return
    builder.id = text_in(meta.get("id")) or "unnamed"
    instructions = meta.get("instructions") or dict_in(meta.get("base_instructions")).get("text")
    if text_in(instructions):
        builder.system.append(text_in(instructions))


def _add_item(item: Record, builder: TranscriptBuilder) -> None:
    kind = text_in(item.get("type"))
    if kind == "ghost_snapshot":
        builder.keep_record(kind, item)
    else:
        builder.add_message(RESPONSES, item)


# Items and the events that repeat them


def _items_in(found: list[Record]) -> Iterator[Record]:
    for record in found:
        if record.get("type") == "response_item":
            yield dict_in(record.get("payload"))
        elif record.get("type") in BARE:
            yield record


class _ItemTexts:
    """All texts and images of the items of one role or type."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._all = ""

    def add(self, texts: Iterable[str]) -> None:
        self._texts.update(texts)

    def __contains__(self, text: str) -> bool:
        """Whether an item holds this text: alone, as almost always, or within a longer one."""
        if not text or text in self._texts:
            return True
        self._all = self._all or "\n".join(self._texts)
        return text in self._all


def _texts_of_items(found: list[Record]) -> dict[str, _ItemTexts]:
    texts: dict[str, _ItemTexts] = defaultdict(_ItemTexts)
    for item in _items_in(found):
        said = list(texts_in(item))
        shown = (text_in(dict_in(part).get("image_url")) for part in list_in(item.get("content")))
        texts[text_in(item.get("role")) or text_in(item.get("type"))].add(["".join(said), *said, *shown])
    return texts


def _add_event(
    payload: Record, record: Record, texts: dict[str, _ItemTexts], builder: TranscriptBuilder
) -> None:
    kind = text_in(payload.get("type"))
    text = text_in(payload.get("message")) or text_in(payload.get("text"))
    images = [text_in(url) for url in list_in(payload.get("images"))]
    if kind in BOOKS:
        builder.skip_record(kind)
    elif kind not in ECHOES:
        builder.keep_record(kind or "event", record)
    elif all(each in texts[ECHOES[kind]] for each in (text, *images)):
        builder.skip_record(kind)
    else:
        _add_event_without_item(kind, text, images, builder)


def _add_event_without_item(kind: str, text: str, images: list[str], builder: TranscriptBuilder) -> None:
    """An event whose item is not in the file: only the event is left."""
    builder.context.report(
        "missing_record", f"the item of an event of kind {kind!r}; the event stands for it"
    )
    if kind == "user_message":
        builder.add_items("user", Text(text), *(from_url(url, "image/*") for url in images))
    elif kind == "agent_message":
        builder.add_items("model", Text(text), joins=True)
    else:
        builder.add_items("model", Thinking(text), joins=True)


# Rollbacks


def _rolled_back_places(found: list[Record], texts: dict[str, _ItemTexts]) -> set[int]:
    """The positions of what `thread_rolled_back` took back: a number of prompts, and all after each."""
    undone: set[int] = set()
    for at, record in enumerate(found):
        payload = dict_in(record.get("payload"))
        if record.get("type") == "event_msg" and payload.get("type") == "thread_rolled_back":
            prompts = [
                place for place in range(at) if place not in undone and _is_prompt(found[place], texts)
            ]
            count = payload.get("num_turns")
            if prompts and isinstance(count, int) and count > 0:
                undone |= {
                    place for place in range(prompts[-count:][0], at) if _is_item_or_event(found[place])
                }
    return undone


def _is_prompt(record: Record, texts: dict[str, _ItemTexts]) -> bool:
    """Whether the user wrote this, not Codex in the user's name. Also an event whose item is missing."""
    payload = dict_in(record.get("payload"))
    if record.get("type") == "event_msg":
        said = text_in(payload.get("message"))
        return payload.get("type") == "user_message" and said not in texts["user"]
    written = "".join(texts_in(payload.get("content"))).lstrip()
    is_users = record.get("type") == "response_item" and payload.get("role") == "user"
    return is_users and not written.startswith(("<", "# AGENTS.md"))


def _is_item_or_event(record: Record) -> bool:
    return record.get("type") in ("response_item", "event_msg")


# Compactions


def _add_compaction(payload: Record, builder: TranscriptBuilder) -> None:
    """What Codex continues with after a compaction: the messages that it kept, with the summary."""
    summary, kept = text_in(payload.get("message")), "\n\n".join(_kept_texts(payload))
    for item in map(dict_in, list_in(payload.get("replacement_history"))):
        if not all(text_in(dict_in(part).get("text")) for part in list_in(item.get("content")) or [{}]):
            builder.keep_record("compacted item", item)
    if summary and summary not in kept:
        kept = f"{kept}\n\n{summary}".strip()
    builder.add_compaction(kept or ENCRYPTED)


ENCRYPTED = "[The summary of the earlier conversation is encrypted and cannot be read.]"


def _kept_texts(payload: Record) -> Iterator[str]:
    for item in map(dict_in, list_in(payload.get("replacement_history"))):
        for part in list_in(item.get("content")):
            if said := text_in(dict_in(part).get("text")):
                yield f"{text_in(item.get('role')) or 'message'}: {said}"
