"""The fields of a request body, taken one by one: what is not taken is left over and kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...plain import dumps

WORDS: dict[type, str] = {str: "text", int: "a whole number", float: "a number", bool: "true or false"}
LONGEST = 60
"""Characters that are shown of a value that is not valid."""


class Fields:
    """A body without its messages. A null counts as absent, as in every API."""

    def __init__(self, fields: Mapping[str, Any]) -> None:
        self._left: dict[str, Any] = _without_nulls(fields)
        self.taken: dict[str, Any] = {}  # what was taken, by its path
        self.dropped: list[str] = []

    @property
    def leftover(self) -> dict[str, Any]:
        """What was not taken."""
        return self._left

    def drop(self, name: str, why: str) -> None:
        """Note a field that goes to no target, with the reason."""
        self.dropped.append(f"{name}: {why}")

    def has(self, path: str) -> bool:
        return self.peek(path) is not None

    def peek(self, path: str) -> Any:
        """The value at a path such as `reasoning.effort`, which stays."""
        if "." not in path:
            return self._left.get(path)
        value: Any = self._left
        for name in path.split("."):
            value = value.get(name) if isinstance(value, dict) else None
        return value

    def take(self, path: str, kind: type) -> Any:
        """The value at a path if it is of this kind; a value of another kind is dropped with the reason."""
        value = self.peek(path)
        if value is None:
            return None
        self.remove(path)
        if _is_of(value, kind):
            return value
        self.drop(path, f"{dumps(value)[:LONGEST]} is not {WORDS.get(kind, 'an object')}")
        return None

    def take_first(self, kind: type, *paths: str) -> Any:
        """The first of several spellings that is there; the others stay."""
        return next((self.take(path, kind) for path in paths if self.has(path)), None)

    def take_if(self, path: str, *values: Any) -> Any:
        """The value at a path if it is one of these; else it stays."""
        value = self.peek(path)
        if not any(type(value) is type(known) and value == known for known in values):
            return None
        self.remove(path)
        return value

    def remove(self, path: str) -> None:
        """Take a value away, and the objects around it that are empty then."""
        *above, last = path.split(".")
        holders = [self._left]
        for name in above:
            holders.append(holders[-1][name])
        self.taken[path] = holders[-1].pop(last)
        for name, holder in reversed(list(zip(above, holders, strict=False))):
            if not holder[name]:
                del holder[name]


def found_options(**found: Any) -> dict[str, Any]:
    """The options that were found."""
    return {name: value for name, value in found.items() if value is not None}


def _is_of(value: Any, kind: type) -> bool:
    if isinstance(value, bool):
        return kind is bool
    return isinstance(value, int | float) if kind is float else isinstance(value, kind)


def _without_nulls(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _without_nulls(item) for name, item in value.items() if item is not None}
    return value
