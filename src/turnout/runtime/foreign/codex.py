"""Codex: a rollout of JSON lines; the conversation is what stands as Responses items in it.

Events repeat what the items say and are passed over, unless the item itself is missing. Old
rollouts have the items bare, without an envelope. A compaction's own summary may be encrypted;
then what was kept stands for it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from ...history.ingest.formats import RESPONSES
from ...history.ingest.heard import texts_in
from ...history.ingest.media import from_url
from ...model import Origin, Text, Thinking
from .lines import Record, records
from .telling import Foreign, Telling, fields, listed, text

ECHOES = {
    "user_message": "user",
    "agent_message": "assistant",
    "agent_reasoning": "reasoning",
    "agent_reasoning_raw_content": "reasoning",
}
"""Events that say what an item says, and whose item that is."""

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
"""Events that keep Codex's books."""

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


def read(data: bytes, key: str) -> Foreign:
    """The session that a rollout file holds."""
    telling = Telling("codex", Origin("openai-responses"))
    found = records(data)
    words = _words_of_items(found)
    undone = _undone(found, words)
    for at, record in enumerate(found):
        if at in undone:
            telling.keep("rolled back", record)
        else:
            _tell(record, words, telling)
    return telling.finished(key)


def _tell(record: Record, words: dict[str, _Words], telling: Telling) -> None:
    kind, payload = text(record.get("type")), fields(record.get("payload"))
    match kind:
        case "session_meta":
            _meta(payload, telling)
        case "turn_context":
            telling.pass_over(kind)
            if model := text(payload.get("model")):
                telling.door = telling.door.speaking_as(Origin("openai-responses", "", model))
        case "response_item":
            _item(payload, telling)
        case "compacted":
            _compact(payload, telling)
        case "event_msg":
            _event(payload, record, words, telling)
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
    if kind == "ghost_snapshot":
        telling.keep(kind, item)
    else:
        telling.message(RESPONSES, item)


# Items and the events that repeat them


def _items(found: list[Record]) -> Iterator[Record]:
    for record in found:
        if record.get("type") == "response_item":
            yield fields(record.get("payload"))
        elif record.get("type") in BARE:
            yield record


class _Words:
    """All that the items of one role or kind say and show."""

    def __init__(self) -> None:
        self._texts: set[str] = set()
        self._all = ""

    def add(self, texts: Iterable[str]) -> None:
        self._texts.update(texts)

    def __contains__(self, words: str) -> bool:
        """Whether an item says this: by itself, as almost always, or among other words."""
        if not words or words in self._texts:
            return True
        self._all = self._all or "\n".join(self._texts)
        return words in self._all


def _words_of_items(found: list[Record]) -> dict[str, _Words]:
    words: dict[str, _Words] = defaultdict(_Words)
    for item in _items(found):
        said = list(texts_in(item))
        shown = (text(fields(part).get("image_url")) for part in listed(item.get("content")))
        words[text(item.get("role")) or text(item.get("type"))].add(["".join(said), *said, *shown])
    return words


def _event(payload: Record, record: Record, words: dict[str, _Words], telling: Telling) -> None:
    kind = text(payload.get("type"))
    said = text(payload.get("message")) or text(payload.get("text"))
    shown = [text(url) for url in listed(payload.get("images"))]
    if kind in BOOKS:
        telling.pass_over(kind)
    elif kind not in ECHOES:
        telling.keep(kind or "event", record)
    elif all(each in words[ECHOES[kind]] for each in (said, *shown)):
        telling.pass_over(kind)
    else:
        _say_event(kind, said, shown, telling)


def _say_event(kind: str, said: str, shown: list[str], telling: Telling) -> None:
    """An event whose item is not in the file: it is all that is left of it."""
    telling.door.found("missing_record", f"the item of an event of kind {kind!r}; the event stands for it")
    if kind == "user_message":
        telling.say("user", Text(said), *(from_url(url, "image/*") for url in shown))
    elif kind == "agent_message":
        telling.say("model", Text(said), joins=True)
    else:
        telling.say("model", Thinking(said), joins=True)


# What was taken back


def _undone(found: list[Record], words: dict[str, _Words]) -> set[int]:
    """The places of what `thread_rolled_back` took back: so many prompts, with all that followed each."""
    undone: set[int] = set()
    for at, record in enumerate(found):
        payload = fields(record.get("payload"))
        if record.get("type") == "event_msg" and payload.get("type") == "thread_rolled_back":
            prompts = [
                place for place in range(at) if place not in undone and _is_prompt(found[place], words)
            ]
            count = payload.get("num_turns")
            if prompts and isinstance(count, int) and count > 0:
                undone |= {place for place in range(prompts[-count:][0], at) if _is_said(found[place])}
    return undone


def _is_prompt(record: Record, words: dict[str, _Words]) -> bool:
    """Whether the user wrote this item, and not Codex in the user's name; or an event that lost its item."""
    payload = fields(record.get("payload"))
    if record.get("type") == "event_msg":
        said = text(payload.get("message"))
        return payload.get("type") == "user_message" and said not in words["user"]
    written = "".join(texts_in(payload.get("content"))).lstrip()
    is_users = record.get("type") == "response_item" and payload.get("role") == "user"
    return is_users and not written.startswith(("<", "# AGENTS.md"))


def _is_said(record: Record) -> bool:
    return record.get("type") in ("response_item", "event_msg")


# Compactions


def _compact(payload: Record, telling: Telling) -> None:
    """What Codex goes on with after a compaction: the messages that it kept, and the summary among them."""
    summary, kept = text(payload.get("message")), "\n\n".join(_kept_words(payload))
    for item in map(fields, listed(payload.get("replacement_history"))):
        if not all(text(fields(part).get("text")) for part in listed(item.get("content")) or [{}]):
            telling.keep("compacted item", item)
    if summary and summary not in kept:
        kept = f"{kept}\n\n{summary}".strip()
    telling.compacted(kept or ENCRYPTED)


ENCRYPTED = "[The summary of the earlier conversation is encrypted and cannot be read.]"


def _kept_words(payload: Record) -> Iterator[str]:
    for item in map(fields, listed(payload.get("replacement_history"))):
        for part in listed(item.get("content")):
            if said := text(fields(part).get("text")):
                yield f"{text(item.get('role')) or 'message'}: {said}"
