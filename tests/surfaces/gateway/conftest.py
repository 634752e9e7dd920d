"""A PostgreSQL server for the gateways that share one."""

from tests.store.database import database, server

__all__ = ["database", "server"]
