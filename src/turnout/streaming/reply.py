"""One reply, built while it streams. Decoders write to it; the turn comes out of it.

The builder keeps drafts in block order. A decoder calls one method for each thing that
happened and passes on the events it gets back. `feed` builds the same turn from the events
alone. A call takes its place when it starts, but is in the turn only when it is complete. So a
stream that breaks off does not leave half a call.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from sys import intern
from typing import Any, TypeAlias, assert_never

from ..errors import FailureKind, ProviderError, StreamError
from ..json_size import LONGEST
from ..model import (
    Block,
    Code,
    Media,
    ModelTurn,
    Opaque,
    Origin,
    Residue,
    Scope,
    Stop,
    Text,
    Thinking,
    ToolCall,
    Usage,
    call_with_arguments,
    with_fields,
)
from ..plain import arguments, clean_text
from .events import (
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
from .tracker import ToolCallTracker

Events: TypeAlias = Sequence[StreamEvent]

NOTHING: Events = ()
EMPTY_TEXT = Text("")
EMPTY_THINKING = Thinking("")


class Draft:
    """A stretch of text or thinking that may still grow."""

    __slots__ = ("kind", "pieces", "residue", "told")

    def __init__(self, kind: type[Text] | type[Thinking]) -> None:
        self.kind = kind
        self.pieces: list[str] = []
        self.residue: Residue | None = None
        self.told = False  # an event has said that it is over

    def block(self) -> Text | Thinking:
        return self.kind(clean_text("".join(self.pieces)), self.residue)


class FedCall:
    """A call known from events alone. It has a canonical id, but no raw id."""

    __slots__ = ("name", "pieces", "residue", "whole")

    def __init__(self, name: str) -> None:
        self.name = name
        self.pieces: list[str] = []
        self.whole = False
        self.residue: Residue | None = None


class CallPlace:
    """Where a call stands among the blocks."""

    __slots__ = ("id",)

    def __init__(self, id: str) -> None:
        self.id = id


Part: TypeAlias = Draft | CallPlace | Opaque | Media | Code


class ReplyBuilder:
    """Collect one reply in block order; every method returns the events to pass on."""

    def __init__(self, origin: Origin, turn_key: str) -> None:
        self.origin = origin
        self.turn_key = turn_key
        self.calls = ToolCallTracker(origin.provider, turn_key)
        self.ended = False
        self._append_args: Callable[..., Events] = self.calls.append_args
        self._fragment: Callable[..., Events] = self.calls.fragment
        self._blocks: list[Part] = []
        self._open: Draft | None = None
        self._append_text: Callable[[str], None] | None = None
        self._append_thinking: Callable[[str], None] | None = None
        self._fed: dict[str, FedCall] = {}
        self._reply_residue: dict[str, Any] = {}
        self._boundary = False  # the next text is a block of its own, which the events must say
        self.count: Callable[[], Usage | None] = _no_usage
        self._usage: Usage | None = None
        self._failure: ProviderError | StreamError | None = None
        self._stop: Stop = "interrupted"
        self._raw_stop = ""

    # -- text and thinking

    def text(self, piece: str) -> Events:
        """The model says `piece`. This ends an open stretch of thinking."""
        append = self._append_text
        if append is None or not piece:
            return self._first_text(piece)
        if "\0" in piece:
            piece = clean_text(piece)
        append(piece)
        return (TextDelta(piece),)

    def _first_text(self, piece: str) -> Events:
        if self.ended or not piece:
            return NOTHING
        ending = self._end_open_thinking()
        if not self._has_open_text:
            self.open_text()
        if self._boundary:
            ending = (*ending, TextEnd())
        self._append_text = self._open.pieces.append if self._open is not None else None
        self._boundary = False
        return (*ending, *self.text(piece))

    def thinking(self, piece: str) -> Events:
        """The model thinks `piece`."""
        append = self._append_thinking
        if append is None or not piece:
            return self._first_thinking(piece)
        if "\0" in piece:
            piece = clean_text(piece)
        append(piece)
        return (ThinkingDelta(piece),)

    def _first_thinking(self, piece: str) -> Events:
        if self.ended or not piece:
            return NOTHING
        self.open_thinking()
        return self.thinking(piece)

    def open_text(self) -> Draft:
        """Begin a new text block; without this, text continues the block before it."""
        before = self._blocks[-1] if self._blocks else None
        is_beside_text = isinstance(before, Draft) and before.kind is Text and not before.told
        draft = self._add_draft(Draft(Text))
        if is_beside_text:
            self._boundary = True
            self._append_text = None  # the first piece goes the long way, where the boundary is told
        return draft

    @property
    def _has_open_text(self) -> bool:
        return self._open is not None and self._open.kind is Text

    def open_thinking(self) -> Draft:
        """Begin a new stretch of thinking."""
        return self._add_draft(Draft(Thinking))

    def end_text(self, data: dict[str, Any] | None = None) -> Events:
        """The text block is over; `data` is what its provider wants back with it.

        With data and nothing open, it is an empty text that carries them.
        """
        if self.ended:
            return NOTHING
        if data:
            self.mark_text(data)
        return self._end_open_text()

    def _end_open_text(self) -> Events:
        draft = self._open
        if draft is None or draft.kind is not Text:
            return NOTHING
        self.resume(None)
        if draft.residue is None and not self._is_empty_after_thinking(draft):
            return NOTHING
        draft.told = True
        before = (TextEnd(),) if self._boundary else NOTHING
        self._boundary = False
        return (*before, TextEnd(draft.residue))

    def _is_empty_after_thinking(self, draft: Draft) -> bool:
        """ANT-18: an empty text between two thoughts stays, so the events must tell of it."""
        if draft.pieces or len(self._blocks) < 2 or self._blocks[-1] is not draft:
            return False
        before = self._blocks[-2]
        return isinstance(before, Draft) and before.kind is Thinking

    def _add_draft(self, draft: Draft) -> Draft:
        self._blocks.append(draft)
        self.resume(draft)
        return draft

    def resume(self, draft: Draft | None) -> None:
        """Continue a block that another one interrupted (None: continue no block)."""
        draft = None if self.ended else draft
        self._open = draft
        self._append_text = draft.pieces.append if draft and draft.kind is Text else None
        self._append_thinking = draft.pieces.append if draft and draft.kind is Thinking else None

    def end_thinking(self, data: dict[str, Any] | None = None) -> Events:
        """The stretch of thinking is over; `data` is what its provider wants back with it.

        With data and nothing open, it is thinking that the provider hides.
        """
        residue = Residue(self.origin, data) if data else None
        return self._end_thinking(residue)

    def _end_thinking(self, residue: Residue | None) -> Events:
        if self.ended:
            return NOTHING
        if self._append_thinking is None:
            if residue is None:
                return NOTHING
            self.open_thinking()
        if self._open is not None and residue is not None:
            self._open.residue = residue
        self.resume(None)
        return (ThinkingEnd(residue),)

    def take_back_text(self) -> Events:
        """The text of the open block was thinking after all, and it is over.

        In events this is a `ThinkingEnd` without a `ThinkingDelta` before it.
        """
        if self._open is None or self._open.kind is not Text:
            return NOTHING
        self._open.kind = Thinking
        self.resume(self._open)
        return self._end_thinking(None)

    def _end_open_thinking(self) -> Events:
        return self._end_thinking(None) if self._append_thinking is not None else NOTHING

    # -- calls: the methods of the tracker, each call in its place

    def start_call(self, key: Hashable, raw_id: str = "", name: str = "", **known: Any) -> Events:
        """A call begins, or more of its id or name is known. It takes its place here."""
        return NOTHING if self.ended else self._place_calls(self.calls.start_call(key, raw_id, name, **known))

    def append_args(self, key: Hashable, delta: str) -> Events:
        """A piece of the arguments of the call under this key."""
        events = self._append_args(key, delta)
        return events if len(events) == 1 and type(events[0]) is ToolCallDelta else self._place_calls(events)

    def set_args(self, key: Hashable, arguments: Any, alias: Hashable = None) -> Events:
        """All of the arguments at once."""
        return NOTHING if self.ended else self._place_calls(self.calls.set_args(key, arguments, alias))

    def complete_call(self, key: Hashable, raw_id: str = "", name: str = "", **known: Any) -> Events:
        """The call under this key is whole."""
        return (
            NOTHING if self.ended else self._place_calls(self.calls.complete_call(key, raw_id, name, **known))
        )

    def whole_call(
        self, raw_id: str, name: str, arguments: Any, key: Hashable = None, data: dict[str, Any] | None = None
    ) -> Events:
        """A call that came in one piece; `data` is what its provider wants back with it."""
        if self.ended:
            return NOTHING
        residue = Residue(self.origin, data) if data else None
        return self._place_calls(self.calls.whole_call(raw_id, name, arguments, key, residue))

    def fragment(
        self,
        index: int | None,
        raw_id: str | None = None,
        name: str | None = None,
        arguments: Any = None,
        position: int = 0,
    ) -> Events:
        """One entry of `tool_calls` in a Chat delta."""
        events = self._fragment(index, raw_id, name, arguments, position)
        return events if len(events) == 1 and type(events[0]) is ToolCallDelta else self._place_calls(events)

    def complete_all(self, cut: bool = False) -> Events:
        """The reply ended as it should (`cut`: at its token limit), so every call in it is whole."""
        return NOTHING if self.ended else self._place_calls(self.calls.complete_all(cut))

    def _place_calls(self, events: Events) -> Events:
        ending: Events = NOTHING
        for event in events:
            if type(event) is ToolCallStart:
                ending = ending or self._end_open_thinking()
                self._place_call(event.id)
        return (*ending, *events) if ending else events

    def _place_call(self, call_id: str) -> None:
        self._blocks.append(CallPlace(call_id))
        self.resume(None)

    # -- everything else

    def opaque(self, block: Opaque | Media | Code) -> Events:
        """A block that came whole and is passed on as it is."""
        if self.ended:
            return NOTHING
        ending = self._end_open_thinking()
        self.resume(None)
        self._blocks.append(block)
        return (*ending, OpaqueBlock(block))

    def usage(self, usage: Usage) -> Events:
        """The provider's token counts so far. The last ones count; they become one event, at the end.

        Where counts come with every chunk, a decoder sets `count` instead. It is called once, at the end.
        """
        if not self.ended:
            self._usage = usage
        return NOTHING

    def mark_text(self, data: dict[str, Any]) -> None:
        """Residue for the open text block; without an open one, an empty block is opened to carry it."""
        if self.ended:
            return
        draft = self._open if self._open is not None and self._has_open_text else self.open_text()
        draft.residue = Residue(self.origin, {**_data(draft.residue), **data})

    def mark_call(self, key: Hashable, data: dict[str, Any], scope: Scope = "model") -> None:
        """Residue for the call that was started under this key, given before the call is complete."""
        self.calls.mark_call(key, self.origin, data, scope)

    def mark_reply(self, data: dict[str, Any]) -> None:
        """Residue of the reply as a whole."""
        self._reply_residue.update(data)

    def done(self, stop: Stop, raw_stop: str = "") -> Events:
        """The reply ended as it should. Its calls decide the stop reason, before the provider's word."""
        if self.ended:
            return NOTHING
        ending = self._end_open_thinking() or self._end_open_text()
        self._raw_stop = intern(raw_stop)  # one of a few words, in every turn
        self._stop = self._stop_with_calls(stop)
        self._mark_ended()
        counted = self._final_usage()
        return (*ending, *counted, Done(self._stop, raw_stop, self._usage, self._whole_residue()))

    def _whole_residue(self) -> Residue | None:
        return Residue(self.origin, dict(self._reply_residue)) if self._reply_residue else None

    def _stop_with_calls(self, stop: Stop) -> Stop:
        has_calls = bool(self.calls.whole_calls()) or any(call.whole for call in self._fed.values())
        if has_calls and stop in ("end", "other"):
            return "tool_calls"
        return "end" if stop == "tool_calls" and not has_calls else stop

    def fail(self, kind: FailureKind, message: str, cause: ProviderError | None = None) -> Events:
        """The reply failed. The blocks that had arrived whole stay in the turn.

        `cause` is the provider's own error, if it sent one.
        """
        if self.ended:
            return NOTHING
        self._mark_ended()
        self._failure = cause or StreamError(message, kind=kind)
        return (*self._final_usage(), Error(kind, message))

    @property
    def failure(self) -> ProviderError | StreamError | None:
        """What to raise when the reply failed: it carries the turn so far."""
        if self._failure is not None:
            self._failure.turn = self.turn()
        return self._failure

    def _final_usage(self) -> Events:
        self._usage = self._counted_usage()
        self.count = _no_usage
        return (self._usage,) if self._usage is not None else NOTHING

    def _counted_usage(self) -> Usage | None:
        return self._usage if self._usage is not None else self.count()

    def _mark_ended(self) -> None:
        self.ended = True
        self.resume(None)
        self._append_args = self._fragment = _no_events

    # -- from events alone

    def feed(self, event: StreamEvent) -> None:
        """Apply one event that another builder returned."""
        match event:
            case TextDelta(text):
                self.text(text)
            case TextEnd(residue):
                self._feed_text_end(residue)
            case ThinkingDelta(text):
                self.thinking(text)
            case ThinkingEnd(residue) if residue is None and self._append_thinking is None:
                self.take_back_text()
            case ThinkingEnd(residue):
                self._end_thinking(residue)
            case ToolCallStart() | ToolCallDelta() | ToolCallComplete():
                self._feed_call(event)
            case OpaqueBlock(block):
                self.opaque(block)
            case Usage():
                self.usage(event)
            case Done(stop, raw_stop, usage, residue):
                self._feed_done(usage, residue)
                self.done(stop, raw_stop)
            case Error(kind, message):
                self.fail(kind, message)
            case _:
                assert_never(event)

    def _feed_text_end(self, residue: Residue | None) -> None:
        """Another builder put a boundary here: the next text is a block of its own."""
        if self.ended:
            return
        self._end_open_thinking()
        draft = self._open if self._open is not None else self.open_text()
        draft.residue, draft.told = residue, True
        self._boundary = False
        self.resume(None)

    def _feed_done(self, usage: Usage | None, residue: Residue | None) -> None:
        if usage is not None:
            self.usage(usage)
        if residue is not None and isinstance(residue.data, dict):
            self.mark_reply(residue.data)

    def _feed_call(self, event: ToolCallStart | ToolCallDelta | ToolCallComplete) -> None:
        if self.ended:
            return
        if isinstance(event, ToolCallStart):
            self._fed[event.id] = FedCall(event.name)
            self._place_call(event.id)
        elif (call := self._fed.get(event.id)) is None:
            return
        elif isinstance(event, ToolCallDelta):
            call.pieces.append(event.args_delta)
        else:
            call.whole, call.residue = True, event.residue

    # -- the turn

    def turn(self) -> ModelTurn:
        """The reply so far. A stream that has not ended, or ended in failure, is interrupted."""
        return ModelTurn(
            self.turn_key,
            self.origin,
            tuple(self._finished_blocks()),
            self._whole_residue(),
            self._stop,
            self._raw_stop,
            self._counted_usage(),
        )

    def _finished_blocks(self) -> Iterable[Block]:
        calls = {call.id: call for call in self.calls.whole_calls()}
        finished = (self._finished_block(draft, calls) for draft in self._blocks)
        blocks = [block for block in finished if block is not None]
        for at, block in enumerate(blocks):
            if block != EMPTY_TEXT or _stands_between_thoughts(blocks, at):
                yield block

    def _finished_block(self, draft: Part, calls: dict[str, ToolCall]) -> Block | None:
        if isinstance(draft, CallPlace):
            call = calls.get(draft.id) or self._fed_call(draft.id)
            return self._with_truncation_fault(call) if call is not None else None
        if not isinstance(draft, Draft):
            return draft
        block = draft.block()
        return block if block != EMPTY_THINKING else None

    def _fed_call(self, call_id: str) -> ToolCall | None:
        call = self._fed.get(call_id)
        if call is None or not call.whole:
            return None
        raw = clean_text("".join(call.pieces))
        parsed, fault = ({}, "") if raw.strip() == "null" else arguments(raw, LONGEST)
        named = {"id": call_id, "name": call.name, "raw": raw, "residue": call.residue}
        return call_with_arguments(parsed, **named, fault=fault)

    def _with_truncation_fault(self, call: ToolCall) -> ToolCall:
        """A reply that ran out of tokens may have lost the arguments of its last call."""
        if self._stop != "length" or call.fault or (call.raw or "").strip():
            return call
        last = next(place for place in reversed(self._blocks) if isinstance(place, CallPlace))
        return with_fields(call, fault="truncated") if call.id == last.id else call


def _stands_between_thoughts(blocks: Sequence[Block], at: int) -> bool:
    """ANT-18: signed thinking keeps its position, so an empty text between two of them stays."""
    around = blocks[max(at - 1, 0) : at + 2]
    return len(around) == 3 and isinstance(around[0], Thinking) and isinstance(around[2], Thinking)


def _data(residue: Residue | None) -> dict[str, Any]:
    return residue.data if residue is not None else {}


def _no_usage() -> Usage | None:
    return None


def _no_events(*args: Any) -> Events:
    return NOTHING
