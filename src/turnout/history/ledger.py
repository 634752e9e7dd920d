"""The ledger: for each tool call, the call and (once it has one) its outcome."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model import ModelTurn, Outcome, ToolCall


class ToolInteraction(Struct, frozen=True, gc=False):
    """One call and its outcome. `arguments` are those it was started with."""

    call: ToolCall
    turn_key: str
    started: bool = False
    changed_arguments: dict[str, Any] | None = None
    outcome: Outcome | None = None

    @property
    def status(self) -> str:
        """`pending`, or the status of the outcome."""
        return self.outcome.status if self.outcome else "pending"

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments that the tool ran with."""
        return self.call.arguments if self.changed_arguments is None else self.changed_arguments


def is_real(outcome: Outcome) -> bool:
    """Whether the tool or the user gave this outcome, not turnout in their place."""
    return not outcome.synthetic and outcome.status in ("complete", "error", "denied")


class Ledger:
    """The index from call id to interaction, in the order the calls were made."""

    def __init__(self) -> None:
        self._interactions: dict[str, ToolInteraction] = {}

    def open(self, turn: ModelTurn) -> None:
        """Enter the calls of a turn."""
        for call in turn.tool_calls:
            self._interactions[call.id] = ToolInteraction(call, turn.key)

    def start(self, call_id: str, arguments: dict[str, Any] | None) -> None:
        """Record that a call began to run, with these arguments if they were changed."""
        self._interactions[call_id] = replace(
            self._interactions[call_id], started=True, changed_arguments=arguments
        )

    def settle(self, call_id: str, outcome: Outcome) -> None:
        """Record the outcome of a call."""
        was = self._interactions[call_id]
        self._interactions[call_id] = ToolInteraction(
            was.call, was.turn_key, was.started, was.changed_arguments, outcome
        )

    def get(self, call_id: str) -> ToolInteraction | None:
        """One call by its id; None if there is none."""
        return self._interactions.get(call_id)

    def of_turn(self, turn: ModelTurn) -> tuple[ToolInteraction, ...]:
        """The calls of one turn, in order."""
        return tuple(self._interactions[call.id] for call in turn.tool_calls)

    def __getitem__(self, call_id: str) -> ToolInteraction:
        return self._interactions[call_id]

    def __contains__(self, call_id: object) -> bool:
        return call_id in self._interactions

    def __iter__(self) -> Iterator[ToolInteraction]:
        return iter(self._interactions.values())

    def __len__(self) -> int:
        return len(self._interactions)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ledger) and self._interactions == other._interactions

    __hash__ = None  # type: ignore[assignment]
