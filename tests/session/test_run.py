"""A run under way: who may speak, what is queued, what leaving and switching do."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any, get_args

import pytest
from tests.session.talk import events, everything, session, virtually
from tests.world.raw_server import said, whole

from turnout import StoreError, UsageError
from turnout.history.check import violations
from turnout.model import ModelTurn, Settled, Started, Text, UserTurn
from turnout.session.compress import CompressPolicy
from turnout.session.events import Cancelled, Complete, Failed, Nested
from turnout.session.limits import Limits, Timeouts
from turnout.session.retry import RetryPolicy
from turnout.session.session import Session
from turnout.simulate import Call, Ends, Say, Stall, Truncate
from turnout.streaming.events import TextDelta
from turnout.tools.declare.events import ToolResult, ToolState
from turnout.tools.schedule.batch import Live
from turnout.world.ports import Outgoing
from turnout.world.world import World

PARIS = Call("weather", {"city": "Paris"})


def outcomes(talk: Session) -> list[str]:
    return [item.status for item in talk.history.ledger]


# Who may speak


def test_a_second_run_is_refused_while_one_is_under_way() -> None:
    """session.run raises; session.queue is the way on."""
    talk, _ = session([[Call("slow", {"seconds": 5})], "ok"])

    async def twice() -> None:
        first = talk.run("go")
        await anext(first)
        with pytest.raises(UsageError, match="queue"):
            talk.run("me too")
        await first.aclose()

    virtually(twice())


def test_of_two_runs_that_have_not_begun_the_first_to_begin_has_the_session() -> None:
    """A run begins with its first event; the other is told so then."""
    talk, _ = session(["one", "two"])

    async def racing() -> list[str]:
        first, second = talk.run("a"), talk.run("b")
        assert not talk.busy
        await anext(second)
        assert talk.busy
        with pytest.raises(UsageError, match="under way"):
            await anext(first)
        said = [event.text async for event in second if isinstance(event, TextDelta)]
        assert not talk.busy
        return said

    assert "".join(virtually(racing())) in "one"
    assert [turn.blocks for turn in talk.history.turns if isinstance(turn, UserTurn)] == [(Text("b"),)]


def test_compaction_by_hand_waits_for_the_end_of_a_run() -> None:
    """It would pull the history from under the run; by itself the run makes room when it must."""
    talk, _ = session([[Call("slow", {"seconds": 5})], "ok"])

    async def meddling() -> None:
        run = talk.run("go")
        await anext(run)
        with pytest.raises(UsageError, match="make room by itself"):
            await talk.compact()
        await run.aclose()

    virtually(meddling())


def test_a_session_is_free_again_with_the_terminal_event() -> None:
    """Whoever stops listening at the last event can speak again at once, in the same loop."""
    talk, _ = session(["one", "two", "three"])

    async def thrice() -> list[str]:
        first = (await talk.ask("a")).text
        async for event in talk.run("b"):
            if isinstance(event, Complete):
                break
        return [first, (await talk.ask("c")).text]

    assert virtually(thrice()) == ["one", "three"]


def test_ask_sync_needs_no_event_loop() -> None:
    """`ask_sync` works in plain code, again and again."""
    talk, _ = session(["one", "two"])
    assert talk.ask_sync("go").text == "one"
    assert talk.ask_sync("go").text == "two"


def test_ask_sync_inside_a_running_loop_says_what_to_do() -> None:
    """Blocking there would stop the loop that it needs: it says so, and the session is free."""
    talk, _ = session(["one"])

    async def inside() -> str:
        with pytest.raises(UsageError, match=r"await session\.ask"):
            talk.ask_sync("go")
        return (await talk.ask("go")).text

    assert virtually(inside()) == "one"


# What is queued


def test_a_queued_message_is_delivered_between_tools_and_the_next_request() -> None:
    """It becomes a user turn of its own, after the batch and before the next request."""
    talk, transport = session([[PARIS], "Both answered."])

    async def queueing() -> None:
        async for event in talk.run("go"):
            if isinstance(event, ToolResult):
                talk.queue("and hurry")

    virtually(queueing())
    order = [type(turn).__name__ for turn in talk.history.turns]
    assert order == ["UserTurn", "ModelTurn", "UserTurn", "ModelTurn"]
    assert len(transport.exchanges) == 2


def test_a_message_queued_while_the_model_answers_gets_an_answer_in_the_same_run() -> None:
    """The reply is whole, then the message is said, and the run goes on."""
    talk, _ = session(["First.", "Second."])

    async def queueing() -> Any:
        last = None
        async for last in talk.run("go"):
            if isinstance(last, TextDelta) and last.text.startswith("F"):
                talk.queue("and then?")
        return last

    last = virtually(queueing())
    assert isinstance(last, Complete) and last.turn.text == "Second."
    said = [turn.blocks[0].text for turn in talk.history.turns]  # type: ignore[union-attr]
    assert said == ["go", "First.", "and then?", "Second."]


def test_a_message_queued_between_runs_is_said_before_the_next_prompt() -> None:
    """Each as a turn of its own, in the order they came."""
    talk, _ = session(["ok"])
    talk.queue("one")
    talk.queue("two")
    events(talk, "three")
    said = [turn.blocks for turn in talk.history.turns if isinstance(turn, UserTurn)]
    assert said == [(Text("one"),), (Text("two"),), (Text("three"),)]


def test_going_on_says_what_was_queued_before_it_asks() -> None:
    """One request, with the message in it."""
    talk, transport = session(["ok"])
    talk.queue("one")
    virtually(everything_of(talk))
    assert len(transport.exchanges) == 1
    assert [type(turn).__name__ for turn in talk.history.turns] == ["UserTurn", "ModelTurn"]


async def everything_of(talk: Session) -> None:
    async for _ in talk.go_on():
        pass


# Leaving


def test_leaving_the_events_early_is_a_cancel() -> None:
    """The history is valid afterwards and the session goes on."""
    talk, _ = session([[Call("slow", {"seconds": 60})], "ok"])

    async def leaving() -> None:
        run = talk.run("go")
        async for event in run:
            if getattr(event, "state", "") == "executing":
                break
        await run.aclose()
        assert not talk.busy
        assert [event async for event in talk.run("again")][-1].turn.text == "ok"

    virtually(leaving())
    assert outcomes(talk) == ["cancelled"]
    assert violations(talk.history) == []


def test_whoever_just_walks_away_has_cancelled() -> None:
    """No aclose, only a break: the next run waits for the end of the one before, and goes on."""
    talk, _ = session([[Call("slow", {"seconds": 60}), PARIS], "ok"])

    async def leaving() -> str:
        async for event in talk.run("go"):
            if getattr(event, "state", "") == "executing":
                break
        assert not talk.busy
        return (await talk.ask("again")).text

    assert virtually(leaving()) == "ok"
    assert outcomes(talk)[0] == "cancelled" and violations(talk.history) == []


def test_a_task_that_is_cancelled_while_it_listens_leaves_a_session_that_goes_on() -> None:
    """A surface dies in mid stream: the history is valid, the session free."""
    talk, _ = session([[Say("Once upon"), Stall(500)], "ok"])

    async def dying() -> str:
        surface = asyncio.create_task(everything(talk))
        await asyncio.sleep(5)
        surface.cancel()
        await asyncio.wait({surface})
        return (await talk.ask("again")).text

    assert virtually(dying()) == "ok"
    assert violations(talk.history) == []


def test_cancel_in_mid_stream_keeps_what_had_arrived() -> None:
    """The partial turn is appended as interrupted; the run ends with Cancelled."""
    from turnout.simulate import Stall

    talk, _ = session([[Say("Once upon a time"), Stall(500)]])

    async def cancelling() -> list[Any]:
        seen = []
        async for event in talk.run("go"):
            seen.append(event)
            if isinstance(event, TextDelta):
                talk.cancel()
        return seen

    seen = virtually(cancelling())
    assert isinstance(seen[-1], Cancelled)
    assert talk.history.turns[-1].blocks[0].text.startswith("Once")


def test_every_call_that_was_shown_as_running_ends_visibly_before_the_last_event() -> None:
    """A cancel in mid batch, also inside a subagent: each call's end is told, then Cancelled."""
    script = [
        [Call("slow", {"seconds": 60}), Call("task", {"prompt": "look"}), PARIS],
        [Call("slow", {"seconds": 70}), PARIS],
    ]
    talk, _ = session(script, subagents=True)

    async def cancelling() -> list[Any]:
        asyncio.get_running_loop().call_later(5, talk.cancel)
        return [event async for event in talk.run("go")]

    seen = virtually(cancelling())
    plain = [event.event if isinstance(event, Nested) else event for event in seen]
    states = {event.call_id: event.state for event in plain if isinstance(event, ToolState)}
    told = {event.call_id: event.outcome.status for event in plain if isinstance(event, ToolResult)}
    assert sorted(states.values()) == ["cancelled", "cancelled", "cancelled", "complete", "complete"]
    assert states == told
    assert isinstance(seen[-1], Cancelled)


def test_calls_of_a_reply_that_was_cut_off_end_visibly_too() -> None:
    """A whole call in a stream that is cancelled or gives out was shown; so is that it did not run."""
    from turnout.simulate import Stall

    for script, cancels in (([[PARIS, Stall(500)]], True), ([[PARIS, Truncate()]] * 9, False)):
        talk, _ = session(script, "anthropic:claude-sonnet-4-5")

        async def listening(talk: Session = talk, cancels: bool = cancels) -> list[Any]:
            if cancels:
                asyncio.get_running_loop().call_later(5, talk.cancel)
            return [event async for event in talk.run("go")]

        seen = virtually(listening())
        [result] = [event for event in seen if isinstance(event, ToolResult)]
        assert result.outcome.reason == "did_not_run" and isinstance(
            seen[-1], Cancelled if cancels else Failed
        )


# What stays where it is


def test_s_120_a_switch_in_mid_turn_waits_for_the_boundary() -> None:
    """What is in flight stays where it is; the request after it goes to the new target."""
    talk, transport = session([[PARIS], "Done."], "anthropic:claude-sonnet-4-5")

    async def switching() -> None:
        async for event in talk.run("go"):
            if isinstance(event, ToolResult):
                talk.switch("mistral:mistral-large-latest")

    virtually(switching())
    origins = [turn.origin.provider for turn in talk.history.turns if isinstance(turn, ModelTurn)]
    assert origins == ["anthropic", "mistral"]
    assert transport.refusals == []


def test_a_switch_in_mid_reply_lets_the_reply_end_where_it_began() -> None:
    """The text that streams is still the first target's; the next request is the other's."""
    talk, transport = session(["A long answer indeed.", "And another."], "anthropic:claude-sonnet-4-5")

    async def switching() -> None:
        async for event in talk.run("go"):
            if isinstance(event, TextDelta) and talk.target.origin.provider == "anthropic":
                talk.switch("gemini:gemini-2.5-pro")
        await talk.ask("on")

    virtually(switching())
    turns = [turn for turn in talk.history.turns if isinstance(turn, ModelTurn)]
    assert [(turn.origin.provider, turn.text) for turn in turns] == [
        ("anthropic", "A long answer indeed."),
        ("gemini", "And another."),
    ]
    assert transport.refusals == []


# What the provider paused


def test_a_paused_turn_is_sent_back_unchanged_until_it_ends() -> None:
    """Nothing is added behind it; the same words stand last in the next request."""
    script = [[Say("Looking."), Ends("paused")], [Say("Still."), Ends("paused")], "Found it."]
    talk, transport = session(script, "anthropic:claude-sonnet-4-5")
    assert isinstance(events(talk)[-1], Complete)
    second, third = (seen.body for seen in list(transport.exchanges)[1:])
    assert second.index(b"Looking.") > second.index(b"go") and b"Still." in third
    assert [type(turn) for turn in talk.history.turns] == [UserTurn, ModelTurn, ModelTurn, ModelTurn]
    assert transport.refusals == []


def test_a_turn_that_is_paused_for_ever_ends_all_the_same() -> None:
    """The number of times is bounded; what was said so far is the answer."""
    talk, transport = session(
        lambda asked: [Say("Looking."), Ends("paused")], "anthropic:claude-sonnet-4-5", pauses=3
    )
    assert isinstance(events(talk)[-1], Complete)
    assert len(transport.exchanges) == 4 and violations(talk.history) == []


# Replies that are longer than anyone can read


class Wordy:
    """A server that says 28 MB and then breaks off, or says no more; later it answers as it should."""

    status = 200
    headers: Mapping[str, str] = MappingProxyType({"content-type": "text/event-stream"})

    def __init__(self, *, breaks: bool) -> None:
        self.breaks = breaks
        self.bodies: list[bytes] = []

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Wordy]:
        self.bodies.append(request.body)
        yield self

    @property
    async def chunks(self) -> AsyncIterator[bytes]:
        if len(self.bodies) > 1:
            yield whole("ok")
            return
        for _ in range(28):
            await asyncio.sleep(0)
            yield said("word " * 200_000)
        if self.breaks:
            raise ConnectionResetError("gone")
        await asyncio.sleep(10**6)


@pytest.mark.parametrize("breaks", [True, False], ids=["broke off", "cancelled"])
def test_a_reply_of_28_megabytes_that_broke_off_is_cut(breaks: bool) -> None:
    """Its beginning stays, with how much was left out; nothing longer is kept, sent or summarised."""
    wordy = Wordy(breaks=breaks)
    talk = Session(
        "openai:gpt-5.1",
        api_key="k",
        limits=Limits(retries=RetryPolicy(attempts=1), timeouts=Timeouts(idle=10**7, total=10**7)),
        world=World(transport=wordy),
    )

    async def breaking() -> None:
        asyncio.get_running_loop().call_later(1000.0, talk.cancel)
        async for _ in talk.run("go"):
            pass

    virtually(breaking())
    partial = talk.history.turns[-1]
    assert isinstance(partial, ModelTurn)
    assert 500_000 < len(partial.text) < 501_000
    assert partial.text.endswith("[27,500,000 more characters were left out]")
    assert "cut_reply" in {each.code for each in talk.history.diagnostics}
    assert not violations(talk.history)
    virtually(everything(talk, "again"))
    assert len(wordy.bodies) > 1 and all(len(body) < 2_000_000 for body in wordy.bodies)


def test_a_turn_of_28_megabytes_is_cut_for_whoever_summarises() -> None:
    """A prompt or a whole reply stays in the history as it is; the summary is made without most of it."""
    talk, transport = session(["ok"] * 9, compress=CompressPolicy(keep_turns=1, target="openai:gpt-5.1"))
    talk.history.user("a" * 28_000_000)
    talk.history.reply("openai:gpt-5.1", ["b"])
    talk.history.user("c")
    talk.history.reply("openai:gpt-5.1", ["d"])
    virtually(talk.compact())
    assert transport.exchanges and all(len(sent.body) < 2_000_000 for sent in transport.exchanges)


# A store that fails


@pytest.mark.parametrize("failing", [Started, Settled])
def test_no_call_stays_shown_as_running_when_the_store_fails(failing: type) -> None:
    """The outcome that could not be stored is not told; the call ends as interrupted, then the run fails."""
    talk, _ = session([[PARIS], "ok"])
    full = False

    def store(entry: Any) -> None:
        nonlocal full
        full = full or isinstance(entry, failing)
        if full:
            raise StoreError("the disk is full")

    talk.history.writer = store
    seen = events(talk)

    states = [event for event in seen if isinstance(event, ToolState)]
    assert isinstance(seen[-1], Failed) and "full" in str(seen[-1].error)
    assert states[-1].state not in get_args(Live)


def test_two_cancels_and_a_full_disk_leave_no_call_running() -> None:
    """The second cancel comes when the tool has just ended, and its outcome cannot be stored."""
    talk, _ = session([[Call("slow", {"seconds": 5})], "ok"])

    def store(entry: Any) -> None:
        if isinstance(entry, Settled):
            raise StoreError("the disk is full")

    talk.history.writer = store

    async def impatient() -> list[Any]:
        seen = []
        async for event in talk.run("go"):
            seen.append(event)
            if isinstance(event, ToolState) and event.state == "executing":
                asyncio.get_running_loop().call_later(1, talk.cancel)
                for steps in range(1, 6):
                    asyncio.get_running_loop().call_later(1, call_after, steps, talk.cancel)
        return seen

    seen = virtually(impatient())
    states = [event.state for event in seen if isinstance(event, ToolState)]
    assert isinstance(seen[-1], Failed | Cancelled) and states[-1] not in get_args(Live)


def call_after(steps: int, then: Any) -> None:
    """Call a function so many steps of the loop from now."""
    asyncio.get_running_loop().call_soon(call_after, steps - 1, then) if steps else then()
