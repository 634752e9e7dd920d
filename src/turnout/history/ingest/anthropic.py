"""Anthropic messages: blocks with a `type`, results in user messages, thinking with signatures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Block, Opaque, Thinking, ToolCall
from ..opaque_text import words_of
from . import chat, media, parts
from .message_parts import HeardCall, HeardResult, Item, ReadContext, dict_of, text_of, texts_in

read = chat.read_chat_message


def thinking_block(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Signed thinking. With a list in it, it is a chunk of Mistral; with a `thought`, a block of ours."""
    value = block.get("thinking", block.get("thought"))
    if isinstance(value, list):
        rest = {name: item for name, item in block.items() if name != "thinking"}
        yield Thinking("".join(texts_in(value)), context.residue(thinking_chunk=rest))
        return
    text, signature = text_of(value), block.get("signature") or None
    if not text and signature is None:
        context.report("empty_block", "thinking")
    yield Thinking(text, context.residue(signature=signature))


def redacted_thinking(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Thinking that only Claude can read: without its data there is nothing to hand back."""
    data = block.get("data") or None
    if data is None:
        context.report("empty_block", "redacted_thinking")
    yield Thinking("", context.residue(redacted=data))


def tool_use(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    yield HeardCall(
        text_of(block.get("id")),
        text_of(block.get("name")),
        block.get("input"),
        context.residue(caller=block.get("caller")),
    )


def tool_result(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    status = "error" if block.get("is_error") is True else "complete"
    yield HeardResult(
        text_of(block.get("tool_use_id")),
        text_of(block.get("name")),
        parts.outcome_of(block.get("content"), context, status),  # type: ignore[arg-type]
    )


def provider_run(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Tools that Anthropic runs: never paired with results of ours, kept whole for Anthropic."""
    kind = text_of(block.get("type"))
    yield Opaque(kind, words_of(kind, block), context.residue(block=block))


def search_result(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    said = [text_of(block.get("title")), text_of(block.get("source")), *texts_in(block.get("content"))]
    text = "\n".join(text for text in said if text)
    yield Opaque("search_result", text, context.scoped_residue("provider", block=block))


PROVIDER_RUN = (
    "server_tool_use",
    "web_search_tool_result",
    "web_fetch_tool_result",
    "code_execution_tool_result",
    "bash_code_execution_tool_result",
    "text_editor_code_execution_tool_result",
    "tool_search_tool_result",
    "advisor_tool_result",
    "mcp_tool_use",
    "mcp_tool_result",
    "container_upload",
    "compaction",
    "tool_reference",
    "tool_addition",
    "tool_removal",
)

parts.TYPED |= {
    "thinking": thinking_block,
    "redacted_thinking": redacted_thinking,
    "tool_use": tool_use,
    "tool_result": tool_result,
    "image": media.media_of_source,
    "document": media.media_of_source,
    "search_result": search_result,
    **dict.fromkeys(PROVIDER_RUN, provider_run),
}


def was_paused(blocks: tuple[Block, ...]) -> bool:
    """Whether a reply ends while the provider still runs a tool: the use is there, its result is not."""
    residues = [block.residue for block in blocks if isinstance(block, Opaque) and block.residue]
    if not residues:
        return False
    held = [dict_of(dict_of(residue.data).get("block")) for residue in residues]
    answered = {text_of(block.get("tool_use_id")) for block in held}
    used = {text_of(block.get("id")) for block in held if block.get("type") == "server_tool_use"}
    return bool(used - answered) and not any(isinstance(block, ToolCall) for block in blocks)


# The body around the messages


def system_field(body: dict[str, Any]) -> Any:
    return body.get("system")
