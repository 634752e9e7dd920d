"""Hooks around a tool call: functions of the user that see it before it runs, and what came of it.

A hook gives back None to let things be, the same kind of value changed, or `Refuse`. One
that raises, takes too long or gives back anything else has not agreed: the call is refused,
nothing else of the batch begins, and the error is raised to whoever runs it. A guard that
breaks lets nothing through, and does not break in silence.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from inspect import isawaitable
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ...errors import HookError, callback_error
from ...model import Outcome, ToolCall
from ..policy.approval import refused
from .admission import Admitted, Refused, admit_edited, failed

if TYPE_CHECKING:
    from .batch_run import BatchRun, Work

T = TypeVar("T")

TIME_LIMIT = 30.0
"""Seconds that a hook may take."""


class Refuse(Struct, frozen=True):
    """What a hook gives back to say no; the model, or whoever asked, reads why."""

    why: str = ""


BeforeTool: TypeAlias = Callable[[ToolCall], Awaitable[ToolCall | Refuse | None]]
AfterTool: TypeAlias = Callable[[ToolCall, Outcome], Awaitable[Outcome | Refuse | None]]


class ToolHooks(Struct, frozen=True):
    """Who is asked about calls, one after the other, each with the seconds that it may take."""

    before: tuple[tuple[BeforeTool, float], ...] = ()
    after: tuple[tuple[AfterTool, float], ...] = ()


class HookStopped(HookError):
    """A hook was still at work when the call that it was asked about was cancelled."""


class Consulting:
    """Asks the hooks about the calls of one batch, and tells the run what they said."""

    def __init__(self, run: BatchRun, hooks: ToolHooks) -> None:
        self.run = run
        self.hooks = hooks

    async def before(self, work: Work, admitted: Admitted) -> Admitted | None:
        """The call as the hooks want it; None when it has its outcome now, and does not run."""
        call = _as_admitted(work, admitted)
        try:
            wanted = await self._asked(work, "before_tool", self.hooks.before, call)
            _check_call(call, wanted)
        except HookError as error:
            self._refused(work, error)
            return None
        if self._is_settled(work):
            return None
        return admitted if wanted is call else self._admitted(work, admitted, wanted)

    def _admitted(self, work: Work, admitted: Admitted, wanted: ToolCall) -> Admitted | None:
        """Arguments that a hook wrote are checked like a model's, and judged like them later."""
        owner = self.run.scheduler
        again = admit_edited(admitted.tool, wanted.arguments, owner.policy, owner.situation)
        if isinstance(again, Refused):
            said = f"it gave arguments that do not fit: {again.outcome.text}"
            self._refused(work, HookError(said, hook="before_tool"))
            return None
        work.changed = True
        return again

    async def after(self, work: Work, outcome: Outcome) -> Outcome:
        """What came of a call that ran, as the hooks want it. Nothing else reaches the model."""
        call = _as_admitted(work, work.tool_call)
        try:
            wanted = await self._asked(
                work, "after_tool", self.hooks.after, outcome, lambda hook, now: hook(call, now)
            )
            _check_outcome(outcome, wanted)
        except HookError as error:
            self._note(work, error)
            if _has_failed(error):
                self.run.fail(error)
            return failed(f"{call.name} has run, but its result was withheld. {_why(error)}")
        return replace(outcome, status=wanted.status, content=wanted.content)

    async def _asked(
        self,
        work: Work,
        name: str,
        hooks: Sequence[tuple[Any, float]],
        value: T,
        ask: Callable[[Any, T], Awaitable[Any]] = lambda hook, value: hook(value),
    ) -> T:
        if work.over is None or work.over.done():
            work.over = self.run.loop.create_future()
        return await consulted(name, hooks, value, self.run.scheduler.let_go, ask, work.over)

    def _refused(self, work: Work, error: HookError) -> None:
        if not self._is_settled(work):
            self._note(work, error)
            self.run.settle(work, refused(_why(error)))
            if _has_failed(error):
                self.run.fail(error)

    def _is_settled(self, work: Work) -> bool:
        """Whether someone cancelled the call in the meantime."""
        return work.call.id in self.run.batch.outcomes

    def _note(self, work: Work, error: HookError) -> None:
        code = "hook_refused" if error.refused else "hook_failed"
        self.run.scheduler.diagnose(code, work.call.id, f"{error.hook}: {error.why}"[:200])


async def consulted(
    name: str,
    hooks: Sequence[tuple[Any, float]],
    value: T,
    let_go: Callable[[asyncio.Task[Any]], None],
    ask: Callable[[Any, T], Awaitable[Any]] = lambda hook, value: hook(value),
    over: asyncio.Future[None] | None = None,
) -> T:
    """The value as the hooks leave it; each sees what the one before made of it, or one does not agree.

    `over` ends the asking early; a hook that is left behind is let go of.
    """
    for hook, seconds in hooks:
        said = await _answer(name, _settled(ask, hook, value), seconds, let_go, over)
        if isinstance(said, Refuse):
            raise HookError(said.why or "no reason was given", hook=name, refused=True)
        if said is None:
            continue
        if not isinstance(said, type(value)):
            wanted = type(value).__name__
            raise HookError(f"it gave {type(said).__name__}; give {wanted}, Refuse or None", hook=name)
        value = said
    return value


async def _answer(
    name: str,
    asking: Coroutine[Any, Any, tuple[Any, BaseException | None]],
    seconds: float,
    let_go: Callable[[asyncio.Task[Any]], None],
    over: asyncio.Future[None] | None,
) -> Any:
    task = asyncio.get_running_loop().create_task(asking)
    waited: set[asyncio.Future[Any]] = {task} if over is None else {task, over}
    try:
        await asyncio.wait(waited, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        if not task.done():
            let_go(task)
    if not task.done():
        if over is not None and over.done():
            raise HookStopped("it was stopped", hook=name)
        raise HookError(f"no answer within {seconds:g} s", hook=name)
    said, error = task.result()
    if error is not None:
        raise callback_error(name, error)
    return said


async def _settled(ask: Callable[[Any, T], Any], hook: Any, value: T) -> tuple[Any, BaseException | None]:
    """What a hook gave or raised, as values: nothing it raises gets out of its task."""
    try:
        said = ask(hook, value)
        return (await said if isawaitable(said) else said), None
    except BaseException as error:
        return None, error


def _as_admitted(work: Work, admitted: Admitted) -> ToolCall:
    """The call as it would run: the tool's own name, and arguments that fit."""
    return replace(work.call, name=admitted.tool.name, arguments=admitted.arguments)


def _check_call(call: ToolCall, wanted: ToolCall) -> None:
    if (wanted.id, wanted.name) != (call.id, call.name):
        raise HookError("it changed more of the call than its arguments", hook="before_tool")


def _check_outcome(outcome: Outcome, wanted: Outcome) -> None:
    if wanted.status not in (outcome.status, "complete", "error"):
        raise HookError(f"a call that ran cannot be {wanted.status}", hook="after_tool")


def _why(error: HookError) -> str:
    """For the model: what a hook said, but not what broke inside one."""
    return f"Refused by a hook: {error}." if error.refused else "A hook that must agree failed."


def _has_failed(error: HookError) -> bool:
    return not error.refused and not isinstance(error, HookStopped)
