"""The fixtures of tests that need PostgreSQL: one server a process, an empty database a test."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import pytest
from tests.store.servers import Server

NUMBERS = count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """One PostgreSQL server for all tests of this process."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'turnout[postgres]'")
    running = Server()
    yield running
    running.remove()


@pytest.fixture
def database(server: Server) -> str:
    """The address of an empty database."""
    return server.new_database(f"t{next(NUMBERS)}")
