"""How much of the laws' work one run does: all of it in a soak, else a tenth that rotates."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
ROTATION = int(os.environ.get("TURNOUT_ROTATION", "0")) % 10
HISTORIES = 2000
SHARDS = 2
TALLY = "turnout tally"


def seeds(shard: int, of: int = HISTORIES) -> Iterable[int]:
    """The conversations of one shard in this run."""
    mine = range(shard, of, SHARDS)
    return mine if SOAK else mine[ROTATION::10]


def tell(record_property: Any, title: str, counts: Mapping[str, int]) -> None:
    """Have the counts shown at the end of the run, also when it is spread over processes."""
    record_property(TALLY, (title, dict(counts)))


def zeros(expected: Iterable[str], counts: Counter[str]) -> list[str]:
    return [name for name in expected if not counts[name]]
