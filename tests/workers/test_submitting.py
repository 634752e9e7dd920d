"""Prompts that workers finish: once, in order, answered and cancelled from anywhere."""

from __future__ import annotations

import asyncio
import time
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from tests.store.servers import Server
from tests.workers.crew import Crew

from turnout import workers
from turnout.errors import UsageError
from turnout.model import UserTurn
from turnout.store import Store


def test_a_submitted_prompt_is_finished_by_a_worker(store: Store, crew: Crew) -> None:
    """Its session holds everything, each tool ran once, and the list says what came of it."""

    async def talk() -> tuple[Any, Any]:
        run = await workers.submit(store, "go", session="one")
        return run, await workers.wait(store, run.id)

    run, result = asyncio.run(talk())
    assert (result["status"], result["text"], result["session"]) == ("complete", "All done.", "one")
    calls = [item.call.id for item in store.read("one").ledger]
    assert len(calls) == 4 and all(crew.done()[call] == 1 for call in calls)
    (line,) = [line for line in asyncio.run(workers.runs(store)) if line.id == run.id]
    assert (line.session, line.status, line.prompt, line.text) == ("one", "complete", "go", "All done.")


def test_the_same_key_twice_is_said_once(store: Store, crew: Crew) -> None:
    """Submitted at the same time and again later: one run, one prompt, one answer."""

    async def talk() -> list[Any]:
        runs = await asyncio.gather(*(workers.submit(store, "go", session="two", key="p1") for _ in range(5)))
        await workers.wait(store, runs[0].id)
        runs.append(await workers.submit(store, "go", session="two", key="p1"))
        await workers.wait(store, runs[-1].id)
        return runs

    assert len({run.id for run in asyncio.run(talk())}) == 1
    said = [turn for turn in store.read("two").turns if isinstance(turn, UserTurn)]
    assert len(said) == 1


def test_two_prompts_for_one_session_follow_each_other(store: Store, crew: Crew) -> None:
    """Two workers take them at the same time; one waits for the other, and both are answered."""

    async def talk() -> list[Any]:
        runs = [await workers.submit(store, f"go {number}", session="three") for number in range(3)]
        return [await workers.wait(store, run.id) for run in runs]

    assert {result["status"] for result in asyncio.run(talk())} == {"complete"}
    said = [turn for turn in store.read("three").turns if isinstance(turn, UserTurn)]
    assert len(said) == 3 and set(crew.done().values()) == {1}


def test_an_answer_has_a_worker_go_on(store: Store, crew: Crew) -> None:
    """The run ends as waiting, nothing is held meanwhile, and the answer makes another run."""

    async def talk() -> tuple[Any, Any]:
        run = await workers.submit(store, "pay", session="pay-1")
        first = await workers.wait(store, run.id)
        (call,) = store.waiting_calls("pay-1")
        assert store.summary("pay-1").holder is None
        answered = await workers.answer(store, "pay-1", call.call_id, "paid")
        return first, await workers.wait(store, answered.id)

    first, second = asyncio.run(talk())
    assert first["status"] == "waiting" and first["calls"][0]["name"] == "pay"
    assert (second["status"], second["text"]) == ("complete", "Paid.")


def test_an_answer_that_was_left_in_the_store_is_found(store: Store, crew: Crew) -> None:
    """A page that knows only the store answers; a worker sees it and goes on."""

    async def talk() -> None:
        run = await workers.submit(store, "pay", session="pay-2")
        await workers.wait(store, run.id)
        (call,) = store.waiting_calls("pay-2")
        store.answer("pay-2", call.call_id, "paid")
        await workers.wait(store, (await until_run(store, f"pay-2:answer:{call.call_id}")).id)

    asyncio.run(talk())
    assert store.read("pay-2").turns[-1].text == "Paid."  # type: ignore[union-attr]


async def until_run(store: Store, id: str) -> Any:
    for _ in range(200):
        if found := [line for line in await workers.runs(store) if line.id == id]:
            return found[0]
        await asyncio.sleep(0.1)
    raise AssertionError(f"no run {id}")


def test_a_run_that_has_not_begun_is_cancelled_in_the_queue(store: Store, crew: Crew) -> None:
    """Also one that is due later; an unknown id is an error."""

    async def talk() -> tuple[list[str], str]:
        later = datetime.now().astimezone() + timedelta(hours=1)
        run = await workers.submit(store, "go", session="later", at=later)
        line = (await until_run(store, run.id)).status
        assert line == "scheduled"
        gone = await workers.cancel(store, run.id)
        return gone, (await until_run(store, run.id)).status

    gone, status = asyncio.run(talk())
    assert len(gone) == 1 and status == "cancelled" and not store.read("later").turns
    with pytest.raises(UsageError, match="no run or session 'nope'"):
        asyncio.run(workers.cancel(store, "nope"))


def test_a_schedule_says_its_prompt_again_and_again(store: Store, crew: Crew) -> None:
    """Every second, each time in a session of its own, until it is cancelled."""

    async def talk() -> None:
        made = await workers.submit(store, "quick", every="* * * * * *", key="quick-tick")
        ends = time.monotonic() + 40
        while time.monotonic() < ends:
            found = [line for line in store.list() if line.id.startswith("quick-tick-") and line.turns == 2]
            if len(found) >= 2:
                break
            await asyncio.sleep(0.2)
        else:
            raise AssertionError("the schedule did not fire")
        assert await workers.cancel(store, made.id) == ["quick-tick"]

    asyncio.run(talk())


@pytest.mark.parametrize("given", [{"prompt": " "}, {"at": datetime.now(), "every": "* * * * *"}])
def test_wrong_submissions_are_refused(store: Store, given: dict[str, Any]) -> None:
    """An empty prompt; a time and a schedule at once."""
    with pytest.raises(UsageError):
        asyncio.run(workers.submit(store, **{"prompt": "go", **given}))


def test_many_submissions_use_few_connections(server: Server) -> None:
    """The engine stays open with the store, and its connections end with it."""
    url = server.new_database("few")

    async def talk(store: Store) -> None:
        for number in range(10):
            await workers.submit(store, "go", session=f"few{number}")

    def connected() -> int:
        with psycopg.connect(server.url) as connection:
            row = connection.execute("SELECT count(*) FROM pg_stat_activity WHERE datname = 'few'").fetchone()
        return row[0] if row else 0

    with Store.at(url, heartbeat=False) as store:
        asyncio.run(talk(store))
        first = workers.submitting.engine_of(store).client
        asyncio.run(talk(store))
        assert workers.submitting.engine_of(store).client is first and 0 < connected() <= 15
    ends = time.monotonic() + 20
    while connected() and time.monotonic() < ends:
        time.sleep(0.05)
    assert connected() == 0
