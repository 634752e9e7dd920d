"""Tools that fail, hang, ignore cancellation, raise anything; and a tally of what ran."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from typing import Any

from tests.sim.fates import Fates

from turnout.model import Media, Text, ToolCall
from turnout.tools.context import ToolContext
from turnout.tools.tool import Tool, tool

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ANYTHING: dict[str, type[BaseException]] = {
    "ValueError": ValueError,
    "SystemExit": SystemExit,
    "KeyboardInterrupt": KeyboardInterrupt,
    "CancelledError": asyncio.CancelledError,
    "GeneratorExit": GeneratorExit,
    "StopAsyncIteration": StopAsyncIteration,
}


class Workshop:
    """The tools of one run, and how often each call took effect."""

    def __init__(self, fates: Fates) -> None:
        self.fates = fates
        self.ran: Counter[str] = Counter()
        self.editing: set[str] = set()
        self.faults: list[str] = []

    def begin(self, ctx: ToolContext) -> None:
        self.ran[ctx.call_id] += 1
        if self.ran[ctx.call_id] > 1:
            self.faults.append(f"{ctx.call_id} ran {self.ran[ctx.call_id]} times")

    def tools(self) -> list[Tool]:
        return [
            self._note(),
            self._change(),
            self._slow(),
            self._big(),
            self._picture(),
            self._steps(),
            self._plain(),
            self._trouble(),
        ]

    def _note(self) -> Tool:
        async def note(ctx: ToolContext, n: int, text: str = "") -> str:
            """Take a note."""
            self.begin(ctx)
            if self.fates.strikes("tool_trouble"):
                raise OSError("the pencil broke")
            return f"noted {n} {text}"

        return tool(risk="read")(note)

    def _change(self) -> Tool:
        async def change(ctx: ToolContext, path: str, n: int) -> str:
            """Change a file: nobody else may at the same time."""
            self.begin(ctx)
            if path in self.editing:
                self.faults.append(f"{path} was changed twice at once")
            self.editing.add(path)
            try:
                await asyncio.sleep(0.5)
            finally:
                self.editing.discard(path)
            return f"changed {path} to {n}"

        return tool(risk="write")(change)

    def _slow(self) -> Tool:
        async def slow(ctx: ToolContext, seconds: float) -> str:
            """Take a while."""
            self.begin(ctx)
            await asyncio.sleep(400 if self.fates.strikes("tool_trouble") else seconds)
            return "at last"

        return tool(risk="read")(slow)

    def _big(self) -> Tool:
        async def big(ctx: ToolContext, size: int) -> str:
            """Say much."""
            self.begin(ctx)
            return "line of text\n" * size

        return tool(risk="read")(big)

    def _picture(self) -> Tool:
        async def picture(ctx: ToolContext) -> list[Any]:
            """Show a picture."""
            self.begin(ctx)
            return [Text("a dot"), Media("image/png", PIXEL)]

        return tool(risk="read")(picture)

    def _steps(self) -> Tool:
        async def steps(ctx: ToolContext, count: int) -> AsyncIterator[str]:
            """Go step by step."""
            self.begin(ctx)
            for step in range(count):
                await asyncio.sleep(1)
                yield f"step {step}"

        return tool(risk="read", retry_safe=True)(steps)

    def _plain(self) -> Tool:
        def plain(ctx: ToolContext, n: int) -> dict[str, Any]:
            """Block for a moment."""
            self.begin(ctx)
            if self.fates.strikes("tool_trouble"):
                raise SystemExit(3)
            return {"n": n, "none": None}

        return tool(risk="risky")(plain)

    def _trouble(self) -> Tool:
        async def trouble(ctx: ToolContext, kind: str) -> Any:
            """Make trouble."""
            self.begin(ctx)
            await asyncio.sleep(0.1)
            return await _trouble_of(kind, ctx)

        return tool(risk="read", timeout=60)(trouble)


async def _trouble_of(kind: str, ctx: ToolContext) -> Any:
    if kind in ANYTHING:
        raise ANYTHING[kind]("trouble")
    match kind:
        case "hang":
            await asyncio.sleep(10**6)
        case "stubborn":
            await _stubborn(300)
        case "late":
            await _stubborn(90)
            return "too late"
        case "calls":
            return [Text("with a call"), ToolCall("hist_tool_x", "note", {"n": 1})]
        case "surrogates":
            return "lone \ud800 and \0 end"
    return None


async def _stubborn(seconds: float) -> None:
    """Sleep on, whoever cancels."""
    ends = asyncio.get_running_loop().time() + seconds
    while (left := ends - asyncio.get_running_loop().time()) > 0:
        try:
            await asyncio.sleep(left)
        except asyncio.CancelledError:
            continue
