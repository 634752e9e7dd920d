"""A session that is a file of JSON lines; also one in which lines are damaged.

A program that was killed leaves a line without its end, and the next one that starts writes its
first record right behind it. So a line that is not one object is searched for the whole records
in it; what is left over is a record of its own kind, in its place.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from ...plain import loads

Record = dict[str, Any]
Shape = frozenset[str]  # the names of a record's fields

TORN = "torn line"
UNREADABLE = "unreadable line"
TRIES = 10_000  # places of one broken line at which a record is looked for

_DECODER = json.JSONDecoder()
_QUOTE = re.compile(r'(?<!\\)(?:\\\\)*"')


def records(data: bytes) -> list[Record]:
    """The JSON objects of a file of lines, and what is broken between them."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    values = {number: _value_of(line) for number, line in enumerate(lines, 1) if line.strip()}
    shapes = {frozenset(value) for value in values.values() if isinstance(value, dict)}
    found: list[Record] = []
    for number, value in values.items():
        if isinstance(value, dict):
            found.append(value)
        else:
            line = lines[number - 1].decode(errors="replace").strip()
            found += _rescued_records(line, number == len(lines), shapes)
    return found


def _value_of(line: bytes) -> Any:
    try:
        return loads(line)
    except (ValueError, RecursionError):
        return None


def _rescued_records(line: str, is_last: bool, shapes: set[Shape]) -> Iterator[Record]:
    """The whole records of a line that is not one, and what stands before, between and after them."""
    at = 0
    while at < len(line):
        value, end = _object_at(line, at)
        if value is None:
            end = _start_of_last_record(line, at, shapes)
            value = _broken_record(line[at:end], is_last and end == len(line))
        yield value
        at = end + len(line[end:]) - len(line[end:].lstrip())


def _start_of_last_record(line: str, start: int, shapes: set[Shape]) -> int:
    """Where the record begins that the line ends with; the line's end where it ends with none.

    Objects inside a broken record end before the line does, or continue that record. What has
    the fields of another record is one all the same.
    """
    at = start
    for _ in range(TRIES):
        at = line.find("{", at + 1)
        if at < 0:
            break
        value, end = _object_at(line, at)
        if value is None or end < len(line):
            continue
        if _has_known_shape(value, shapes) or not _may_continue(line[start:at]):
            return at
    return len(line)


def _has_known_shape(value: Record, shapes: set[Shape]) -> bool:
    """Whether most of the fields are those of another record of the file."""
    return any(2 * len(shape & value.keys()) > len(shape | value.keys()) for shape in shapes)


def _may_continue(broken: str) -> bool:
    """Whether an object right behind this can be a part of it: outside a text, where JSON has a value."""
    is_in_text = len(_QUOTE.findall(broken)) % 2 == 1
    return not is_in_text and broken.rstrip().endswith((":", ",", "["))


def _object_at(line: str, at: int) -> tuple[Record | None, int]:
    if not line.startswith("{", at):
        return None, at
    try:
        value, end = _DECODER.raw_decode(line, at)
    except (ValueError, RecursionError):
        return None, at
    return value, end


def _broken_record(line: str, is_torn: bool) -> Record:
    return {"type": TORN if is_torn else UNREADABLE, "line": line}
