"""A docstring read as a tool's description and one line for each parameter.

The three common styles are read: Google (`Args:`), NumPy (`Parameters` underlined) and
Sphinx (`:param name:`). Sections for programmers (Returns, Raises, Examples) are left out
of what a model reads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from inspect import cleandoc

from msgspec import Struct

PARAMETERS = {"args", "arguments", "parameters", "params"}
OTHER = {"returns", "return", "raises", "yields", "yield", "example", "examples", "note", "notes", "see also"}

_HEADING = re.compile(r"([A-Za-z ]+):?\s*")
_GOOGLE = re.compile(r"\s+\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")
_NUMPY = re.compile(r"(\w+)\s*(?::.*)?")
_SPHINX = re.compile(r":(?:param|parameter|arg)\s+(?:[^:]*\s)?(\w+)\s*:\s*(.*)")


class ReadDocstring(Struct, frozen=True):
    """What a docstring says: about the whole, and about each parameter."""

    summary: str = ""
    parameters: dict[str, str] = {}


def read_docstring(text: str | None) -> ReadDocstring:
    """The description of a function and of its parameters, as its author wrote them."""
    if not text:
        return ReadDocstring()
    sections = list(_sections(cleandoc(text).split("\n")))
    found: dict[str, str] = {}
    running: list[str] = []
    for heading, lines in sections:
        if heading in PARAMETERS:
            found.update(_parameters_in(lines))
        elif not heading:
            running += _without_fields(lines, found)
    return ReadDocstring("\n".join(running).strip(), found)


def _sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """(heading, lines): the heading is "" for running text, in lower case for a known section."""
    heading, held = "", []  # type: str, list[str]
    at = 0
    while at < len(lines):
        known, taken = _heading_at(lines, at)
        if known:
            yield heading, held
            heading, held = known, []
        else:
            held.append(lines[at])
        at += taken
    yield heading, held


def _heading_at(lines: list[str], at: int) -> tuple[str, int]:
    line = lines[at]
    match = _HEADING.fullmatch(line)
    word = match.group(1).strip().lower() if match else ""
    if word not in PARAMETERS | OTHER:
        return "", 1
    underlined = at + 1 < len(lines) and bool(re.fullmatch(r"-{3,}\s*", lines[at + 1]))
    if underlined:
        return word, 2
    return (word, 1) if line.rstrip().endswith(":") else ("", 1)


def _parameters_in(lines: list[str]) -> dict[str, str]:
    indented = all(line.startswith((" ", "\t")) for line in lines if line.strip())
    return _google(lines) if indented else _numpy(lines)


def _google(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name, level = "", None  # type: str, int | None
    for line in lines:
        depth = len(line) - len(line.lstrip())
        level = depth if level is None and line.strip() else level
        match = _GOOGLE.fullmatch(line) if depth == level else None
        if match:
            name, found[match.group(1)] = match.group(1), match.group(2).strip()
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _numpy(lines: list[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    name = ""
    for line in lines:
        match = _NUMPY.fullmatch(line) if line and not line[0].isspace() else None
        if match:
            name, found[match.group(1)] = match.group(1), ""
        elif name and line.strip():
            found[name] = f"{found[name]} {line.strip()}".strip()
    return found


def _without_fields(lines: list[str], found: dict[str, str]) -> Iterator[str]:
    """The running text; Sphinx fields are moved into `found`, other fields are left out."""
    name = ""
    for line in lines:
        if match := _SPHINX.fullmatch(line):
            name, found[match.group(1)] = match.group(1), match.group(2).strip()
        elif re.match(r":\w+[^:]*:", line):
            name = ""
        elif name and line.startswith((" ", "\t")):
            found[name] = f"{found[name]} {line.strip()}".strip()
        else:
            name = ""
            yield line
