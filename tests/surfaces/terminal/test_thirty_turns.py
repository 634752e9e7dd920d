"""One conversation of thirty turns in every mode: interactive, one-shot, subagent, library, by hand.

There is one loop, so what a conversation leaves behind does not depend on who called it. By
hand means the parts alone: a history, `render`, the transport, a reader, a scheduler.
"""

from __future__ import annotations

import asyncio
import io
from pathlib import Path
from typing import Any

from tests.store.conftest import quick_folder  # noqa: F401
from tests.surfaces.cli.oneshot import run, standing_in
from tests.surfaces.cli.test_same_history import told
from tests.surfaces.places import User, simulated

from turnout import History, Session, render
from turnout.model import ModelTurn, UserTurn
from turnout.session.settings import Approval
from turnout.simulate import Call, Say, SimulatedRequest, Think
from turnout.store import open_store
from turnout.surfaces.shared.open_session import SessionArguments, configuration
from turnout.surfaces.terminal.opener import Opener
from turnout.surfaces.terminal.plain import Plain
from turnout.surfaces.terminal.talk import Talk
from turnout.surfaces.terminal.theme import Theme
from turnout.targets.reply import ReplyReader
from turnout.targets.target import find_target as target
from turnout.tools.builtin import BUILTIN
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.policy.rules import Policy, Rule
from turnout.tools.schedule.scheduler import ToolScheduler
from turnout.world.ports import Outgoing
from turnout.world.transport import HttpTransport
from turnout.world.world import World

TURNS = 30
PROMPT = "Look at everything, many times."
MODEL = "anthropic:claude-sonnet-4-5"
NO_SHELL = Rule("deny", "shell")


def model(asked: SimulatedRequest) -> Any:
    """Twenty-nine rounds of calls, each of them new, and an answer."""
    if "task" in asked.tools and asked.user.startswith("delegate"):
        return ["Done."] if asked.results else [Call("task", {"prompt": PROMPT})]
    number = 1 + _replies_since_the_prompt(asked)
    return said(number) if number < TURNS else [Think("Enough."), Say("That is all.")]


def _replies_since_the_prompt(asked: SimulatedRequest) -> int:
    count = 0
    for turn in reversed(asked.history.turns):
        if isinstance(turn, UserTurn):
            break
        count += isinstance(turn, ModelTurn)
    return count


def said(number: int) -> list[Any]:
    match number % 5:
        case 0:
            files = ("README.md", "app.py", f"missing-{number}.txt")
            return [
                Think(f"Three at once, {number}."),
                *(Call("read_file", {"path": path}) for path in files),
            ]
        case 1:
            return [Say("A command."), Call("shell", {"command": f"touch {number}"})]
        case 2:  # arguments that do not fit, beside some that do
            return [Call("read_file", {"offset": number}), Call("list_dir", {"path": "."})]
        case 3:
            return [Think("Hm."), Say("A tool of my own."), Call("no_such_tool", {"n": number})]
        case _:
            return [Call("read_file", {"path": "README.md", "offset": n}) for n in (1, number)]


# The five ways


def interactively(user: User) -> str:
    wanted = SessionArguments(model=MODEL, deny=("shell",))

    async def talk() -> str:
        opened = Talk(Opener(wanted, configuration(wanted)), MODEL)
        await Plain(opened, Theme(colour=False), io.StringIO(f"{PROMPT}\n"), io.StringIO()).converse()
        return opened.session.id

    with standing_in(user, user.folder):
        return asyncio.run(talk())


def as_a_library(user: User) -> History:
    async def talk() -> History:
        async with Session(
            MODEL,
            tools=BUILTIN,
            workspace=str(user.folder),
            approval=Approval(rules=[NO_SHELL]),
            world=World(environment=user.environment),
        ) as session:
            await session.ask(PROMPT)
            return session.history

    return asyncio.run(talk())


def by_hand(user: User) -> History:
    place = target(MODEL, base_url=user.environment["ANTHROPIC_BASE_URL"])
    key = {"x-api-key": user.environment["ANTHROPIC_API_KEY"]}
    history = History("by-hand")
    scheduler = ToolScheduler(
        BUILTIN, history, policy=Policy("ask", (NO_SHELL,)), workspace=WorkspaceFiles(str(user.folder))
    )

    async def reply(transport: HttpTransport) -> ModelTurn:
        tools = [tool.spec for tool in scheduler.registry.offered_tools("ask")]
        request = render(history, place, tools=tools, stream=True)
        reader = ReplyReader(place, history.next_key())
        outgoing = Outgoing(request.method, request.url, {**request.headers, **key}, request.body)
        async with transport.send(outgoing) as answer:
            async for chunk in answer.chunks:
                reader.feed(chunk)
        reader.close()
        return history.append(reader.reply.turn())

    async def talk() -> History:
        transport = HttpTransport()
        history.user(PROMPT)
        while (turn := await reply(transport)).tool_calls:
            await scheduler.run(turn.tool_calls)
            history.seal()
        await scheduler.close()
        await transport.close()
        return history

    return asyncio.run(talk())


def test_thirty_turns_leave_one_history_in_every_mode(quick_folder: Path) -> None:  # noqa: F811
    """Parallel calls, thinking, failures, refusals and bad arguments: every mode has the same on record."""
    with simulated(quick_folder, model) as user:
        typed = interactively(user)
        ask = ("run", "-m", MODEL, "--deny", "shell", "--output-format", "json", "-p")
        shot = run(user, *ask, PROMPT).result["session_id"]
        parent = run(user, *ask, "delegate").result["session_id"]
        with open_store(user.environment) as store:
            (child,) = store.list(within=parent)
            histories = {id: told(store.read(id)) for id in (typed, shot, child.id)}
        histories["library"], histories["hand"] = told(as_a_library(user)), told(by_hand(user))

    first = histories[typed]
    for name, history in histories.items():
        assert history == first, name
    assert sum(part[0] == "ModelTurn" for part in first) == TURNS
    outcomes = [part[2] for part in first if len(part) == 5]
    assert {status: outcomes.count(status) for status in set(outcomes)} == {
        "complete": 22,
        "error": 23,
        "denied": 6,
    }
    assert sum(part[0] == "Thinking" for part in first) == 12
    assert user.simulation is not None and not user.simulation.refusals
