"""A session in a database is opened off the event loop, once, and released whatever happens."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.session.talk import KEYS
from tests.store.servers import Server

from turnout.errors import SessionHeld
from turnout.session.events import Complete
from turnout.session.session import Session
from turnout.simulate import ScriptedModel
from turnout.store import Store
from turnout.store.postgres.database import PostgresDatabase
from turnout.world.world import World

SLOW = 0.2


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A database for the tests of this file."""
    pytest.importorskip("psycopg", reason="psycopg is not installed: pip install 'turnout[postgres]'")
    running = Server()
    yield running.url
    running.remove()


def make_session(store: Any, id: str, script: Any = ("hi",)) -> Session:
    world = World(transport=ScriptedModel(list(script)), environment=KEYS)
    return Session("openai:gpt-5.1", store=store, id=id, world=world)


class LoopTurns:
    """Counts how often a loop turns, and how often it did during each use of the database."""

    def __init__(self) -> None:
        self.count = 0
        self.in_uses: list[int] = []

    async def count_during(self, work: Any) -> Any:
        doing = asyncio.ensure_future(work)
        while not doing.done():
            await asyncio.sleep(0.002)
            self.count += 1
        return await doing


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> LoopTurns:
    """Every use of the database takes 200 ms more; the first one, which connects, too."""
    turns, run = LoopTurns(), PostgresDatabase.run

    def run_slowly(self: PostgresDatabase, work: Any) -> Any:
        before = turns.count
        time.sleep(SLOW)
        found = run(self, work)
        turns.in_uses.append(turns.count - before)
        return found

    monkeypatch.setattr(PostgresDatabase, "run", run_slowly)
    return turns


@pytest.mark.parametrize("way", ["entered", "asked", "run"])
def test_other_streams_flow_while_a_session_is_opened(url: str, slow: LoopTurns, way: str) -> None:
    """Connecting included: the loop turns many times during each use of the database."""

    async def enter() -> Any:
        async with make_session(url, f"enter-{way}") as session:
            if way == "entered":
                return session.history.turns
        return None

    async def ask() -> Any:
        session = make_session(url, f"ask-{way}")
        try:
            if way == "asked":
                return (await session.ask("hello")).text
            return [event async for event in session.run("hello")][-1]
        finally:
            await session.close()

    made = asyncio.run(slow.count_during(enter() if way == "entered" else ask()))
    assert made == () or made == [] or made == "hi" or isinstance(made, Complete)
    assert len(slow.in_uses) >= 3 and min(slow.in_uses) > 3, slow.in_uses


def test_a_session_that_is_held_is_refused_when_it_is_entered(url: str) -> None:
    """And can be entered once the other has released it."""

    async def talk() -> int:
        with Store.at(url) as one, Store.at(url) as two:
            async with make_session(one, "held"):
                other = make_session(two, "held")
                with pytest.raises(SessionHeld):
                    await other.open()
                with pytest.raises(SessionHeld):
                    await other.ask("hello")
            async with other:
                return len(other.history.turns)

    assert asyncio.run(talk()) == 0


def test_many_who_wait_open_it_once(url: str) -> None:
    """Several tasks that begin at the same time share one opening."""

    async def talk() -> list[str]:
        with Store.at(url) as store:
            session = make_session(store, "many")
            opened = await asyncio.gather(*(session.open() for _ in range(10)))
            assert all(each is session for each in opened)
            answer = await session.ask("hello")
            await session.close()
            return [answer.text, str(store.summary("many").holder)]

    assert asyncio.run(talk()) == ["hi", "None"]


def test_what_is_needed_before_opens_it_at_once(url: str) -> None:
    """Code without a loop reads the history of a session; a wrong name stays an error."""
    with Store.at(url) as store:
        session = make_session(store, "sync")
        assert session._opening is not None
        with pytest.raises(AttributeError, match="no attribute 'histroy'"):
            session.histroy  # type: ignore[attr-defined]  # noqa: B018
        assert session.history.turns == () or session.history.turns == []
        assert session._opening is None
        asyncio.run(session.close())


def test_an_opening_that_is_cancelled_leaves_nothing_held(url: str, slow: LoopTurns) -> None:
    """The thread goes on; closing waits for it and releases what it took."""

    async def talk() -> None:
        session = make_session(url, "left")
        entering = asyncio.create_task(session.open())
        await asyncio.sleep(SLOW / 4)
        entering.cancel()
        with pytest.raises(asyncio.CancelledError):
            await entering
        await session.close()

    asyncio.run(talk())
    with Store.at(url) as store:
        assert store.summary("left").holder is None


def test_a_file_is_open_when_the_session_is_made(tmp_path: Path) -> None:
    """So that an error about it comes at once."""
    store = Store(tmp_path / "s.db", heartbeat=False)
    session = make_session(store, "s")
    assert session._opening is None
    with pytest.raises(SessionHeld):
        make_session(store, "s")
    store.close()
