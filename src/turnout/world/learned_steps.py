"""What sessions learned from refusals, for each target: which optional things it is asked without.

A small file of the user. It is read when a session first asks a target, shown by `turnout
providers`, and a target is removed from it with `turnout providers --forget`.
"""

from __future__ import annotations

from pathlib import Path

import msgspec
from msgspec import Struct

from ..plain import dumps
from .places import write_private

MOST = 200
LONGEST_REASON = 300


class LearnedStep(Struct, frozen=True):
    """One step of the recovery that helped, and what the provider had said."""

    target: str
    step: str
    why: str = ""


class LearnedSteps:
    """The steps in one file. A file that cannot be read counts as empty."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def all_steps(self) -> list[LearnedStep]:
        try:
            return msgspec.json.decode(self._path.read_bytes(), type=list[LearnedStep])
        except (OSError, msgspec.MsgspecError):
            return []

    def steps_for(self, target: str) -> tuple[str, ...]:
        return tuple(kept.step for kept in self.all_steps() if kept.target == target)

    def keep(self, target: str, step: str, why: str) -> None:
        """Keep a step for a target; the oldest make room. A full or locked disk is not an error."""
        others = [kept for kept in self.all_steps() if (kept.target, kept.step) != (target, step)]
        self._write_steps([*others, LearnedStep(target, step, why[:LONGEST_REASON])][-MOST:])

    def forget(self, target: str) -> int:
        """Remove what was learned of a target; how many steps that were."""
        before = self.all_steps()
        after = [kept for kept in before if kept.target != target]
        if len(after) < len(before):
            self._write_steps(after)
        return len(before) - len(after)

    def _write_steps(self, steps: list[LearnedStep]) -> None:
        try:
            write_private(self._path, dumps(msgspec.to_builtins(steps)))
        except OSError:
            return  # it is learned again in the next session
