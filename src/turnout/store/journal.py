"""The writer of the history of one session: it puts each entry into the store.

While `patient` is set, entries wait for `commit`, which the session calls before anything
leaves the process: before a tool runs, before an event is shown, before a request is sent. So
a batch of outcomes costs one commit, and a crash loses only what was not shown yet.
"""

from __future__ import annotations

from ..history.codec import encode_entry
from ..model import Entry, ModelTurn
from .ports import Lease, Record, SessionLog
from .summary_of_entries import tally_of


class Journal:
    """Called with each entry before it takes effect; raises `StoreError` when it cannot be stored."""

    def __init__(self, log: SessionLog, lease: Lease, length: int) -> None:
        self.lease = lease
        self.patient = False
        self._log = log
        self._length = length  # how many entries are in the store
        self._waiting: list[tuple[Record, Entry]] = []
        self._made = 0

    @property
    def unwritten_count(self) -> int:
        """How many entries are not in the store yet."""
        return len(self._waiting)

    def __call__(self, entry: Entry) -> None:
        self._made += 1
        self._waiting.append((Record(f"{self.lease.epoch}.{self._made}", encode_entry(entry)), entry))
        if self.patient:
            return
        try:
            self.commit()
        except BaseException:
            self._waiting.pop()  # the history does not take it either
            raise

    def commit(self) -> None:
        """Write all waiting entries. After an error they wait for the next commit."""
        if not self._waiting:
            return
        records = tuple(record for record, _ in self._waiting)
        self._log.append(self.lease, self._length, records, tally_of(entry for _, entry in self._waiting))
        self._length += len(records)
        self._waiting.clear()

    def draft(self, turn: ModelTurn | None) -> None:
        """Store the partial reply, as far as it has come."""
        self._log.draft(self.lease, None if turn is None else encode_entry(turn))
