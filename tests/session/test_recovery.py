"""What is given up after a refusal, and what later sessions remember of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

from turnout import Session, Status, World
from turnout.model import Origin
from turnout.session.recovery import DURABLE, STEPS, Recovery
from turnout.simulate import HttpError, ScriptedTransport
from turnout.world.learned_steps import LearnedSteps

TARGET = "openai:gpt-5.1"
ORIGIN = Origin.parse(TARGET)


def talk(script: list[object], learned: LearnedSteps) -> tuple[ScriptedTransport, list[str]]:
    """One prompt of a new session; what was sent, and what the user was told of steps."""
    transport = ScriptedTransport(script)
    world = World(transport=transport, environment={"OPENAI_API_KEY": "k"}, learned=learned)

    async def ask() -> list[str]:
        async with Session(TARGET, world=world) as session:
            events = [event async for event in session.run("hi", effort="high")]
        return [event.detail for event in events if isinstance(event, Status) and event.kind == "recovering"]

    return transport, asyncio.run(ask())


def test_a_step_that_helped_is_taken_at_once_by_the_next_session(tmp_path: Path) -> None:
    """The first session is refused once; the second is not, says so, and forgets when it is told to."""
    learned = LearnedSteps(tmp_path / "learned.toml")
    refused = HttpError("invalid_request", message="reasoning is not supported here")
    first, told = talk([refused, "Hi."], learned)
    assert [seen.status for seen in first.exchanges] == [400, 200] and len(told) == 1
    assert [(kept.target, kept.step) for kept in learned.all_steps()] == [(TARGET, "drop reasoning")]
    assert "not supported" in learned.all_steps()[0].why
    second, told = talk(["Hi."], learned)
    assert [seen.status for seen in second.exchanges] == [200]
    assert second.exchanges[0].body == list(first.exchanges)[1].body
    assert told == ["drop reasoning, as learned from an earlier refusal"]
    assert learned.forget(TARGET) == 1 and learned.forget(TARGET) == 0
    assert b'"high"' in talk(["Hi."], learned)[0].exchanges[0].body


def test_a_step_that_depends_on_the_conversation_is_not_kept(tmp_path: Path) -> None:
    """Flattening helped this history; another one may not need it."""
    learned = LearnedSteps(tmp_path / "learned.toml")
    recovery = Recovery(learned)
    for _ in range(3):
        recovery.step(ORIGIN, "t1")
    recovery.note_success(ORIGIN, "refused")
    assert learned.all_steps() == []


def test_the_steps_of_a_target_go_on_where_the_learned_ones_end(tmp_path: Path) -> None:
    """A learned step is not tried again; a compaction does not undo it."""
    learned = LearnedSteps(tmp_path / "learned.toml")
    learned.keep(TARGET, DURABLE[0], "no")
    learned.keep(TARGET, "a step of another version", "no")
    recovery = Recovery(learned)
    assert recovery.in_force(ORIGIN) == (DURABLE[0],)
    assert recovery.step(ORIGIN, "t1") == STEPS[1]
    recovery.start_over()
    assert recovery.in_force(ORIGIN) == (DURABLE[0],)
    assert recovery.take_untold(ORIGIN) == (DURABLE[0],) and recovery.take_untold(ORIGIN) == ()


def test_without_a_memory_nothing_is_kept() -> None:
    """A session in a program writes no file unless it is given one."""
    recovery = Recovery()
    assert recovery.step(ORIGIN, "t1") == STEPS[0]
    recovery.note_success(ORIGIN, "no")
    assert recovery.in_force(ORIGIN) == (STEPS[0],)
