"""S-66, S-67, S-104 and S-107 to S-125 in whole sessions, with models that refuse what real ones refuse."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.build import call, conversation, model, settled, started, user
from tests.scenarios.sessions import (
    CLAUDE,
    GPT,
    OSLO,
    PARIS,
    PLACES,
    declares,
    may_call,
    paired,
    replies,
    told,
)
from tests.session.talk import events, everything, session, statuses, virtually

from turnout import History, SessionHeld
from turnout.history.check import violations
from turnout.model import Opaque
from turnout.session.compress import CompressPolicy
from turnout.session.events import Cancelled, Complete, Discarded, Nested
from turnout.session.limits import Limits
from turnout.session.session import Session
from turnout.simulate import (
    Call,
    Hosted,
    HttpError,
    MidStreamError,
    Reset,
    Say,
    ScriptedTransport,
    SimulatedRequest,
    Think,
    Truncate,
)
from turnout.store import Store
from turnout.streaming.events import TextDelta
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool

# Tools that are not there


def with_calls(origin: str) -> History:
    """A conversation with a tool that nobody has any more."""
    turn = model(call("gone_tool", "1", n=1), origin=origin)
    return conversation(user("go"), turn, settled("1", "found"), model("So it is.", origin=origin))


@pytest.mark.parametrize("place", PLACES)
def test_s_66_a_session_without_tools_goes_on_with_a_history_that_has_calls(place: str) -> None:
    """Stubs of the historical tools are declared with the choice `none`, and nobody refuses."""
    talk, transport = session(["Fine."], place, tools=(), history=with_calls(GPT))
    assert events(talk)[-1].turn.text == "Fine."
    (seen,) = transport.exchanges
    assert transport.refusals == [] and paired(seen) == ["found"]
    assert declares(seen, "gone_tool") and not may_call(seen)


@pytest.mark.parametrize("place", PLACES)
def test_s_67_a_stub_that_is_called_is_refused_and_the_model_asked_again(place: str) -> None:
    """The call runs nothing, is answered with an error that says so, and the next reply is the answer."""
    talk, transport = session([[Call("gone_tool", {"n": 2})], "As I said."], place, history=with_calls(GPT))
    assert events(talk)[-1].turn.text == "As I said."
    assert transport.refusals == [] and len(transport.exchanges) == 2
    _, answer = paired(transport.exchanges[1])
    assert "unknown_tool" in answer and "gone_tool" in answer
    assert [item.status for item in talk.history.ledger] == ["complete", "error"]


# Replies that broke


@pytest.mark.parametrize("fault", [Truncate(), Reset(), MidStreamError("overloaded")])
@pytest.mark.parametrize("place", PLACES)
def test_s_104_nothing_of_a_dead_attempt_is_left(place: str, fault: Any) -> None:
    """Text, thinking and calls of the dead attempt are in no history, no request, and on no screen."""
    dead = [Think("dead thought"), Say("dead words"), Call("weather", {"city": "Deadwood"}), fault]
    talk, transport = session([dead, [Say("Looking."), PARIS], "Mild."], place, thinking=True)
    seen = events(talk)
    taken_back = [event.turn_key for event in seen if isinstance(event, Discarded)]
    assert len(taken_back) == 1 and taken_back[0] not in {turn.key for turn in talk.history.turns}
    after = seen[max(at for at, event in enumerate(seen) if isinstance(event, Discarded)) :]
    assert "".join(event.text for event in after if isinstance(event, TextDelta)) == "Looking.Mild."
    assert [len(turn.tool_calls) for turn in replies(talk.history)] == [1, 0]
    assert not any(b"dead" in each.body or b"Deadwood" in each.body for each in transport.exchanges)
    assert [event.outcome.text for event in seen if isinstance(event, ToolResult)] == ["18 degrees in Paris"]


# Compression


def chatty(asked: SimulatedRequest) -> Any:
    """Two rounds of parallel calls for every prompt; a summary when one is asked for."""
    if "Summarise" in asked.user:
        return "What happened before."
    if len(asked.results) < 4:
        return [Say("I look."), Call("weather", {"city": f"{asked.user} {len(asked.results)}"}), OSLO]
    return "There."


@pytest.mark.parametrize("place", PLACES)
def test_s_107_chained_compactions_leave_no_call_without_its_result(place: str) -> None:
    """Cut after every prompt, also into tool loops: each request pairs every call, and the log keeps all."""
    talk, transport = session(chatty, place, compress=CompressPolicy(keep_turns=2, automatic=False))

    async def conversing() -> None:
        for number in range(4):
            await everything(talk, f"prompt {number}")
            assert await talk.compact()

    virtually(conversing())
    assert transport.refusals == []
    for seen in transport.exchanges:
        paired(seen)
    assert talk.history.generation == 4 and violations(talk.history) == []
    assert len(talk.history.ledger) == 16


@pytest.mark.parametrize("place", PLACES)
def test_s_108_the_request_for_a_summary_is_a_valid_one(place: str) -> None:
    """It tells whole pairs and declares the tools of the history, which may not be called."""
    talk, transport = session(chatty, place, compress=CompressPolicy(keep_turns=2, automatic=False))

    async def conversing() -> None:
        await everything(talk, "look")
        turns = len(talk.history.turns)
        assert await talk.compact()
        assert len(talk.history.turns) < turns

    virtually(conversing())
    assert transport.refusals == []
    (asking,) = [seen for seen in transport.exchanges if b"Summarise our conversation" in seen.body]
    heard = told(asking)
    assert paired(asking) and declares(asking, "weather") and not may_call(asking)
    assert talk.history.summary == "What happened before."
    assert not any("Summarise" in text for text in heard.model)


@pytest.mark.parametrize("place", PLACES)
def test_s_108_a_summary_of_a_history_with_open_calls_is_valid_too(place: str) -> None:
    """Calls that were cut off are answered in the request for the summary, as everywhere."""
    cut_off = conversation(
        user("go"),
        model(call("weather", "1", city="A"), call("weather", "2", city="B"), origin=CLAUDE),
        started("1"),
        settled("1", "mild"),
    )
    talk, transport = session(chatty, place, history=cut_off, compress=CompressPolicy(keep_turns=1))
    cut_off.user("never mind")
    assert virtually(talk.compact())
    assert transport.refusals == []
    first, second = paired(transport.exchanges[0])
    assert first == "mild" and second != "mild"


@pytest.mark.parametrize("place", PLACES)
def test_s_109_a_summary_inside_a_tool_loop_is_not_the_models_word(place: str) -> None:
    """The cut falls into a loop: the summary is told by the user, the prompt stays, the pairs are whole."""
    policy = CompressPolicy(keep_turns=1, trigger=0.000_2)  # of the window: after every round
    talk, transport = session(chatty, place, compress=policy)
    seen = events(talk, "Please look at both.")
    assert "compressing" in statuses(seen) and isinstance(seen[-1], Complete)
    assert transport.refusals == []
    last = told(transport.exchanges[-1])
    assert paired(transport.exchanges[-1])
    assert any("What happened before." in text for text in (*last.user, *last.system))
    assert not any("What happened before." in text for text in last.model)
    assert any("Please look at both." in text for text in last.user)


# Models that go round in circles


@pytest.mark.parametrize("place", PLACES)
def test_s_116_empty_arguments_are_corrected_a_few_times_and_then_a_text_is_forced(place: str) -> None:
    """Each time the error names what is missing; then tools are declared and switched off, and words come."""
    talk, transport = session(
        lambda asked: [Call("weather", {})] if asked.may_call else "I do not know.", place
    )
    seen = events(talk)
    assert seen[-1].turn.text == "I do not know." and statuses(seen) == ["guard"]
    assert len(transport.exchanges) == Limits().corrections + 1
    last = transport.exchanges[-1]
    for answer in paired(last):
        error = json.loads(answer)["tool_error"]
        assert (error["kind"], error["missing"]) == ("invalid_arguments", ["city"])
    assert declares(last, "weather", "slow") and not may_call(last)
    assert all(may_call(each) for each in list(transport.exchanges)[:-1]) and transport.refusals == []


@pytest.mark.parametrize(
    ("circle", "rounds", "limits"),
    [
        ([PARIS], 3, Limits()),
        ([PARIS], 50, Limits(repeats=50, rounds=60)),
        ([PARIS, OSLO], 6, Limits()),
        ([PARIS, OSLO, Call("weather", {"city": "Rome"})], 9, Limits()),
    ],
)
def test_s_117_circles_are_noticed_at_the_limit_that_was_set(
    circle: list[Call], rounds: int, limits: Limits
) -> None:
    """One call three or fifty times, two or three in turn: stopped there, neither before nor after."""
    turn = iter(range(10_000))
    talk, transport = session(
        lambda asked: [circle[next(turn) % len(circle)]] if asked.may_call else "Enough.", limits=limits
    )
    seen = events(talk)
    assert seen[-1].turn.text == "Enough." and statuses(seen) == ["guard"]
    assert len(transport.exchanges) == rounds + 1


def test_s_117_the_same_call_with_new_results_is_no_circle() -> None:
    """Polling is not looping: a call whose result changes may be made again and again."""
    ticks = iter(range(100))

    @tool(risk="read")
    async def poll() -> str:
        """Look again."""
        return f"{next(ticks)} of 8"

    script = [[Call("poll")]] * 8
    talk, _ = session([*script, "Ready."], tools=[poll])
    assert statuses(events(talk)) == []


@pytest.mark.parametrize("place", PLACES)
def test_s_118_at_the_round_limit_pairs_are_closed_and_one_request_has_the_last_word(place: str) -> None:
    """The last request holds every pair and declares the tools, which may not be called."""
    numbers = iter(range(100))
    talk, transport = session(
        lambda asked: [Call("weather", {"city": str(next(numbers))})] if asked.may_call else "That is all.",
        place,
        rounds=4,
    )
    assert events(talk)[-1].turn.text == "That is all."
    assert len(transport.exchanges) == 5 and transport.refusals == []
    last = transport.exchanges[-1]
    assert len(paired(last)) == 4 and declares(last, "weather", "slow") and not may_call(last)
    assert not talk.history.open_calls


# Sessions that were cut off


def test_s_119_a_session_that_was_killed_in_a_batch_goes_on(tmp_path: Path) -> None:
    """What had run is not run again, what had not begun runs first, and a second process is kept out."""
    ran: list[str] = []

    class Killed(BaseException):
        """The process is gone."""

    @tool(risk="write")
    async def work(ctx: ToolContext, n: int) -> str:
        """Work."""
        ran.append(f"{n}")
        return f"done {n}"

    def opened(script: Any, store: Store) -> tuple[Session, ScriptedTransport]:
        return session(script, CLAUDE, tools=[work], store=store, id="s", approval="full")

    calls = [Call("work", {"n": n}) for n in range(3)]
    with Store(tmp_path / "sessions.db") as store:
        first, _ = opened([calls, "never said"], store)

        async def killed() -> None:
            async for event in first.run("go"):
                if isinstance(event, ToolResult):
                    raise Killed

        with pytest.raises(Killed), asyncio.Runner() as runner:
            runner.run(killed())
        with Store(tmp_path / "sessions.db") as other, pytest.raises(SessionHeld):
            opened([], other)
        store.release("s")
        done = list(ran)
        again, transport = opened(["Where we were."], store)
        seen = virtually(everything(again, "and?"))
        assert seen[-1].turn.text == "Where we were."
        assert sorted(set(ran)) == sorted(ran) and ran[: len(done)] == done
        assert len(paired(transport.exchanges[0])) == 3 and transport.refusals == []
        assert violations(again.history) == []


# Another provider


@pytest.mark.parametrize("moment", [TextDelta, ToolResult])
@pytest.mark.parametrize("place", PLACES)
def test_s_120_a_switch_waits_for_the_end_of_what_is_in_flight(place: str, moment: type) -> None:
    """Switched while it streams or while tools run: that turn stays where it was, the next goes elsewhere."""
    first = GPT if place != GPT else CLAUDE
    talk, transport = session([[Say("I look, and look."), PARIS, OSLO], "Done."], first)

    async def switching() -> None:
        async for event in talk.run("go"):
            if isinstance(event, moment):
                talk.switch(place)

    virtually(switching())
    assert [str(turn.origin).partition(":")[0] for turn in replies(talk.history)] == [
        first.partition(":")[0],
        place.partition(":")[0],
    ]
    assert len(transport.exchanges) == 2 and transport.refusals == []
    assert paired(transport.exchanges[1]) == ["18 degrees in Paris", "18 degrees in Oslo"]


@pytest.mark.parametrize("after", PLACES)
@pytest.mark.parametrize("before", PLACES)
def test_s_121_the_result_of_ones_call_goes_to_another(before: str, after: str) -> None:
    """Failover in mid round trip: whoever comes next gets the call, its result and all it insists on."""
    if before == after:
        return
    talk, transport = session(
        [[Think("hm"), PARIS, OSLO], HttpError("overloaded"), [PARIS], "There."],
        before,
        fallback=[after],
        thinking=True,
    )
    seen = events(talk)
    assert statuses(seen) == ["switched"] and seen[-1].turn.text == "There."
    assert transport.refusals == []
    assert paired(transport.exchanges[-1]) == [f"18 degrees in {city}" for city in ("Paris", "Oslo", "Paris")]
    assert [len(turn.tool_calls) for turn in replies(talk.history)] == [2, 1, 0]


@pytest.mark.parametrize("after", PLACES)
def test_s_124_what_the_provider_ran_itself_is_nobody_elses(after: str) -> None:
    """A hosted tool is not scheduled; its maker gets call and result back, another gets neither."""
    searching = [Hosted(arguments={"query": "q"}, result="found it"), Say("I searched."), PARIS]
    talk, transport = session([searching, "Here.", "And now."], CLAUDE)
    events(talk)
    talk.switch(after)
    events(talk, "and?")
    assert [item.call.name for item in talk.history.ledger] == ["weather"]
    assert any(isinstance(block, Opaque) for block in replies(talk.history)[0].blocks)
    bodies = [json.loads(seen.body) for seen in transport.exchanges]
    marks = [b"srvtoolu_" in seen.body for seen in transport.exchanges]
    assert marks == [False, True, after == CLAUDE]
    assert bodies[1]["messages"][1]["content"][0]["type"] == "server_tool_use"
    assert paired(transport.exchanges[-1]) == ["18 degrees in Paris"] and transport.refusals == []


# Subagents


@pytest.mark.parametrize("place", PLACES)
def test_s_125_a_child_leaves_one_call_and_one_result_in_its_parent(place: str) -> None:
    """What the child said and called is in no request and no entry of the parent."""
    child = [[Say("childish words"), Call("weather", {"city": "Childhood"})], "It is mild."]
    talk, transport = session([[Call("task", {"prompt": "look"})], *child, "Thanks."], place, subagents=True)
    assert events(talk)[-1].turn.text == "Thanks."
    assert transport.refusals == []
    assert paired(transport.exchanges[-1]) == ["It is mild."]
    assert b"hildhood" not in transport.exchanges[-1].body and b"childish" not in transport.exchanges[-1].body
    assert [item.call.name for item in talk.history.ledger] == ["task"]
    assert "childish" not in repr(talk.history.entries)


def test_s_125_an_abort_of_the_parent_reaches_the_child_and_its_tools() -> None:
    """The child's tool is cancelled with the parent's call; nothing runs on, and one call is cancelled."""
    stopped: list[str] = []

    @tool(risk="read")
    async def linger() -> str:
        """Take for ever."""
        try:
            await asyncio.sleep(10_000)
        except asyncio.CancelledError:
            stopped.append("linger")
            raise
        return "never"

    talk, transport = session(
        [[Call("task", {"prompt": "wait"})], [Call("linger")], "Stopped."], tools=[linger], subagents=True
    )

    async def aborting() -> list[Any]:
        seen = []
        async for event in talk.run("go"):
            seen.append(event)
            if isinstance(event, Nested) and getattr(event.event, "state", "") == "executing":
                talk.cancel()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left, left
        assert (await talk.ask("so?")).text == "Stopped."
        return seen

    seen = virtually(aborting())
    assert isinstance(seen[-1], Cancelled) and stopped == ["linger"]
    nested = [event.event for event in seen if isinstance(event, Nested)]
    assert [event.outcome.status for event in nested if isinstance(event, ToolResult)] == ["cancelled"]
    assert [(item.call.name, item.status) for item in talk.history.ledger] == [("task", "cancelled")]
    assert transport.refusals == []
