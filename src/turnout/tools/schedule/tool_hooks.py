"""Hooks around a tool call: functions of the user that see it before it runs, and its outcome.

A hook returns None to change nothing, the same kind of value changed, or `Refuse`. A hook that
raises, takes too long or returns anything else has not agreed. Then the call is refused, nothing
else of the batch starts, and the error is raised to the caller of the batch. So a broken guard lets
nothing through, and the user learns that it is broken.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ...errors import HookError
from ...model import Outcome, ToolCall
from ..declare.result import error_outcome
from ..policy.approval import denied_outcome
from .admission import Admitted, RefusedCall, admit_edited
from .callbacks import Abandon, HookStopped, NotNeeded, answer_of

if TYPE_CHECKING:
    from .batch_run import BatchRun, Work

T = TypeVar("T")

TIME_LIMIT = 30.0
"""Seconds that a hook may take."""


class Refuse(Struct, frozen=True):
    """What a hook returns to say no; the model, or the caller of the session, reads why."""

    why: str = ""


BeforeTool: TypeAlias = Callable[[ToolCall], Awaitable[ToolCall | Refuse | None]]
AfterTool: TypeAlias = Callable[[ToolCall, Outcome], Awaitable[Outcome | Refuse | None]]


class ToolHooks(Struct, frozen=True):
    """The hooks that are asked about calls, in order, each with the seconds that it may take."""

    before: tuple[tuple[BeforeTool, float], ...] = ()
    after: tuple[tuple[AfterTool, float], ...] = ()


class BatchHooks:
    """Asks the hooks about the calls of one batch, and applies their answers to the run."""

    def __init__(self, run: BatchRun, hooks: ToolHooks) -> None:
        self.run = run
        self.hooks = hooks

    async def before(self, work: Work, admitted: Admitted) -> Admitted | None:
        """The call as the hooks want it; None when it has its outcome now, and does not run."""
        call = _as_admitted(work, admitted)
        try:
            wanted = await self._ask_hooks(work, "before_tool", self.hooks.before, call)
            _check_call(call, wanted)
        except HookError as error:
            self._refuse_call(work, error)
            return None
        if self.run.is_settled(work):
            return None
        return admitted if wanted is call else self._admit_changed(work, admitted, wanted)

    def _admit_changed(self, work: Work, admitted: Admitted, wanted: ToolCall) -> Admitted | None:
        """Arguments that a hook wrote are checked like a model's, and judged like them later."""
        owner = self.run.scheduler
        again = admit_edited(admitted.tool, wanted.arguments, owner.policy, owner.situation)
        if isinstance(again, RefusedCall):
            problem = f"it gave arguments that do not fit: {again.outcome.text}"
            self._refuse_call(work, HookError(problem, hook="before_tool"))
            return None
        work.changed = True
        return again

    async def after(self, work: Work, outcome: Outcome) -> Outcome:
        """The outcome of a call that ran, as the hooks want it. Nothing else reaches the model."""
        call = _as_admitted(work, work.tool_call)
        try:
            wanted = await self._ask_hooks(
                work, "after_tool", self.hooks.after, outcome, lambda hook, now: hook(call, now)
            )
            _check_outcome(outcome, wanted)
        except HookError as error:
            self._note_error(work, error)
            if _has_failed(error):
                self.run.fail(error)
            return error_outcome(
                f"{call.name} has run, but its result was withheld. {_words_for_model(error)}"
            )
        return replace(outcome, status=wanted.status, content=wanted.content)

    async def _ask_hooks(
        self,
        work: Work,
        name: str,
        hooks: Sequence[tuple[Any, float]],
        value: T,
        ask: Callable[[Any, T], Awaitable[Any]] = lambda hook, value: hook(value),
    ) -> T:
        not_needed = self.run.open_question(work)
        return await ask_hooks(name, hooks, value, self.run.scheduler.cancel_task, ask, not_needed)

    def _refuse_call(self, work: Work, error: HookError) -> None:
        if not self.run.is_settled(work):
            self._note_error(work, error)
            self.run.settle(work, denied_outcome(_words_for_model(error)))
            if _has_failed(error):
                self.run.fail(error)

    def _note_error(self, work: Work, error: HookError) -> None:
        code = "hook_refused" if error.refused else "hook_failed"
        self.run.scheduler.diagnose(code, work.call.id, f"{error.hook}: {error.why}"[:200])


async def ask_hooks(
    name: str,
    hooks: Sequence[tuple[Any, float]],
    value: T,
    abandon: Abandon,
    ask: Callable[[Any, T], Awaitable[Any]] = lambda hook, value: hook(value),
    not_needed: NotNeeded | None = None,
) -> T:
    """The value as the hooks leave it: each sees what the one before returned. Raises `HookError`.

    `not_needed` ends the asking early; `abandon` takes a hook that has not ended by then.
    """
    for hook, seconds in hooks:
        answer = await answer_of(
            name, partial(ask, hook, value), abandon, seconds=seconds, not_needed=not_needed
        )
        if isinstance(answer, Refuse):
            raise HookError(answer.why or "no reason was given", hook=name, refused=True)
        if answer is None:
            continue
        if not isinstance(answer, type(value)):
            wanted = type(value).__name__
            raise HookError(f"it gave {type(answer).__name__}; give {wanted}, Refuse or None", hook=name)
        value = answer
    return value


def _as_admitted(work: Work, admitted: Admitted) -> ToolCall:
    """The call as it would run: the tool's own name, and arguments that fit."""
    return replace(work.call, name=admitted.tool.name, arguments=admitted.arguments)


def _check_call(call: ToolCall, wanted: ToolCall) -> None:
    if (wanted.id, wanted.name) != (call.id, call.name):
        raise HookError(
            "it changed the id or the name of the call; change its arguments only", hook="before_tool"
        )


def _check_outcome(outcome: Outcome, wanted: Outcome) -> None:
    if wanted.status not in (outcome.status, "complete", "error"):
        raise HookError(
            f"a call that ran cannot be {wanted.status}; give complete or error", hook="after_tool"
        )


def _words_for_model(error: HookError) -> str:
    """For the model: the reason that a hook gave, but not the error inside one."""
    return f"Refused by a hook: {error}." if error.refused else "A hook that must agree failed."


def _has_failed(error: HookError) -> bool:
    return not error.refused and not isinstance(error, HookStopped)
