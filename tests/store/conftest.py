"""Folders for stores: where nothing depends on the disk itself, in memory, so that syncs cost nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.store.database import database, server

from turnout.store import Store

__all__ = ["database", "server"]

MakeStore = Callable[..., Store]


@pytest.fixture
def quick_folder(tmp_path: Path) -> Iterator[Path]:
    """A folder of its own, in memory where there is such a place."""
    memory = Path("/dev/shm")
    if not os.access(memory, os.W_OK):
        yield tmp_path
        return
    folder = Path(tempfile.mkdtemp(prefix="turnout-", dir=memory))
    yield folder
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def file_store(quick_folder: Path) -> Iterator[Store]:
    """An empty store in a file, without a heartbeat."""
    with Store(quick_folder / "s.db", heartbeat=False) as opened:
        yield opened


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where an empty store is: a file, and a database."""
    if request.param == "sqlite":
        return str(request.getfixturevalue("quick_folder") / "s.db")
    return str(request.getfixturevalue("database"))


@pytest.fixture
def open_at(address: str) -> Iterator[MakeStore]:
    """Opens the store once more, as another process would; without a heartbeat."""
    with ExitStack() as opened:
        yield lambda **options: opened.enter_context(Store.at(address, **{"heartbeat": False, **options}))


@pytest.fixture
def store(open_at: Any) -> Store:
    """An empty store of each kind, without a heartbeat."""
    return open_at()  # type: ignore[no-any-return]
