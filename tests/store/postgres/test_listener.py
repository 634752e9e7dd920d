"""PostgreSQL's notifications: only for watched sessions, and again after a cut connection."""

from __future__ import annotations

import asyncio
from contextlib import aclosing

import psycopg
from tests.store.postgres.test_database import cut_connections

from turnout.store import Store


def test_only_watched_sessions_notify(database: str) -> None:
    """An append of a session that nobody watches says nothing, so that commits do not wait for each other."""
    with Store.at(database, heartbeat=False) as store, psycopg.connect(database, autocommit=True) as ear:
        ear.execute("LISTEN turnout")
        for name in ("quiet", "watched"):
            store.open(name)
        stop = store.backend.signals.listen("watched", lambda: None)
        store.journal("quiet")
        for history in (store.read("quiet"), store.read("watched")):
            history.writer = store.journal(history.key)
            history.user("hi")
        heard = [notice.payload for notice in ear.notifies(timeout=0.3)]
        stop()
    assert heard == ["e 2"]


def test_a_watcher_goes_on_after_its_connection_was_cut(database: str) -> None:
    """What was written meanwhile is read by its place."""
    with Store.at(database, heartbeat=False) as store:
        history = store.open("s")
        history.user("one")

        async def watch() -> list[int]:
            places = []
            async with aclosing(store.watch("s")) as events:
                async for event in events:
                    places.append(event.place)
                    if len(places) == 4:
                        return places
                    await asyncio.to_thread(cut_connections, database)
                    await asyncio.to_thread(history.user, "more")
            return places

        assert asyncio.run(asyncio.wait_for(watch(), 30)) == [1, 2, 3, 4]
