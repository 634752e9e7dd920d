"""The store of sessions: open one to resume it, read it, list, fork, search, prune.

    store = Store()
    async with Session("openai:gpt-5.1", store=store, id="holiday") as session: ...

`open` leases a session: one process writes it at a time. `read` needs no lease.
"""

from __future__ import annotations

import os
import time
from collections.abc import AsyncIterator, Callable, Container, Iterable, Mapping
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import apsw
import msgspec

from ..declarations import specs_of
from ..errors import SessionHeld, StoreError, UsageError
from ..history.codec import encode_entry
from ..history.log import History
from ..history.waiting import WaitingCall, answer_fields
from . import holder as holders
from .counters import Counters
from .heartbeat import Heartbeat
from .journal import Journal
from .place import default_path
from .ports import Hit, Lease, Lines, SessionHeader, SessionLog, SessionSummary, StoreBackend
from .pruning import Pruning
from .recover import history_of_stored, settle_interrupted
from .signals import CancelWatch, WatchedEvent, watch_session
from .sqlite.backend import SqliteBackend
from .sqlite.database import Connect
from .summary_of_entries import tally_of

Hits: TypeAlias = list[Hit]
Strings: TypeAlias = list[str]
WaitingList: TypeAlias = list[WaitingCall]

NUMBERS = count(1)  # of the stores of this process

LEASE = 30.0
"""Seconds without a renewal after which a session may be taken over."""


def open_store(environment: Mapping[str, str]) -> Store:
    """The store of the user, where the environment says."""
    return Store.at(environment.get("TURNOUT_STORE") or None, environment=environment)


class Store:
    """Sessions in one file, shared by all processes of the machine, or in PostgreSQL (`Store.at`).

    `lease` is in seconds: without a renewal for so long, another process may take a session over.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        environment: Mapping[str, str] | None = None,
        wall_clock: Callable[[], float] = time.time,
        clock: Callable[[], float] = holders.clock,
        lease: float = LEASE,
        heartbeat: bool = True,
        connect: Connect = apsw.Connection,
        backend: StoreBackend | None = None,
    ) -> None:
        environment = os.environ if environment is None else environment
        if is_postgres(path):
            raise UsageError("this address is not a path; open it with Store.at(url)")
        place = Path(path) if path is not None else default_path(environment)
        self.backend: StoreBackend = backend or SqliteBackend(
            place, wall_clock=wall_clock, clock=clock, connect=connect
        )
        self.address = self.backend.address
        self.counters = Counters(self.backend.counter_table, wall_clock)
        self._wall_clock = wall_clock
        self.lease = lease
        self._number = next(NUMBERS)
        self._journals: dict[str, Journal] = {}
        self._heartbeat = Heartbeat(self._renew_leases, lease / 3) if heartbeat else None
        self._cancel_watch = CancelWatch(self.backend, self._open_leases)
        self._endings: list[Callable[[], None]] = []

    @classmethod
    def at(cls, url: str | Path | None = None, **options: Any) -> Store:
        """The store at an address: a path for SQLite, `postgresql://user@host/database` for PostgreSQL."""
        if not is_postgres(url):
            return cls(_path_of(url), **options)
        from .postgres.backend import PostgresBackend  # needs turnout[postgres]

        return cls(backend=PostgresBackend(str(url), wall_clock=options.get("wall_clock")), **options)

    @property
    def path(self) -> Path:
        """The file of the store."""
        if not isinstance(self.backend, SqliteBackend):
            raise UsageError("a store in PostgreSQL has no path; use store.address")
        return self.backend.path

    @property
    def log(self) -> SessionLog:
        """Where the entries of sessions are kept."""
        return self.backend.log

    # One session

    def open(
        self,
        id: str,
        *,
        system: str = "",
        tools: Iterable[Any] = (),
        parent: str = "",
        retry_safe: Container[str] = (),
    ) -> History:
        """Open a session, new or stored, to resume it; raises `SessionHeld` if another process has it.

        `retry_safe` names the tools that may run again after a crash.
        """
        if id in self._journals:
            raise SessionHeld(f"session {id} is open in this store already; release it first")
        specs = specs_of(tools)
        header = SessionHeader(id, "", system, specs, "subagent" if parent else "session", parent)
        lease = self.log.take(header, holders.this_process(self._wall_clock(), self._number), self.lease)
        try:
            stored = self.log.load(id)
            history = history_of_stored(stored)
            journal = Journal(self.backend, lease, len(stored.entries))
            self._recover_in_one_commit(history, journal, stored.draft, retry_safe)
        except BaseException:
            with suppress(StoreError):
                self.log.release(lease)
            raise
        self._journals[id] = journal
        if self._heartbeat is not None:
            self._heartbeat.start()
        return history

    def _recover_in_one_commit(
        self, history: History, journal: Journal, draft: bytes | None, retry_safe: Container[str]
    ) -> None:
        """Settle what a crash left open; all entries of it are one commit."""
        history.writer, journal.patient = journal, True
        settle_interrupted(history, draft, retry_safe)
        journal.commit()
        journal.patient = False
        if draft is not None:
            journal.draft(None)

    def journal(self, id: str) -> Journal:
        """The writer of a session that is open in this store."""
        return self._journals[id]

    def release(self, id: str) -> None:
        """Release a session; everything so far is in the store."""
        journal = self._journals.pop(id, None)
        if journal is None:
            return
        try:
            with suppress(SessionHeld):  # the append that failed has reported it
                journal.commit()
        finally:
            with suppress(StoreError):
                self.log.release(journal.lease)
            if not self._journals:
                self._close_if_idle()

    def read(self, id: str) -> History:
        """A session as it is now, also one that is open elsewhere. Writes to it stay in memory."""
        stored = self.log.load(id)
        history = history_of_stored(stored)
        history.scheduled = True
        return history

    def add(self, history: History, *, title: str = "", kind: str = "import", source: str = "") -> str:
        """Store a whole history as a new session; its key becomes the id."""
        header = SessionHeader(history.key, title, history.system, history.tools, kind, "", source)
        self.log.add(header, map(encode_entry, history.entries), tally_of(history.entries))
        return history.key

    def fork(self, id: str, *, at: str | int | None = None, into: str = "") -> str:
        """The id of a new session with all entries up to a turn (its key, or its number from 1)."""
        parent, line = self.read(id), self.summary(id)
        key = _turn_key(parent, at)
        child = parent.fork(into or self._free_fork_id(id), at=key)
        return self.add(child, title=line.title, kind="fork", source=f"{id}@{key}" if key else id)

    def _free_fork_id(self, id: str) -> str:
        number = 1
        while self.knows(name := f"{id}.fork{number}"):
            number += 1
        return name

    # All sessions

    def list(self, *, limit: int | None = None, subagents: bool = False, within: str | None = None) -> Lines:
        """The sessions, latest first. `within`: the subagents of this one."""
        if within is not None:
            return self.backend.catalog.children(within)
        return self.backend.catalog.lines(limit, subagents=subagents)

    def summary(self, id: str) -> SessionSummary:
        """The summary of a session for a list."""
        if (found := self.log.find(id)) is None:
            raise UsageError(f"there is no session {id!r}; `turnout sessions` lists all")
        return found

    def knows(self, id: str) -> bool:
        """Whether there is a session with this id."""
        return self.log.find(id) is not None

    def search(self, query: str, limit: int = 20) -> Hits:
        """The sessions that contain all these words, best first."""
        return self.backend.words.search(query, limit)

    def rename(self, id: str, title: str) -> None:
        """Give a session another title."""
        self.backend.catalog.rename(id, title)

    def delete(self, id: str) -> Strings:
        """Delete a session and its subagents; raises `SessionHeld` while one of them is open."""
        return self.backend.catalog.delete(id)

    def prune(
        self,
        *,
        older_than: float | None = None,
        larger_than: int | None = None,
        keep: int | None = None,
        dry_run: bool = False,
    ) -> Lines:
        """Delete sessions unused for `older_than` seconds, and the oldest until the rest fits.

        `larger_than` is for the bytes of all; `keep` is how many sessions each client may have (a session
        `client/…` belongs to that client).
        """
        pruning, now = Pruning(self.backend.catalog), self._wall_clock()
        return pruning.prune(now, older_than, larger_than, keep, dry_run)

    def check(self) -> Strings:
        """The faults that the database finds; empty if there are none."""
        return self.backend.check()

    # What others do

    def watch(self, id: str, *, after: int = 0) -> AsyncIterator[WatchedEvent]:
        """The entries of a session as they are written, by any process on any host; it has no end.

        `after` is the place of the last event that was seen: nothing is missed, and nothing comes twice.
        """
        return watch_session(self.backend, id, after)

    def cancel(self, id: str) -> bool:
        """Have the run of a session cancelled, in whatever process; False if no process has it open."""
        self.summary(id)  # raises where there is no such session
        return self.backend.cancels.request_cancel(id)

    def on_cancel(self, id: str, then: Callable[[], None]) -> None:
        """While a run is under way: call `then`, in a thread, when someone cancels it."""
        self._cancel_watch.add(id, then)

    def forget_cancel(self, id: str, *, clear: bool) -> None:
        """The run is over; with `clear` a request was followed, or is about an earlier prompt."""
        self._cancel_watch.remove(id)
        if clear and (journal := self._journals.get(id)) is not None:
            self.backend.cancels.clear_cancel(journal.lease)

    def waiting_calls(self, session: str | None = None) -> WaitingList:
        """The calls that wait for an answer from outside, of one session or of all; oldest first."""
        return self.backend.waiting_calls.list_waiting(session)

    def answer(self, session: str, call_id: str, outcome: Any) -> None:
        """Leave the answer to a waiting call; it takes effect when a process resumes the session.

        `outcome` is an `Outcome`, or its content. For a call that waits for approval it is True or False, or
        a `Decision`.
        """
        call = next((each for each in self.waiting_calls(session) if each.call_id == call_id), None)
        if call is None:
            raise UsageError(f"call {call_id} does not wait for an answer; see `store.waiting_calls()`")
        answer = msgspec.json.encode(answer_fields(call, outcome))
        if not self.backend.waiting_calls.put_answer(session, call_id, answer):
            raise UsageError(f"call {call_id} has an answer already; see what the session made of it")

    def _open_leases(self) -> dict[str, Lease]:
        return {id: journal.lease for id, journal in tuple(self._journals.items())}

    # Ending

    def close(self) -> None:
        """Release all sessions and close the file, or the connections."""
        with ExitStack() as endings:
            endings.callback(self.backend.close)
            for end in self._endings:
                endings.callback(end)
            endings.callback(self._close_if_idle)
            for id in tuple(self._journals):
                endings.callback(self.release, id)

    def at_close(self, end: Callable[[], None]) -> None:
        """Have something closed with the store, each time that it is closed."""
        self._endings.append(end)

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _close_if_idle(self) -> None:
        """No session is open here: close the file. The next use opens it again."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
        with suppress(StoreError):
            self.counters.flush()
        self.backend.rest()

    def _renew_leases(self) -> None:
        for journal in tuple(self._journals.values()):
            self.log.renew(journal.lease)
        self.counters.flush()


def _turn_key(history: History, at: str | int | None) -> str | None:
    if not isinstance(at, int):
        return at
    turns = history.turns
    if not 1 <= at <= len(turns):
        raise UsageError(f"there is no turn {at}; give a number from 1 to {len(turns)}")
    return turns[at - 1].key


def is_postgres(url: str | Path | None) -> bool:
    """Whether an address is one of PostgreSQL."""
    return isinstance(url, str) and url.startswith(("postgresql://", "postgres://"))


def _path_of(url: str | Path | None) -> str | Path | None:
    """The path of a file; `sqlite:///folder/file.db` is one too."""
    if isinstance(url, str) and "://" in url:
        scheme, _, rest = url.partition("://")
        if scheme != "sqlite":
            raise UsageError(f"{scheme}:// is not a kind of store; use a path or postgresql://user@host/db")
        return rest[1:] if rest.startswith("//") else rest.removeprefix("/") or None
    return url
