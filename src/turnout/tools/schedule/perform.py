"""Running one tool function, whatever kind it is, so that nothing it raises gets out.

`SystemExit` in a task escapes `asyncio.run`, and a `CancelledError` of the tool's own looks
like ours: everything is caught inside the task and comes back as a value.
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


class Stopped(Exception):
    """A generator was asked to stop between two yields."""


async def perform(
    tool: Tool, context: ToolContext, arguments: Mapping[str, Any], threads: ThreadPort
) -> Ending:
    """Run the tool to its end. Never raises."""
    try:
        match tool.kind:
            case "async":
                return _ending(await tool.invoke(context, arguments))
            case "async_generator":
                return _ending(await _last(tool.invoke(context, arguments), context))
            case _:
                found = await threads.start(partial(_blocking, tool, context, arguments))
                # A plain function may return a coroutine: that part belongs to the loop.
                return _ending(await found) if isawaitable(found) else found
    except BaseException as error:
        return Ending(error=error)


def _blocking(tool: Tool, context: ToolContext, arguments: Mapping[str, Any]) -> Any:
    """What runs in the thread: an `Ending`, or something to await."""
    try:
        value = tool.invoke(context, arguments)
        if isinstance(value, Generator):
            value = _drained(value, context)
        return value if isawaitable(value) else _ending(value)
    except BaseException as error:
        return Ending(error=error)


def _drained(steps: Generator[Any, None, Any], context: ToolContext) -> Any:
    """Each yield is progress; the result is what is returned, or else the last thing yielded."""
    last = None
    try:
        while True:
            last = next(steps)
            context.progress(last)
            if context.cancelled.is_set():
                steps.close()
                raise Stopped("stopped between two steps")
    except StopIteration as end:
        return last if end.value is None else end.value


async def _last(steps: AsyncGenerator[Any, None], context: ToolContext) -> Any:
    last = None
    async with aclosing(steps):
        async for last in steps:
            context.progress(last)
    return last


def _ending(value: Any) -> Ending:
    returned = outcome_of(value)
    return Ending(returned.outcome, returned.calls)
