"""What is heard in a message, in words that every format shares.

Each format's reader only translates: who spoke, what was said, which calls were made,
which results were reported. Which result belongs to which call is nobody's business here;
it is resolved once, for all formats alike.
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
    """Something that is kept in the history and that no model ever reads."""

    kind: str
    data: Any = None


Item: TypeAlias = Block | HeardCall | HeardResult | HeardNote


class Heard(Struct, frozen=True):
    """One message. `joins`: it is a piece of a reply, and the next piece belongs to the same turn."""

    speaker: Speaker
    items: tuple[Item, ...]
    origin: Origin
    turn_id: str = ""
    joins: bool = False


class ReaderFinding(Struct, frozen=True):
    """Something a reader noticed."""

    code: str
    detail: str = ""


class ReadContext:
    """What a reader knows besides the message: whose words these are, and where findings go."""

    def __init__(
        self, origin: Origin, unit: str = "part", findings: list[ReaderFinding] | None = None
    ) -> None:
        self.origin = origin
        self.unit = unit  # what this family calls a piece of content, and keeps a whole one under
        self.findings: list[ReaderFinding] = [] if findings is None else findings
        self.hosted: set[str] = set()  # ids of calls that the provider ran itself

    def speaking_as(self, origin: Origin) -> ReadContext:
        """The same context for the words of someone else."""
        return ReadContext(origin, self.unit, self.findings)

    def report(self, code: str, detail: str = "") -> None:
        self.findings.append(ReaderFinding(code, detail))

    def residue(self, **data: Any) -> Residue | None:
        """Private state of who speaks: what is None was not there; None when nothing was."""
        return self.scoped_residue("model", **data)

    def scoped_residue(self, scope: Scope, **data: Any) -> Residue | None:
        """Private state that every model of this account, or of this provider, understands."""
        kept = {name: value for name, value in data.items() if value is not None}
        return Residue(self.origin, kept, scope) if kept else None


# Reading values that may be anything


def text_of(value: Any) -> str:
    """A text as it is, nothing as "", anything else as JSON."""
    if isinstance(value, str):
        return value
    return "" if value is None else dumps(value)


def list_of(value: Any) -> list[Any]:
    """A list as it is, nothing as no items, anything else as the one item."""
    if isinstance(value, list):
        return value
    return [] if value is None else [value]


def dict_of(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def first_of(values: Mapping[str, Any], *names: str) -> Any:
    """The first of several spellings that is there and not null."""
    return next((values[name] for name in names if values.get(name) is not None), None)


def texts_in(value: Any) -> Iterator[str]:
    """Every text under the usual names, in order: what a reader without our types would see."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)
    elif isinstance(value, dict):
        for name in ("title", "text", "thinking", "content", "summary", "output"):
            yield from texts_in(value.get(name))
