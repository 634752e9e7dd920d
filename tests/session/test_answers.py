"""Calls that wait for an answer from outside: handed out, stored, answered from any process."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.session.talk import KEYS

from turnout.errors import TurnoutError, UsageError
from turnout.model import Outcome
from turnout.session.answers import approval_request_of
from turnout.session.events import Complete, Waiting
from turnout.session.session import Session
from turnout.session.settings import Approval
from turnout.simulate import Call, ScriptedModel
from turnout.store import Store
from turnout.tools.declare.events import ToolState, ToolWaiting
from turnout.tools.declare.tool import tool
from turnout.world.world import World

DONE: list[str] = []


@tool(external=True)
async def pay(amount: int) -> str:
    """Pay; another program does it."""
    raise AssertionError("an external tool is not run here")


@tool(risk="dangerous")
async def erase(path: str) -> str:
    """Erase a file."""
    DONE.append(path)
    return f"erased {path}"


@tool(risk="read")
async def look() -> str:
    """Look."""
    return "seen"


def open_session(store: Any, script: Any, **settings: Any) -> tuple[Session, ScriptedModel]:
    model = ScriptedModel(script)
    world = World(transport=model, environment=KEYS)
    given = {"tools": [pay, erase, look], "approval": Approval(defer=True), "store": store, "id": "s"}
    return Session("openai:gpt-5.1", world=world, **{**given, **settings}), model


async def first_run(store: Any, calls: list[Call], **settings: Any) -> list[Any]:
    session, _ = open_session(store, [calls, "done"], **settings)
    async with session:
        return [event async for event in session.run("go")]


async def answer_with(store: Any, call_id: str, outcome: Any, script: Any = ("done",)) -> tuple[Any, Any]:
    session, model = open_session(store, list(script))
    async with session:
        ended = await session.answer(call_id, outcome)
        assert not model.refusals
        return ended, session.history.interaction(call_id).outcome


@pytest.fixture
def store(tmp_path: Path) -> Any:
    DONE.clear()
    with Store(tmp_path / "s.db", heartbeat=False) as opened:
        yield opened


def test_a_call_of_an_external_tool_is_handed_out(store: Store) -> None:
    """As an event and in the store; the other calls run, and the run ends as waiting."""
    seen = asyncio.run(first_run(store, [Call("pay", {"amount": 5}), Call("look", {})]))
    ended = seen[-1]
    assert isinstance(ended, Waiting) and ended.detail == "waiting: pay"
    assert [event.call.arguments for event in seen if isinstance(event, ToolWaiting)] == [{"amount": 5}]
    assert ("pay", "waiting") in [(e.name, e.state) for e in seen if isinstance(e, ToolState)]
    (waiting,) = store.waiting_calls()
    assert (waiting.session, waiting.name, waiting.kind) == ("s", "pay", "external")
    assert waiting.call_id == ended.calls[0].call_id and store.waiting_calls("other") == []
    outcomes = {item.call.name: item.outcome for item in store.read("s").ledger}
    assert outcomes["pay"] is None and outcomes["look"] is not None


@pytest.mark.parametrize("given", ["paid", Outcome("error", "no money"), {"receipt": 7}])
def test_an_answer_from_another_process_goes_on(store: Store, given: Any) -> None:
    """With text, JSON or an outcome; the model reads it and answers."""
    ended = asyncio.run(first_run(store, [Call("pay", {"amount": 5})]))[-1]
    again, outcome = asyncio.run(answer_with(store, ended.calls[0].call_id, given))
    assert isinstance(again, Complete) and again.turn.text == "done"
    wanted = given if isinstance(given, Outcome) else Outcome("complete", given, source="tool")
    assert outcome == wanted and store.waiting_calls() == []


def test_each_answer_counts_and_the_last_one_goes_on(store: Store) -> None:
    """While another call waits, the run ends as waiting again, and no request is made."""
    calls = [Call("pay", {"amount": 1}), Call("pay", {"amount": 2})]
    first, second = asyncio.run(first_run(store, calls))[-1].calls
    again, _ = asyncio.run(answer_with(store, second.call_id, "paid", script=[]))
    assert isinstance(again, Waiting) and [call.call_id for call in again.calls] == [first.call_id]
    again, _ = asyncio.run(answer_with(store, first.call_id, "paid"))
    assert isinstance(again, Complete)


@pytest.mark.parametrize(("answer", "status"), [(True, "complete"), (False, "denied")])
def test_an_approval_can_be_given_later(store: Store, answer: bool, status: str) -> None:
    """The call runs once it is approved, with the arguments that were asked about; or it is denied."""
    ended = asyncio.run(first_run(store, [Call("erase", {"path": "x"})]))[-1]
    assert isinstance(ended, Waiting) and ended.detail == "waiting for approval: erase"
    (waiting,) = store.waiting_calls()
    assert waiting.kind == "approval" and approval_request_of(waiting).visible_arguments == {"path": "x"}
    again, outcome = asyncio.run(answer_with(store, waiting.call_id, answer))
    assert isinstance(again, Complete) and outcome.status == status
    assert (["x"] if answer else []) == DONE


def test_a_refusal_can_say_why(store: Store) -> None:
    """The model reads what the user wrote."""
    asyncio.run(first_run(store, [Call("erase", {"path": "x"})]))
    (waiting,) = store.waiting_calls()
    _, outcome = asyncio.run(
        answer_with(store, waiting.call_id, approval_request_of(waiting).no("keep that"))
    )
    assert outcome.text == "They say: keep that"


def test_an_answer_can_be_left_in_the_store(store: Store) -> None:
    """By a process that does not open the session; whoever resumes it takes it up. The first one counts."""
    asyncio.run(first_run(store, [Call("pay", {"amount": 5}), Call("erase", {"path": "y"})]))
    by_name = {call.name: call for call in store.waiting_calls()}
    store.answer("s", by_name["pay"].call_id, "paid")
    store.answer("s", by_name["erase"].call_id, True)
    assert all(call.answered for call in store.waiting_calls())
    with pytest.raises(UsageError, match="has an answer already"):
        store.answer("s", by_name["pay"].call_id, "paid again")

    async def resume() -> Any:
        session, _ = open_session(store, ["done"])
        async with session:
            return await session.go_on()

    assert isinstance(asyncio.run(resume()), Complete)
    assert DONE == ["y"] and store.waiting_calls() == []


def test_wrong_answers_are_refused(store: Store) -> None:
    """An unknown call, a decision where an outcome is wanted, an outcome of another form."""
    asyncio.run(first_run(store, [Call("pay", {"amount": 5}), Call("erase", {"path": "y"})]))
    by_name = {call.name: call for call in store.waiting_calls()}
    question = approval_request_of(by_name["erase"])
    with pytest.raises(UsageError, match="does not wait for an answer"):
        store.answer("s", "nope", "x")
    with pytest.raises(UsageError, match="answer with its outcome"):
        store.answer("s", by_name["pay"].call_id, question.once())
    with pytest.raises(UsageError, match="answer with True, False or a Decision"):
        store.answer("s", by_name["erase"].call_id, "yes")
    with pytest.raises(UsageError, match="cannot be edited later"):
        store.answer("s", by_name["erase"].call_id, question.edit({"path": "z"}))


def test_a_new_prompt_ends_the_wait(store: Store) -> None:
    """The user speaks before an answer came: the call did not run, and nothing waits any longer."""
    asyncio.run(first_run(store, [Call("pay", {"amount": 5})]))

    async def speak() -> Any:
        session, model = open_session(store, ["fine"])
        async with session:
            ended = await session.run("never mind")
            assert not model.refusals
            return ended

    assert isinstance(asyncio.run(speak()), Complete)
    assert store.waiting_calls() == []


def test_to_ask_says_what_is_waited_for() -> None:
    """`ask` wants an answer now, so it raises; without a store it works in memory."""

    async def ask() -> None:
        session, _ = open_session(None, [[Call("pay", {"amount": 5})], "done"])
        async with session:
            with pytest.raises(TurnoutError, match=r"waiting: pay; give the answer with session\.answer"):
                await session.ask("go")
            waiting = session.history.open_calls[0].call.id
            assert isinstance(await session.answer(waiting, "paid"), Complete)

    asyncio.run(ask())
