"""Read a body that was not validated, beside `mapping`, `array` and `text`.

A checker must work for any JSON value, so every rule reads the body with these: a value of
another type reads as empty, and null as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from .chat.view import array

Object: TypeAlias = Mapping[str, Any]


def objects(value: Any) -> Iterator[tuple[int, Object]]:
    """The objects of a list, each with its place in the list."""
    return ((place, item) for place, item in enumerate(array(value)) if isinstance(item, Mapping))


def repeats(names: Iterable[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """The (path, name) pairs whose name was seen before. Empty names do not count."""
    seen: set[str] = set()
    for path, name in names:
        if name and name in seen:
            yield path, name
        seen.add(name)


def quote_names(names: Iterable[str]) -> str:
    """Names as the providers list them: 'a', 'b', and 'c'."""
    words = [f"'{name}'" for name in names]
    if len(words) < 3:
        return " and ".join(words)
    return ", ".join(words[:-1]) + ", and " + words[-1]
