"""A PostgreSQL server, and workers on it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.store.servers import Server
from tests.workers.crew import Crew

from turnout.store import Store


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """One PostgreSQL server for the tests of a file."""
    for package, extra in (("psycopg", "postgres"), ("dbos", "dbos")):
        pytest.importorskip(package, reason=f"{package} is not installed: pip install 'turnout[{extra}]'")
    running = Server()
    yield running
    running.remove()


@pytest.fixture(scope="module")
def crew(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Crew]:
    """Two workers."""
    folder: Path = tmp_path_factory.mktemp("crew")
    with Crew(server.url, folder, count=2, TURNOUT_SLOW="0.05") as working:
        yield working


@pytest.fixture
def store(server: Server) -> Iterator[Store]:
    with Store.at(server.url, heartbeat=False) as opened:
        yield opened
