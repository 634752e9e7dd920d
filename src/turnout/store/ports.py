"""What a store is made of: a log, drafts, a catalogue, a search for words, and counters.

SQLite and PostgreSQL each have one of every kind, in a folder of their own; `StoreBackend` holds the five.

A lease has an epoch that only grows. Every append names its epoch and is refused once a newer
epoch exists, so a writer that was suspended too long cannot add to a log that another process
has continued. Entries have unique ids: appending one a second time changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from msgspec import Struct

from ..history.waiting import WaitingCall

if TYPE_CHECKING:
    from .signals import SessionSignals


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
    machine: str = ""  # the same after a reboot; "" where it is unknown


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
    """What entries add to the summary of a session; `replied`: the partial reply is complete.

    `waiting` are the calls that wait from now on, and `settled` those that wait no longer; `rewound`:
    none of those before waits any longer.
    """

    turns: int = 0
    cost: float | None = None
    model: str = ""
    title: str = ""
    replied: bool = False
    waiting: tuple[WaitingCall, ...] = ()
    settled: tuple[str, ...] = ()
    rewound: bool = False


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


class Hit(Struct, frozen=True):
    """Where words were found: the session, the number of the entry in it, and an excerpt."""

    session: str
    title: str
    updated: float
    place: int
    excerpt: str


class Count(Struct, frozen=True):
    """How often something happened on one day."""

    day: str
    name: str
    provider: str
    model: str
    count: int


class LeaseState(Struct, frozen=True):
    """Who has a session. A holder that is not `valid` was not heard of in time, or has ended."""

    holder: Holder | None
    valid: bool


class WatchedEntry(Struct, frozen=True):
    """One stored entry: its place in the session, from 1, when it was written, and its bytes."""

    place: int
    at: float
    data: bytes


Lines: TypeAlias = list[SessionSummary]
CounterKey: TypeAlias = tuple[str, str, str, str]
"""Day, name, provider, model."""


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

    def load(self, session: str) -> StoredSession:
        """The whole session; raises `UsageError` when there is none with that id."""

    def list(self, limit: int | None = None) -> Lines:
        """The sessions, latest first."""

    def find(self, session: str) -> SessionSummary | None:
        """The summary of a session; None when there is none with that id."""

    def read_leases(self, sessions: Sequence[str]) -> dict[str, LeaseState]:
        """Who has each of these sessions, living or lost; those that are not known are left out."""

    def add(self, header: SessionHeader, entries: Iterable[bytes], tally: Tally) -> None:
        """Add a whole session: a fork, or an import."""

    def read_after(self, session: str, place: int) -> Sequence[WatchedEntry]:
        """The entries of a session after a place, in order; raises `UsageError` for an unknown session."""


class SessionDrafts(Protocol):
    """The partial reply of each session, which a crash leaves."""

    def draft(self, lease: Lease, data: bytes | None) -> None:
        """Store the partial reply, in place of an earlier one; None deletes it."""


class SessionCatalog(Protocol):
    """Operations on whole sessions. The subagents of a session are deleted with it."""

    def lines(self, limit: int | None, *, subagents: bool) -> Lines:
        """The sessions, latest first."""

    def children(self, id: str) -> Lines:
        """The subagents of a session."""

    def rename(self, id: str, title: str) -> None:
        """Give a session a title that the user chose."""

    def delete(self, id: str) -> list[str]:
        """Delete a session and its subagents, all or none; returns the deleted ids."""

    def vacuum(self) -> None:
        """Return what deleted sessions have used to the file system, as far as that is possible now."""


class WordSearch(Protocol):
    """Full-text search over all texts, calls and results."""

    def search(self, query: str, limit: int) -> list[Hit]:
        """The best entry of each session that has all these words, best first."""


class CounterTable(Protocol):
    """Counts by day, name, provider and model."""

    def add_counts(self, counts: Mapping[CounterKey, int]) -> None:
        """Add to the counts, all or none."""

    def read_counts(self, since: str) -> list[Count]:
        """The counts since a day, latest first."""


class CancelRequests(Protocol):
    """Requests to stop the run of a session, for the process that has it open, wherever that is."""

    def request_cancel(self, session: str) -> bool:
        """Ask for the run to be stopped; False if no process has the session open."""

    def cancelled_sessions(self, leases: Sequence[Lease]) -> set[str]:
        """Those of these sessions whose run must stop."""

    def clear_cancel(self, lease: Lease) -> None:
        """The request was followed, or is about an earlier prompt."""


class WaitingCalls(Protocol):
    """The calls that wait for an answer from outside, and the answers that no process has read yet."""

    def list_waiting(self, session: str | None) -> list[WaitingCall]:
        """The calls of one session, or of all, that wait; oldest first."""

    def list_answered(self) -> list[tuple[str, str]]:
        """The session and the id of each call that has an answer which no process has read yet."""

    def put_answer(self, session: str, call_id: str, answer: bytes) -> bool:
        """Store an answer; False if no such call waits, or if it has an answer. The first one counts."""

    def read_answers(self, session: str) -> dict[str, bytes]:
        """The answers to calls of a session that wait, by the id of the call."""


class StoreBackend(Protocol):
    """The parts of one store, and what belongs to all of them."""

    @property
    def kind(self) -> Literal["sqlite", "postgresql"]: ...

    @property
    def address(self) -> str:
        """Where the store is, for people: without a password."""

    @property
    def log(self) -> SessionLog: ...

    @property
    def drafts(self) -> SessionDrafts: ...

    @property
    def catalog(self) -> SessionCatalog: ...

    @property
    def words(self) -> WordSearch: ...

    @property
    def counter_table(self) -> CounterTable: ...

    @property
    def cancels(self) -> CancelRequests: ...

    @property
    def waiting_calls(self) -> WaitingCalls: ...

    @property
    def signals(self) -> SessionSignals: ...

    def check(self) -> list[str]:
        """The faults that the database finds; empty if there are none."""

    def rest(self) -> None:
        """No session is open: give back what an idle store does not need."""

    def close(self) -> None:
        """Close every connection."""
