"""Stored sessions: one SQLite file, one writer a session.

`ports` says what a store can do, `store` opens one, `recover` reads a log back, `search`, `catalogue` and
`counters` answer questions about all sessions. Others import the names below. Imports `world.places`,
`providers` (prices) and `history`.
"""

from .holder import describe_holder
from .place import default_path
from .ports import Hit, Holder, Lease, Record, SessionHeader, SessionLog, SessionSummary, StoredSession, Tally
from .store import Store, open_store

__all__ = [
    "Hit",
    "Holder",
    "Lease",
    "Record",
    "SessionHeader",
    "SessionLog",
    "SessionSummary",
    "Store",
    "StoredSession",
    "Tally",
    "default_path",
    "describe_holder",
    "open_store",
]
