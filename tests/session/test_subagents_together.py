"""Subagents of one session at work on the same files: nothing is lost, and the limits are the tree's."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

from tests.session.talk import KEYS, events, session
from tests.tools.schedule.scheduling import go

from turnout.session.events import Complete, Nested, Status
from turnout.session.limits import Limits
from turnout.session.session import Session
from turnout.simulate import Call, ScriptedTransport, SimulatedRequest
from turnout.tools.builtin import edit_file, shell
from turnout.tools.declare.tool import Tool, tool
from turnout.tools.schedule.scheduler import ToolLimits
from turnout.world.world import World


def four_tasks(*calls: Any) -> Any:
    """A parent that starts a subagent for each of four lines; each makes these calls, `n` being its line."""

    def script(asked: SimulatedRequest) -> Any:
        if asked.results:
            return "done"
        if not asked.user.startswith("line"):
            return [Call("task", {"prompt": f"line {n}"}) for n in range(4)]
        return [make(asked.user.split()[-1]) for make in calls]

    return script


def talk_in(folder: Path, script: Any, tools: list[Tool]) -> Session:
    return Session(
        "openai:gpt-5.1",
        tools=tools,
        workspace=str(folder),
        approval="full",
        limits=Limits(subagents=True),
        world=World(transport=ScriptedTransport(script), environment=KEYS),
    )


def test_four_subagents_that_edit_one_file_lose_no_edit(tmp_path: Path) -> None:
    """Each replaces its own line; all four lines are replaced, in every one of ten runs."""
    file = tmp_path / "f.txt"

    def edit(n: str) -> Call:
        return Call("edit_file", {"path": "f.txt", "old_text": f"line {n}\n", "new_text": f"LINE {n}\n"})

    async def once() -> str:
        file.write_text("".join(f"line {n}\n" for n in range(4)))
        async with talk_in(tmp_path, four_tasks(edit), [edit_file]) as talk:
            await talk.ask("go")
        return file.read_text()

    for _ in range(10):
        assert go(once()) == "LINE 0\nLINE 1\nLINE 2\nLINE 3\n"


def test_commands_and_edits_of_different_subagents_do_not_spoil_each_other(tmp_path: Path) -> None:
    """A command that may write keeps out edits and other such commands, whichever subagent makes them."""
    file = tmp_path / "f.txt"
    file.write_text("".join(f"line {n}\n" for n in range(4)))

    def change(n: str) -> Call:
        if n in "02":
            return Call("edit_file", {"path": "f.txt", "old_text": f"line {n}\n", "new_text": f"LINE {n}\n"})
        command = f'text=$(cat f.txt); sleep 0.2; printf "%s\\n" "${{text/line {n}/LINE {n}}}" > f.txt'
        return Call("shell", {"command": command})

    async def once() -> None:
        async with talk_in(tmp_path, four_tasks(change), [edit_file, shell]) as talk:
            await talk.ask("go")

    go(once())
    assert file.read_text() == "LINE 0\nLINE 1\nLINE 2\nLINE 3\n"


def test_no_more_calls_run_at_once_in_all_subagents_than_the_limit_says() -> None:
    """Four subagents with three calls each: never more than five at a time, and the limit is used."""
    at_once: list[int] = [0, 0]

    @tool(risk="read")
    async def look(n: int) -> str:
        """Look."""
        at_once[0] += 1
        at_once[1] = max(at_once)
        await asyncio.sleep(1)
        at_once[0] -= 1
        return "seen"

    looks = [lambda n, at=at: Call("look", {"n": 10 * int(n) + at}) for at in range(3)]
    talk, _ = session(
        four_tasks(*looks), tools=[look], subagents=True, limits=Limits(tools=ToolLimits(parallel=5))
    )
    assert isinstance(events(talk)[-1], Complete)
    assert at_once == [0, 5]


def test_subagents_do_not_take_the_slots_that_their_calls_need() -> None:
    """With one slot in all, a call inside a subagent inside a subagent still runs."""
    script = four_tasks(lambda n: Call("weather", {"city": n}))
    talk, _ = session(script, subagents=True, limits=Limits(tools=ToolLimits(parallel=1)))
    assert isinstance(events(talk)[-1], Complete)
    assert [item.status for item in talk.history.ledger] == ["complete"] * 4


def test_subagents_that_make_the_same_call_do_not_go_in_circles() -> None:
    """Four that each look once at the same place are not stopped, and neither is their parent."""
    talk, transport = session(four_tasks(lambda n: Call("weather", {"city": "Paris"})), subagents=True)
    seen = events(talk)
    assert isinstance(seen[-1], Complete) and "guard" not in all_statuses(seen)
    assert not any(b'"tool_choice":"none"' in exchange.body for exchange in transport.exchanges)


def test_a_subagent_that_goes_in_circles_is_stopped_and_its_parent_is_not() -> None:
    """The guard of its own run stops it; what it says then is the result of the task."""

    def script(asked: SimulatedRequest) -> Any:
        if asked.user != "look":
            return "done" if asked.results else [Call("task", {"prompt": "look"})]
        return [Call("weather", {"city": "Paris"})] if asked.may_call else "Enough."

    talk, transport = session(script, subagents=True)
    seen = events(talk)
    assert isinstance(seen[-1], Complete) and seen[-1].turn.text == "done"
    assert [item.outcome and item.outcome.text for item in talk.history.ledger] == ["Enough."]
    assert len(transport.exchanges) == 1 + 4 + 1


def all_statuses(seen: list[Any]) -> list[str]:
    """Kinds of status events, those of subagents too."""
    inner = [event.event if isinstance(event, Nested) else event for event in seen]
    return [event.kind for event in inner if isinstance(event, Status)]
