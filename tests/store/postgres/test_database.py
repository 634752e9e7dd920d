"""Connections to PostgreSQL: a restart or a cut connection is a pause, and errors say what to do."""

from __future__ import annotations

import signal
import threading
import time

import psycopg
import pytest
from tests.store.servers import Server, free_port

from turnout.errors import StoreError, UsageError
from turnout.store import Store
from turnout.store.postgres import database as module


def cut_connections(url: str) -> None:
    """Have the server end every other connection to this database."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_a_connection_that_is_cut_is_only_a_pause(database: str) -> None:
    """Between any two writes; every entry is there once."""
    with Store.at(database, heartbeat=False) as store:
        history = store.open("s")
        for number in range(5):
            history.user(str(number))
            cut_connections(database)
        assert store.read("s").entries == history.entries and len(history.entries) == 5


def test_a_restart_of_the_server_is_only_a_pause() -> None:
    """Fast or as after a crash: a write that comes meanwhile waits for the new server."""
    server = Server()
    try:
        with Store.at(server.url) as store:
            history = store.open("s")
            for how in (signal.SIGINT, signal.SIGQUIT):
                history.user("before")
                server.stop(how)
                starting = threading.Timer(0.3, server.start)
                starting.start()
                history.user("while it is away")
                starting.join()
            assert store.read("s").entries == history.entries and len(history.entries) == 4
    finally:
        server.remove()


def test_a_server_that_is_not_there_is_said_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """With the address, without the password."""
    monkeypatch.setattr(module, "CONNECT", 0.3)
    url = f"postgresql://someone:secret@127.0.0.1:{free_port()}/nothing"
    with (
        Store.at(url, heartbeat=False) as store,
        pytest.raises(StoreError, match="check that PostgreSQL runs") as caught,
    ):
        store.list()
    assert "someone@127.0.0.1" in str(caught.value) and "secret" not in str(caught.value)
    assert "secret" not in store.address


def test_a_wrong_address_is_refused() -> None:
    """A path where an address is wanted, and an address of something else."""
    with pytest.raises(UsageError, match="is not a kind of store"):
        Store.at("mysql://host/db")
    with pytest.raises(UsageError, match=r"open it with Store\.at"):
        Store("postgresql://host/db")


def test_a_process_that_stops_in_a_transaction_does_not_keep_its_locks(database: str) -> None:
    """The server ends a transaction in which nothing happens."""
    with Store.at(database, heartbeat=False) as store:
        store.open("s").user("x")
        found = store.backend.database.run(  # type: ignore[attr-defined]
            lambda each: each.execute("SHOW idle_in_transaction_session_timeout").fetchone()
        )
    assert found == ("10s",)


def test_many_threads_share_few_connections(database: str) -> None:
    """The pool is bounded; nothing is lost."""
    with Store.at(database, heartbeat=False) as store:
        histories = [store.open(f"s{number}") for number in range(20)]
        threads = [threading.Thread(target=each.user, args=["hi"]) for each in histories]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {line.turns for line in store.list()} == {1}
        with psycopg.connect(database) as connection:
            row = connection.execute(
                "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database()"
                " AND application_name = 'turnout'"
            ).fetchone()
        assert row is not None and row[0] <= module.LARGEST_POOL


def test_time_passes_by_the_clock_of_the_database(database: str) -> None:
    """A lease ends when the database says so, whatever this machine's clock says."""
    with (
        Store.at(database, heartbeat=False, lease=0.3, wall_clock=lambda: 0.0) as one,
        Store.at(database, heartbeat=False, wall_clock=lambda: 4e9) as other,
    ):
        one.open("s")
        one._number += 1000  # so that the pid test does not help
        time.sleep(0.4)
        history = other.open("s")
        history.user("mine")
        assert [turn.blocks[0].text for turn in history.turns] == ["mine"]
