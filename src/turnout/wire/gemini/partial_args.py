"""Arguments that arrive value by value: Vertex names a path (`$.items[0].title`) and its value.

A string may come in pieces; each but the last says that more will follow. Indexes are
bounded, so that a server cannot make us build a list of a billion gaps.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Any

MAX_INDEX = 100_000
MAX_DEPTH = 64
_STEP = re.compile(r"""\.([^.\[\]]+)|\[(\d+)\]|\[(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")\]""")


class PartialArgs:
    """One call's arguments while they come in."""

    def __init__(self) -> None:
        self.value: dict[str, Any] = {}
        self._growing: set[str] = set()

    def add(self, partial: Any) -> None:
        """Apply one entry of `partialArgs`; an invalid one changes nothing."""
        if not isinstance(partial, dict) or not isinstance(partial.get("jsonPath"), str):
            return
        path = partial["jsonPath"]
        steps = _steps(path)
        if not steps:
            return
        self._put_value(steps, _value_of(partial), path in self._growing)
        if partial.get("willContinue") is True:
            self._growing.add(path)
        else:
            self._growing.discard(path)

    def _put_value(self, steps: list[str | int], value: Any, grows: bool) -> None:
        holder: Any = self.value
        for step, following in pairwise(steps):
            inner = _value_at(holder, step)
            if not _can_hold(inner, following):
                inner = [] if isinstance(following, int) else {}
                if not _set_at(holder, step, inner):
                    return
            holder = inner
        before = _value_at(holder, steps[-1])
        if grows and isinstance(before, str) and isinstance(value, str):
            value = before + value
        _set_at(holder, steps[-1], value)


def _steps(path: str) -> list[str | int]:
    """The keys and positions of a path; [] if it cannot be read."""
    steps: list[str | int] = []
    end = 1
    while path.startswith("$") and end < len(path):
        found = _STEP.match(path, end)
        if found is None or len(steps) >= MAX_DEPTH:
            return []
        name, index, single, double = found.groups()
        steps.append(int(index) if index is not None else _unescape_key(name or single or double or ""))
        end = found.end()
    return steps if steps and isinstance(steps[0], str) else []


def _unescape_key(name: str) -> str:
    return re.sub(r"\\(.)", r"\1", name)


def _value_of(partial: dict[str, Any]) -> Any:
    for name in ("stringValue", "numberValue", "boolValue"):
        if partial.get(name) is not None:
            return partial[name]
    return None


def _can_hold(value: Any, step: str | int) -> bool:
    return isinstance(value, list if isinstance(step, int) else dict)


def _value_at(holder: Any, step: str | int) -> Any:
    if isinstance(step, int):
        return holder[step] if step < len(holder) else None
    return holder.get(step)


def _set_at(holder: Any, step: str | int, value: Any) -> bool:
    if isinstance(step, int):
        if step > MAX_INDEX:
            return False
        holder.extend([None] * (step + 1 - len(holder)))
    holder[step] = value
    return True
