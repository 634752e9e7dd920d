"""How long the conversation is: a running count, so that a turn costs the same however many came before.

The provider's own count is exact, and lags: it is the one of the last reply. What came since is estimated
from characters. Where a provider counts nothing, all of it is.
"""

from __future__ import annotations

from collections.abc import Callable

from ..history.log import History
from ..model import Block, Compaction, ModelTurn, Rewind, SystemTurn, ToolCall, Turn, UserTurn, block_text
from .excerpt import outcomes_of

CHARACTERS_PER_TOKEN = 4


class ContextSize:
    """Tokens that the next request of a history takes. `overhead` counts system text and tools."""

    def __init__(self, history: History, overhead: Callable[[], int]) -> None:
        self._history = history
        self._overhead = overhead
        self._start_over()

    def _start_over(self) -> None:
        self._generation = self._history.generation
        self._sealed = 0  # turns that are counted for good
        self._characters = 0  # of those turns, with the results of their calls
        self._first_countable: int | None = None  # looked up when a count is asked for
        self._counted = 0  # tokens, as the provider counted last
        self._characters_then = 0

    def _turns_since_cut(self) -> int:
        """Turns since the last compaction or rewind: what was counted before is no longer what is sent."""
        found = 0
        for entry in reversed(self._history.entries):
            if isinstance(entry, Compaction | Rewind):
                return found
            found += isinstance(entry, SystemTurn | UserTurn | ModelTurn)
        return len(self._history.turns)

    @property
    def tokens(self) -> int:
        if self._generation != self._history.generation:
            self._start_over()
        history = self._history
        if self._first_countable is None:
            self._first_countable = len(history.turns) - self._turns_since_cut()
        for at in range(self._sealed, history.final):
            self._take_count(at, history.turns[at], self._characters)
            self._characters += turn_size(history, history.turns[at])
        self._sealed = history.final
        counted, then, characters = self._counted, self._characters_then, self._characters
        for at in range(history.final, len(history.turns)):  # the open turn: its results may still come
            turn = history.turns[at]
            if (count := self._count_in(at, turn)) is not None:
                counted, then = count, characters + block_sizes(turn)
            characters += turn_size(history, turn)
        if counted:
            return counted + (characters - then) // CHARACTERS_PER_TOKEN
        return (self._overhead() + len(history.summary)) // CHARACTERS_PER_TOKEN + (
            characters // CHARACTERS_PER_TOKEN
        )

    def _take_count(self, at: int, turn: Turn, characters: int) -> None:
        if (count := self._count_in(at, turn)) is not None:
            self._counted, self._characters_then = count, characters + block_sizes(turn)

    def _count_in(self, at: int, turn: Turn) -> int | None:
        """The provider's count, up to the end of this reply."""
        if at < (self._first_countable or 0) or not isinstance(turn, ModelTurn):
            return None
        usage = turn.usage
        return usage.input + (usage.output or 0) if usage is not None and usage.input else None


def turn_size(history: History, turn: Turn) -> int:
    """Characters of a turn and of the results of its calls."""
    return block_sizes(turn) + sum(len(outcome.text) for outcome in outcomes_of(history, [turn]).values())


def block_sizes(turn: Turn) -> int:
    """Characters of a turn, without the results of its calls."""
    return sum(map(_block_size, turn.blocks))


def _block_size(block: Block) -> int:
    if isinstance(block, ToolCall) and block.raw is not None and not block.fault:
        return len(block.name) + len(block.raw)  # to encode the arguments again is slow
    return len(block_text(block))
