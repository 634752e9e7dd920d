"""What stops a model that goes round in circles: rounds, corrections, repeated calls. No IO.

Subagents inherit the guard of their parent, so a loop cannot hide in a child.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from ..model import Outcome, ToolCall, block_text
from ..plain import dumps

Verdict = Literal["", "corrections", "identical", "alternating"]

CIRCLES = (2, 3)
"""How many rounds a circle may have to be noticed."""


class GuardLimits(Struct, frozen=True):
    """When enough is enough."""

    rounds: int = 50
    corrections: int = 3  # rounds in a row in which no call had valid arguments
    repeats: int = 3  # the same call with the same result
    cycles: int = 3  # a circle of two or three calls, over and over
    pauses: int = 10  # a turn that the provider paused


class Guard:
    """Watches the rounds of a run."""

    def __init__(self, limits: GuardLimits | None = None, parent: Guard | None = None) -> None:
        inherited = parent.limits if parent is not None else GuardLimits()
        self.limits: GuardLimits = limits or inherited
        self.parent = parent
        self._corrections = 0
        self._seen: deque[str] = deque(maxlen=max(self.limits.repeats, CIRCLES[-1] * self.limits.cycles))

    def new_prompt(self) -> None:
        """The user spoke: what came before is not a loop."""
        self._corrections = 0
        self._seen.clear()

    def watch(self, done: Sequence[tuple[ToolCall, Outcome]], invalid: int) -> Verdict:
        """Take in a round; say whether the model should be stopped."""
        self._corrections = self._corrections + 1 if done and invalid == len(done) else 0
        if self._corrections >= self.limits.corrections:
            return "corrections"
        return self._repeated(dumps(sorted(fingerprint(call, outcome) for call, outcome in done)))

    def _repeated(self, round_print: str) -> Verdict:
        verdict = self.parent._repeated(round_print) if self.parent is not None else ""
        self._seen.append(round_print)
        seen = list(self._seen)
        if len(seen) >= self.limits.repeats and len(set(seen[-self.limits.repeats :])) == 1:
            return "identical"
        for size in CIRCLES:
            tail = seen[-size * self.limits.cycles :]
            goes_round = len(tail) == size * self.limits.cycles and tail == tail[:size] * self.limits.cycles
            if goes_round and len(set(tail)) > 1:  # of one call over and over, `repeats` says how often
                return "alternating"
        return verdict


def fingerprint(call: ToolCall, outcome: Outcome) -> str:
    """One call and what came of it, whatever its id."""
    result = sha256("\n".join(block_text(block) for block in outcome.content).encode()).hexdigest()
    arguments = dumps(dict(sorted(call.arguments.items())))
    return f"{call.name} {arguments} {outcome.status} {result}"
