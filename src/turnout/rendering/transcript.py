"""The history as one target should read it, extended turn by turn.

One loop and no repair: a result has no position of its own, so it is printed where its
call is, read from the ledger. Turns that can no longer change are rendered once; only an
open turn is rendered again, in the tail. Rendering never writes to the history.
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from ..diagnostic import Diagnostic
from ..history.log import History
from ..ids import FORMATS, IdProjection
from ..model import (
    Block,
    Media,
    Message,
    ModelTurn,
    Origin,
    SystemTurn,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    Turn,
    block_text,
    with_fields,
)
from .image_crowd import ImageCrowd
from .policy import Reader, Seen, is_plain, visible, worded
from .report import DEDUPE_CODES, Rendered, Report

SUMMARY = "Summary of the conversation so far:\n\n"


class Transcript:
    """The messages one target should read. `sealed` ones never change; `tail` may."""

    def __init__(self, history: History, reader: Reader) -> None:
        self.history = history
        self.reader = reader
        self._strict_reader = replace(reader, images=reader.images.crowded())
        self.crowd = ImageCrowd(reader.images)
        self._start_over()
        self.update()

    def _start_over(self, crowded: frozenset[str] = frozenset()) -> None:
        """Begin again from the first turn; `crowded` are the turns whose large images are named."""
        self._crowded = crowded
        self.generation = (self.history.generation, len(crowded))
        self.ids = IdProjection(FORMATS[self.reader.id_format], self.reader.names)
        self.sealed: list[Message] = []
        self.tail: tuple[Message, ...] = ()
        self._rendered = 0  # turns behind `sealed`
        self._flat = self._flat_turns()
        self._notes: list[Diagnostic] = []
        self._tail_notes: list[Diagnostic] = []
        if self.history.summary:
            self.sealed.append(Message("user", (Text(SUMMARY + self.history.summary),)))

    def update(self) -> Transcript:
        """Take in what the history gained; costs what is new."""
        if self.generation[0] != self.history.generation:
            self.crowd = ImageCrowd(self.reader.images)
            self._start_over()
        self._take_turns()
        if (crowded := self.crowd.crowded_turns()) != self._crowded:
            self._start_over(crowded)
            self._take_turns()
        return self

    def _take_turns(self) -> None:
        for at, turn in enumerate(self.history.turns[self._rendered : self.history.final], self._rendered):
            messages = tuple(self._render(turn, self._notes, at < self.history.compacted))
            self.crowd.count(turn.key, messages)
            self.sealed.extend(messages)
        self._rendered = self.history.final
        self._tail_notes = []
        open_turn = self.history.open_turn
        self.tail = () if open_turn is None else tuple(self._render(open_turn, self._tail_notes))
        if open_turn is not None:
            self.crowd.count(open_turn.key, self.tail)

    def _reader_of(self, turn: Turn) -> Reader:
        """How the target reads this turn: among many images, only small ones."""
        return self._strict_reader if turn.key in self._crowded else self.reader

    @property
    def messages(self) -> tuple[Message, ...]:
        return (*self.sealed, *self.tail)

    def _flat_turns(self) -> frozenset[str]:
        """Keys of the turns whose calls are told in words."""
        if not (through := self.reader.flat_through):
            return frozenset()
        keys = [turn.key for turn in self.history.turns]
        return frozenset(keys[: keys.index(through) + 1]) if through in keys else frozenset()

    def _render(self, turn: Turn, notes: list[Diagnostic], compacted: bool = False) -> Iterator[Message]:
        if not isinstance(turn, ModelTurn):
            if blocks := self._visible(turn, notes):
                yield Message("system" if isinstance(turn, SystemTurn) else "user", blocks)
            return
        if calls := turn.tool_calls:
            self._project(calls, turn.origin)
            if turn.key in self._flat or not self.reader.knows_tools:
                yield from self._told(turn, notes)
                return
        if blocks := self._visible(turn, notes):
            # What the provider keeps of an earlier reply is the conversation before it was compacted.
            residue = turn.residue if self.reader.owns(turn.residue) and not compacted else None
            # ANT-30: only the model that paused goes on with its own turn; for others the turn is over.
            paused = turn.stop == "paused" and turn.origin.matches(self.reader.origin)
            yield Message("model", blocks, turn.origin, residue, paused)
        else:
            notes.append(Diagnostic("render", "empty_turn", detail=turn.key))
        if calls:
            reader = self._reader_of(turn)
            yield Message("tool", tuple([self._response(call, reader, notes) for call in calls]))

    def _told(self, turn: ModelTurn, notes: list[Diagnostic]) -> Iterator[Message]:
        """A turn with calls, in words: nothing is lost, and nothing is left to pair."""
        said = [block for block in self._visible(turn, notes) if isinstance(block, Text)]
        calls = [Text(f"[I called {block_text(self._as_run(call))}]") for call in turn.tool_calls]
        yield Message("model", (*said, *calls), turn.origin)
        reader = self._reader_of(turn)
        results = [self._response(call, reader, notes) for call in turn.tool_calls]
        yield Message("user", tuple(block for item in results for block in _given(item)))

    def _visible(self, turn: Turn, notes: list[Diagnostic]) -> tuple[Block, ...]:
        blocks = turn.blocks
        return blocks if all(map(is_plain, blocks)) else tuple(self._seen_of(turn, notes))

    def _seen_of(self, turn: Turn, notes: list[Diagnostic]) -> Iterator[Block]:
        reader = self._reader_of(turn)
        for at, block in enumerate(turn.blocks):
            seen = visible(block, reader)
            if seen.code:
                notes.append(Diagnostic("render", seen.code, detail=f"{turn.key} {seen.detail}".strip()))
            if isinstance(seen.block, ToolCall):
                yield self._as_run(seen.block)
            elif seen.block is not None:
                yield seen.block
            elif isinstance(block, Text) and self._stands_between_thoughts(turn.blocks, at):
                yield replace(block, residue=None)

    def _as_run(self, call: ToolCall) -> ToolCall:
        """A call whose arguments could not be read as they came, with those it was run with."""
        ran = self.history.ledger[call.id].changed_arguments if call.fault else None
        return call if ran is None else with_fields(call, arguments=ran)

    def _stands_between_thoughts(self, blocks: tuple[Block, ...], at: int) -> bool:
        """An empty text between two signed thoughts keeps their positions; the provider counts them."""
        around = (*blocks[max(at - 1, 0) : at], *blocks[at + 1 : at + 2])
        return len(around) == 2 and all(
            isinstance(block, Thinking) and self.reader.owns(block.residue) for block in around
        )

    def _project(self, calls: tuple[ToolCall, ...], origin: Origin) -> None:
        native = self.reader.keeps_raw_ids and origin.matches(self.reader.origin)
        for call in calls:
            self.ids.add(call.id, call.name, call.raw_id if native else "")

    def _response(self, call: ToolCall, reader: Reader, notes: list[Diagnostic]) -> ToolResponse:
        interaction = self.history.ledger[call.id]
        outcome = interaction.outcome or self.history.interruption(interaction)
        if outcome.synthetic:
            notes.append(Diagnostic("render", "synthetic_result", call.id, outcome.reason))
        shortened = self.history.shortened.get(call.id)
        if shortened is not None:
            notes.append(Diagnostic("render", "shortened_result", call.id))
        changed: list[Seen] = []
        told = worded(interaction, outcome, reader, shortened, changed)
        notes.extend(Diagnostic("render", seen.code, call.id, seen.detail) for seen in changed)
        return ToolResponse(call.id, call.name, told)

    @property
    def report(self) -> Report:
        """What this render did; made when asked for."""
        return self.rendered().report

    def rendered(self) -> Rendered:
        """This transcript as it is now, whatever the history gains later."""
        return Rendered(
            reader=self.reader,
            ids=self.ids,
            sealed=self.sealed,
            count=len(self.sealed),
            tail=self.tail,
            notes=self._notes,
            noted=len(self._notes),
            tail_notes=self._tail_notes,
            seen=self._seen,
            deduplicated=self._deduplicated,
        )

    def _seen(self) -> Iterator[str]:
        for turn in self.history.turns:
            if isinstance(turn, ModelTurn):
                yield from (call.id for call in turn.tool_calls)

    def _deduplicated(self) -> Iterator[Diagnostic]:
        return (item for item in self.history.diagnostics if item.code in DEDUPE_CODES)


def _given(response: ToolResponse) -> Iterator[Block]:
    """A result in words, and the media that came with it."""
    yield Text(f"[{response.name} gave] {response.outcome.text}")
    yield from (block for block in response.outcome.content if isinstance(block, Media))
