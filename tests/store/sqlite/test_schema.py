"""Upgrades of the store: the old one or the new one, at every moment, with everything in it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest
from tests.laws.share import ROTATION, SOAK
from tests.store import migrating
from tests.store.telling import steps

from turnout.errors import StoreError
from turnout.store import Store
from turnout.store.sqlite import schema

ROOT = Path(__file__).parents[3]


@pytest.fixture
def old(quick_folder: Path) -> Path:
    """A store of version 1 with a few sessions."""
    path = quick_folder / "s.db"
    with Store(path, heartbeat=False) as store:
        for name in ("one", "two"):
            for step in steps(store.open(name), 2):
                step()
    return path


@pytest.fixture
def version_2() -> Iterator[None]:
    before = schema.VERSION, schema.STEPS
    yield
    schema.VERSION, schema.STEPS = before


def content(path: Path) -> tuple[int, tuple[int, int, str]]:
    """The version of a store and what is in it."""
    connection = apsw.Connection(str(path))
    try:
        assert connection.execute("PRAGMA integrity_check").get == "ok"
        return int(connection.execute("PRAGMA user_version").get), schema.entries_fingerprint(connection)
    finally:
        connection.close()


def test_an_old_store_becomes_a_new_one_with_everything_in_it(old: Path, version_2: None) -> None:
    """And the copy of the old one, once the new one was read back, is gone."""
    before = content(old)
    migrating.as_version_2(migrating.better)
    with Store(old, heartbeat=False) as store:
        assert {line.id for line in store.list()} == {"one", "two"}
        store.open("one").user("and on it goes")
    assert before[0] == 1 and content(old)[0] == 2
    assert sorted(os.listdir(old.parent)) == ["s.db"]


def test_an_upgrade_that_dies_at_any_statement_loses_nothing(old: Path, quick_folder: Path) -> None:
    """Killed at its n-th statement for every n; the next start finishes it."""
    before = content(old)[1]
    died = 0
    for number in range(1 + (0 if SOAK else ROTATION % 3), 1000, 1 if SOAK else 3):
        folder = quick_folder / str(number)
        folder.mkdir()
        path = Path(shutil.copy(old, folder / "s.db"))
        done = subprocess.run([sys.executable, "-m", "tests.store.migrating", path, str(number)], cwd=ROOT)
        version, after = content(path)
        assert after == before and version in (1, 2)
        if not done.returncode:
            break
        died += 1
        subprocess.run([sys.executable, "-m", "tests.store.migrating", path, "0"], cwd=ROOT, check=True)
        assert content(path) == (2, before)
        assert os.listdir(folder) == ["s.db"]
    assert died >= (20 if SOAK else 6)


def test_an_upgrade_that_would_lose_something_is_not_made(old: Path, version_2: None) -> None:
    """What is stored is counted and hashed before and after; the old store stays."""
    before = content(old)
    migrating.as_version_2(migrating.worse)
    with (
        Store(old, heartbeat=False) as store,
        pytest.raises(StoreError, match="would change stored entries"),
    ):
        store.list()
    assert content(old) == before


def test_an_upgrade_waits_for_those_who_have_sessions_open(old: Path, version_2: None) -> None:
    """An older turnout that is at work is not pulled from under its user."""
    with Store(old, heartbeat=False) as older:
        older.open("one")
        migrating.as_version_2(migrating.better)
        with (
            Store(old, heartbeat=False) as newer,
            pytest.raises(StoreError, match="session one is open in an older"),
        ):
            newer.list()
    with Store(old, heartbeat=False) as newer:
        newer.list()


def test_a_newer_store_is_left_alone(old: Path) -> None:
    """With the way on."""
    connection = apsw.Connection(str(old))
    connection.execute("PRAGMA user_version=7")
    connection.close()
    with Store(old, heartbeat=False) as store, pytest.raises(StoreError, match="upgrade turnout"):
        store.list()
    assert content(old)[0] == 7
