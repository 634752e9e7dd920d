"""Notice a model that repeats itself: wrong calls, the same call, calls in a circle. No IO.

A guard watches one run. Each subagent has its own guard with the same limits, since four
subagents that read the same file are not a loop. The parent's guard sees the outcome of each
`task`. Cost and tokens have one limit for the whole tree.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

from msgspec import Struct

from ..model import Outcome, ToolCall, block_text
from ..plain import dumps
from .limits import Limits

Verdict = Literal["", "corrections", "identical", "alternating"]

CIRCLES = (2, 3)
"""The lengths of circles, in rounds, that are noticed."""


LONG = 10_000
"""Arguments longer than this are compared as they were written, not with their keys sorted."""


class WatchedCall(Struct, frozen=True):
    """A call of a round and its outcome. `polls`: its tool is made to be called repeatedly."""

    call: ToolCall
    outcome: Outcome
    invalid: bool = False  # it could not run: no such tool, or arguments that do not fit
    polls: bool = False


class Guard:
    """Watches the rounds of a run."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()
        self._seen: deque[str] = deque(maxlen=max(self.limits.repeats, CIRCLES[-1] * self.limits.cycles))
        self._wrong_rounds = 0
        self._wrong_rounds_of: Counter[str] = Counter()  # by tool

    def start_over(self) -> None:
        """A run begins, or the user spoke: what came before is not a loop."""
        self._wrong_rounds = 0
        self._wrong_rounds_of.clear()
        self._seen.clear()

    def watch(self, done: Sequence[WatchedCall]) -> Verdict:
        """Take in a round; say whether the model should be stopped."""
        if self._is_out_of_corrections(done):
            return "corrections"
        # To poll a job is not a loop, unless the poll fails: then the job does not exist.
        watched = [each for each in done if not (each.polls and each.outcome.status == "complete")]
        if done and not watched:
            return ""
        return self._judge_repeats(
            " ".join(sorted(call_fingerprint(each.call, each.outcome) for each in watched))
        )

    def _is_out_of_corrections(self, done: Sequence[WatchedCall]) -> bool:
        """One wrong call counts for its tool, also if the round has valid calls."""
        wrong = {each.call.name for each in done if each.invalid}
        self._wrong_rounds = self._wrong_rounds + 1 if done and all(each.invalid for each in done) else 0
        self._wrong_rounds_of = Counter({name: self._wrong_rounds_of[name] + 1 for name in wrong})
        most = max([self._wrong_rounds, *self._wrong_rounds_of.values()])
        return most >= self.limits.corrections

    def _judge_repeats(self, round_print: str) -> Verdict:
        self._seen.append(round_print)
        seen = list(self._seen)
        if len(seen) >= self.limits.repeats and len(set(seen[-self.limits.repeats :])) == 1:
            return "identical"
        for size in CIRCLES:
            tail = seen[-size * self.limits.cycles :]
            goes_round = len(tail) == size * self.limits.cycles and tail == tail[:size] * self.limits.cycles
            if goes_round and len(set(tail)) > 1:  # the same call repeated is for `repeats`
                return "alternating"
        return ""


def call_fingerprint(call: ToolCall, outcome: Outcome) -> str:
    """A hash of one call and its outcome, without the id."""
    is_long = call.raw is not None and len(call.raw) > LONG
    arguments = call.raw if is_long else dumps(dict(sorted(call.arguments.items())))
    result = "\n".join(block_text(block) for block in outcome.content)
    print_of = sha256(f"{call.name} {arguments} {outcome.status} ".encode())
    print_of.update(result.encode())
    return print_of.hexdigest()
