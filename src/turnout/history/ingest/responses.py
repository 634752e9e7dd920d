"""Responses input items: messages, reasoning, calls and outputs are side by side in one list.

A reply is several items, so its pieces join into one turn. Items of tools that OpenAI runs or
holds are kept whole for OpenAI.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from msgspec.structs import replace

from ...model import Opaque, Outcome, Residue, Scope, Status, Text, Thinking
from ..client_items import (
    CALL_OF_OUTPUT,
    CLIENT_ITEMS,
    arguments_in,
    has_tied_id,
    is_client_run,
    output_status,
    output_text,
    qualified_name,
)
from ..opaque_text import words_of
from . import chat, media, parts
from .message_parts import (
    Heard,
    HeardCall,
    HeardNote,
    HeardResult,
    Item,
    ReadContext,
    dict_of,
    first_of,
    text_of,
    texts_in,
)

FROM_US = ("_output", "mcp_approval_response")
"""Item types that the client sends, though we do not run these tools."""

HOSTED = frozenset(
    {
        "web_search_call",
        "file_search_call",
        "code_interpreter_call",
        "image_generation_call",
        "mcp_list_tools",
        "mcp_approval_request",
        "mcp_approval_response",
        "mcp_call",
        "program",
        "program_output",
        "tool_search_output",
        "shell_call_output",
        "additional_tools",
        "compaction",
        "configuration_update",
    }
)
"""Item types that OpenAI runs or holds."""


def read_responses_item(item: dict[str, Any], context: ReadContext) -> Iterator[Heard]:
    kind = "item_reference" if is_reference(item) else item.get("type")
    if kind in (None, "message"):
        yield from _read_message_item(item, context)
    elif isinstance(kind, str) and (reader := _reader_of(kind, item, context)) is not None:
        yield from (_message_of_piece(piece, context) for piece in reader(item, context))
    elif isinstance(kind, str) and kind in parts.TYPED and kind not in HOSTED and "role" not in item:
        # a part where an item should be
        yield Heard("user", tuple(parts.read_part(item, context)), context.origin)
    else:
        yield _held_item(item, context)


def _reader_of(kind: str, item: dict[str, Any], context: ReadContext) -> ItemReader | None:
    """The reader of an item of this kind; None where OpenAI ran it."""
    if kind in CLIENT_ITEMS:
        return client_call if is_client_run(item) else None
    if kind in CALL_OF_OUTPUT:
        is_hosted = item.get("execution") == "server" or _call_id(item) in context.hosted
        return None if is_hosted else client_output
    return ITEMS.get(kind)


def _message_of_piece(piece: Item, context: ReadContext) -> Heard:
    speaker: Any = "tool" if isinstance(piece, HeardResult) else "model"
    return Heard(speaker, (piece,), context.origin, joins=speaker == "model")


def _read_message_item(item: dict[str, Any], context: ReadContext) -> Iterator[Heard]:
    marks = context.residue(id=item.get("id"), phase=item.get("phase"))
    for heard in chat.read_chat_message(item, context):
        if heard.speaker != "model":
            yield heard
            continue
        items = tuple(_with_message_ids(piece, marks) for piece in heard.items)
        yield replace(heard, items=items, joins=True)


def _with_message_ids(piece: Item, marks: Residue | None) -> Item:
    """Text with the ids of its message added to its residue."""
    if marks is None or not isinstance(piece, Text):
        return piece
    data = {**piece.residue.data, **marks.data} if piece.residue else marks.data
    return replace(piece, residue=Residue(marks.origin, data))


def _held_item(item: dict[str, Any], context: ReadContext) -> Heard:
    """Items that OpenAI runs or holds, and unknown kinds: kept whole for OpenAI."""
    kind = text_of(item.get("type"))
    if kind in CLIENT_ITEMS:
        context.hosted.add(text_of(item.get("call_id")))
    elif kind not in HOSTED:
        context.report("unknown_block", kind or "item")
    # Reasoning can go back to its own model only, and so can items that are tied to it.
    scope: Scope = "model" if has_tied_id(item) or item.get("encrypted_content") else "provider"
    block = Opaque(kind, words_of(kind, item), context.scoped_residue(scope, item=item))
    role = item.get("role")
    if isinstance(role, str) and role in chat.SPEAKERS and role != "assistant":
        return Heard(chat.SPEAKERS[role], (block,), context.origin)
    is_hosted = item.get("execution") == "server" or text_of(item.get("call_id")) in context.hosted
    if kind.endswith(FROM_US) and not is_hosted:
        return Heard("user", (block,), context.origin)
    return Heard("model", (block,), context.origin, joins=True)


# Items

OF_ANY_ITEM = frozenset({"type", "id", "call_id", "status", "name", "namespace", "caller", "created_by"})
CALL_FIELDS = OF_ANY_ITEM | {"arguments", "input", "parsed_arguments"}
OUTPUT_FIELDS = OF_ANY_ITEM | {"output"}
"""The fields of calls and outputs that are read, or that say nothing by themselves. Any other is named."""


def function_call(item: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Paired by call_id; where a proxy omits it, by the id of the item."""
    parts.note_unknown_fields("function_call", item, CALL_FIELDS, context)
    marks = context.scoped_residue(
        "provider", item_id=item.get("id"), namespace=item.get("namespace") or None
    )
    yield HeardCall(_call_id(item), qualified_name(item), item.get("arguments"), marks)


def custom_tool_call(item: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """A call whose argument is free text."""
    parts.note_unknown_fields("custom_tool_call", item, CALL_FIELDS, context)
    namespace = item.get("namespace") or None
    marks = context.scoped_residue("provider", custom=True, item_id=item.get("id"), namespace=namespace)
    yield chat.custom_call(_call_id(item), qualified_name(item), item.get("input"), marks)


def client_call(item: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """A call in a special form: of a shell, a patch, the computer."""
    name = CLIENT_ITEMS[item["type"]].tool
    yield HeardCall(_call_id(item), name, arguments_in(item), context.scoped_residue("provider", item=item))


def client_output(item: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """The result of such a call. The item goes back to OpenAI, without media, which is kept once."""
    status, output = output_status(item), dict_of(item.get("output"))
    shown = list(media.image_url(output, context)) if output.get("type") == "computer_screenshot" else []
    kept = {name: value for name, value in item.items() if name != "output" or not shown}
    text = output_text(item)
    marks = context.scoped_residue("provider", output_item=kept)
    texts = [Text(text, marks)] if text or not shown else []
    if status == "interrupted":
        context.report("incomplete_result", _call_id(item))
    tool = CLIENT_ITEMS[CALL_OF_OUTPUT[item["type"]]].tool
    yield HeardResult(_call_id(item), tool, Outcome(status, parts.contents_of([*texts, *shown])))


def _call_id(item: dict[str, Any]) -> str:
    return text_of(first_of(item, "call_id", "id"))


def call_output(item: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    parts.note_unknown_fields(text_of(item.get("type")), item, OUTPUT_FIELDS, context)
    cut = item.get("status") in ("in_progress", "incomplete")
    if cut:
        context.report("incomplete_result", text_of(item.get("call_id")))
    status: Status = "interrupted" if cut else "complete"
    outcome = parts.outcome_of(item.get("output"), context, status)
    yield HeardResult(text_of(item.get("call_id")), qualified_name(item), outcome)


def reasoning_item(item: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    text = "\n\n".join(texts_in(item.get("summary"))) or "".join(texts_in(item.get("content")))
    yield Thinking(text, context.residue(item=item))


def item_reference(item: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    if not item.get("id"):
        context.report("unknown_block", "item_reference without id")
    yield HeardNote("item_reference", item)


ItemReader = Callable[[dict[str, Any], ReadContext], Iterator[Item]]

ITEMS: dict[str, ItemReader] = {
    "function_call": function_call,
    "custom_tool_call": custom_tool_call,
    "function_call_output": call_output,
    "custom_tool_call_output": call_output,
    "reasoning": reasoning_item,
    "item_reference": item_reference,
}

KINDS = (
    frozenset(ITEMS)
    | frozenset(CLIENT_ITEMS)
    | frozenset(CALL_OF_OUTPUT)
    | {"input_text", "output_text", "text", "input_image", "input_file", "image_url"}
)
"""Types of items that a list of messages may hold without a role."""


# Content parts


def text_part(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    text, cited = text_of(part.get("text")), part.get("annotations")
    yield Text(text, context.residue(annotations=cited or None))
    yield from parts.cited_sources(text, cited, context)


def reasoning_text(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    yield Thinking(text_of(part.get("text")))


parts.TYPED |= {
    **{kind: reader for kind, reader in ITEMS.items() if kind != "item_reference"},
    "input_text": text_part,
    "output_text": text_part,
    "summary_text": reasoning_text,
    "reasoning_text": reasoning_text,
    "input_image": media.image_url,
    "input_file": media.file_part,
}


# Pieces into turns


def join_pieces(messages: Iterator[Heard]) -> Iterator[Heard]:
    """The pieces of one reply as one message.

    Text after a call came later: it begins a new turn, together with the thinking right
    before it.
    """
    held: list[Heard] = []
    for heard in messages:
        if heard.items and all(isinstance(item, HeardNote) for item in heard.items):
            yield heard  # a note separates nothing
            continue
        if held and not (heard.joins and _belongs_to(heard, held)):
            stays, goes = _split_off_thinking(held) if heard.joins else (held, [])
            yield from _as_one(stays)
            held = goes
        if heard.joins:
            held.append(heard)
        else:
            yield heard
    yield from _as_one(held)


def _belongs_to(heard: Heard, held: list[Heard]) -> bool:
    has_text = any(isinstance(item, Text) and item.text for item in heard.items)
    return not has_text or not any(_speaks(before) for before in held)


def _speaks(heard: Heard) -> bool:
    return any(isinstance(item, HeardCall | Text) for item in heard.items)


def _split_off_thinking(held: list[Heard]) -> tuple[list[Heard], list[Heard]]:
    at = len(held)
    while at and all(isinstance(item, Thinking) for item in held[at - 1].items):
        at -= 1
    return held[:at], held[at:]


def _as_one(pieces: list[Heard]) -> Iterator[Heard]:
    if pieces:
        yield replace(pieces[0], items=tuple(item for piece in pieces for item in piece.items))


# The body around the items


def system_field(body: dict[str, Any]) -> Any:
    return body.get("instructions")


def state_held_by_provider(body: dict[str, Any], items: list[Any]) -> dict[str, str]:
    """What the provider holds already: a response, a conversation, or single items."""
    conversation = body.get("conversation")
    named = {
        "response_id": text_of(body.get("previous_response_id")),
        "conversation": text_of(conversation.get("id") if isinstance(conversation, dict) else conversation),
        "items": ", ".join(text_of(item.get("id")) for item in items if is_reference(item)),
    }
    if named["response_id"]:
        named["conversation"] = ""  # the API takes one of the two
    return {name: value for name, value in named.items() if value}


def is_reference(item: Any) -> bool:
    """Whether an item only names one that lies at OpenAI. The API lets its type be left out."""
    if not isinstance(item, dict):
        return False
    if item.get("id") is None:
        return item.get("type") == "item_reference"
    return item.get("type") == "item_reference" or all(
        value is None or name == "id" for name, value in item.items()
    )
