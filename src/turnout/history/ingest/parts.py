"""The parts of a message's content: one table for every family that marks them with a `type`.

Real histories mix families: Anthropic blocks in Chat messages, Responses items inside a
content list, Gemini parts among them. So a part is read by its type, in any message; the
readers of each family are in the file of that family.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ...model import CONTENT, Content, Opaque, Outcome, Status, Text, Thinking
from ...plain import dumps
from ..opaque_text import words_of
from ..sources import sources_block
from .message_parts import HeardCall, HeardNote, HeardResult, Item, ReadContext, list_of, text_of

Part = dict[str, Any]
PartReader = Callable[[Part, ReadContext], Iterable[Item]]

TYPED: dict[str, PartReader] = {}
"""Readers by the `type` of a part; every family adds its own."""

KEYED: dict[str, PartReader] = {}
"""Readers by a key that only this kind of part has (Gemini marks its parts this way)."""


FIELDS: dict[str, frozenset[str]] = {
    kind: frozenset(("type", *names.split()))
    for kind, names in {
        "text": "text citations annotations cache_control",
        "input_text": "text cache_control",
        "output_text": "text annotations logprobs",
        "refusal": "refusal text",
        "thinking": "thinking thought signature cache_control",
        "tool_use": "id name input caller cache_control",
        "tool_result": "tool_use_id content is_error name cache_control",
        "image_url": "image_url detail cache_control",
        "input_audio": "input_audio cache_control",
    }.items()
}
"""The fields of the usual parts. Any other is reported, and not kept."""


def note_unknown_fields(kind: str, held: Part, known: frozenset[str], context: ReadContext) -> None:
    """Report the fields that no reader uses."""
    for name, value in held.items():
        if name not in known and value is not None:
            context.report("unknown_field", f"{kind}.{name}")


def items_of(content: Any, context: ReadContext) -> Iterator[Item]:
    """The items of a content: a text, one part or a list of parts."""
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict):
            yield from read_part(part, context)
        elif part is not None:
            yield Text(text_of(part))


def read_part(part: Part, context: ReadContext) -> Iterator[Item]:
    kind = part.get("type")
    if isinstance(kind, str) and kind in TYPED:
        if (known := FIELDS.get(kind)) is not None:
            note_unknown_fields(kind, part, known, context)
        yield from TYPED[kind](part, context)
    elif kind is None and (key := next((key for key in part if key in KEYED), None)) is not None:
        yield from KEYED[key](part, context)
    elif kind is None and "content" in part:  # a message where a part should be
        yield from items_of(part["content"], context)
    elif part:
        yield from keep_unknown(part, context)


def keep_unknown(part: Part, context: ReadContext) -> Iterator[Item]:
    """An unknown kind of part: kept whole for the provider that wrote it."""
    kind = text_of(part.get("type")) or next(iter(part), "part")
    context.report("unknown_block", kind)
    yield Opaque(kind, words_of(kind, part), context.scoped_residue("provider", **{context.unit: part}))


def contents_of(items: Iterable[Item]) -> tuple[Content, ...]:
    """The items as content of a tool or a user: thinking and calls become text."""
    return tuple(_content_of(item) for item in items if item != Text(""))


def outcome_of(content: Any, context: ReadContext, status: Status = "complete") -> Outcome:
    """The result of a tool, with its media."""
    is_value = isinstance(content, dict | list) and content and not _has_parts(content)
    if is_value or isinstance(content, str):
        return Outcome(status, contents_of_value(content))
    return Outcome(status, contents_of(items_of(content, context)))


def contents_of_value(value: Any) -> tuple[Content, ...]:
    """A value that a tool returned: text as it is, anything else as JSON."""
    text = text_of(value)
    return (Text(text),) if text else ()


def _has_parts(content: Any) -> bool:
    return any(isinstance(part, str) or _is_part(part) for part in list_of(content))


def _is_part(value: Any) -> bool:
    """Whether this is certainly a part, not an object that a tool returned."""
    if not isinstance(value, dict):
        return False
    kind = value.get("type")
    return (isinstance(kind, str) and kind in TYPED) or (
        set(value) == {"text"} and isinstance(value["text"], str)
    )


def _content_of(item: Item) -> Content:
    match item:
        case Thinking():
            return Text(item.text, item.residue)
        case HeardCall():
            return Text(f"{item.name}({text_of(item.arguments)})")
        case HeardResult():
            return Text(item.outcome.text)
        case HeardNote():
            return Text(dumps(item.data))
    assert isinstance(item, CONTENT)
    return item


def cited_sources(text: str, cited: Any, context: ReadContext) -> Iterator[Item]:
    """The addresses that a text cites and does not name: APIs do not take annotations back."""
    if isinstance(cited, list) and cited:
        residue = context.scoped_residue("provider", annotations=cited)
        if residue is not None and (block := sources_block(text, cited, residue)) is not None:
            yield block
