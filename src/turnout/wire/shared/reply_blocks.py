"""A reply on its way to a client: events in, blocks of one protocol out, one after the other.

Most protocols write a reply as a list of blocks of which one is open at a time. Events may overlap (two
calls grow at once), so a block that begins while another is open waits for it. A protocol says how a block
opens, grows and closes; this module decides when.
"""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from hashlib import sha256
from typing import Any, Literal, TypeAlias

import msgspec
from msgspec import Struct

from ...errors import ProviderError, StreamError
from ...model import (
    Block,
    Code,
    Media,
    ModelTurn,
    Opaque,
    Origin,
    Residue,
    Stop,
    Text,
    Thinking,
    ToolCall,
    Usage,
)
from ...plain import arguments, clean_text, dict_in, dumps
from ...streaming.events import (
    Done,
    Error,
    OpaqueBlock,
    StreamEvent,
    TextDelta,
    TextEnd,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)
from ...streaming.reply import ReplyBuilder
from .growing_bytes import Wire
from .usage_counting import counted_for

Kind = Literal["text", "thinking", "call", "other"]
Carry: TypeAlias = Callable[[Block], str | None]
"""Gives the opaque string with which a client sends back what belongs to a block, or None."""

_encode = msgspec.json.Encoder().encode


class ReplyFacts(Struct, frozen=True):
    """What a reply says about itself, and what its request asked for."""

    model: str
    id: str
    created: int = 0
    include_usage: bool = True
    carry: Carry | None = None
    request: Mapping[str, Any] = {}
    as_array: bool = False  # Gemini without alt=sse: one JSON array
    protocol: str = ""
    counter: str = ""  # the protocol whose rules the token counts of the events follow

    def derived_id(self, prefix: str, place: int) -> str:
        """The id of a part of this reply: the same for the same reply, today and on another host."""
        digest = sha256(f"{self.id}|{place}".encode("utf-8", "surrogatepass")).digest()
        return prefix + urlsafe_b64encode(digest[:18]).decode()


class OpenBlock:
    """One block of the reply, as far as it is known."""

    __slots__ = (
        *("block", "done", "head", "id", "kind", "name", "opened", "pieces", "place", "residue", "wire"),
    )

    def __init__(self, kind: Kind, id: str = "", name: str = "") -> None:
        self.kind: Kind = kind
        self.id = id
        self.name = name
        self.pieces: list[str] = []
        self.residue: Residue | None = None
        self.done = False
        self.opened = False
        self.block: Opaque | Media | Code | None = None
        self.place = 0
        self.head = b""  # the bytes before each delta, which are the same for all of them
        self.wire: Wire = {}  # for the protocol's own notes

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0] if self.pieces else ""

    @property
    def data(self) -> dict[str, Any]:
        """What its provider wants back with it."""
        return dict_in(self.residue.data) if self.residue is not None else {}

    @property
    def arguments(self) -> dict[str, Any]:
        return arguments(self.text)[0]

    def as_block(self) -> Block:
        """The block of the history that this becomes."""
        match self.kind:
            case "text":
                return Text(self.text, self.residue)
            case "thinking":
                return Thinking(self.text, self.residue)
            case "call":
                raw = self.text
                return ToolCall(self.id, self.name, self.arguments, raw=raw, residue=self.residue)
            case _:
                assert self.block is not None
                return self.block


def whole_blocks(turn: ModelTurn) -> Iterator[OpenBlock]:
    """The blocks of a finished turn."""
    for place, block in enumerate(turn.blocks):
        yield _whole_block(block, place)


def _whole_block(block: Block, place: int) -> OpenBlock:
    match block:
        case Text() | Thinking():
            made = OpenBlock("text" if isinstance(block, Text) else "thinking")
            made.pieces = [block.text] if block.text else []
        case ToolCall():
            made = OpenBlock("call", block.id, block.name)
            made.pieces = [_arguments_text(block)]
        case _:
            made = OpenBlock("other")
            made.block = block
    made.residue, made.place, made.done = block.residue, place, True
    return made


def _arguments_text(call: ToolCall) -> str:
    """The arguments as the model wrote them. Of very long ones the history keeps an excerpt only."""
    is_kept = bool(call.raw) and (call.fault or arguments(call.raw)[0] == call.arguments)
    return call.raw if is_kept and call.raw else dumps(call.arguments)


def turn_of_events(events: Iterable[StreamEvent]) -> ModelTurn:
    """The turn that the events of one reply give."""
    builder = ReplyBuilder(Origin(""), "")
    for event in events:
        builder.feed(event)
    return builder.turn()


def json_text(text: str) -> bytes:
    """A text as JSON on one line."""
    try:
        return _encode(text) if text.isascii() else _on_one_line(_encode(text))
    except UnicodeEncodeError:  # lone surrogates
        return _on_one_line(_encode(clean_text(text)))


def json_bytes(value: Any) -> bytes:
    """A value as JSON on one line."""
    try:
        return _on_one_line(_encode(value))
    except (UnicodeEncodeError, RecursionError, TypeError):
        return _on_one_line(dumps(value).encode())


# Google's SDK takes these for the end of a line, against the rules of event streams.
_LINE_ENDS = {b"\xc2\x85": b"\\u0085", b"\xe2\x80\xa8": b"\\u2028", b"\xe2\x80\xa9": b"\\u2029"}


def _on_one_line(encoded: bytes) -> bytes:
    for found, escaped in _LINE_ENDS.items():
        if found in encoded:
            encoded = encoded.replace(found, escaped)
    return encoded


def stop_word(own: Mapping[str, Stop], words: Mapping[str, str], stop: Stop | Literal[""], raw: str) -> str:
    """The protocol's word for why a reply ended: the provider's own one if the protocol has it."""
    if own.get(raw) == stop and raw:
        return raw
    return words.get(stop) or words["end"]


class BlockStream:
    """Feed events; get the bytes of one protocol. Subclasses write blocks, the start and the end."""

    def __init__(self, facts: ReplyFacts) -> None:
        self.facts = facts
        self.usage: Usage | None = None
        self.done: Done | None = None
        self.failed = False
        self._count = 0
        self._head: OpenBlock | None = None  # the block that is being written
        self._tail: OpenBlock | None = None  # the text or thinking that may still grow
        self._waiting: deque[OpenBlock] = deque()
        self._calls: dict[str, OpenBlock] = {}

    # -- what a protocol writes

    def start(self) -> bytes:
        raise NotImplementedError

    def end(self) -> bytes:
        raise NotImplementedError

    def fail(self, error: ProviderError | StreamError) -> bytes:
        raise NotImplementedError

    def whole(self, turn: ModelTurn) -> bytes:
        raise NotImplementedError

    def open_block(self, block: OpenBlock) -> bytes:
        raise NotImplementedError

    def grow_block(self, block: OpenBlock, piece: str) -> bytes:
        raise NotImplementedError

    def close_block(self, block: OpenBlock) -> bytes:
        raise NotImplementedError

    def abandon_block(self, block: OpenBlock) -> None:
        """The block is not in the reply after all."""

    # -- events

    def feed(self, event: StreamEvent) -> bytes:
        """The bytes for one event; b"" where this protocol has nothing to write yet."""
        kind = type(event)
        if kind is TextDelta:
            return self._grow_tail("text", event.text)  # type: ignore[union-attr]
        if kind is ToolCallDelta:
            return self._grow_call(event)  # type: ignore[arg-type]
        if kind is ThinkingDelta:
            return self._grow_tail("thinking", event.text)  # type: ignore[union-attr]
        return self._feed_rare(event)

    def _feed_rare(self, event: StreamEvent) -> bytes:
        match event:
            case TextEnd(residue):
                return self._end_tail("text", residue)
            case ThinkingEnd(residue):
                return self._end_tail("thinking", residue)
            case ToolCallStart(id, name):
                call = OpenBlock("call", id, name)
                self._calls[id] = call
                return self._close_tail() + self._add_block(call)
            case ToolCallComplete(id, residue):
                return self._end_call(id, residue)
            case OpaqueBlock(block):
                other = OpenBlock("other")
                other.block, other.residue, other.done = block, block.residue, True
                return self._close_tail() + self._add_block(other)
            case Usage():
                self.usage = self.shown_usage(event)
            case Done():
                self.done = event
                self.usage = self.shown_usage(event.usage) or self.usage
                return self._close_all()
            case Error(kind, message):
                return self.fail(StreamError(message, kind=kind))
        return b""

    def _grow_tail(self, kind: Kind, text: str) -> bytes:
        tail = self._tail
        if tail is not None and tail.kind == kind:
            tail.pieces.append(text)
            return self.grow_block(tail, text) if tail is self._head else b""
        if not text:
            return b""
        before = self._close_tail()
        self._tail = tail = OpenBlock(kind)
        tail.pieces.append(text)
        return before + self._add_block(tail)

    def _end_tail(self, kind: Kind, residue: Residue | None) -> bytes:
        tail = self._tail
        if tail is None or (tail.kind != kind and residue is not None):
            if residue is None:
                return b""
            before = self._close_tail()  # nothing is open: an empty block that carries the residue
            hidden = OpenBlock(kind)
            hidden.residue, hidden.done = residue, True
            return before + self._add_block(hidden)
        tail.residue = residue
        return self._close_tail()

    def _grow_call(self, event: ToolCallDelta) -> bytes:
        call = self._calls.get(event.id)
        if call is None or call.done:
            return b""
        call.pieces.append(event.args_delta)
        if call is not self._head:
            return b""
        return self.grow_block(call, event.args_delta) if call.opened else self._write_head()

    def _end_call(self, id: str, residue: Residue | None) -> bytes:
        call = self._calls.get(id)
        if call is None or call.done:
            return b""
        call.done, call.residue = True, residue
        opening = self._write_head() if call is self._head and not call.opened else b""
        return opening + self._advance()

    # -- the order of blocks

    def _add_block(self, block: OpenBlock) -> bytes:
        block.place = self._count
        self._count += 1
        if self._head is None:
            self._head = block
            return self._write_head() + self._advance()
        self._waiting.append(block)
        return b""

    def _close_tail(self) -> bytes:
        tail, self._tail = self._tail, None
        if tail is None:
            return b""
        tail.done = True
        return self._advance()

    def _advance(self) -> bytes:
        """Close what is whole, and open what waited for it."""
        out = b""
        while self._head is not None and self._head.done:
            out += self.close_block(self._head)
            self._head = self._waiting.popleft() if self._waiting else None
            if self._head is not None:
                out += self._write_head()
        return out

    def _write_head(self) -> bytes:
        """Open the block in front. A call waits for its first argument: some are never written."""
        head = self._head
        if head is None or (head.kind == "call" and not head.pieces and not head.done):
            return b""
        head.opened = True
        out = self.open_block(head)
        return out + self.grow_block(head, head.text) if head.pieces else out

    def _close_all(self) -> bytes:
        """The reply is over. A call that never was complete is not in it; what was shown of it stays open."""
        out = self._close_tail()
        while self._head is not None:
            if not self._head.done:
                self.abandon_block(self._head)
                self._head = self._waiting.popleft() if self._waiting else None
                out += self._write_head()
            out += self._advance()
        return out

    def shown_usage(self, usage: Usage | None) -> Usage | None:
        """Token counts by the rules of this protocol."""
        return usage and counted_for(usage, self.facts.protocol, self.facts.counter)

    # -- what rides on a block

    def carried_string(self, block: OpenBlock, native: Callable[[Any], Any]) -> str:
        """The string that the client sends back with this block: the caller's, or the provider's own."""
        if self.facts.carry is not None:
            return self.facts.carry(block.as_block()) or ""
        value = native(block.data)
        return value if isinstance(value, str) else ""
