"""What a store does: lease a session, append to it under that lease, load it, list it.

A lease has an epoch that only grows. Every append names its epoch and is refused once a newer
epoch exists, so a writer that was suspended too long cannot add to a log that another process
has continued. Entries have unique ids: appending one a second time changes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, TypeAlias

from msgspec import Struct


class Holder(Struct, frozen=True):
    """A process that has a session open. `place` and `born` tell it from a later one with the same pid.

    `store` is the number of the store within the process.
    """

    pid: int
    host: str = ""
    since: float = 0.0  # wall clock, for people
    place: str = ""
    born: int = 0
    store: int = 0


class Lease(Struct, frozen=True):
    """The right to append to one session, until the next epoch begins.

    After `seconds` without a renewal another process may take over.
    """

    session: str
    epoch: int
    seconds: float


class Record(Struct, frozen=True):
    """One entry as it is stored, with an id that is unique in the session."""

    id: str
    data: bytes


class Tally(Struct, frozen=True):
    """What entries add to the summary of a session; `replied`: the partial reply is complete."""

    turns: int = 0
    cost: float | None = None
    model: str = ""
    title: str = ""
    replied: bool = False


class SessionHeader(Struct, frozen=True):
    """The fields of a session beside its entries. `kind`: session, subagent, fork or import."""

    id: str
    title: str = ""
    system: str = ""
    tools: tuple[Any, ...] = ()
    kind: str = "session"
    parent: str = ""  # the session that started a subagent
    source: str = ""  # what a fork or an import was made from


class StoredSession(Struct, frozen=True):
    """A session as it is stored: its header, its entries in order, the partial reply."""

    header: SessionHeader
    entries: tuple[bytes, ...]
    draft: bytes | None = None


class SessionSummary(Struct, frozen=True):
    """One line of a list of sessions. Times are Unix times; `holder` has it open now."""

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


Lines: TypeAlias = list[SessionSummary]


class SessionLog(Protocol):
    """Where sessions are stored. When `append` returns, the entries are durable."""

    def take(self, header: SessionHeader, holder: Holder, seconds: float) -> Lease:
        """Lease a session, new or known; raises `SessionHeld` while another lease is valid."""

    def renew(self, lease: Lease) -> bool:
        """Renew a lease; False once another epoch has begun."""

    def release(self, lease: Lease) -> None:
        """End a lease, so that another process need not wait."""

    def append(self, lease: Lease, after: int, records: Sequence[Record], tally: Tally) -> None:
        """Add entries after the first `after`, all or none; raises `SessionHeld` for an old epoch.

        This also renews the lease. With `tally.replied` the draft is deleted: it is one of these entries.
        """

    def draft(self, lease: Lease, data: bytes | None) -> None:
        """Store the partial reply, in place of an earlier one; None deletes it."""

    def load(self, session: str) -> StoredSession:
        """The whole session; raises `UsageError` when there is none with that id."""

    def list(self, limit: int | None = None) -> Lines:
        """The sessions, latest first."""
