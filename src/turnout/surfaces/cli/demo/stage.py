"""The demo at work: real sessions, tools and store, and providers as strict as the real ones."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from ....history.log import History
from ....interchange.naive_replay import naive_request
from ....providers import PROVIDERS
from ....session.events import SessionEvent
from ....session.session import Session
from ....session.settings import Approval
from ....simulate import Simulation
from ....simulate.scripted import ScriptedTransport
from ....store import open_store
from ....targets.target import find_target
from ....tools.builtin import BUILTIN
from ....tools.confine.process import environment
from ....tools.declare.events import ToolResult
from ....tools.declare.tool import tool
from ....tools.policy.approval import ApprovalRequest, Decision
from ....wire.options import Options
from ....world.world import World
from .story import FILES, STORY, DemoStep, answers

ACCOUNTS = {"GOOGLE_CLOUD_PROJECT": "demo", "AZURE_OPENAI_RESOURCE": "demo"}
"""Whose account it is, where that is a part of the address."""
CRASH = "import sys; from turnout.surfaces.cli.demo.stage import play_alone; play_alone(*sys.argv[1:])"


class Stage:
    """A folder, a store and a transport; steps are played on it one by one."""

    def __init__(self, folder: Path) -> None:
        keys = {name: "demo" for provider in PROVIDERS.values() for name in provider.key_variables[:1]}
        self.environment = {"HOME": str(folder), "PATH": os.environ.get("PATH", ""), **ACCOUNTS, **keys}
        self.folder = folder / "workspace"
        self.transport = ScriptedTransport(answers, asks_for_key=False)
        self.history = History()
        self.folder.mkdir(exist_ok=True)
        for name, text in FILES.items():
            (self.folder / name).write_text(text)

    async def play(self, step: DemoStep, show: Callable[[SessionEvent], None]) -> None:
        """One step, in a session that resumes what is stored."""
        if step.event == "crash":
            self._play_and_die(step)
        async with self.session_at(step) as session:
            async for event in session.run(() if step.event == "crash" else step.prompt):
                show(event)
                if step.event == "cancel" and isinstance(event, ToolResult):
                    session.cancel()  # the quick tool is done, the slow one is not
        self.history = session.history

    def session_at(self, step: DemoStep) -> Session:
        """The stored session, at the target of this step."""

        async def answer_request(request: ApprovalRequest) -> Decision:
            return request.no("Not without my seat belt.") if step.event == "deny" else request.once()

        return Session(
            step.target,
            fallback=[step.fallback] if step.fallback else [],
            route="failover",
            tools=[*BUILTIN, slow_index, crash_here],
            system="You are a careful assistant in a small folder.",
            store=open_store(self.environment),
            id="demo",
            options=Options(thinking=True),
            approval=Approval(approver=answer_request),
            workspace=self.folder,
            world=World(transport=self.transport, environment=self.environment),
        )

    def _play_and_die(self, step: DemoStep) -> None:
        """Play the step in another process, which is killed in the middle of a tool."""
        command = [sys.executable, "-c", CRASH, str(self.folder.parent), str(STORY.index(step))]
        variables = environment(os.environ, ("PYTHONPATH",))
        code = subprocess.run(command, check=False, stdin=subprocess.DEVNULL, env=variables).returncode
        if code != -9:
            raise RuntimeError(f"bug: the process of the demo that should be killed ended with {code}")

    def table_rows(self) -> list[tuple[str, ...]]:
        """For each provider: requests, accepted, refused, failed, and what a naive replay would get."""
        rows = []
        for provider in dict.fromkeys(each.provider for each in self.transport.exchanges):
            seen = [each for each in self.transport.exchanges if each.provider == provider]
            refused = sum(bool(each.problems) for each in seen)
            failed = sum(each.status >= 400 and not each.problems for each in seen)
            counts = (len(seen), len(seen) - refused - failed, refused, failed)
            rows.append((provider, *map(str, counts), self._naive_verdict(provider)))
        return rows

    def _naive_verdict(self, provider: str) -> str:
        """The status and the broken rule for the same history, sent as it came."""
        targets = [name for step in STORY for name in (step.target, step.fallback)]
        target = next(name for name in targets if name.partition(":")[0] == provider)
        url, body = naive_request(self.history, target)
        headers = {"content-type": "application/json", **find_target(target).provider.headers}
        answer = Simulation(answers, asks_for_key=False).answer(url, headers, body)
        return f"{answer.status} {answer.problems[0].rule}" if answer.problems else str(answer.status)


@tool(risk="read")
async def slow_index() -> str:
    """Build a very slow index."""
    await asyncio.sleep(60)
    return "indexed"


@tool(risk="read")
async def crash_here() -> str:
    """A tool in which the whole process dies."""
    os.kill(os.getpid(), 9)
    return "not reached"


def play_alone(folder: str, number: str) -> None:
    """One step by its number, in the process that is killed; it dies in `crash_here`."""

    async def run_step() -> None:
        step = STORY[int(number)]
        async with Stage(Path(folder)).session_at(step) as session:
            async for _ in session.run(step.prompt):
                pass

    asyncio.run(run_step())
