"""Calls of the user's functions (approvers and hooks): each in its own task, with a time limit.

A function of the user may raise anything, take for ever, or ignore cancellation. What it raises
comes back as a value, and a task that does not end is abandoned.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from inspect import isawaitable
from typing import Any, TypeAlias

from ...errors import HookError, callback_error

Abandon: TypeAlias = Callable[[asyncio.Task[Any]], None]
"""Cancels a task whose answer is not needed, without waiting for it."""
NotNeeded: TypeAlias = asyncio.Future[None]
"""Done when no answer is needed any more."""


class HookStopped(HookError):
    """The call was cancelled while a function of the user was asked about it."""


async def answer_of(
    name: str,
    function: Callable[[], Any],
    abandon: Abandon,
    *,
    seconds: float | None = None,
    not_needed: NotNeeded | None = None,
) -> Any:
    """What a function of the user gives back. Raises `HookError`: it raised, took too long or was stopped.

    `name` is what the user calls the function, such as "approver" or "before_tool".
    """
    task = asyncio.get_running_loop().create_task(_call_function(function))
    waited: set[asyncio.Future[Any]] = {task} if not_needed is None else {task, not_needed}
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            abandon(task)
    if not task.done():
        if not_needed is not None and not_needed.done():
            raise HookStopped("it was stopped", hook=name)
        raise HookError(f"no answer within its limit of {seconds:g} s", hook=name)
    answer, error = task.result()
    if error is not None:
        raise callback_error(name, error)
    return answer


async def _call_function(function: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """What a function gave or raised, as values: `SystemExit` in a task would end the whole loop."""
    try:
        answer = function()
        return (await answer if isawaitable(answer) else answer), None
    except BaseException as error:
        return None, error
