"""The writer of the history of one session: it puts each entry into the store.

While `patient` is set, entries wait for `commit`, which the session calls before anything
leaves the process: before a tool runs, before an event is shown, before a request is sent. So
a batch of outcomes costs one commit, and a crash loses only what was not shown yet.

`commit` and `draft` may run in a thread, so that a slow database does not stop the event loop. A lock
keeps their order; entries that come meanwhile wait for the next commit.
"""

from __future__ import annotations

import threading

from ..history.codec import encode_entry
from ..model import Entry, ModelTurn, Note
from .ports import Lease, Record, StoreBackend
from .summary_of_entries import tally_of


class Journal:
    """Called with each entry before it takes effect; raises `StoreError` when it cannot be stored."""

    def __init__(self, backend: StoreBackend, lease: Lease, length: int) -> None:
        self.lease = lease
        self.patient = False
        self._backend = backend
        self._length = length  # how many entries are in the store
        self._waiting: list[tuple[Record, Entry]] = []
        self._made = 0
        self._ended_replies: set[str] = set()  # keys of replies that are complete or taken back
        self._writing = threading.Lock()

    @property
    def unwritten_count(self) -> int:
        """How many entries are not in the store yet."""
        return len(self._waiting)

    def __call__(self, entry: Entry) -> None:
        self._made += 1
        self._waiting.append((Record(f"{self.lease.epoch}.{self._made}", encode_entry(entry)), entry))
        self._note_end_of_reply(entry)
        if self.patient:
            return
        try:
            self.commit()
        except BaseException:
            self._waiting.pop()  # the history does not take it either
            raise

    def commit(self) -> None:
        """Write all waiting entries. After an error they wait for the next commit."""
        with self._writing:
            waiting = tuple(self._waiting)
            if not waiting:
                return
            records = tuple(record for record, _ in waiting)
            tally = tally_of(entry for _, entry in waiting)
            self._backend.log.append(self.lease, self._length, records, tally)
            self._length += len(records)
            del self._waiting[: len(waiting)]

    def draft(self, turn: ModelTurn | None) -> None:
        """Store the partial reply, as far as it has come; not when the reply has ended meanwhile."""
        with self._writing:
            if turn is None or turn.key not in self._ended_replies:
                self._backend.drafts.draft(self.lease, None if turn is None else encode_entry(turn))

    def _note_end_of_reply(self, entry: Entry) -> None:
        match entry:
            case ModelTurn(key=key):
                self._ended_replies.add(key)
            case Note(data={"turn_key": str(key)}):
                self._ended_replies.add(key)
