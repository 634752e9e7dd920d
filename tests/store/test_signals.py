"""What one process does to a session is seen in another: entries, and requests to cancel."""

from __future__ import annotations

import asyncio
import time
from contextlib import aclosing
from pathlib import Path
from statistics import median
from typing import Any

import pytest
from tests.laws.share import tell
from tests.session.talk import KEYS

from turnout.errors import UsageError
from turnout.model import Note, Text, UserTurn
from turnout.session.events import Cancelled, Complete
from turnout.session.session import Session
from turnout.simulate import Call, ScriptedModel
from turnout.store import Store
from turnout.store.signals import WatchedEvent
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.tool import tool
from turnout.world.world import World

ROOT = Path(__file__).parents[2]


def make_session(store: Store, script: Any, **settings: Any) -> Session:
    world = World(transport=ScriptedModel(script), environment=KEYS)
    return Session("openai:gpt-5.1", store=store, id="s", world=world, **settings)


def test_entries_are_seen_elsewhere_in_order_and_once(store: Store, open_at: Any) -> None:
    """From any place on, without a gap, also those that were written before."""
    history = store.open("s")
    history.user("0")

    async def watch() -> list[WatchedEvent]:
        seen: list[WatchedEvent] = []
        async with aclosing(open_at().watch("s")) as events:
            async for event in events:
                seen.append(event)
                if len(seen) == 20:
                    return seen
                await asyncio.to_thread(history.user, str(len(seen)))
        return seen

    seen = asyncio.run(asyncio.wait_for(watch(), 30))
    assert [event.place for event in seen] == list(range(1, 21))
    assert [event.entry for event in seen] == history.entries[:20]

    async def later() -> WatchedEvent:
        async with aclosing(open_at().watch("s", after=19)) as events:
            async for event in events:
                return event
        raise AssertionError

    assert asyncio.run(later()).place == 20


def test_an_unknown_session_is_not_watched(store: Store) -> None:
    """A typing error is an error, not a long wait."""

    async def watch() -> None:
        async for _ in store.watch("nope"):
            pass

    with pytest.raises(UsageError, match="no session 'nope'"):
        asyncio.run(watch())


def test_an_entry_is_visible_elsewhere_within_milliseconds(database: str, record_property: Any) -> None:
    """By PostgreSQL's notifications, not by looking again; in order, each once."""
    with Store.at(database, heartbeat=False) as writer, Store.at(database, heartbeat=False) as reader:
        history = writer.open("s")
        history.user("first")
        places: list[int] = []

        async def measure() -> list[float]:
            times, began = [], 0.0
            places.clear()
            async with aclosing(reader.watch("s")) as events:
                async for event in events:
                    places.append(event.place)
                    if event.place > 1:
                        times.append(time.monotonic() - began)
                    if event.place == 31:
                        return times
                    await asyncio.sleep(0.01)
                    await asyncio.to_thread(history.user, "next")
                    began = time.monotonic()
            return times

        times = asyncio.run(asyncio.wait_for(measure(), 60))
    tell(record_property, "an entry visible elsewhere, microseconds", {"p50": round(median(times) * 1e6)})
    assert places == list(range(1, 32)) and len(times) == 30
    assert median(times) < reader.backend.signals.every / 2, "it was looked for, and not told"


@pytest.mark.parametrize("kind", ["async", "thread"])
def test_a_run_is_cancelled_from_elsewhere(store: Store, open_at: Any, kind: str) -> None:
    """The tool is told within a second, the run ends as cancelled, and the next prompt is not affected."""
    told: list[float] = []

    @tool(risk="read")
    async def wait_async(ctx: ToolContext) -> str:
        """Wait."""
        try:
            await asyncio.sleep(20)
        finally:
            told.append(time.monotonic())
        return "late"

    @tool(risk="read")
    def wait_thread(ctx: ToolContext) -> str:
        """Wait."""
        ctx.cancelled.wait(20)
        told.append(time.monotonic())
        return "stopped"

    chosen = wait_async if kind == "async" else wait_thread

    async def talk() -> float:
        session = make_session(store, [[Call(chosen.name, {})], "well"], tools=[chosen])
        async with session:
            other = open_at()
            asked = 0.0
            async for event in session.run("go", key="p1"):
                if getattr(event, "state", "") == "executing":
                    await asyncio.sleep(0.3)
                    asked = time.monotonic()
                    assert await asyncio.to_thread(other.cancel, "s")
                last = event
            assert isinstance(last, Cancelled)
            assert isinstance(await session.run("go", key="p1"), Cancelled)
            assert isinstance(await session.run("and now?"), Complete)
            return asked

    asked = asyncio.run(asyncio.wait_for(talk(), 30))
    assert told[0] - asked < 1.0


def test_nothing_is_cancelled_where_nothing_runs(store: Store) -> None:
    """And the next run is not cancelled for it."""
    store.open("s").user("hi")
    store.release("s")
    assert store.cancel("s") is False
    with pytest.raises(UsageError, match="no session"):
        store.cancel("nope")

    async def talk() -> Any:
        async with make_session(store, ["fine"]) as session:
            return await session.go_on()

    assert isinstance(asyncio.run(talk()), Complete)


def test_a_prompt_with_a_key_is_said_once(store: Store) -> None:
    """The second time gives the same answer, without a request; another key is another prompt."""

    async def talk() -> tuple[Any, Any, Any, list[Any]]:
        model = ScriptedModel(["one", "two"])
        world = World(transport=model, environment=KEYS)
        async with Session("openai:gpt-5.1", store=store, id="s", world=world) as session:
            first = await session.run("hello", key="p1")
            second = await session.run("hello", key="p1")
            third = await session.ask("again", key="p2")
            return first, second, third, [e for e in session.history.entries if isinstance(e, UserTurn)]

    first, second, third, prompts = asyncio.run(talk())
    assert first == second and first.turn.text == "one" and third.text == "two"
    assert [turn.blocks for turn in prompts] == [(Text("hello"),), (Text("again"),)]


def test_a_prompt_whose_process_died_goes_on_with_its_key(store: Store, open_at: Any) -> None:
    """Said, and not answered: the next process with the key answers it, and does not say it again."""
    history = store.open("s")
    turn = history.user("hello")
    history.note("prompt_key", {"key": "p1", "turn": turn.key})
    store.release("s")

    async def talk() -> tuple[Any, int]:
        async with make_session(open_at(), ["at last"]) as session:
            ended = await session.run("hello", key="p1")
            return ended, sum(isinstance(entry, UserTurn) for entry in session.history.entries)

    ended, prompts = asyncio.run(talk())
    assert ended.turn.text == "at last" and prompts == 1


def test_what_cannot_be_read_is_shown_as_such(file_store: Store) -> None:
    """A watcher does not stop at a damaged entry."""
    history = file_store.open("s")
    history.user("fine")
    with file_store.log.database.write_transaction() as connection:  # type: ignore[attr-defined]
        connection.execute("UPDATE entry SET data = ?", (b"{",))

    async def watch() -> WatchedEvent:
        async for event in file_store.watch("s"):
            return event
        raise AssertionError

    assert asyncio.run(watch()).entry == Note("unreadable_entry", {"place": 1})
