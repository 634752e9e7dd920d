"""A cancel ends every run that has been asked for, at whatever moment it comes."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.laws.share import SOAK
from tests.session.talk import TERMINAL, session, slow, virtually, weather

from turnout import Hooks
from turnout.history.check import violations
from turnout.session.compress import CompressPolicy
from turnout.session.events import Cancelled, Complete
from turnout.session.retry import RetryPolicy
from turnout.session.session import Session
from turnout.simulate import Call, HttpError, ScriptedTransport, Stall
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision

TRIALS = 5000 if SOAK else 500
PARIS = Call("weather", {"city": "Paris"})
PATIENCE = 60.0
"""Virtual seconds within which a cancelled run has ended: the grace time of tools, and some more."""


class Marks:
    """What happened after the cancel that should not have."""

    def __init__(self) -> None:
        self.cancelled = False
        self.late: list[str] = []

    def __call__(self, what: str) -> None:
        if self.cancelled:
            self.late.append(what)


def talk_of(chance: random.Random, marks: Marks) -> tuple[Session, ScriptedTransport]:
    """A session in which much can be under way: hooks, questions, retries, tools, subagents."""

    @tool(risk="write")
    async def change(seconds: float) -> str:
        """Change something."""
        marks("a tool began")
        await asyncio.sleep(seconds)
        return "changed"

    async def agree(request: ApprovalRequest) -> Decision:
        await asyncio.sleep(chance.random())
        return request.once()

    async def look(value: Any, *_: Any) -> None:
        await asyncio.sleep(chance.random() / 10)

    rounds = [
        ["a long answer " * 20, PARIS, Stall(3.0, after=2)],
        [PARIS, Call("change", {"seconds": 1.5}), Call("slow", {"seconds": 2})],
        HttpError("server"),
        [Call("task", {"prompt": "help me"})],
        [Call("change", {"seconds": 0.0})],
    ]
    script = [chance.choice(rounds) for _ in range(12)] + ["done"] * 60
    return session(
        script,
        tools=[weather, slow, change],
        approver=agree,
        hooks=Hooks(before_model=look, before_tool=look) if chance.random() < 0.3 else None,
        subagents=chance.random() < 0.7,
        retries=RetryPolicy(),
        compress=CompressPolicy(),
    )


async def trial(seed: int) -> str:
    """One cancel at a random moment; where the run was then."""
    chance, marks = random.Random(seed), Marks()
    talk, transport = talk_of(chance, marks)
    if chance.random() < 0.4:
        await leave_early(talk, chance)
    events = talk.run("go")
    seen: list[Any] = []

    async def listen() -> None:
        async for event in events:
            seen.append(event)

    listening = asyncio.ensure_future(listen())
    await a_while(chance)
    where = "over" if seen and isinstance(seen[-1], TERMINAL) else "under way" if seen else "before"
    marks.cancelled, sent = True, len(transport.exchanges)
    talk.cancel()
    begun = asyncio.get_running_loop().time()
    await asyncio.wait({listening}, timeout=PATIENCE)
    assert listening.done(), f"{where}: the run goes on after {PATIENCE:.0f} s"
    listening.result()
    assert [isinstance(event, TERMINAL) for event in seen] == [False] * (len(seen) - 1) + [True]
    assert isinstance(seen[-1], Complete if where == "over" else Cancelled), (where, seen[-1])
    assert asyncio.get_running_loop().time() - begun < 10
    assert not marks.late, f"{where}: {marks.late}"
    on_the_way = 1 if talk.subagents else 0  # a cancel takes a few steps of the loop to reach a subagent
    assert len(transport.exchanges) <= sent + on_the_way, f"{where}: requests were sent after the cancel"
    assert not violations(talk.history) and not talk.history.open_calls and not talk.busy
    if not seed % 5:
        assert (await talk.ask("again")).text  # the session is as good as before
    await talk.close()
    return where


async def leave_early(talk: Session, chance: random.Random) -> None:
    """An earlier run that somebody walked away from, and that is ending while the next is asked for."""
    earlier = talk.run("first")
    for _ in range(chance.randrange(1, 6)):
        if isinstance(await anext(earlier), TERMINAL):
            return
    del earlier


async def a_while(chance: random.Random) -> None:
    """A random moment: so many steps of the loop, or so much time."""
    match chance.randrange(10):
        case 0:
            return
        case 1 | 2 | 3 | 4:
            for _ in range(int(2 ** (chance.random() * 10))):
                await asyncio.sleep(0)
        case _:
            await asyncio.sleep(chance.random() * 8)


def test_five_hundred_cancels_end_five_hundred_runs() -> None:
    """Before the first event, while an earlier run ends, in hooks, questions, streams, tools, retries."""
    found: Counter[str] = Counter()
    for seed in range(TRIALS):
        try:
            found[virtually(trial(seed))] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed}: {error!r}") from error
    assert found["before"] > TRIALS / 10 and found["under way"] > TRIALS / 3, found


def test_a_cancel_between_the_asking_and_the_first_event_is_not_lost() -> None:
    """Nothing is sent, no tool runs; the run says that it was cancelled."""
    talk, transport = session([[PARIS], "ok"])

    async def early() -> list[Any]:
        events = talk.run("go")
        talk.cancel()
        return [event async for event in events]

    assert virtually(early()) == [Cancelled()]
    assert not transport.exchanges


def test_a_cancel_while_an_earlier_run_is_ending_reaches_the_later_one() -> None:
    """The later one waits for the session; it ends without a request of its own."""
    talk, transport = session([[Call("slow", {"seconds": 5})], "ok", "ok"])

    async def late() -> list[Any]:
        earlier = talk.run("first")
        while type(await anext(earlier)).__name__ != "ToolState":
            pass
        del earlier
        later = asyncio.ensure_future(anext(talk.run("second")))
        await asyncio.sleep(0)
        talk.cancel()
        return [await later]

    assert virtually(late()) == [Cancelled()]
    assert len(transport.exchanges) == 1


def test_a_session_that_is_closed_ends_the_runs_that_were_asked_for() -> None:
    """Also those that nobody has begun to listen to."""
    talk, transport = session(["ok"])

    async def closing() -> list[Any]:
        events = talk.run("go")
        await talk.close()
        return [event async for event in events]

    assert virtually(closing()) == [Cancelled()]
    assert not transport.exchanges


@pytest.mark.parametrize("after", [0, 1, 2, 3])
def test_a_subagent_that_has_not_begun_is_stopped_with_its_parent(after: int) -> None:
    """However early the cancel comes."""
    talk, transport = session([[Call("task", {"prompt": "p"})], "ok", "ok"], subagents=True)

    async def early() -> None:
        seen = []
        async for event in talk.run("go"):
            seen.append(event)
            if type(event).__name__ == "ToolState" and event.state == "executing":
                for _ in range(after):
                    await asyncio.sleep(0)
                talk.cancel()
        assert isinstance(seen[-1], Cancelled)

    virtually(early())
    assert len(transport.exchanges) <= 2


def test_cancels_while_the_end_is_stored_do_not_take_the_last_event(tmp_path: Path) -> None:
    """A user who cancels again and again while the end is stored still learns that the run ended."""

    async def cancel_often(number: int) -> Any:
        path = tmp_path / f"{number}.db"
        calls = [PARIS, Call("slow", {"seconds": 60})]
        talk, _ = session([calls], store=path, id="s", tools=[weather, slow], threads=None)
        last: Any = None
        async with asyncio.timeout(20), talk:
            async for last in talk.run("go"):
                if isinstance(last, ToolResult):
                    talk.cancel()
                    for moment in range(20):
                        asyncio.get_running_loop().call_later(moment / 2000, talk.cancel)
        return last

    for number in range(5):
        assert isinstance(asyncio.run(cancel_often(number)), Cancelled)
