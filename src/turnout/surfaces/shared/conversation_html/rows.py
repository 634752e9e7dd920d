"""A history as rows for a template: who wrote each, with what outcome, and what happened between them.

Only the rows of one page are made into HTML. A long text is shown in part; its whole is one link away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any, TypeAlias

from msgspec import Struct, field

from ....history.log import History
from ....model import (
    Block,
    Compaction,
    Entry,
    ModelTurn,
    Note,
    SystemTurn,
    Text,
    Thinking,
    ToolCall,
    UserTurn,
)
from ....providers.cost import cost_of_turn
from ..clean_text import one_line
from .blocks import BlockView, BlockWriter
from .calls import CallWriter, TimelineBar

MOST_ROWS = 40
PAGE_SIZE = 120_000
"""Characters of HTML after which a page ends, so that a first screen stays small."""
COLOURS = 12
PROVIDER_COLOURS = (
    *("anthropic", "openai", "gemini", "kimi", "deepseek", "mistral", "xai", "qwen", "openrouter"),
    *("bedrock", "zai", "cohere"),
)
NOTE_TEXTS = {
    "recovery": "The request was refused and sent again: ",
    "discarded": "A reply was cut off and discarded: ",
    "unreadable_entry": "An entry here cannot be read: ",
    "torn_tail": "The end of the file was torn off: ",
    "late_outcome": "An outcome came after its turn was sealed: ",
    "orphaned_result": "A result answered no call: ",
    "duplicate_outcome": "A call had a second result, which was left out: ",
}
"""Notes that a reader should see, and how they begin."""


class ConversationRow(Struct):
    """A turn, or something that happened between turns (`kind` "mark")."""

    kind: str
    place: int
    who: str = ""
    colour: str = ""
    at: float = 0.0
    number: int = 0
    text: str = ""
    blocks: list[BlockView] = field(default_factory=list)
    bars: list[TimelineBar] = field(default_factory=list)
    stop: str = ""
    tokens: str = ""
    cost: float | None = None
    key: str = ""

    @property
    def size(self) -> int:
        return 400 + sum(block.size for block in self.blocks)


OutlineRow: TypeAlias = tuple[ConversationRow, Entry | None]
"""A row without its blocks, and the entry that fills it."""


class ConversationReader:
    """One history with the times of its entries; makes rows of the part that is asked for."""

    def __init__(self, history: History, times: Sequence[float], media_base: str = "") -> None:
        self._history = history
        self._blocks = BlockWriter(media_base)
        self._calls = CallWriter(history, times, self._blocks)
        stamps = [*times, *(0.0 for _ in history.entries[len(times) :])]
        self._places = {
            id(entry): (number, at)
            for number, (entry, at) in enumerate(zip(history.entries, stamps, strict=False), 1)
        }
        self.outline = list(self._outline())

    def _outline(self) -> Iterator[OutlineRow]:
        expected, number = "", 0
        for entry in self._history.standing:
            place, at = self._places.get(id(entry), (0, 0.0))
            match entry:
                case ModelTurn():
                    who = str(entry.origin)
                    if expected and who != expected:
                        yield (
                            _mark_row(place, at, f"Answered by {who} in place of {expected}", "failover"),
                            None,
                        )
                    expected, number = who, number + 1
                    yield _reply_row(entry, place, at, number), entry
                case UserTurn() | SystemTurn():
                    number += 1
                    kind = "user" if isinstance(entry, UserTurn) else "system"
                    yield ConversationRow(kind, place, at=at, number=number, key=entry.key), entry
                case Note("switch", dict(data)):
                    expected = str(data.get("target", ""))
                    yield _mark_row(place, at, f"Switched to {expected}", "switch"), None
                case Compaction():
                    yield _mark_row(place, at, _compaction_text(entry), "compaction"), entry
                case Note(kind, data) if kind in NOTE_TEXTS:
                    yield _mark_row(place, at, NOTE_TEXTS[kind] + _note_detail(data), kind), None

    # One page of rows

    def rows_from(self, first: int) -> list[ConversationRow]:
        """The rows from a place on, as many as a page holds."""
        return self._rows_of_a_page([pair for pair in self.outline if pair[0].place >= first])

    def last_rows(self, before: int | None = None) -> list[ConversationRow]:
        """The last rows, or the last before a place, as many as a page holds."""
        chosen = [pair for pair in self.outline if before is None or pair[0].place < before]
        return self._rows_of_a_page(chosen[::-1])[::-1]

    def all_rows(self) -> list[ConversationRow]:
        return [self._filled_row(row, entry) for row, entry in self.outline]

    def _rows_of_a_page(self, chosen: Sequence[OutlineRow]) -> list[ConversationRow]:
        rows: list[ConversationRow] = []
        size = 0
        for row, entry in chosen:
            rows.append(self._filled_row(row, entry))
            size += rows[-1].size
            if len(rows) >= MOST_ROWS or size >= PAGE_SIZE:
                break
        return rows

    def _filled_row(self, row: ConversationRow, entry: Entry | None) -> ConversationRow:
        match entry:
            case UserTurn() | SystemTurn():
                row.blocks = self._block_views(entry.blocks, row.place)
            case ModelTurn():
                row.blocks = self._block_views(entry.blocks, row.place)
                row.bars = self._calls.timeline(entry)
                row.cost = cost_of_turn(entry)
                row.tokens = _usage_text(entry)
                row.stop = "" if entry.stop in ("", "end", "tool_calls") else entry.stop
            case Compaction(_, summary) if summary:
                row.blocks = [self._blocks.text(summary, "summary")]
        return row

    def _block_views(self, blocks: Sequence[Block], place: int) -> list[BlockView]:
        return [self._block_view(block, f"{place}/{at}") for at, block in enumerate(blocks)]

    def _block_view(self, block: Block, place: str) -> BlockView:
        match block:
            case Text():
                return self._blocks.text(block.text, "text")
            case Thinking():
                return self._blocks.text(block.text, "thinking")
            case ToolCall():
                return self._calls.block(block)
        return self._blocks.content(block, place)


def provider_colour(provider: str) -> str:
    """The class of a provider's colour: the same on every page."""
    if provider in PROVIDER_COLOURS:
        return f"p{PROVIDER_COLOURS.index(provider)}"
    return f"p{sha256(provider.encode(errors='replace')).digest()[0] % COLOURS}"


def _reply_row(turn: ModelTurn, place: int, at: float, number: int) -> ConversationRow:
    colour = provider_colour(turn.origin.provider)
    return ConversationRow("model", place, str(turn.origin), colour, at, number, key=turn.key)


def _mark_row(place: int, at: float, text: str, kind: str) -> ConversationRow:
    return ConversationRow("mark", place, at=at, text=text, stop=kind)


def _compaction_text(entry: Compaction) -> str:
    if entry.through_key:
        pinned = f"; {len(entry.pinned)} pinned turns stay" if entry.pinned else ""
        return f"Compacted: a summary replaces the turns above{pinned}"
    return f"Compacted: {len(entry.shortened)} results were shortened"


def _note_detail(data: Any) -> str:
    if isinstance(data, dict):
        words = [
            f"{name}: {value}" for name, value in data.items() if isinstance(value, str) and name != "data"
        ]
        return one_line("; ".join(words), 300)
    return one_line(data, 300) if isinstance(data, str) else ""


def _usage_text(turn: ModelTurn) -> str:
    used = turn.usage
    if used is None or (used.input is None and used.output is None):
        return ""
    cached = f", {used.cached_input:,} cached" if used.cached_input else ""
    return f"{used.input or 0:,} in{cached}, {used.output or 0:,} out"
