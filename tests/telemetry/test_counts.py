"""What a session counts and times, readable in the process."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talk import events, session, slow, virtually

from turnout import Origin
from turnout.session.events import Cancelled, Complete, Status
from turnout.session.limits import Limits
from turnout.simulate import Call, Delay, HttpError, Say, Stall, Truncate
from turnout.telemetry.counts import Operation, Telemetry
from turnout.tools.declare.tool import tool
from turnout.tools.schedule.scheduler import ToolLimits

GPT = "openai:gpt-5.1"
PARIS = Call("weather", {"city": "Paris"})


class Notebook:
    """An exporter that writes everything down."""

    def __init__(self) -> None:
        self.counted: list[tuple[str, str, int]] = []
        self.ended: list[Operation] = []
        self.open: list[Operation] = []

    def count(self, name: str, origin: Origin, by: int) -> None:
        self.counted.append((name, str(origin), by))

    def begin(self, operation: Operation) -> Operation:
        self.open.append(operation)
        return operation

    def end(self, operation: Operation, begun: Any) -> None:
        assert begun is operation
        self.open.remove(operation)
        self.ended.append(operation)


def test_the_five_counters_mean_what_they_say() -> None:
    """Calls of finished replies, refused before they ran, ran after a repair, 400s with tools, loops cut."""

    @tool(risk="read")
    async def add(n: int) -> int:
        return n + 1

    script = [
        [Call("add", {"n": "3"}), Call("add", {})],  # one repaired, one refused
        [Call("add", {"n": 1}), Truncate()],  # not finished: not counted
        HttpError("invalid_request"),
        [Call("add", {"n": 2})],
        [Call("add", {"n": 5})],
        "Enough.",
    ]
    talk, _ = session(script, tools=[add], rounds=3, thinking=True)
    assert isinstance(events(talk)[-1], Complete)
    assert {name: count for (name, *_), count in talk.telemetry.counts.items()} == {
        "tool_calls_total": 4,
        "tool_calls_invalid_args": 1,
        "tool_calls_repaired": 1,
        "tool_api_400_total": 1,
        "tool_loop_max_iterations": 1,
    }
    assert set(talk.telemetry.counts) == {(name, "openai", "gpt-5.1") for name, *_ in talk.telemetry.counts}


def test_every_400_to_a_request_with_tools_counts_whatever_it_was_for() -> None:
    """A context that is too long is refused with a 400 as well."""
    refusals = [HttpError("context_too_long", status=400), HttpError("invalid_request", status=422)]
    places = ["anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro"]
    talk, _ = session([*refusals, "Hi."], places[0], fallback=places[1:], thinking=True)
    assert isinstance(events(talk)[-1], Complete)
    assert talk.telemetry.read("tool_api_400_total", provider="anthropic") == 1
    assert talk.telemetry.read("tool_api_400_total", provider="gemini") == 1


def test_a_repair_counts_when_the_call_ran() -> None:
    """A name that was put right counts like arguments that were; a call that was denied ran not at all."""

    @tool(risk="read")
    async def look_up(n: int) -> str:
        return "found"

    @tool(risk="write")
    async def change(n: int) -> str:
        return "changed"

    script = [[Call("LookUp", {"n": 1}), Call("change", {"n": "1"})], "ok"]
    talk, _ = session(script, tools=[look_up, change])
    events(talk)
    assert [item.status for item in talk.history.ledger] == ["complete", "denied"]
    assert talk.telemetry.read("tool_calls_repaired") == 1


def test_a_batch_that_is_cancelled_keeps_its_counts() -> None:
    """One call was refused and one repaired before the user stopped the third."""

    @tool(risk="read")
    async def add(n: int) -> int:
        return n + 1

    script = [[Call("add", {"n": "3"}), Call("add", {}), Call("slow", {"seconds": 600})]]
    talk, _ = session(script, tools=[add, slow])

    async def cancelling() -> list[Any]:
        asyncio.get_running_loop().call_later(5, talk.cancel)
        return [event async for event in talk.run("go")]

    seen = virtually(cancelling())
    assert isinstance(seen[-1], Cancelled)
    assert talk.telemetry.read("tool_calls_invalid_args") == 1
    assert talk.telemetry.read("tool_calls_repaired") == 1
    (told,) = [event.detail for event in seen if isinstance(event, Status) and event.kind == "tools"]
    assert told == "3 scheduled, 1 completed, 1 errors, 1 cancelled"


def test_what_happened_belongs_to_the_provider_that_made_the_calls() -> None:
    """A switch while tools run moves neither the counts, nor the times of tools, nor the loop that ended."""
    first = [Call("slow", {"seconds": 3}), Call("slow", {}), Call("slow", {"seconds": 1})]
    telling = Notebook()
    one_by_one = {"limits": Limits(tools=ToolLimits(parallel=1), rounds=2)}
    talk, _ = session([first, [Call("slow", {"seconds": 1})], "Done."], telemetry=telling, **one_by_one)

    async def switching() -> None:
        asyncio.get_running_loop().call_later(2, talk.switch, "anthropic:claude-sonnet-4-5")
        asyncio.get_running_loop().call_later(4.5, talk.switch, "gemini:gemini-2.5-pro")
        async for _ in talk.run("go"):
            pass

    virtually(switching())
    read = talk.telemetry.read
    assert read("tool_calls_invalid_args") == read("tool_calls_invalid_args", provider="openai") == 1
    assert read("tool_loop_max_iterations") == read("tool_loop_max_iterations", provider="anthropic") == 1
    tools = [str(each.origin) for each in telling.ended if each.kind == "execute_tool"]
    assert tools == [GPT, GPT, "anthropic:claude-sonnet-4-5"]
    assert talk.telemetry.timing("invoke_agent", "gemini:gemini-2.5-pro").count == 1


def test_model_calls_tools_runs_and_first_chunks_are_timed() -> None:
    """Seconds of each request, of the first piece of a reply, of each tool, and of the whole run."""
    script = [[Say("Let me see."), Call("slow", {"seconds": 4}), Stall(3, after=2), Delay(2)], "Done."]
    talk, _ = session(script)
    events(talk)
    timing = talk.telemetry.timing
    assert timing("chat", GPT).count == 2 and timing("chat", GPT).total == pytest.approx(5)
    assert timing("time_to_first_chunk", GPT).longest == pytest.approx(2)
    assert timing("execute_tool", "slow").total == pytest.approx(4)
    assert timing("invoke_agent", GPT).mean == pytest.approx(9)


def test_the_first_chunk_is_timed_from_when_the_request_leaves() -> None:
    """However long it took to get a key: that is not the provider's doing."""

    async def key() -> str:
        await asyncio.sleep(7)
        return "key"

    talk, _ = session([[Say("Hi."), Delay(2)]], api_key=key)
    events(talk)
    assert talk.telemetry.timing("time_to_first_chunk", GPT).total == pytest.approx(2)
    assert talk.telemetry.timing("chat", GPT).total == pytest.approx(9)


def test_only_a_stream_has_a_first_chunk() -> None:
    """A reply that comes whole has a duration and no time to its first piece."""
    talk, _ = session(["Hi."])
    events(talk, stream=False)
    assert talk.telemetry.timing("chat", GPT).count == 1
    assert talk.telemetry.timing("time_to_first_chunk", GPT).count == 0


def test_what_failed_is_told_in_one_word_and_every_operation_ends() -> None:
    """Retries, timeouts, tools that raise, cancelled runs: each with its kind of failure."""

    @tool(risk="read", timeout=5)
    async def odd(how: str) -> str:
        if how == "raise":
            raise OSError("the secret plan")
        await asyncio.sleep(60)
        return "late"

    book = Notebook()
    script = [
        HttpError("server"),
        [Call("odd", {"how": "raise"}), Call("odd", {"how": "hang"})],
        [Stall(900)],
    ]
    talk, _ = session(script, tools=[odd], telemetry=book)

    async def cancelling() -> Any:
        asyncio.get_running_loop().call_later(30, talk.cancel)
        return [event async for event in talk.run("go")][-1]

    assert isinstance(virtually(cancelling()), Cancelled)
    assert [(each.kind, each.error) for each in book.ended] == [
        ("chat", "server"),
        ("chat", ""),
        ("execute_tool", "OSError"),
        ("execute_tool", "timeout"),
        ("chat", "cancelled"),
        ("invoke_agent", "cancelled"),
    ]
    assert book.open == []


def test_an_exporter_is_told_what_is_counted_used_and_why_a_reply_ended() -> None:
    """Counts as they come; with each request its tokens and its last word."""
    book = Notebook()
    talk, _ = session([[PARIS], "Mild."], telemetry=book)
    events(talk)
    assert book.counted == [("tool_calls_total", GPT, 1)]
    chats = [each for each in book.ended if each.kind == "chat"]
    assert [each.stop for each in chats] == ["tool_calls", "stop"]
    assert all(each.usage and each.usage.input and each.host == "api.openai.com" for each in chats)
    assert book.ended[-1].usage == talk.usage


def test_an_exporter_that_breaks_breaks_nothing() -> None:
    """Telemetry is on the side: whatever it raises, the run goes on."""

    class Broken:
        def count(self, *_: Any) -> None:
            raise RuntimeError("no disk")

        begin = end = count

    talk, _ = session([[PARIS], "Mild."], telemetry=Broken())
    assert isinstance(events(talk)[-1], Complete)
    assert talk.telemetry.read("tool_calls_total") == 1


def test_counts_reach_the_store_also_when_they_are_exported(tmp_path: Any) -> None:
    """An exporter comes beside the store's counters, not in their place."""
    from turnout import Store

    book = Notebook()
    with Store(tmp_path / "s.db") as store:
        talk, _ = session([[PARIS], "Mild."], telemetry=book, store=store, id="one")
        asyncio.run(_ask_and_close(talk))
        kept = {row.name: row.count for row in store.counters.read()}
    assert kept["tool_calls_total"] == 1 and book.counted == [("tool_calls_total", GPT, 1)]


async def _ask_and_close(talk: Any) -> None:
    await talk.ask("go")
    await talk.close()


def test_subagents_share_the_counters_of_their_session() -> None:
    """One telemetry for the whole tree; each run in it is timed."""
    shared = Telemetry()
    talk, _ = session(
        [[Call("task", {"prompt": "look"})], [PARIS], "18.", "Mild."], subagents=True, telemetry=shared
    )
    events(talk)
    assert shared.read("tool_calls_total", provider="openai") == 2
    assert shared.timing("invoke_agent", GPT).count == 2
    assert shared.timing("execute_tool", "task").count == 1
