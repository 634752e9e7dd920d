"""The tables in PostgreSQL: made once, added to by later versions, refused where they are too new."""

from __future__ import annotations

import threading
from typing import Any

import psycopg
import pytest

from turnout.errors import StoreError
from turnout.store import Store
from turnout.store.postgres import schema

ADDED = "ALTER TABLE session ADD COLUMN mood text NOT NULL DEFAULT 'fine'; CREATE TABLE mood (name text)"


def test_ten_processes_make_the_tables_once(database: str) -> None:
    """Whoever is first makes them; the others wait."""
    stores = [Store.at(database, heartbeat=False) for _ in range(10)]
    threads = [threading.Thread(target=store.list) for store in stores]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for store in stores:
        store.close()
    with psycopg.connect(database) as connection:
        rows = connection.execute("SELECT version, oldest FROM turnout.schema_version").fetchall()
    assert rows == [(schema.VERSION, schema.OLDEST)]


@pytest.fixture
def next_version(monkeypatch: pytest.MonkeyPatch) -> Any:
    def use(oldest: int) -> None:
        monkeypatch.setattr(schema, "STEPS", (*schema.STEPS, ADDED))
        monkeypatch.setattr(schema, "VERSION", len(schema.STEPS))
        monkeypatch.setattr(schema, "OLDEST", oldest)

    return use


def test_two_versions_run_at_the_same_time(database: str, next_version: Any) -> None:
    """An upgrade adds to the tables under a program that is at work; that program goes on."""
    with Store.at(database, heartbeat=False) as older:
        history = older.open("s")
        history.user("before")
        next_version(schema.OLDEST)
        with Store.at(database, heartbeat=False) as newer:
            newer.open("t").user("new")
            history.user("after")
            assert newer.read("s").entries == history.entries
            assert {line.id for line in older.list()} == {"s", "t"}
        with psycopg.connect(database) as connection:
            assert connection.execute("SELECT mood FROM turnout.session").fetchall() == [("fine",)] * 2


def test_an_older_program_starts_on_newer_tables(
    database: str, next_version: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless a change was not additive: then it is told to upgrade."""
    version, steps = schema.VERSION, schema.STEPS
    next_version(schema.OLDEST)
    with Store.at(database, heartbeat=False) as newer:
        newer.open("s").user("hi")
    monkeypatch.setattr(schema, "VERSION", version)
    monkeypatch.setattr(schema, "STEPS", steps)
    with Store.at(database, heartbeat=False) as older:
        older.open("s").user("from before")
        assert older.summary("s").turns == 2
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute("UPDATE turnout.schema_version SET oldest = 99")
    with Store.at(database, heartbeat=False) as older, pytest.raises(StoreError, match="upgrade turnout"):
        older.list()
