"""What sessions learned from refusals, for each target: which optional things it is asked without.

A small file of the user, in the form in which `turnout probe` writes a target: one table each. A table
can be moved to `config.toml`, where it lasts; here it expires, because servers change. `turnout
providers` shows what is kept, and `turnout providers --forget` removes a target.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from ..model import Origin
from .places import write_private

MOST = 200
LONGEST_REASON = 300
DAYS = 30
"""How long a step is kept before the target is asked for everything again."""
STEP = "drop "
"""How the names of the kept steps begin. The file says what is dropped: `without = ["reasoning"]`."""
HEAD = """\
# What targets were asked without, since they refused it. `turnout providers --forget TARGET` deletes a
# table; moved to config.toml it lasts.
"""


class LearnedStep(Struct, frozen=True):
    """One step of the recovery that helped, what the provider had said, and the day of the next attempt."""

    target: str
    step: str
    why: str = ""
    until: str = ""


class LearnedSteps:
    """The steps in one file. A file that cannot be read counts as empty.

    `lasting` is what the configuration says of its targets by their names: it does not expire.
    """

    def __init__(
        self,
        path: Path,
        lasting: Mapping[str, tuple[str, ...]] | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._path = path
        self._lasting = lasting or {}
        self._clock = clock

    def all_steps(self) -> list[LearnedStep]:
        """The steps that count today."""
        today = self._day(0)
        return [kept for kept in self._read_steps() if kept.until > today]

    def steps_for(self, target: str) -> tuple[str, ...]:
        """The steps for a target; what the configuration says of it comes first."""
        lasting = (f"{STEP}{word}" for word in self._lasting.get(Origin.parse(target).endpoint, ()))
        learned = (kept.step for kept in self.all_steps() if kept.target == target)
        return tuple(dict.fromkeys((*lasting, *learned)))

    def keep(self, target: str, step: str, why: str) -> None:
        """Keep a step for a target; the oldest make room. A full or locked disk is not an error."""
        others = [kept for kept in self.all_steps() if (kept.target, kept.step) != (target, step)]
        kept = LearnedStep(target, step, why[:LONGEST_REASON], self._day(DAYS))
        self._write_steps([*others, kept][-MOST:])

    def forget(self, target: str) -> int:
        """Remove what was learned of a target; how many steps that were."""
        before = self.all_steps()
        after = [kept for kept in before if kept.target != target]
        if len(after) < len(before):
            self._write_steps(after)
        return len(before) - len(after)

    def _day(self, later: int) -> str:
        return time.strftime("%Y-%m-%d", time.gmtime(self._clock() + later * 86_400))

    def _read_steps(self) -> Iterator[LearnedStep]:
        try:
            text = self._path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return
        import tomllib  # most users have learned nothing

        try:
            tables = tomllib.loads(text).get("targets", {})
        except tomllib.TOMLDecodeError:
            return
        for table in tables.values() if isinstance(tables, dict) else ():
            yield from _steps_in(table)

    def _write_steps(self, steps: list[LearnedStep]) -> None:
        from .written_targets import target_table

        tables: dict[str, dict[str, Any]] = {}
        for kept in steps:
            table = tables.setdefault(kept.target, {"target": kept.target, "without": []})
            table["without"].append(kept.step.removeprefix(STEP))
            table |= {"why": kept.why, "until": kept.until}
        text = "\n".join(target_table(_table_name(name), table) for name, table in tables.items())
        try:
            write_private(self._path, f"{HEAD}\n{text}")
        except OSError:
            return  # it is learned again in the next session


def _steps_in(table: Any) -> Iterator[LearnedStep]:
    held = table if isinstance(table, dict) else {}
    target, without = held.get("target"), held.get("without")
    if not isinstance(target, str) or not isinstance(without, list):
        return
    for word in without:
        yield LearnedStep(target, f"{STEP}{word}", str(held.get("why", "")), str(held.get("until", "")))


def _table_name(target: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", target).strip("-")
