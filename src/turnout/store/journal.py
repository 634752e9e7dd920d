"""The writer of one session's history: what it took is in the store.

While a session is patient, entries wait for `commit`, which its loop calls before anything
leaves the process: before a tool runs, before an event is shown, before a request is sent. So
a batch of outcomes costs one commit, and nobody ever saw what a crash could take back.
"""

from __future__ import annotations

from ..history.codec import encode_entry
from ..model import Entry, ModelTurn
from .ports import Lease, Log, Record
from .summary_of_entries import tally_of


class Journal:
    """Told of each entry before it takes effect; raises `StoreError` when it cannot be kept."""

    def __init__(self, log: Log, lease: Lease, length: int) -> None:
        self.lease = lease
        self.patient = False
        self._log = log
        self._length = length  # entries that are in the store for good
        self._waiting: list[tuple[Record, Entry]] = []
        self._made = 0

    @property
    def waiting(self) -> int:
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
            self._waiting.pop()  # its history does not take it either
            raise

    def commit(self) -> None:
        """See that everything so far is in the store. What could not be written waits for the next time."""
        if not self._waiting:
            return
        records = tuple(record for record, _ in self._waiting)
        self._log.append(self.lease, self._length, records, tally_of(entry for _, entry in self._waiting))
        self._length += len(records)
        self._waiting.clear()

    def draft(self, turn: ModelTurn | None) -> None:
        """Keep the reply that is under way, as far as it has come."""
        self._log.draft(self.lease, None if turn is None else encode_entry(turn))
