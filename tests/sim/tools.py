"""Tools that fail, hang, ignore cancellation, raise anything; and a tally of what ran.

The files are lists of the edits that took effect. An edit reads, waits and writes: two at
the same time would lose one, and so would a command that works on all files beside it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.sim.fates import Fates

from turnout.model import Media, Text, ToolCall
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.tool import Tool, tool
from turnout.tools.policy.situation import Assessment, Situation

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
ANYTHING: dict[str, type[BaseException]] = {
    "ValueError": ValueError,
    "SystemExit": SystemExit,
    "KeyboardInterrupt": KeyboardInterrupt,
    "CancelledError": asyncio.CancelledError,
    "GeneratorExit": GeneratorExit,
    "StopAsyncIteration": StopAsyncIteration,
}


CHANGING = ("edit", "change", "work")


def _assessed(arguments: Mapping[str, Any], situation: Situation) -> Assessment:
    reads = str(arguments["line"]).startswith("look")
    return Assessment("read" if reads else "risky", only_reads=reads)


class Workshop:
    """The tools of one run, and how often each call took effect."""

    def __init__(self, fates: Fates) -> None:
        self.fates = fates
        self.ran: Counter[str] = Counter()
        self.editing: set[str] = set()
        self.faults: list[str] = []
        self.files: dict[str, list[str]] = {}
        self.edits: dict[str, list[str]] = {}  # what should be in the files
        self.hanging: Counter[str] = Counter()
        self.parallel = 10**9
        self._at_work: Counter[str] = Counter()  # kinds of calls that run now, in the whole tree

    def begin(self, ctx: ToolContext) -> None:
        self.ran[ctx.call_id] += 1
        if self.ran[ctx.call_id] > 1:
            self.faults.append(f"{ctx.call_id} ran {self.ran[ctx.call_id]} times")

    @contextmanager
    def at_work(self, kind: str, *spoiled_by: str) -> Iterator[None]:
        """A call of this kind runs; what would spoil it must not begin, nor be at work already."""
        self._at_work[kind] += 1
        if self._at_work.total() > self.parallel:
            self.faults.append(f"{self._at_work.total()} calls at once, and {self.parallel} may be")
        for other in spoiled_by:
            if self._at_work[other] > (other == kind):
                self.faults.append(f"{kind} beside {other}")
        try:
            yield
        finally:
            self._at_work[kind] -= 1

    def lost_edits(self) -> list[str]:
        """Files in which an edit that took effect is missing."""
        return [f"edits of {path} were lost" for path in self.edits if self.files[path] != self.edits[path]]

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
            self._edit(),
            self._command(),
            self._job(),
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
                with self.at_work("change", "work", "look"):
                    await asyncio.sleep(0.5)
            finally:
                self.editing.discard(path)
            return f"changed {path} to {n}"

        return tool(risk="write")(change)

    def _edit(self) -> Tool:
        async def edit(ctx: ToolContext, path: str, n: int) -> str:
            """Edit a file: read, wait, write."""
            self.begin(ctx)
            if self.fates.strikes("tool_trouble"):
                return await self._hang_and_write(ctx, path)
            with self.at_work("edit", "work", "look"):
                before = self.files.get(path, [])
                await asyncio.sleep(0.2 + n / 10)
                self._write(ctx, path, before)
            return f"edited {path}"

        return tool(risk="write")(edit)

    async def _hang_and_write(self, ctx: ToolContext, path: str) -> str:
        """An edit that goes on when it is told to stop: its path is its own until it has really ended."""
        before = self.files.get(path, [])
        self.hanging[path] += 1
        await _stubborn(20)
        self.hanging[path] -= 1
        self._write(ctx, path, before)
        return "edited at last"

    def _write(self, ctx: ToolContext, path: str, before: list[str]) -> None:
        self.files[path] = [*before, ctx.call_id]
        self.edits.setdefault(path, []).append(ctx.call_id)

    def _command(self) -> Tool:
        async def command(ctx: ToolContext, line: str) -> str:
            """Run a command: one that looks only reads, one that works touches every file."""
            self.begin(ctx)
            reads = line.startswith("look")
            with self.at_work("look", "edit", "change") if reads else self.at_work("work", *CHANGING):
                # A command names no paths, so nothing keeps it from those of a tool that hangs.
                before = {path: text for path, text in self.files.items() if not self.hanging[path]}
                await asyncio.sleep(3)
                for path, text in {} if reads else before.items():
                    self._write(ctx, path, text)
            return f"{len(before)} files"

        return tool(risk="risky", parallel=False, paths=(), assess=_assessed)(command)

    def _job(self) -> Tool:
        async def job(ctx: ToolContext) -> str:
            """How the job stands."""
            self.begin(ctx)
            return "running"

        return tool(risk="read", polls=True)(job)

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
