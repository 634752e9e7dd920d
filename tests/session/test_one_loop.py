"""One loop, one scheduler: whoever runs a turn's calls does it through the session's own, as one batch."""

from __future__ import annotations

import ast
import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.session.talk import events, session, virtually, weather

from turnout.session import session as home
from turnout.session.events import Cancelled, Status
from turnout.simulate import Call
from turnout.tools.declare.events import ToolResult
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision
from turnout.tools.schedule.scheduler import ToolScheduler

SOURCE = Path(home.__file__).parents[1]
PARIS = Call("weather", {"city": "Paris"})


def test_thirty_turns_make_one_scheduler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Prompts, switches, compactions and failures: a session never makes a second one."""
    made: list[ToolScheduler] = []

    class Counted(ToolScheduler):
        def __init__(self, *given: Any, **settings: Any) -> None:
            made.append(self)
            super().__init__(*given, **settings)

    monkeypatch.setattr(home, "ToolScheduler", Counted)
    talk, transport = session([[PARIS, PARIS], "ok"] * 30)
    for number in range(30):
        talk.switch(("anthropic:claude-sonnet-4-5", "openai:gpt-5.1")[number % 2])
        events(talk)
    assert len(made) == 1 and len(transport.exchanges) == 60


def names_used(path: Path) -> Iterator[str]:
    """Every name that a file calls or imports."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Name(name) | ast.Attribute(attr=name):
                yield name
            case ast.ImportFrom(names=found) | ast.Import(names=found):
                yield from (alias.name.rpartition(".")[2] for alias in found)


def users(name: str) -> set[str]:
    files = (path for path in SOURCE.rglob("*.py") if name in names_used(path))
    return {path.relative_to(SOURCE).as_posix() for path in files}


def test_no_turn_loop_runs_a_single_call() -> None:
    """`execute_tool_call` is for programs that have one call and no conversation: nothing of ours uses it."""
    assert users("execute_tool_call") <= {"tools/schedule/execute.py", "tools/__init__.py"}


def test_schedulers_are_made_in_one_place() -> None:
    """A session makes its scheduler; the one-call helper makes one for itself; nobody else does."""
    assert users("ToolScheduler") <= {
        "session/session.py",
        "tools/schedule/execute.py",
        "tools/schedule/scheduler.py",
        "tools/__init__.py",
        "tools/schedule/batch_run.py",  # which is given one, like the next two
        "session/rounds.py",
        "session/subagents.py",
    }


def test_batches_are_run_by_the_loop_alone() -> None:
    """No surface, subagent or gateway runs tools past the loop."""
    found = {
        path.relative_to(SOURCE).as_posix()
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("scheduler.run")
    }
    assert found <= {"session/rounds.py", "tools/schedule/execute.py"} and "session/rounds.py" in found


@tool(risk="write")
async def guarded() -> str:
    """Change something."""
    return "changed"


@tool(risk="read")
async def broken() -> str:
    """Fail."""
    raise ValueError("no")


@tool(risk="read")
async def endless() -> str:
    """Take for ever."""
    await asyncio.sleep(10_000)
    return "never"


async def refuse(request: ApprovalRequest) -> Decision:
    return request.no("not today")


CALLS = [PARIS, Call("guarded"), Call("endless"), Call("broken"), PARIS]
TOOLS = [weather, guarded, broken, endless]


def summaries(seen: list[Any]) -> list[str]:
    return [event.detail for event in seen if isinstance(event, Status) and event.kind == "tools"]


@pytest.mark.parametrize("whole", [True, False])
def test_the_summary_of_a_batch_counts_every_outcome(whole: bool) -> None:
    """Scheduled, completed, failed, cancelled, denied: also when the user cancelled the whole run."""
    talk, _ = session([CALLS, "Well."], tools=TOOLS, approver=refuse)

    async def cancelling() -> list[Any]:
        seen = []
        async for event in talk.run("go"):
            seen.append(event)
            if sum(isinstance(each, ToolResult) for each in seen) != 4 or not isinstance(event, ToolResult):
                continue
            if whole:
                talk.cancel()
            else:
                talk.scheduler.cancel(talk.history.open_calls[0].call.id)
        return seen

    seen = virtually(cancelling())
    assert summaries(seen) == ["5 scheduled, 2 completed, 1 errors, 1 cancelled, 1 denied"]
    assert isinstance(seen[-1], Cancelled) == whole
