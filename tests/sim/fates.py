"""Everything that chance decides in one run, from one number.

Each part of the world has dice of its own, so that a change in one does not reshuffle the
others. Which faults occur at all, and how often, differs from seed to seed: a rare fault
shows best where the others are silent. New kinds come last, so that old ones keep their rates.
"""

from __future__ import annotations

import random

KINDS = (
    "http_passing",
    "http_lasting",
    "dead_line",
    "no_reply",
    "silence",
    "cut",
    "stream_error",
    "garbled",
    "repeated",
    "corrupted",
    "odd",
    "tool_trouble",
    "store",
    "meddling",
    "leaving",
    "denying",
    "crowd",
    "cancelling",
)
DISTORTING = ("garbled", "repeated", "corrupted")
"""Faults after which what arrived may not be what the provider sent."""


class Fates:
    """What befalls the run of one seed."""

    def __init__(self, seed: int, without: frozenset[str] = frozenset()) -> None:
        self.seed = seed
        dice = self.dice("rates")
        drawn = {kind: dice.uniform(0.02, 0.4) if dice.random() < 0.45 else 0.0 for kind in KINDS}
        self.rates = {kind: 0.0 if kind in without else rate for kind, rate in drawn.items()}
        self._dice = self.dice("fates")
        self.calm = False

    def dice(self, name: str) -> random.Random:
        """Chance for one part of the world."""
        return random.Random(f"{self.seed} {name}")

    def strikes(self, kind: str) -> bool:
        """Whether this fault happens now."""
        return self._dice.random() < self.rates[kind] and not self.calm

    @property
    def distorts(self) -> bool:
        return any(self.rates[kind] for kind in DISTORTING)
