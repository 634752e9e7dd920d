"""When a provider refuses a request as invalid: what to give up, step by step. No IO.

Each step leaves out something optional. The step that worked stays in force for that target
until the next compaction; turns that came later can be flattened and summarised again. The
same bytes are never sent twice, so a refused history cannot block a session.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from ..model import Origin

STEPS = ("drop reasoning", "drop options", "flatten tool history", "summarise")
REPEATED = ("flatten tool history", "summarise")
"""Steps that can be taken again after each new turn."""
KEPT_OPTIONS = ("stream", "tool_choice", "max_tokens")


class Recovery:
    """The steps in force for each target."""

    def __init__(self) -> None:
        self._taken: dict[Origin, dict[str, str]] = {}  # each step, and the turn through which it goes
        self._refused: set[bytes] = set()

    def step(self, origin: Origin, last_key: str) -> str:
        """Go one step further for this target; "" when nothing is left to give up."""
        taken = self._taken.setdefault(origin, {})
        for step in STEPS:
            if step not in taken or (step in REPEATED and taken[step] != last_key):
                taken[step] = last_key
                return step
        return ""

    def in_force(self, origin: Origin) -> tuple[str, ...]:
        return tuple(self._taken.get(origin, ()))

    def options_for(self, origin: Origin, options: dict[str, Any]) -> dict[str, Any]:
        """The options of a request with the steps in force for this target."""
        steps = self.in_force(origin)
        if "drop reasoning" in steps:
            options = {**{key: value for key, value in options.items() if key != "effort"}, "thinking": False}
        if "drop options" in steps:
            options = {key: value for key, value in options.items() if key in (*KEPT_OPTIONS, "thinking")}
            options["cache"] = False
        if "flatten tool history" in steps:
            options = {**options, "flat_through": self._taken[origin]["flatten tool history"]}
        return options

    def note_refused(self, body: bytes) -> None:
        self._refused.add(sha256(body).digest())

    def was_refused(self, body: bytes) -> bool:
        return bool(self._refused) and sha256(body).digest() in self._refused

    def start_over(self) -> None:
        """After a compaction the requests differ, so every step may be tried again."""
        self._taken.clear()
