"""Sessions that outlive their process: one file of SQLite, one writer a session."""

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
