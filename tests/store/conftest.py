"""Folders for stores: where nothing depends on the disk itself, in memory, so that syncs cost nothing."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnout.store import Store


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
def store(quick_folder: Path) -> Iterator[Store]:
    """An empty store without a heartbeat."""
    with Store(quick_folder / "s.db", heartbeat=False) as opened:
        yield opened
