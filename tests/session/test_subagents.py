"""Subagents: sessions of their own behind one call; what they have, and what they share."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.session.talk import events, session, virtually
from tests.sim import oracles

from turnout.model import ModelTurn
from turnout.session.events import Complete, Failed, Nested
from turnout.session.limits import Limits, SubagentLimits
from turnout.session.session import Session
from turnout.simulate import Call, Say, Stall
from turnout.tools.declare.events import ToolResult, ToolState

PARIS = Call("weather", {"city": "Paris"})


def task(prompt: str = "look", **more: Any) -> Call:
    return Call("task", {"prompt": prompt, **more})


def results(talk: Session) -> list[tuple[str, str]]:
    return [(item.status, item.outcome.text if item.outcome else "") for item in talk.history.ledger]


def test_a_subagent_has_its_own_target_and_tools() -> None:
    """Another provider does the work, with the tools it was given and no others."""
    limits = SubagentLimits(target="anthropic:claude-sonnet-4-5", tools=("weather",))
    talk, transport = session([[task()], [PARIS], "18.", "Mild."], subagents=limits)
    seen = events(talk)
    assert isinstance(seen[-1], Complete) and results(talk) == [("complete", "18.")]
    assert [exchange.provider for exchange in transport.exchanges] == [
        "openai",
        "anthropic",
        "anthropic",
        "openai",
    ]
    body = transport.exchanges[1].body
    assert b'"weather"' in body and b'"slow"' not in body and b'"task"' not in body
    assert transport.refusals == []


def test_a_tool_that_is_not_there_cannot_be_given_to_subagents() -> None:
    """The call fails and says which; nothing is asked of anyone."""
    talk, transport = session([[task()], "Oh."], subagents=SubagentLimits(tools=("wether",)))
    events(talk)
    [(status, text)] = results(talk)
    assert status == "error" and "wether" in text and len(transport.exchanges) == 2
    assert talk.subagents is not None and talk.subagents.tree.live == 0


def test_a_task_in_the_background_that_cannot_begin_is_an_error_to_whoever_looks() -> None:
    """Listing it and waiting for it both say so."""
    script = [[task(background=True)], [Call("task_list", {}), Call("task_wait", {"id": "task-1"})], "Oh."]
    talk, _ = session(script, subagents=SubagentLimits(tools=("wether",)))
    events(talk)
    _, listed, waited = results(talk)
    assert listed[0] == "complete" and '"status":"error"' in listed[1].replace(" ", "")
    assert waited[0] == "error" and "wether" in waited[1]


def test_the_parent_sees_one_call_and_one_result_and_the_events_nested() -> None:
    """The child's calls are in the child; what happens there is told under the call that started it."""
    talk, _ = session([[task()], [PARIS], "18.", "Mild."], subagents=True)
    seen = events(talk)
    [call] = [call for turn in talk.history.turns if isinstance(turn, ModelTurn) for call in turn.tool_calls]
    nested = [event for event in seen if isinstance(event, Nested)]
    assert {event.call_id for event in nested} == {call.id}
    assert any(isinstance(event.event, ToolResult) for event in nested)
    assert not any(isinstance(event.event, Complete) for event in nested)
    oracles.readable_by_all(talk.history, talk.tool_specs())


def test_what_subagents_spend_their_session_has_spent() -> None:
    """One purse: the limit holds for the whole tree, and the usage is everyone's."""
    talk, transport = session(lambda asked: [task()] if "task" in asked.tools else [PARIS], subagents=True)
    talk.limits = Limits(tokens=1)
    failed = events(talk)[-1]
    assert isinstance(failed, Failed) and "tokens" in str(failed.error)
    [(status, text)] = results(talk)
    assert status == "error" and "the limit of 1 tokens" in text
    assert len(transport.exchanges) == 1


@pytest.mark.parametrize(
    ("limits", "why"), [(SubagentLimits(live=2), "at work"), (SubagentLimits(total=2), "has started 2")]
)
def test_the_number_of_subagents_is_bounded_also_within_one_batch(limits: SubagentLimits, why: str) -> None:
    """Five at once, in the foreground or not: two are admitted, the others read why not."""
    for background in (False, True):
        script = [[task(str(number), background=background) for number in range(5)]]
        talk, _ = session(lambda asked, script=script: script.pop() if script else "done", subagents=limits)
        events(talk)
        refused = [text for status, text in results(talk) if status == "error"]
        assert len(refused) == 3 and all(why in text for text in refused)
        assert talk.subagents is not None and talk.subagents.tree.total == 2
        virtually(talk.close())


def slowly(asked: Any) -> Any:
    """A subagent that works for a minute; the parent does what its prompt says."""
    if "work" in asked.user:
        return [Say(f"Done: {asked.user}."), Stall(60, after=1)]
    return "ok"


def test_tasks_in_the_background_are_listed_waited_for_and_stopped() -> None:
    """Two started in one batch are two; one is waited for, the other stopped."""
    script: list[Any] = [
        [task("work a", background=True), task("work b", background=True)],
        [Call("task_list", {})],
        [Call("task_stop", {"id": "task-2"}), Call("task_wait", {"id": "task-1"})],
        [Call("task_wait", {"id": "task-2"}), Call("task_wait", {"id": "task-9"}), Call("task_list", {})],
        "All done.",
    ]
    talk, _ = session(lambda asked: slowly(asked) if "work" in asked.user else script.pop(0), subagents=True)
    assert isinstance(events(talk)[-1], Complete)
    told = results(talk)
    assert told[:2] == [("complete", "started task-1"), ("complete", "started task-2")]
    assert told[2][1].count('"running"') == 2 and "work a" in told[2][1] and "work b" in told[2][1]
    assert told[3:5] == [("complete", "task-2 is stopped"), ("complete", "Done: work a.")]
    assert told[5][0] == "cancelled" and "no task 'task-9'" in told[6][1]
    assert '"complete"' in told[7][1] and '"stopped"' in told[7][1]
    assert talk.subagents is not None and talk.subagents.tree.live == 0


def test_no_two_subagents_share_a_name() -> None:
    """Ids of calls are made from it: two in the background that make the same call are two calls."""
    talk, transport = session(
        lambda asked: (
            ("Done." if asked.results else [Call("weather", {"city": "Paris"}, id="call_1")])
            if "work" in asked.user or asked.results
            else [task("work a", background=True), task("work b", background=True), task("work c")]
        ),
        subagents=True,
    )
    seen = events(talk)
    calls = [event.event.call_id for event in seen if isinstance(event, Nested) and is_result(event.event)]
    assert len(calls) == len(set(calls)) == 3
    assert transport.refusals == []


def is_result(event: Any) -> bool:
    return isinstance(event, ToolResult)


def test_closing_a_session_stops_what_works_in_the_background() -> None:
    """Nothing goes on behind the back of whoever closed it."""
    talk, transport = session(
        lambda asked: (
            slowly(asked) if "work" in asked.user or asked.results else [task("work", background=True)]
        ),
        subagents=True,
    )

    async def closing() -> float:
        await talk.ask("go")
        await talk.close()
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left
        return asyncio.get_running_loop().time()

    assert virtually(closing()) < 10
    assert talk.subagents is not None and talk.subagents.tree.live == 0
    assert transport.refusals == []


def test_a_cancel_reaches_a_subagent_of_a_subagent() -> None:
    """Two levels down a tool is at work: it is stopped, and everyone's calls are answered."""
    talk, _ = session(
        lambda asked: [task()] if "task" in asked.tools else [Call("slow", {"seconds": 600})],
        subagents=SubagentLimits(depth=2),
    )

    async def cancelling() -> list[Any]:
        asyncio.get_running_loop().call_later(5, talk.cancel)
        return [event async for event in talk.run("go")]

    seen = virtually(cancelling())
    inner = [
        event.event.event for event in seen if isinstance(event, Nested) and isinstance(event.event, Nested)
    ]
    assert [event.state for event in inner if isinstance(event, ToolState)][-1] == "cancelled"
    assert [status for status, _ in results(talk)] == ["cancelled"]
    assert talk.subagents is not None and talk.subagents.tree.live == 0
