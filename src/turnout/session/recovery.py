"""When a provider refuses a request as invalid: what to give up, step by step. No IO.

Each step leaves out something optional. The step that worked stays in force for that target
until the next compaction; turns that came later can be flattened and summarised again. The
same bytes are never sent twice, so a refused history cannot block a session.
"""

from __future__ import annotations

from hashlib import sha256
from typing import Any, Protocol

from ..model import Origin

STEPS = ("drop reasoning", "drop options", "flatten tool history", "summarise")
REPEATED = ("flatten tool history", "summarise")
"""Steps that can be taken again after each new turn."""
DURABLE = ("drop reasoning", "drop options")
"""Steps that depend on the target, not on the conversation: later sessions take them at once."""
KEPT_OPTIONS = ("stream", "tool_choice", "max_tokens")


class StepMemory(Protocol):
    """Keeps steps that helped, by the name of the target, for later sessions."""

    def steps_for(self, target: str) -> tuple[str, ...]: ...

    def keep(self, target: str, step: str, why: str) -> None: ...


class Recovery:
    """The steps in force for each target. `memory` is None where nothing is kept for later sessions."""

    def __init__(self, memory: StepMemory | None = None) -> None:
        self._memory = memory
        self._taken: dict[Origin, dict[str, str]] = {}  # each step, and the turn through which it goes
        self._learned: dict[Origin, tuple[str, ...]] = {}  # steps of earlier sessions
        self._untold: dict[Origin, tuple[str, ...]] = {}
        self._fresh: dict[Origin, list[str]] = {}  # steps since the last reply
        self._refused: set[bytes] = set()

    def resume(self, earlier: Recovery) -> None:
        """Go on with the steps that were taken when this conversation was last asked for a reply."""
        self._taken = {origin: dict(steps) for origin, steps in earlier._taken.items()}

    def step(self, origin: Origin, last_key: str) -> str:
        """Go one step further for this target; "" when nothing is left to give up."""
        taken = self._steps_of(origin)
        for step in STEPS:
            if step not in taken or (step in REPEATED and taken[step] != last_key):
                taken[step] = last_key
                self._fresh.setdefault(origin, []).append(step)
                return step
        return ""

    def in_force(self, origin: Origin) -> tuple[str, ...]:
        return tuple(self._steps_of(origin))

    def take_untold(self, origin: Origin) -> tuple[str, ...]:
        """The steps that earlier sessions learned, once: the user is told of them."""
        self._steps_of(origin)
        return self._untold.pop(origin, ())

    def note_success(self, origin: Origin, why: str) -> None:
        """The target answered. Steps that made it do so are kept, unless the conversation was the reason."""
        fresh = self._fresh.pop(origin, [])
        if self._memory is None or not fresh or fresh[-1] not in DURABLE:
            return
        for step in fresh:
            self._memory.keep(str(origin), step, why)

    def _steps_of(self, origin: Origin) -> dict[str, str]:
        if origin not in self._learned:
            known = self._memory.steps_for(str(origin)) if self._memory is not None else ()
            self._learned[origin] = self._untold[origin] = tuple(step for step in known if step in DURABLE)
        return self._taken.setdefault(origin, dict.fromkeys(self._learned[origin], ""))

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
