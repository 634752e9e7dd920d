"""What a store must be able to do: lease a session, append to it under that lease, load it, list it.

A lease carries an epoch that only grows. Every append names the epoch it was leased under and
is refused once another one has begun, so a writer that was away too long can never add to a log
that has moved on. An entry's id is its own: to append it a second time changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Struct


class Holder(Struct, frozen=True):
    """A process that has a session open. `place` and `born` tell it from a later one with its number.

    `store` tells the stores of one process apart.
    """

    pid: int
    host: str = ""
    since: float = 0.0  # wall clock, for people
    place: str = ""
    born: int = 0
    store: int = 0


class Lease(Struct, frozen=True):
    """The right to append to one session, until the next epoch begins.

    Whoever lets more than `seconds` pass without a sign of life may be followed by another.
    """

    session: str
    epoch: int
    seconds: float


class Record(Struct, frozen=True):
    """One entry as it is stored, under an id that no other entry of the session has."""

    id: str
    data: bytes


class Tally(Struct, frozen=True):
    """What entries add to the line that a list shows; `replied`: the reply under way is over."""

    turns: int = 0
    cost: float | None = None
    model: str = ""
    title: str = ""
    replied: bool = False


class Header(Struct, frozen=True):
    """What is known of a session beside its entries. `kind`: session, subagent, fork or import."""

    id: str
    title: str = ""
    system: str = ""
    tools: tuple[Any, ...] = ()
    kind: str = "session"
    parent: str = ""  # who started a subagent
    source: str = ""  # what a fork or an import was made from


class Stored(Struct, frozen=True):
    """A session as it lies in the store: its header, its entries in order, the reply under way."""

    header: Header
    entries: tuple[bytes, ...]
    draft: bytes | None = None


class Summary(Struct, frozen=True):
    """One line of a list of sessions. Times are seconds since 1970; `holder` has it open now."""

    id: str
    title: str
    model: str
    turns: int
    cost: float | None
    created: float
    updated: float
    size: int
    kind: str = "session"
    parent: str = ""
    source: str = ""
    holder: Holder | None = None


Lines: TypeAlias = list[Summary]


class Log(Protocol):
    """Where sessions are kept. Whatever returns from `append` is there to stay."""

    def take(self, header: Header, holder: Holder, seconds: float) -> Lease:
        """Lease a session, new or known; `SessionHeld` while a living holder's lease lasts."""

    def renew(self, lease: Lease) -> bool:
        """A sign of life; False once another epoch has begun."""

    def release(self, lease: Lease) -> None:
        """Let go, so that the next one need not wait."""

    def append(self, lease: Lease, after: int, records: Sequence[Record], tally: Tally) -> None:
        """Add entries behind the first `after`, all or none; `SessionHeld` for an old epoch.

        A sign of life too. Where the tally says so, the draft has become one of these entries.
        """

    def draft(self, lease: Lease, data: bytes | None) -> None:
        """Keep the reply under way, in place of what was kept of it; None lets it go."""

    def load(self, session: str) -> Stored:
        """All of a session; `UsageError` when there is none of that id."""

    def list(self, limit: int | None = None) -> Lines:
        """The sessions, latest first."""
