"""The canonical content list: `{"speaker", "blocks", "metadata"}`, blocks of every provider in one shape.

A content names its origin, so private state gets the shape of that provider: only the
protocol of that provider reads it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

from ...model import Code, Media, Origin, Outcome, Residue, Text, Thinking
from . import chat, parts
from .media import from_base64, from_url
from .message_parts import (
    Heard,
    HeardCall,
    HeardResult,
    Item,
    ReadContext,
    Speaker,
    dict_of,
    first_of,
    text_of,
)

SPEAKERS: dict[str, Speaker] = {"human": "user", "ai": "model", "tool": "tool", "system": "system"}

USUAL_HOSTS = {
    "openai": "api.openai.com",
    "openai-responses": "api.openai.com",
    "anthropic": "api.anthropic.com",
    "gemini": "generativelanguage.googleapis.com",
    "mistral": "api.mistral.ai",
    "kimi": "api.moonshot.ai",
    "deepseek": "api.deepseek.com",
    "openrouter": "openrouter.ai",
    "xai": "api.x.ai",
    "groq": "api.groq.com",
}
"""The usual host of a provider. A base URL with this host is not an endpoint."""

SIGNED_LIKE_ANTHROPIC = {"anthropic", "bedrock"}
SIGNED_LIKE_GEMINI = {"gemini", "vertex", "google"}
REASONING_ITEMS = {"openai", "openai-responses", "azure"}


def read_icontent(content: dict[str, Any], context: ReadContext) -> Iterator[Heard]:
    metadata = dict_of(content.get("metadata"))
    context = context.speaking_as(_origin_of(metadata, context.origin))
    items = tuple(item for block in _blocks_of(content) for item in _read_block(block, context))
    if not items and (note := _note_if_unread(content)):
        items = (note,)
    yield Heard(_speaker_of(content, context), items, context.origin, text_of(metadata.get("turnId")))


def _blocks_of(content: dict[str, Any]) -> list[Any]:
    blocks = content.get("blocks")
    return blocks if isinstance(blocks, list) else [blocks]


def _note_if_unread(content: dict[str, Any]) -> Item | None:
    return chat.note_if_unread(
        {name: content[name] for name in content if name not in ("speaker", "blocks", "metadata")}
    )


def _speaker_of(content: dict[str, Any], context: ReadContext) -> Speaker:
    speaker = content.get("speaker")
    if isinstance(speaker, str):
        if speaker in SPEAKERS:
            return SPEAKERS[speaker]
        if speaker in chat.SPEAKERS:
            return chat.SPEAKERS[speaker]
    context.report("unknown_role", text_of(speaker) or "no speaker")
    return "user"


def _origin_of(metadata: dict[str, Any], usual: Origin) -> Origin:
    provider, model = text_of(metadata.get("provider")), text_of(metadata.get("model"))
    if not provider and not model:
        return usual
    if not provider:
        return Origin(usual.provider, usual.endpoint, model)
    return Origin(provider, _endpoint(provider, text_of(metadata.get("providerBaseURL"))), model)


def _endpoint(provider: str, url: str) -> str:
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        host = ""
    return "" if host and host == USUAL_HOSTS.get(provider) else url


# Blocks


def _read_block(block: Any, context: ReadContext) -> Iterator[Item]:
    kind = block.get("type") if isinstance(block, dict) else None
    if isinstance(kind, str) and kind in BLOCKS:
        yield from BLOCKS[kind](block, context)
    else:
        yield from parts.items_of(block, context)


def text_block(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    signature = block.get("thoughtSignature")
    yield Text(text_of(block.get("text")), context.residue(thought_signature=signature))


def thinking_block(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    thought = text_of(first_of(block, "thought", "thinking", "text"))
    yield Thinking(thought, _thinking_residue(thought, block, context))


def _thinking_residue(thought: str, block: dict[str, Any], context: ReadContext) -> Residue | None:
    signature, redacted = block.get("signature") or None, block.get("redactedData") or None
    encrypted, item_id = block.get("encryptedContent") or None, block.get("itemId") or None
    provider = context.origin.provider
    if redacted is not None:
        return context.residue(redacted=redacted)
    if encrypted is not None or (item_id is not None and provider in REASONING_ITEMS):
        return context.residue(item=reasoning_item(thought, item_id, encrypted))
    if signature is not None and provider in SIGNED_LIKE_GEMINI:
        return context.residue(thought_signature=signature)
    if signature is not None:
        return context.residue(signature=signature)
    unmarked = SIGNED_LIKE_ANTHROPIC | SIGNED_LIKE_GEMINI | REASONING_ITEMS | {"unknown"}
    return None if provider in unmarked else context.residue(field="reasoning_content")


def reasoning_item(thought: str, item_id: Any, encrypted: Any) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": thought}] if thought else []
    item = {"type": "reasoning", "id": item_id, "summary": summary, "encrypted_content": encrypted}
    return {name: value for name, value in item.items() if value is not None}


def tool_call(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    residue = context.residue(thought_signature=block.get("thoughtSignature"), item_id=block.get("itemId"))
    arguments = first_of(block, "parameters", "arguments", "input")
    yield HeardCall(text_of(block.get("id")), text_of(block.get("name")), arguments, residue)


def tool_response(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    raw_id = text_of(block.get("callId"))
    outcome = _outcome_of_block(block, context)
    if outcome.status == "interrupted":
        context.report("incomplete_result", raw_id)
    yield HeardResult(raw_id, text_of(first_of(block, "toolName", "name")), outcome)


def _outcome_of_block(block: dict[str, Any], context: ReadContext) -> Outcome:
    """The outcome of a call: it follows from `error`, `isComplete` and `result` together."""
    error, result, complete = block.get("error"), block.get("result"), block.get("isComplete")
    content = () if result is None else parts.outcome_of(result, context).content
    if error:
        return Outcome("error", (Text(text_of(error)), *content))
    if complete is False:
        return Outcome("interrupted", content, synthetic=not content, reason="unknown")
    if result is None and complete is not True:
        return Outcome("interrupted", synthetic=True, reason="unknown")
    return Outcome("complete", content)


def media_block(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    mime, data = text_of(first_of(block, "mimeType", "mime")), text_of(first_of(block, "data", "uri"))
    name = text_of(first_of(block, "filename", "name", "caption"))
    if block.get("encoding") == "url" or data.startswith(("http://", "https://")):
        found = from_url(data, mime or "application/octet-stream", name)
        yield Media(mime or found.mime, found.data, found.uri, name)
    else:
        yield from_base64(data, mime, "application/octet-stream", name)


def code_block(block: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    yield Code(text_of(first_of(block, "code", "source")), text_of(block.get("language")))


BLOCKS = {
    "text": text_block,
    "thinking": thinking_block,
    "tool_call": tool_call,
    "tool_response": tool_response,
    "media": media_block,
    "code": code_block,
}

parts.TYPED |= {kind: reader for kind, reader in BLOCKS.items() if kind not in ("text", "thinking")}


def system_field(body: dict[str, Any]) -> Any:
    return body.get("system")
