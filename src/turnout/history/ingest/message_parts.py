"""The parts of a message as types that all formats share.

The reader of each format only translates: who spoke, which texts, calls and results there
are. `resolve` decides once, for all formats, which result belongs to which call.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct

from ...model import Block, Origin, Outcome, Residue, Scope
from ...plain import dumps

Speaker = Literal["system", "user", "model", "tool"]


class HeardCall(Struct, frozen=True):
    """A call as it was written; `arguments` may be anything. `unnumbered`: the format gives calls no ids."""

    raw_id: str
    name: str
    arguments: Any = None
    residue: Residue | None = None
    unnumbered: bool = False


class HeardResult(Struct, frozen=True):
    """A result as it was reported, under whatever id and name it came."""

    raw_id: str
    name: str
    outcome: Outcome
    unnumbered: bool = False


class HeardNote(Struct, frozen=True):
    """Data that is kept in the history and that models never read."""

    kind: str
    data: Any = None


Item: TypeAlias = Block | HeardCall | HeardResult | HeardNote


class Heard(Struct, frozen=True):
    """One message. `joins`: it is a piece of a reply; the next piece belongs to the same turn."""

    speaker: Speaker
    items: tuple[Item, ...]
    origin: Origin
    turn_id: str = ""
    joins: bool = False


class ReaderFinding(Struct, frozen=True):
    """Damage or an oddity that a reader found."""

    code: str
    detail: str = ""


class ReadContext:
    """What a reader needs besides the message: its origin, and a list for findings."""

    def __init__(
        self, origin: Origin, unit: str = "part", findings: list[ReaderFinding] | None = None
    ) -> None:
        self.origin = origin
        self.unit = unit  # what this family calls a piece of content; also its key in a residue
        self.findings: list[ReaderFinding] = [] if findings is None else findings
        self.hosted: set[str] = set()  # ids of calls that the provider ran itself

    def speaking_as(self, origin: Origin) -> ReadContext:
        """The same context for messages of another origin."""
        return ReadContext(origin, self.unit, self.findings)

    def report(self, code: str, detail: str = "") -> None:
        self.findings.append(ReaderFinding(code, detail))

    def residue(self, **data: Any) -> Residue | None:
        """Private state of the model that wrote the message, without None values; None if it is empty."""
        return self.scoped_residue("model", **data)

    def scoped_residue(self, scope: Scope, **data: Any) -> Residue | None:
        """Private state for every model of this account or provider."""
        kept = {name: value for name, value in data.items() if value is not None}
        return Residue(self.origin, kept, scope) if kept else None


# Unchecked values


def text_of(value: Any) -> str:
    """A text as it is, None as "", anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value)


def list_of(value: Any) -> list[Any]:
    """A list as it is, None as an empty list, anything else as a list of one."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def dict_of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def first_of(values: Mapping[str, Any], *names: str) -> Any:
    """The value of the first of these names that is there and not null."""
    return next((values[name] for name in names if values.get(name) is not None), None)


def texts_in(value: Any) -> Iterator[str]:
    """Every text under the usual names, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        for name in ("title", "text", "thinking", "content", "summary", "output"):
            yield from texts_in(value.get(name))
