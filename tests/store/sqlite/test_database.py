"""The SQLite file: its settings, its modes, and files of other programs."""

from __future__ import annotations

import os
from pathlib import Path

import apsw
import pytest
from tests.store.stores import MODEL, talk

from turnout.errors import StoreError
from turnout.model import ModelTurn, Origin, Text
from turnout.store import Store
from turnout.store.sqlite import database


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077, 0o777])
def test_nobody_else_can_read_the_store(tmp_path: Path, mask: int) -> None:
    """Folders 0700 and files 0600, whatever the umask; the WAL and its index too."""
    before = os.umask(mask)
    try:
        store = Store(tmp_path / "a" / "b" / "s.db", heartbeat=False)
        talk(store, "s", "hello")
        store.search("hello")
        history = store.open("s")
        history.user("there")
        found = {path.name: path.stat().st_mode & 0o777 for path in (tmp_path / "a").rglob("*")}
        store.close()
    finally:
        os.umask(before)
    assert found == {"b": 0o700, "s.db": 0o600, "s.db-wal": 0o600, "s.db-shm": 0o600}
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o700


def test_a_store_that_was_opened_wide_is_closed_to_others(tmp_path: Path) -> None:
    """Copied or restored with other permissions, it is taken back at the next start."""
    with Store(tmp_path / "s.db", heartbeat=False) as store:
        talk(store, "s", "hello")
    (tmp_path / "s.db").chmod(0o666)
    with Store(tmp_path / "s.db", heartbeat=False) as store:
        store.list()
    assert (tmp_path / "s.db").stat().st_mode & 0o777 == 0o600


def test_an_sqlite_that_corrupts_is_refused() -> None:
    """With what to do about it. The one that comes with turnout is fine."""
    database.check_version()
    database.check_version("3.51.3")
    database.check_version("3.53.0")
    for version in ("3.40.1", "3.51.2", "3.7.0"):
        with pytest.raises(StoreError, match=r"WAL-reset.*pip install --upgrade apsw"):
            database.check_version(version)


def test_another_programs_database_is_left_alone(tmp_path: Path) -> None:
    """Not one byte of it is changed."""
    path = tmp_path / "other.db"
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    before = path.read_bytes()
    with (
        Store(path, heartbeat=False) as store,
        pytest.raises(StoreError, match="database of another program"),
    ):
        store.list()
    assert path.read_bytes() == before
    path.write_text("no database at all " * 100)
    with Store(path, heartbeat=False) as store, pytest.raises(StoreError, match="not a store of sessions"):
        store.list()


def test_a_store_that_another_process_creates_meanwhile_is_not_foreign(tmp_path: Path) -> None:
    """Wherever its creation falls between the statements that look, the file counts as ours."""
    for place in range(3):
        path = tmp_path / f"{place}.db"
        looking = apsw.Connection(str(path))
        statements = 0

        def create_at_place(*_: object, path: Path = path, place: int = place) -> bool:
            nonlocal statements
            if statements == place:
                with Store(path, heartbeat=False) as store:
                    store.list()
            statements += 1
            return True

        looking.exec_trace = create_at_place
        assert not database.is_foreign(looking), f"created before statement {place}"
        looking.close()


def test_the_store_syncs_and_never_maps(store: Store) -> None:
    """The settings that everything rests on."""
    with store.log.database.read_connection() as connection:
        pragmas = {
            name: connection.execute(f"PRAGMA {name}").get
            for name in ("journal_mode", "synchronous", "mmap_size", "secure_delete", "auto_vacuum")
        }
    assert pragmas == {
        "journal_mode": "wal",
        "synchronous": 2,
        "mmap_size": 0,
        "secure_delete": 1,
        "auto_vacuum": 2,
    }
    store.open("s").user("x")
    store.journal("s").draft(ModelTurn("s.2", Origin.parse(MODEL), (Text("half"),)))
    with store.log.database.read_connection() as connection:
        assert connection.execute("PRAGMA synchronous").get == 2
