"""Anthropic Messages: alternating roles, results first in the user's message, signed thinking.

No cache marker ever moves through the messages: caching uses the top-level marker and one
each on the tools and the system text, so the bytes already sent stay as they were.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ..ids import IdProjection
from ..model import (
    Media,
    Message,
    Opaque,
    Residue,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    ToolSpec,
    block_text,
)
from .anthropic_fields import AnthropicDialect, AnthropicFields
from .content import (
    as_reminder,
    base64_url,
    blank,
    failed,
    joined,
    nonblank,
    response_media,
    response_parts,
    response_text,
)
from .loop import Loop
from .options import Options
from .protocol import (
    FIRST_FILLER,
    LAST_FILLER,
    TEXT_FILLER,
    Setting,
    body_bytes,
)
from .roll import Roll, Wire

# What the API takes back without a beta header. Blocks of other kinds are told in words.
SERVER_TOOLS = (
    "web_search",
    "web_fetch",
    "code_execution",
    "bash_code_execution",
    "text_editor_code_execution",
    "tool_search_tool_regex",
    "tool_search_tool_bm25",
)
SERVER_RESULTS = (*(f"{name}_tool_result" for name in SERVER_TOOLS[:5]), "tool_search_tool_result")
SPOKEN = ("text", "thinking", "redacted_thinking", "tool_use")
IN_RESULTS = ("image", "document", "search_result")
REPLAYED = ("text", "image", "document", "search_result", "container_upload", *SERVER_RESULTS)


class AnthropicEncoder:
    """Messages as the Messages API wants them."""

    def __init__(
        self, dialect: AnthropicDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self.called: dict[str, None] = {}
        self._keeps_thinking = thinking is not False
        self._roll = Roll(_merge)
        self._fields = AnthropicFields(dialect, setting, ids)
        self._loop = Loop()
        self._fillers: list[str] = []

    def feed(self, message: Message) -> None:
        self._loop = self._add(self._roll, self._loop, message, self._fillers)

    # Messages

    def _add(self, roll: Roll, loop: Loop, message: Message, changes: list[str]) -> Loop:
        role = "assistant" if message.role == "model" else "user"
        awaited = _unanswered(roll.last) if loop.paused else set()
        content = [wire for wire in self._content(message, awaited) if not _is_blank(wire)]
        if not content:
            return loop
        if lost := awaited - {wire.get("tool_use_id") for wire in content}:
            _take_back(roll.last, lost, changes)
        opening = roll.last["content"][0] if roll.last is not None and roll.last_role == role else content[0]
        if roll.empty and role == "assistant":
            changes.append("ANT-13 first-role filler: the conversation must start with the user")
            roll.add({"role": "user", "content": [_text(FIRST_FILLER)]})
        roll.add({"role": role, "content": content})
        return loop.after(message, opening["type"] in ("thinking", "redacted_thinking"))

    def _content(self, message: Message, awaited: set[str]) -> Iterable[Wire]:
        match message.role:
            case "model":
                return self._assistant(message, awaited)
            case "tool":
                return self._results(message.responses)
            case "system":
                text = joined(message.blocks)
                return [_text(as_reminder(text))] if text else []
            case _:
                return [_document(block) or _block(block) for block in nonblank(message.blocks)]

    def _assistant(self, message: Message, awaited: set[str]) -> Iterator[Wire]:
        blocks = [
            block for block in message.blocks if self._keeps_thinking or not isinstance(block, Thinking)
        ]
        if not self._keeps_order(message):
            blocks.sort(key=lambda block: isinstance(block, ToolCall))
        whole = _whole_server_tools(blocks) | awaited  # a paused turn's use has its result here
        for at, block in enumerate(blocks):
            match block:
                case Text() if block.residue is None and not blank(block.text):
                    yield _text(block.text)
                case ToolCall():
                    self.called[block.name] = None
                    name = self.ids.name(block.name)
                    yield {
                        "type": "tool_use",
                        "id": self.ids[block.id],
                        "name": name,
                        "input": block.arguments,
                    }
                case Thinking():
                    yield from _thinking(block)
                case Opaque():
                    # A paused turn goes back unchanged: its last use has no result yet.
                    if message.paused or block.residue is None or _server_id(block) in whole:
                        yield _block(block, paused=message.paused)
                case Text() if blank(block.text):
                    # Signed thoughts are counted by position: what stood between them must stay.
                    if _between_thoughts(blocks, at):
                        yield _text(TEXT_FILLER)
                case Media():
                    yield _text(block_text(block))  # only users show pictures here
                case _:
                    yield _block(block)

    def _keeps_order(self, message: Message) -> bool:
        """Whether a turn goes back as it was said: Claude's own do, for signed thoughts have their places.

        In all others calls come last: text after a call was refused, and calls last never were.
        """
        writer = message.origin
        if writer is None:
            return False
        return writer.matches(self.setting.origin) or "claude" in writer.model.lower()

    def _results(self, responses: Sequence[ToolResponse]) -> Iterator[Wire]:
        """All results first, in call order; media of failed ones after, where it is allowed."""
        for response in responses:
            yield self._result(response)
        for response in responses:
            if failed(response):
                yield from (_block(media) for media in response_media(response))

    def _result(self, response: ToolResponse) -> Wire:
        wire: Wire = {"type": "tool_result", "tool_use_id": self.ids[response.call_id]}
        parts = [] if failed(response) else [part for part in response_parts(response) if _fits_result(part)]
        text = response_text(response, without=parts)
        wire["content"] = [_text(text), *(_block(block) for block in parts)] if parts else text
        if failed(response):
            wire["is_error"] = True
        return wire

    # Request

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._fillers)
        roll, loop = self._roll.branch(), self._loop
        for message in tail:
            loop = self._add(roll, loop, message, changes)
        if roll.last is None:
            roll.add({"role": "user", "content": [_text(FIRST_FILLER)]})
            changes.append("first-role filler: there was nothing to send")
        elif roll.last_role == "assistant" and not (loop.paused and _is_resumable(roll.last)):
            roll.add({"role": "user", "content": [_text(LAST_FILLER)]})
            changes.append("ANT-12 last-role filler: a request must end with the user")
        fields = self._fields.of(loop, self.called, system, tools, options, changes)
        return body_bytes(fields, "messages", (self._roll.closed, roll.bytes())), changes


def _merge(last: Wire, following: Wire) -> bool:
    if last["role"] != following["role"]:
        return False
    last["content"].extend(following["content"])
    return True


def _text(text: str) -> Wire:
    return {"type": "text", "text": text}


def _is_blank(wire: Wire) -> bool:
    return wire.get("type") == "text" and blank(str(wire.get("text") or ""))


def _data(residue: Residue | None) -> dict[str, Any]:
    return residue.data if residue is not None and isinstance(residue.data, dict) else {}


def _block(block: Any, *, paused: bool = False) -> Wire:
    data = _data(block.residue)
    match block:
        case Media():
            return _media(block)
        case Text() if data.get("citations"):
            return {**_text(block.text), "citations": data["citations"]}
        case Opaque() if paused or _is_replayed(block):
            return _unmarked(data["block"]) if isinstance(data.get("block"), dict) else _text(block.text)
        case _:
            return _text(block_text(block))


def _document(block: Any) -> Wire:
    """A text that was a document when its author sent it; {} for all others."""
    wire = _data(block.residue).get("block") if isinstance(block, Text) else None
    return _unmarked(wire) if isinstance(wire, dict) else {}


def _unmarked(wire: Wire) -> Wire:
    """Without the cache marker it once had: markers are counted, and ours stand elsewhere."""
    return {key: value for key, value in wire.items() if key != "cache_control"}


def _fits_result(block: Media | Opaque) -> bool:
    """Whether a result may hold it: media, and what was such a block when it was given."""
    wire = _data(block.residue).get("block")
    return isinstance(block, Media) or (isinstance(wire, dict) and wire.get("type") in IN_RESULTS)


def _is_replayed(block: Opaque) -> bool:
    wire = _data(block.residue).get("block")
    if not isinstance(wire, dict):
        return False
    if wire.get("type") == "server_tool_use":
        return wire.get("name") in SERVER_TOOLS
    return wire.get("type") in REPLAYED


def _thinking(block: Thinking) -> Iterator[Wire]:
    data = _data(block.residue)
    if isinstance(data.get("redacted"), str):
        yield {"type": "redacted_thinking", "data": data["redacted"]}
    elif isinstance(data.get("signature"), str) and data["signature"]:
        yield {"type": "thinking", "thinking": block.text, "signature": data["signature"]}


def _media(media: Media) -> Wire:
    if media.mime.startswith("image/"):
        return {"type": "image", "source": _source(media)}
    around = _data(media.residue).get("document") or ({"title": media.name} if media.name else {})
    if media.mime == "application/pdf":
        return {"type": "document", "source": _source(media), **around}
    if media.mime.startswith("text/") and media.data:
        text = b64decode(media.data).decode(errors="replace")
        if text.strip():
            source = {"type": "text", "media_type": "text/plain", "data": text}
            return {"type": "document", "source": source, **around}
    return _text(block_text(media))


def _source(media: Media) -> Wire:
    if media.data:
        return {"type": "base64", "media_type": media.mime, "data": media.data}
    return {"type": "url", "url": media.uri or base64_url(media)}


def _between_thoughts(blocks: Sequence[Any], at: int) -> bool:
    return (
        0 < at < len(blocks) - 1
        and isinstance(blocks[at - 1], Thinking)
        and isinstance(blocks[at + 1], Thinking)
    )


def _server_id(block: Opaque) -> str:
    wire = _data(block.residue).get("block", {})
    if not isinstance(wire, dict):
        return ""
    if block.kind.endswith("tool_use"):
        return str(wire.get("id", ""))
    return str(wire.get("tool_use_id", "")) if block.kind.endswith("tool_result") else ""


def _whole_server_tools(blocks: Sequence[Any]) -> set[str]:
    """Ids of provider-run tools whose use and result are both here; "" stands for other blocks."""
    opaque = [block for block in blocks if isinstance(block, Opaque) and _is_replayed(block)]
    if not opaque:
        return {""}
    used = {_server_id(block) for block in opaque if block.kind.endswith("tool_use")}
    answered = {_server_id(block) for block in opaque if block.kind.endswith("tool_result")}
    return {"", *(used & answered)}


def _unanswered(message: Wire | None) -> set[str]:
    """Ids of the provider-run tools that a paused message left without a result."""
    content = message["content"] if message is not None else []
    answered = {wire.get("tool_use_id") for wire in content}
    return {
        wire["id"] for wire in content if wire["type"] == "server_tool_use" and wire["id"] not in answered
    }


def _is_resumable(message: Wire) -> bool:
    """Whether a paused message holds what it paused for; without it the server takes it for a prefill."""
    return any(wire["type"] not in SPOKEN for wire in message["content"])


def _take_back(message: Wire | None, lost: set[str], changes: list[str]) -> None:
    """A paused turn that nobody went on with: what the provider was about to run never ran."""
    if message is not None:
        kept = [wire for wire in message["content"] if wire.get("id") not in lost]
        message["content"][:] = kept or [_text(TEXT_FILLER)]
        changes.append("ANT-30 the use of a provider's tool left out: its result never came")
