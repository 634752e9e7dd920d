"""Sessions that outlive their process: one file of SQLite, one writer a session.

`ports` says what a store can do, `store` opens one, `recover` reads a log back, `search`, `catalogue` and
`counters` answer questions about all sessions. Others import the names below. Imports `world.places`,
`providers` (prices) and `history`.
"""

from .holder import named
from .place import default_path
from .ports import Header, Holder, Lease, Log, Record, Stored, Summary, Tally
from .search import Hit
from .store import Store, open_store

__all__ = [
    "Header",
    "Hit",
    "Holder",
    "Lease",
    "Log",
    "Record",
    "Store",
    "Stored",
    "Summary",
    "Tally",
    "default_path",
    "named",
    "open_store",
]
