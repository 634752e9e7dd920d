"""Sessions that are kept: what is on disk when, and how they go on after a crash."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.session.talk import events, session, virtually
from tests.store.disks import Change, Watched, connecting

from turnout.errors import SessionHeld, StoreError
from turnout.model import ModelTurn, Started, Text
from turnout.session.events import Complete, Failed
from turnout.session.session import Session
from turnout.simulate import Call, Say, ScriptedModel, Stall
from turnout.store import Store, holder
from turnout.streaming.events import TextDelta
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision
from turnout.world.world import World

FIVE = [Call("weather", {"city": str(number)}) for number in range(5)]


@pytest.fixture
def store(quick_folder: Path) -> Iterator[Store]:
    with Store(quick_folder / "s.db", heartbeat=False) as opened:
        yield opened


def after_a_crash(store: Store) -> Store:
    """What another process finds if this one ended here and now."""
    folder = store.path.parent / f"after{len(list(store.path.parent.iterdir()))}"
    folder.mkdir()
    for suffix in ("", "-wal"):
        shutil.copy(f"{store.path}{suffix}", folder / f"s.db{suffix}")
    return Store(folder / "s.db", heartbeat=False, clock=lambda: holder.clock() + 60)


def test_a_session_goes_on_in_another_process(store: Store) -> None:
    """With another provider, the same history, and what it has cost."""
    talk, _ = session([[Call("weather", {"city": "Oslo"})], "Cold."], store=store, id="s")
    events(talk, "How is Oslo?")
    asyncio.run(talk.close())

    again, model = session(["Still cold."], "anthropic:claude-sonnet-4-5", store=store, id="s")

    assert again.usage == talk.usage and again.cost == talk.cost
    assert isinstance(events(again, "And now?")[-1], Complete)
    assert len(again.history.turns) == 5 and not model.refusals


def test_what_is_seen_is_stored(store: Store) -> None:
    """At each event, everything in the history is in the store already."""
    talk, _ = session([FIVE, "Fine everywhere."], store=store, id="s")

    async def check() -> None:
        async for _ in talk.run("go"):
            assert store.read("s").entries == talk.history.entries

    virtually(check())


def test_a_batch_costs_few_commits(store: Store) -> None:
    """Five calls: their intents are one commit and their outcomes are one commit."""
    talk, _ = session([FIVE, "Fine everywhere."], store=store, id="s")
    commits: list[int] = []
    append = store.log.append
    store.log.append = lambda *args: (commits.append(len(args[2])), append(*args))  # type: ignore[method-assign]
    events(talk, "go")

    assert commits == [1, 6, 5, 1]  # prompt; reply and five intents; five outcomes; answer


def test_a_tool_runs_only_when_its_intent_is_on_disk(store: Store) -> None:
    """While it works, the store says that it was started."""

    @tool(risk="read")
    async def look() -> int:
        """Count the intents that are stored."""
        return sum(isinstance(entry, Started) for entry in store.read("s").entries)

    talk, _ = session([[Call("look", {}), Call("look", {})], "ok"], store=store, id="s", tools=[look])
    shown = [event.outcome.text for event in events(talk) if isinstance(event, ToolResult)]
    assert shown == ["2", "2"]


def test_a_reply_that_streams_is_kept(store: Store) -> None:
    """A crash in mid reply leaves its words as an interrupted turn, and the next request is valid."""
    talk, _ = session([[Say("one two three four five six"), Stall(60, after=3)]], store=store, id="s")

    async def break_off() -> Store:
        async for event in talk.run("go"):
            if isinstance(event, TextDelta):
                await asyncio.sleep(2)
                if store.log.load("s").draft is not None:
                    return after_a_crash(store)
        raise AssertionError("no draft was kept")

    with virtually(break_off()) as crashed:
        again, model = session(["Well."], "anthropic:claude-sonnet-4-5", store=crashed, id="s")
        kept = again.history.turns[-1]
        assert isinstance(kept, ModelTurn) and kept.stop == "interrupted" and kept.text.startswith("one")
        assert isinstance(events(again, "you were saying?")[-1], Complete)
        assert not model.refusals


def crash_while(store: Store, asked: str, **settings: Any) -> Store:
    """A session whose process ends while the tool of that name works."""
    left: list[Store] = []

    @tool(risk="read", name=asked, retry_safe=settings.pop("retry_safe", False))
    async def leave() -> str:
        """End here."""
        left.append(after_a_crash(store))
        return "too late"

    talk, _ = session([[Call(asked, {}), Call("weather", {"city": "x"})]], store=store, id="s", tools=[leave])
    events(talk)
    return left[0]


@pytest.mark.parametrize(("safe", "runs"), [(False, 0), (True, 1)])
def test_a_tool_that_was_cut_off_runs_again_only_if_that_does_no_harm(
    store: Store, safe: bool, runs: int
) -> None:
    """Else the model is told that its outcome is not known."""
    done: list[str] = []

    @tool(risk="read", retry_safe=safe)
    async def pay() -> str:
        """Do it."""
        done.append("paid")
        return "paid"

    with crash_while(store, "pay", retry_safe=safe) as crashed:
        again, model = session(["I see."], store=crashed, id="s", tools=[pay])
        seen = virtually(_all(again))
        outcome = again.history.interaction(again.history.turns[1].tool_calls[0].id).outcome  # type: ignore[union-attr]
    assert len(done) == runs and isinstance(seen[-1], Complete) and not model.refusals
    assert outcome is not None
    assert (outcome.status, outcome.reason) == (("complete", "") if safe else ("interrupted", "stopped"))


async def _all(talk: Session) -> list[Any]:
    return [event async for event in talk.go_on()]


def test_an_approval_is_not_used_a_second_time(store: Store) -> None:
    """A call that waits for its approval in a crash is asked about again."""
    asked: list[str] = []
    crashed: list[Store] = []

    @tool(risk="dangerous")
    async def erase() -> str:
        """Erase."""
        return "erased"

    async def approver(request: ApprovalRequest) -> Decision:
        asked.append(request.call_id)
        if not crashed:
            crashed.append(after_a_crash(store))
        return request.once()

    settings: dict[str, Any] = {"tools": [erase], "approver": approver, "id": "s"}
    talk, _ = session([[Call("erase", {})], "gone"], store=store, **settings)
    events(talk)
    with crashed[0] as left:
        again, _ = session(["gone"], store=left, **settings)
        virtually(_all(again))
    assert len(asked) == 2 and asked[0] == asked[1]


def test_a_full_disk_ends_the_run_and_the_session_goes_on_later(quick_folder: Path) -> None:
    """One terminal event that says why; with space again, nothing of what was seen is missing."""
    full = [False]

    def watch(change: Change) -> None:
        if full[0] and change.kind == "write":
            raise apsw.FullError("no space")

    vfs = Watched("filling", watch)
    with Store(quick_folder / "s.db", heartbeat=False, connect=connecting(vfs)) as store:

        @tool(risk="read")
        async def fill() -> str:
            """Fill the disk."""
            full[0] = True
            return "full"

        talk, _ = session([[Call("fill", {})], "never"], store=store, id="s", tools=[fill])
        seen = events(talk)
        assert isinstance(seen[-1], Failed) and isinstance(seen[-1].error, StoreError)
        assert not any(isinstance(event, ToolResult) for event in seen), "shown, and not kept"
        full[0] = False
        assert isinstance(events(talk, "again")[-1], Complete)
        assert store.read("s").entries == talk.history.entries


def test_a_session_that_was_taken_over_stops(store: Store, quick_folder: Path) -> None:
    """Its next write is refused, its run ends, and nothing of it is in the log."""
    talk, _ = session(["one", "two"], store=store, id="s")
    events(talk, "first")
    with Store(quick_folder / "s.db", heartbeat=False, clock=lambda: holder.clock() + 60) as rival:
        rival.open("s").user("mine")
        seen = events(talk, "second")
    assert isinstance(seen[-1], Failed) and isinstance(seen[-1].error, SessionHeld)
    assert "taken over" in str(seen[-1].error)
    assert [turn.blocks for turn in store.read("s").turns[2:]] == [(Text("mine"),)]


def test_subagents_are_kept_under_their_parent(store: Store) -> None:
    """Each a session of its own, also after a resume; the parent's log holds one call and one result."""
    script = [[Call("task", {"prompt": "look"})], "sub says hi", "done"]
    for number in (1, 2):
        talk, _ = session(script, store=store, id="s", subagents=True)
        assert isinstance(events(talk)[-1], Complete)
        asyncio.run(talk.close())
        assert len(store.list(within="s")) == number
    assert [line.id for line in store.list()] == ["s"]
    sub = store.read(store.list(within="s")[0].id)
    assert [type(turn).__name__ for turn in sub.turns] == ["UserTurn", "ModelTurn"]


def test_a_path_will_do_for_a_store(quick_folder: Path) -> None:
    """The session opens it and closes it."""

    async def talk() -> str:
        model = ScriptedModel(["hi there"])
        async with Session(
            "openai:gpt-5.1", store=quick_folder / "x.db", id="s", api_key="k", world=World(transport=model)
        ) as it:
            return (await it.ask("hi")).text

    assert asyncio.run(talk()) == "hi there"
    with Store(quick_folder / "x.db") as store:
        assert store.list()[0].turns == 2 and store.list()[0].holder is None


def test_failure_rates_are_kept_over_time(store: Store) -> None:
    """The session's counters are in the store, by provider and model."""
    talk, _ = session([FIVE, "ok"], store=store, id="s")
    events(talk)
    counts = [(count.name, count.provider, count.model, count.count) for count in store.counters.read()]
    assert counts == [("tool_calls_total", "openai", "gpt-5.1", 5)]
