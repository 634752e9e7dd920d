"""The demo at work: real sessions, tools and store, and providers as strict as the real ones."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

from msgspec import Struct

from ....interchange.naive_replay import naive_request
from ....model import Outcome
from ....providers import PROVIDERS
from ....session.events import SessionEvent
from ....session.session import Session
from ....simulate import Simulation
from ....simulate.scripted import ScriptedTransport
from ....store import open_store
from ....targets.target import find_target as target
from ....tools.builtin import BUILTIN
from ....tools.confine.process import environment
from ....tools.declare.events import ToolResult
from ....tools.declare.tool import Tool, tool
from ....tools.policy.approval import ApprovalRequest, Decision
from .story import FILES, STORY, Step, answers

SESSION = "demo"


class Verdict(Struct, frozen=True):
    """What one provider said to what it was sent."""

    provider: str
    requests: int = 0
    accepted: int = 0
    refused: int = 0
    failed: int = 0
    seconds: float = 0.0
    naive: str = ""


class Stage:
    """A folder, a store and a transport; steps are played on it one by one."""

    def __init__(self, folder: Path, show: Callable[[Step, SessionEvent], None]) -> None:
        self.folder = folder / "workspace"
        self.environment = {"HOME": str(folder), "PATH": os.environ.get("PATH", ""), **_keys()}
        self.show = show
        self.transport = ScriptedTransport(answers, asks_for_key=False)
        self.seconds: dict[str, float] = {}
        self.history: Any = None
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    async def play(self, step: Step) -> None:
        """One step, in a session that goes on from what is stored."""
        began = perf_counter()
        if step.event == "crash":
            self._crash(step)
        session = open_session(self, step)
        prompt = "" if step.event == "crash" else step.prompt
        async with session:
            async for event in session.run(prompt) if prompt else session.run(()):
                self.show(step, event)
                if step.event == "cancel" and isinstance(event, ToolResult):
                    session.cancel()  # the quick tool is done, the slow one is not
        self.history = session.history
        provider = (step.fallback or step.target).partition(":")[0]
        self.seconds[provider] = self.seconds.get(provider, 0.0) + perf_counter() - began

    def _crash(self, step: Step) -> None:
        """Play the step in a process of its own that is killed in the middle of a tool."""
        command = [
            sys.executable,
            "-m",
            "turnout.surfaces.cli.demo.crash",
            str(self.folder.parent),
            step.prompt,
        ]
        known = environment(os.environ, ("PYTHONPATH",))
        code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, env=known).returncode
        if code != -9:
            raise RuntimeError(f"the process that should have been killed ended with {code}")

    def verdicts(self) -> list[Verdict]:
        """Provider by provider: what was sent and taken, and what a naive replay would have got."""
        providers = dict.fromkeys(seen.provider for seen in self.transport.seen)
        return [self._verdict(name) for name in providers]

    def _verdict(self, provider: str) -> Verdict:
        seen = [each for each in self.transport.seen if each.provider == provider]
        refused = sum(bool(each.problems) for each in seen)
        failed = sum(each.status >= 400 and not each.problems for each in seen)
        return Verdict(
            provider,
            len(seen),
            len(seen) - refused - failed,
            refused,
            failed,
            self.seconds.get(provider, 0.0),
            self._naive(provider),
        )

    def _naive(self, provider: str) -> str:
        """The verdict on the same history, sent as it came."""
        targets = [name for step in STORY for name in (step.target, step.fallback) if name]
        name = next(name for name in targets if name.partition(":")[0] == provider)
        judge = Simulation(answers, asks_for_key=False)
        url, body = naive_request(self.history, name)
        headers = {"content-type": "application/json", **target(name).provider.headers}
        answer = judge.answer(url, headers, body)
        return f"{answer.status} {answer.problems[0].rule}" if answer.problems else str(answer.status)


def _keys() -> dict[str, str]:
    """Any key will do for a provider that is not there."""
    return {name: "demo" for provider in PROVIDERS.values() for name in provider.key_variables[:1]}


def open_session(stage: Stage, step: Step) -> Session:
    """The stored session, at the target of this step."""
    return Session(
        targets=[name for name in (step.target, step.fallback) if name],
        route="failover",
        tools=[*BUILTIN, *odd_tools()],
        system="You are a careful assistant in a small folder.",
        store=open_store(stage.environment),
        id=SESSION,
        transport=stage.transport,
        workspace=str(stage.folder),
        environment=stage.environment,
        approver=_approver(step),
        thinking=True,
    )


def _approver(step: Step) -> Any:
    async def decide(request: ApprovalRequest) -> Decision:
        return request.no("Not without my seat belt.") if step.event == "deny" else request.once()

    return decide


def odd_tools() -> list[Tool]:
    @tool(risk="read")
    async def slow_index() -> str:
        """Build a very slow index."""
        await asyncio.sleep(60)
        return "indexed"

    @tool(risk="read")
    async def crash_here() -> Outcome:
        """A tool in which the whole process dies."""
        os.kill(os.getpid(), 9)
        return Outcome("complete")

    return [slow_index, crash_here]
