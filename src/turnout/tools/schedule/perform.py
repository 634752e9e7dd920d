"""Runs one tool function of any kind, so that nothing it raises escapes.

`SystemExit` in a task escapes `asyncio.run`, and a `CancelledError` that the tool raises looks
like ours. So everything is caught inside the task and comes back as a value.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Mapping
from contextlib import aclosing
from functools import partial
from inspect import isawaitable
from typing import Any, TypeVar

from msgspec import Struct

from ...model import Outcome
from ..confine.threads import ThreadPort
from ..declare.context import ToolContext
from ..declare.result import outcome_of
from ..declare.tool import Tool

T = TypeVar("T")


class Ending(Struct, frozen=True):
    """How a tool's function ended: with an outcome (and calls taken out of it), or by raising."""

    outcome: Outcome | None = None
    calls: int = 0
    error: BaseException | None = None


class GeneratorStopped(Exception):
    """A generator was asked to stop between two yields."""


async def run_tool(
    tool: Tool, context: ToolContext, arguments: Mapping[str, Any], threads: ThreadPort
) -> Ending:
    """Run the tool to its end. Never raises."""
    try:
        match tool.kind:
            case "async":
                return _ending_of(await tool.invoke(context, arguments))
            case "async_generator":
                return _ending_of(await _run_async_generator(tool.invoke(context, arguments), context))
            case _:
                found = await threads.start(partial(_run_blocking, tool, context, arguments))
                # A plain function may return a coroutine: that part belongs to the loop.
                return _ending_of(await found) if isawaitable(found) else found
    except BaseException as error:
        return Ending(error=error)


def _run_blocking(tool: Tool, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
    """What runs in the thread: an `Ending`, or something to await."""
    try:
        value = tool.invoke(context, arguments)
        if isinstance(value, Generator):
            value = _run_generator(value, context)
        return value if isawaitable(value) else _ending_of(value)
    except BaseException as error:
        return Ending(error=error)


def _run_generator(steps: Generator[Any, None, Any], context: ToolContext) -> Any:
    """Each yield is progress; the result is what is returned, or else the last thing yielded."""
    last = None
    try:
        while True:
            last = next(steps)
            context.progress(last)
            if context.cancelled.is_set():
                steps.close()
                raise GeneratorStopped("stopped between two steps")
    except StopIteration as end:
        return last if end.value is None else end.value


async def _run_async_generator(steps: AsyncGenerator[Any, None], context: ToolContext) -> Any:
    last = None
    async with aclosing(steps):
        async for last in steps:
            context.progress(last)
    return last


def _ending_of(value: Any) -> Ending:
    returned = outcome_of(value)
    return Ending(returned.outcome, returned.calls)
