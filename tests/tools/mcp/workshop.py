"""Servers for tests, in a few words: a folder, a server in it, and a user who agrees to everything."""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.tools.confine.test_process import carriers
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.model import Outcome
from turnout.tools.mcp.config import McpServer
from turnout.tools.mcp.connection import McpLimits
from turnout.tools.mcp.servers import McpServers, McpStatus, Update
from turnout.tools.policy.rules import Policy

HERE = Path(__file__).parent
ROUGH = "echo environment where progress hang crash huge odd children change flood"
QUICK = McpLimits(start=10.0, first_pause=0.01, relist_pause=0.01)


class Workshop:
    """One server and a session of tools that may use it."""

    def __init__(
        self, folder: Path, server: McpServer, limits: McpLimits = QUICK, **environment: str
    ) -> None:
        self.folder = folder
        self.server = server
        self.desk = Desk(policy=Policy("full", taint=False))
        self.registry = self.desk.scheduler.registry
        self.limits = limits
        self.environment = {"PATH": os.environ["PATH"], **environment}
        self.servers = self.open()

    def open(self) -> McpServers:
        """The servers as a new session finds them."""
        return McpServers(
            [self.server],
            pins=self.folder / "state" / "pins.json",
            environment=self.environment,
            folder=self.folder,
            limits=self.limits,
        )

    @property
    def status(self) -> McpStatus:
        return self.servers.status()[0]

    async def agree(self) -> Update:
        """Agree to whatever is asked for, and take the tools over."""
        self.servers.start()
        await self.servers.settle(15)
        while (review := self.servers.review(self.server.name)) is not None:
            await self.servers.trust(review)
        return self.servers.update(self.registry)

    async def ask(self, tool: str, **arguments: Any) -> Outcome:
        """One call as a model makes it."""
        raw_id = secrets.token_hex(4)
        await self.desk.run(call(f"mcp__{self.server.name}__{tool}", raw_id, **arguments))
        return self.desk.outcome(raw_id)

    async def until(self, state: str, seconds: float = 10.0) -> None:
        async with asyncio.timeout(seconds):
            while self.status.state != state:
                await asyncio.sleep(0.005)


def tools(*names: str, **fields: Any) -> list[dict[str, Any]]:
    schema = {"type": "object", "properties": {"text": {"type": "string"}}}
    return [{"name": name, "description": f"Do {name}.", "inputSchema": schema, **fields} for name in names]


def offer(folder: Path, *listed: Any, file: str = "tools.json") -> None:
    (folder / file).write_text(json.dumps(listed))


def rough(
    folder: Path, *, limits: McpLimits = QUICK, env: dict[str, str] | None = None, **environment: str
) -> Workshop:
    """A workshop with the server that was written by hand."""
    offer(folder, *tools(*ROUGH.split()))
    args = ("-I", "-S", str(HERE / "rough_server.py"), str(folder))
    server = McpServer("rough", "mcp.json", sys.executable, args, env or {})
    return Workshop(folder, server, limits, **environment)


def work(at: Workshop, story: Callable[[], Awaitable[Any]], limit: float = 30.0) -> Any:
    """Tell a story; when it is over, nothing of the server may be left, whatever happened."""

    async def told() -> Any:
        try:
            return await story()
        finally:
            await at.servers.close()

    try:
        return go(told(), limit)
    finally:
        assert carriers(str(at.folder)) == []


def lines(folder: Path, name: str) -> list[str]:
    path = folder / name
    return path.read_text().splitlines() if path.exists() else []
