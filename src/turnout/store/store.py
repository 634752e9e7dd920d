"""The store of sessions: open one to go on with it, read it, list, fork, search, prune.

    store = Store()
    async with Session("openai:gpt-5.1", store=store, id="holiday") as session: ...

To open a session is to hold it: one process writes it at a time. To read one takes nothing.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import ExitStack, suppress
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias

import apsw

from ..declarations import specs_of
from ..errors import SessionHeld, StoreError, UsageError
from ..history.codec import encode_entry
from ..history.log import History
from . import holder as holders
from .catalogue import Catalog
from .counters import Counters
from .heartbeat import Heartbeat
from .journal import Journal
from .place import default_path
from .ports import Header, Lines, Summary
from .recover import recover, retold
from .search import Hit, Words
from .sqlite.database import Connect
from .sqlite.log import SqliteLog
from .summary_of_entries import tally_of

Hits: TypeAlias = list[Hit]
Strings: TypeAlias = list[str]

NUMBERS = count(1)  # of the stores of this process

LEASE = 30.0
"""Seconds without a sign of life after which a session may be taken over."""


def open_store(environment: Mapping[str, str]) -> Store:
    """The user's own store, where their environment says it is."""
    return Store(environment=environment)


class Store:
    """Sessions in one file, for this process and any other on the machine."""

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
    ) -> None:
        environment = os.environ if environment is None else environment
        self.path = Path(path) if path is not None else default_path(environment)
        self.log = SqliteLog(self.path, wall_clock=wall_clock, clock=clock, connect=connect)
        self.counters = Counters(self.log.database, wall_clock)
        self._words = Words(self.log.database)
        self._catalog = Catalog(self.log)
        self._wall_clock = wall_clock
        self._lease = lease
        self._number = next(NUMBERS)
        self._journals: dict[str, Journal] = {}
        self._heartbeat = Heartbeat(self._beat, lease / 3) if heartbeat else None

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
        """The session of that id, to go on with: new, or as it was left; `SessionHeld` if someone has it.

        `retry_safe` names the tools that may run again where a crash cut them off.
        """
        if id in self._journals:
            raise SessionHeld(f"session {id} is open in this store already; release it first")
        specs = specs_of(tools)
        header = Header(id, "", system, specs, "subagent" if parent else "session", parent)
        lease = self.log.take(header, holders.ourselves(self._wall_clock(), self._number), self._lease)
        try:
            stored = self.log.load(id)
            history = retold(stored)
            journal = Journal(self.log, lease, len(stored.entries))
            self._recover(history, journal, stored.draft, retry_safe)
        except BaseException:
            with suppress(StoreError):
                self.log.release(lease)
            raise
        self._journals[id] = journal
        if self._heartbeat is not None:
            self._heartbeat.start()
        return history

    def _recover(
        self, history: History, journal: Journal, draft: bytes | None, retry_safe: Container[str]
    ) -> None:
        """All that a resume writes is one commit."""
        history.writer, journal.patient = journal, True
        recover(history, draft, retry_safe)
        journal.commit()
        journal.patient = False
        if draft is not None:
            journal.draft(None)

    def journal(self, id: str) -> Journal:
        """What writes a session that is open here."""
        return self._journals[id]

    def release(self, id: str) -> None:
        """Let go of a session; everything said so far is in the store."""
        journal = self._journals.pop(id, None)
        if journal is None:
            return
        try:
            with suppress(SessionHeld):  # what it could not write any more was said at the time
                journal.commit()
        finally:
            with suppress(StoreError):
                self.log.release(journal.lease)
            if not self._journals:
                self._rest()

    def read(self, id: str) -> History:
        """A session as it stands, whoever has it open. What is written to it stays in memory."""
        stored = self.log.load(id)
        history = retold(stored)
        history.scheduled = True
        return history

    def add(self, history: History, *, title: str = "", kind: str = "import", source: str = "") -> str:
        """Store a whole history as a session of its own, under its key, which is its id then."""
        header = Header(history.key, title, history.system, history.tools, kind, "", source)
        self.log.add(header, map(encode_entry, history.entries), tally_of(history.entries))
        return history.key

    def fork(self, id: str, *, at: str | int | None = None, into: str = "") -> str:
        """The id of a session of its own that shares all up to a turn (its key, or its number from 1)."""
        parent, line = self.read(id), self.summary(id)
        key = _turn_key(parent, at)
        child = parent.fork(into or self._free(id), at=key)
        return self.add(child, title=line.title, kind="fork", source=f"{id}@{key}" if key else id)

    def _free(self, id: str) -> str:
        number = 1
        while self.knows(name := f"{id}.fork{number}"):
            number += 1
        return name

    # All of them

    def list(self, *, limit: int | None = None, subagents: bool = False, within: str | None = None) -> Lines:
        """The sessions, latest first. `within`: those that this one started."""
        if within is not None:
            return self._catalog.children(within)
        return self._catalog.lines(limit, subagents=subagents)

    def summary(self, id: str) -> Summary:
        """The line that a list shows of a session."""
        if (found := self.log.find(id)) is None:
            raise UsageError(f"there is no session {id!r}; `turnout sessions` lists those there are")
        return found

    def knows(self, id: str) -> bool:
        return self.log.find(id) is not None

    def search(self, query: str, limit: int = 20) -> Hits:
        """The sessions in which all these words were said, best first."""
        return self._words.search(query, limit)

    def rename(self, id: str, title: str) -> None:
        self._catalog.rename(id, title)

    def delete(self, id: str) -> Strings:
        """Delete a session and the subagents it started; refused while someone has one of them open."""
        return self._catalog.delete(id)

    def prune(
        self,
        *,
        older_than: float | None = None,
        larger_than: int | None = None,
        dry_run: bool = False,
    ) -> Lines:
        """Delete sessions unused for so many seconds, then the oldest until the store is small enough."""
        return self._catalog.prune(self._wall_clock(), older_than, larger_than, dry_run)

    def check(self) -> Strings:
        """What SQLite finds wrong with the file; nothing if it is whole."""
        with self.log.database.reading() as connection:
            rows: Any = connection.execute("PRAGMA integrity_check").fetchall()
        return [text for (text,) in rows if text != "ok"]

    # Ending

    def close(self) -> None:
        """Let go of everything."""
        with ExitStack() as endings:
            endings.callback(self.log.close)
            for id in tuple(self._journals):
                endings.callback(self.release, id)
        self._rest()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _rest(self) -> None:
        """Nobody has a session open here: close the file, which the next one to ask opens again."""
        if self._heartbeat is not None:
            self._heartbeat.stop()
        with suppress(StoreError):
            self.counters.flush()
        self.log.close()

    def _beat(self) -> None:
        for journal in tuple(self._journals.values()):
            self.log.renew(journal.lease)
        self.counters.flush()


def _turn_key(history: History, at: str | int | None) -> str | None:
    if not isinstance(at, int):
        return at
    turns = history.turns
    if not 1 <= at <= len(turns):
        raise UsageError(f"there is no turn {at}; session {history.key} has {len(turns)}")
    return turns[at - 1].key
