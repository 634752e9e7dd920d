"""Anthropic Messages: alternating roles, results first in the user's message, signed thinking.

Cache markers never move through the messages. Caching uses the top-level marker and one each
on the tools and the system text (ANT-14 allows four), so the bytes already sent do not change.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...history.opaque_text import words_of
from ...ids import IdProjection
from ...model import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResponse, ToolSpec, block_text
from ..options import Options
from ..request import Setting
from ..shared.body import FIRST_FILLER, LAST_FILLER, TEXT_FILLER, body_bytes
from ..shared.content import (
    as_reminder,
    base64_url,
    is_blank,
    is_failed,
    nonblank,
    note_once,
    response_media,
    response_parts,
    response_text,
    text_of_blocks,
)
from ..shared.growing_bytes import Roll, Wire
from ..shared.open_loop import Loop
from ..shared.residues import fields_of, is_base64
from .blocks import (
    SERVER_TOOLS,
    damage_of,
    is_known_block,
    is_newer_block,
    is_server_block,
    is_sound_beside_source,
    sound_citations,
)
from .dialect import AnthropicDialect
from .fields import AnthropicFields

SPOKEN = ("text", "thinking", "redacted_thinking", "tool_use")
IN_RESULTS = ("image", "document", "search_result")


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
        self._roll = Roll(_merge_messages)
        self._fields = AnthropicFields(dialect, setting, ids)
        self._loop = Loop()
        self._fillers: list[str] = []

    def feed(self, message: Message) -> None:
        self._loop = self._add_message(self._roll, self._loop, message, self._fillers)

    # Messages

    def _add_message(self, roll: Roll, loop: Loop, message: Message, changes: list[str]) -> Loop:
        role = "assistant" if message.role == "model" else "user"
        awaited = _unanswered_uses(roll.last) if loop.paused else set()
        content = [wire for wire in self._content(message, awaited, changes) if not _is_blank(wire)]
        if not content:
            return loop
        if lost := awaited - {wire.get("tool_use_id") for wire in content}:
            _take_back_uses(roll.last, lost, changes)
        opening = roll.last["content"][0] if roll.last is not None and roll.last_role == role else content[0]
        if roll.empty and role == "assistant":
            changes.append("ANT-13 first-role filler: the conversation must start with the user")
            roll.add({"role": "user", "content": [_text_block(FIRST_FILLER)]})
        roll.add({"role": role, "content": content})
        return loop.after(message, opening["type"] in ("thinking", "redacted_thinking"))

    def _content(self, message: Message, awaited: set[str], changes: list[str]) -> Iterable[Wire]:
        match message.role:
            case "model":
                return self._assistant_content(message, awaited, changes)
            case "tool":
                return self._results(message.responses, changes)
            case "system":
                text = text_of_blocks(message.blocks)
                return [_text_block(as_reminder(text))] if text else []
            case _:
                blocks = nonblank(message.blocks)
                return [_replayed_block(block, "user", changes) or _block(block, changes) for block in blocks]

    def _assistant_content(self, message: Message, awaited: set[str], changes: list[str]) -> Iterator[Wire]:
        blocks = list(message.blocks)
        if not self._keeps_thinking and any(isinstance(block, Thinking) for block in blocks):
            blocks = [block for block in blocks if not isinstance(block, Thinking)]
            note_once(changes, "thinking left out: thinking is off in this request")
        if not self._keeps_order(message):
            blocks.sort(key=lambda block: isinstance(block, ToolCall))
        paired = _paired_blocks(blocks, awaited, message.paused)
        for at, block in enumerate(blocks):
            match block:
                case Text() if block.residue is None and not is_blank(block.text):
                    yield _text_block(block.text)
                case ToolCall():
                    self.called[block.name] = None
                    name = self.ids.name(block.name)
                    wire: Wire = {"type": "tool_use", "id": self.ids[block.id], "name": name}
                    wire["input"] = block.arguments
                    if block.residue is not None:
                        wire |= _caller(block, [blocks[held] for held in paired], changes)
                    yield wire
                case Thinking():
                    yield from _thinking_blocks(block, changes)
                case Opaque() if at not in paired:
                    changes.append(f"ANT-30 {block.kind} sent as text: it needs a beta, or its other half")
                    yield _text_block(block.text)
                case Opaque():
                    native = _replayed_block(block, "assistant", changes, paused=message.paused)
                    yield native or _block(block, changes)
                case Text() if is_blank(block.text):
                    # ANT-18: signed thinking keeps its position, so the block between two of them stays.
                    # ANT-10: a text block must not be blank, so a filler stands for it.
                    if _between_thoughts(blocks, at):
                        yield _text_block(TEXT_FILLER)
                case Media():
                    yield _text_block(block_text(block))  # images stand only in messages of the user
                case _:
                    yield _block(block, changes)

    def _keeps_order(self, message: Message) -> bool:
        """Whether the blocks of a turn keep their order. Claude's own do: ANT-18, signed thinking.

        In other turns calls come last. Text after a call was refused; calls last never were.
        """
        writer = message.origin
        if writer is None:
            return False
        return writer.matches(self.setting.origin) or "claude" in writer.model.lower()

    def _results(self, responses: Sequence[ToolResponse], changes: list[str]) -> Iterator[Wire]:
        """ANT-02: all results first. ANT-28: a failed result holds text only, so its media comes after."""
        for response in responses:
            yield self._result(response, changes)
        for response in responses:
            if is_failed(response):
                yield from (_media_block(media) for media in response_media(response))

    def _result(self, response: ToolResponse, changes: list[str]) -> Wire:
        wire: Wire = {"type": "tool_result", "tool_use_id": self.ids[response.call_id]}
        given = [] if is_failed(response) else response_parts(response)
        shown = [(part, _in_result(part, changes)) for part in given]
        text = response_text(response, without=[part for part, wire in shown if wire])
        parts = [wire for _, wire in shown if wire]
        wire["content"] = [_text_block(text), *parts] if parts else text
        if is_failed(response):
            wire["is_error"] = True
        return wire

    # Request

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._fillers)
        roll, loop = self._roll.branch(), self._loop
        for message in tail:
            loop = self._add_message(roll, loop, message, changes)
        if roll.last is None:
            roll.add({"role": "user", "content": [_text_block(FIRST_FILLER)]})
            changes.append("first-role filler: there was nothing to send")
        # From Claude 4.6 on: "This model does not support assistant message prefill." A paused turn is the
        # exception: it is sent back unchanged, and the server's tools go on (ANT-30).
        elif roll.last_role == "assistant" and not (loop.paused and _is_resumable(roll.last)):
            roll.add({"role": "user", "content": [_text_block(LAST_FILLER)]})
            changes.append("ANT-12 last-role filler: a request must end with the user")
        fields = self._fields.of(loop, self.called, system, tools, options, changes)
        return body_bytes(fields, "messages", (self._roll.closed_pieces, [roll.bytes()])), changes


def _merge_messages(last: Wire, following: Wire) -> bool:
    if last["role"] != following["role"]:
        return False
    # The API joins neighbours of one role itself. We do it first, because results must stand first in
    # what follows a call (ANT-02), and because Bedrock joins nothing.
    last["content"].extend(following["content"])
    return True


def _text_block(text: str) -> Wire:
    return {"type": "text", "text": text}


def _is_blank(wire: Wire) -> bool:
    return wire.get("type") == "text" and is_blank(str(wire.get("text") or ""))


def _block(block: Any, changes: list[str]) -> Wire:
    """A block as text or media, without private state."""
    if isinstance(block, Media):
        return _media_block(block)
    wire = _text_block(block_text(block))
    if isinstance(block, Text) and (given := fields_of(block.residue).get("citations")):
        citations = sound_citations(given)
        if citations != given:
            changes.append("citations left out: they are damaged")
        return {**wire, "citations": citations} if citations else wire
    return wire


def _native_block(block: Any) -> Wire:
    """The block of this API that a text or an opaque block was; {} for all others."""
    wire = fields_of(block.residue).get("block") if isinstance(block, Text | Opaque) else None
    return wire if isinstance(wire, dict) else {}


def _replayed_block(block: Any, role: str, changes: list[str], *, paused: bool = False) -> Wire | None:
    """A block as the API wrote or read it; None if it must be sent as text.

    Its cache marker does not go back: ANT-14 allows four, and ours stand elsewhere.
    """
    wire = _native_block(block)
    if not wire or not _is_taken_back(wire, paused):
        return None
    if damage := damage_of(wire, role):
        changes.append(f"ANT-30 {wire['type']} not sent back as it was: {damage}")
        return None
    return {key: value for key, value in wire.items() if key != "cache_control"}


def _is_taken_back(wire: Wire, paused: bool) -> bool:
    """Whether the API takes such a block without a beta header. It always takes what it paused with."""
    if paused and (is_server_block(wire) or wire.get("type") == "compaction"):
        return True
    if wire.get("type") == "server_tool_use":
        return wire.get("name") in SERVER_TOOLS
    return is_known_block(wire) or is_newer_block(wire)


def _in_result(block: Media | Opaque, changes: list[str]) -> Wire | None:
    """A part of a result that is not text: media, or a block that the API knows inside results."""
    if isinstance(block, Media):
        return _media_block(block)
    return _replayed_block(block, "user", changes) if _native_block(block).get("type") in IN_RESULTS else None


def _caller(call: ToolCall, kept: Iterable[Any], changes: list[str]) -> Wire:
    """Which of Claude's programs made the call, if that program goes back too."""
    caller = fields_of(call.residue).get("caller")
    if not isinstance(caller, dict) or caller.get("type") == "direct":
        return {}
    if caller.get("tool_id") in [_native_block(block).get("id") for block in kept]:
        return {"caller": caller}
    note_once(changes, f"caller of {call.name} left out: the program that called is not here")
    return {}


def _thinking_blocks(block: Thinking, changes: list[str]) -> Iterator[Wire]:
    data = fields_of(block.residue)
    if "redacted" in data and is_base64(data["redacted"]):
        yield {"type": "redacted_thinking", "data": data["redacted"]}
    elif "signature" in data and is_base64(data["signature"]):
        yield {"type": "thinking", "thinking": block.text, "signature": data["signature"]}
    else:
        # A stream that broke off leaves thinking without a signature: "signature: Field required".
        changes.append("ANT-17 a thought left out: it has no valid signature")


def _media_block(media: Media) -> Wire:
    if media.mime.startswith("image/"):
        return {"type": "image", "source": _source(media)}
    if media.mime == "application/pdf":
        return _document(media, _source(media))
    if media.mime.startswith("text/") and media.data:
        text = b64decode(media.data).decode(errors="replace")
        if text.strip():
            return _document(media, {"type": "text", "media_type": "text/plain", "data": text})
    return _text_block(block_text(media))


def _document(media: Media, source: Wire) -> Wire:
    """A document with its title, context and citation switch, if these are valid."""
    wire = {"type": "document", "source": source}
    around = fields_of(media.residue).get("document")
    if isinstance(around, dict) and is_sound_beside_source(around):
        return {**wire, **around}
    return {**wire, "title": media.name} if media.name else wire


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


def _paired_blocks(blocks: Sequence[Any], awaited: set[str], paused: bool) -> set[int]:
    """Positions of the blocks that may go back. ANT-30: a use of a server tool needs its result.

    `awaited` are uses of the message before, which paused. With `paused`, uses may wait for their results.
    """
    if not any(isinstance(block, Opaque) for block in blocks):
        return set(range(len(blocks)))  # nearly every message
    kept: set[int] = set()
    waiting: dict[Any, int] = {}
    answered: set[Any] = set()
    for at, block in enumerate(blocks):
        wire = _native_block(block)
        if not is_server_block(wire):
            kept.add(at)
        elif damage_of(wire, "assistant") or not _is_taken_back(wire, paused):
            continue
        elif (use_id := wire.get("tool_use_id")) is None:
            if wire.get("id") not in answered:
                waiting.setdefault(wire.get("id"), at)
        elif use_id in waiting or use_id in awaited - answered:
            kept |= {at, waiting.pop(use_id, at)}
            answered.add(use_id)
    return kept | set(waiting.values()) if paused else kept


def _unanswered_uses(message: Wire | None) -> set[str]:
    """Ids of the server tool uses that a paused message left without a result."""
    content = message["content"] if message is not None else []
    answered = {wire.get("tool_use_id") for wire in content}
    return {
        wire["id"] for wire in content if wire["type"] == "server_tool_use" and wire["id"] not in answered
    }


def _is_resumable(message: Wire) -> bool:
    """Whether a paused message holds what it paused for. Without it, it is a prefill (ANT-12)."""
    return any(wire["type"] not in SPOKEN for wire in message["content"])


def _block_in_words(wire: Wire) -> Wire:
    return _text_block(words_of(wire["type"], wire))


def _take_back_uses(message: Wire | None, lost: set[str], changes: list[str]) -> None:
    """A paused turn was not continued, so the tools that it waited for never ran."""
    if message is not None:
        content = message["content"]
        content[:] = [_block_in_words(wire) if wire.get("id") in lost else wire for wire in content]
        changes.append("ANT-30 the use of a server tool sent as text: its result never came")
