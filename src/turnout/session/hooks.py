"""Hooks: functions of the user around every model call and every tool call.

They see and change neutral values (turns, outcomes, options, tools, arguments), never a
provider's bytes: what they change goes through the same checks and the same renderer as
everything else, so a hook cannot make a request invalid. They agree by giving back None,
or the value as they want it; they refuse with `Refuse`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias, TypeVar

from msgspec import Struct
from msgspec.structs import replace

from ..declarations import specs_of
from ..errors import HookError, UsageError
from ..history.log import History
from ..model import Block, ModelTurn, Origin, Outcome, ToolCall, ToolSpec, Turn
from ..tools.schedule.tool_hooks import TIME_LIMIT, AfterTool, BeforeTool, Refuse, ToolHooks, ask_hooks
from ..wire.options import Options
from .excerpt import excerpt, outcomes_of

CancelTask = Callable[[asyncio.Task[Any]], None]
"""Cancels the task of a hook, which may take a while to end."""
AnyTurn = TypeVar("AnyTurn", bound=Turn)


class ModelRequest(Struct, frozen=True):
    """The next request to a model. Change it with `msgspec.structs.replace`.

    `outcomes` are those of the calls in `turns`, by call id. `target` cannot be changed here:
    call `session.switch`.
    """

    target: Origin
    turns: tuple[Turn, ...]
    outcomes: dict[str, Outcome]
    summary: str
    system: str
    tools: tuple[ToolSpec, ...]
    options: dict[str, Any]


BeforeModel: TypeAlias = Callable[[ModelRequest], Awaitable[ModelRequest | Refuse | None]]
AfterModel: TypeAlias = Callable[[ModelRequest, ModelTurn], Awaitable[ModelTurn | Refuse | None]]


class Hooks(Struct, frozen=True):
    """Up to four async functions; `timeout` is how many seconds each may take.

    One that raises, takes too long or gives back something else has not agreed: what it was asked
    about does not happen, and the run ends with `HookError`. The history is valid.
    """

    before_model: BeforeModel | None = None
    after_model: AfterModel | None = None
    before_tool: BeforeTool | None = None
    after_tool: AfterTool | None = None
    timeout: float = TIME_LIMIT


class HookedRequest(Struct, frozen=True):
    """A request as the hooks want it, and the history that it is rendered from."""

    request: ModelRequest
    history: History


class ModelHooks:
    """The hooks of a session around its model calls: first to last before, last to first after."""

    def __init__(self, hooks: tuple[Hooks, ...], history: History, cancel_task: CancelTask) -> None:
        self._history = history
        self._cancel_task = cancel_task
        self.before = [(each.before_model, each.timeout) for each in hooks if each.before_model]
        self.after = [(each.after_model, each.timeout) for each in reversed(hooks) if each.after_model]

    async def hooked_request(
        self, target: Origin, system: str, tools: tuple[ToolSpec, ...], options: dict[str, Any]
    ) -> HookedRequest:
        """The next request, as the hooks want it."""
        history = self._history
        if not self.before and not self.after:
            return HookedRequest(ModelRequest(target, (), {}, "", system, tools, options), history)
        turns = tuple(history.turns)
        outcomes = outcomes_of(history, turns)
        plain = ModelRequest(target, turns, outcomes, history.summary, system, tools, options)
        wanted = await self._ask_hooks("before_model", self.before, plain)
        if wanted is plain:
            return HookedRequest(plain, history)
        try:
            return _rebuild_request(history, plain, wanted)
        except (UsageError, AttributeError, TypeError) as error:
            raise HookError(
                f"it made a request that is not valid: {error}; give back None or a valid ModelRequest",
                hook="before_model",
            ) from error

    async def hooked_reply(self, request: ModelRequest, turn: ModelTurn) -> ModelTurn:
        """A finished reply, as the hooks want it; the same object when they do not change it."""
        if not self.after:
            return turn
        wanted = await self._ask_hooks("after_model", self.after, turn, lambda hook, now: hook(request, now))
        return turn if wanted == turn else _without_residue(wanted, turn)

    async def _ask_hooks(self, name: str, hooks: Any, value: Any, *ask: Any) -> Any:
        return await ask_hooks(name, hooks, value, self._cancel_task, *ask)


def hooks_tuple(hooks: Hooks | Iterable[Hooks] | None) -> tuple[Hooks, ...]:
    """The hooks as a tuple, from what callers naturally write: none, one, or several."""
    if hooks is None:
        return ()
    given = (hooks,) if isinstance(hooks, Hooks) else tuple(hooks)
    for each in given:
        if not isinstance(each, Hooks):
            raise UsageError(f"{each!r} is not a hook; give Hooks(before_model=…, before_tool=…)")
    return given


def tool_hooks(hooks: tuple[Hooks, ...]) -> ToolHooks:
    """The half that is asked about tool calls."""
    before = tuple((each.before_tool, each.timeout) for each in hooks if each.before_tool)
    after = tuple((each.after_tool, each.timeout) for each in reversed(hooks) if each.after_tool)
    return ToolHooks(before, after)


# The history as a hook wants it to be read


def _rebuild_request(history: History, plain: ModelRequest, wanted: ModelRequest) -> HookedRequest:
    if wanted.target != plain.target:
        raise UsageError("a hook cannot change the target; call session.switch() for the next request")
    wanted = replace(wanted, tools=specs_of(wanted.tools))
    Options.of(wanted.options)
    same = (wanted.turns, wanted.outcomes, wanted.summary) == (plain.turns, plain.outcomes, plain.summary)
    return HookedRequest(wanted, history if same else _view(history, plain, wanted))


def _view(history: History, plain: ModelRequest, wanted: ModelRequest) -> History:
    """Another history that reads as the hook wants it; the session's is not changed."""
    before = {turn.key: turn for turn in plain.turns}
    turns = [_without_residue(turn, before.get(turn.key)) for turn in wanted.turns]
    return excerpt(history, turns, wanted.summary, wanted.outcomes)


def _without_residue(wanted: AnyTurn, before: Turn | None) -> AnyTurn:
    """A changed turn without its provider's signatures, which no longer fit."""
    if before is not None and before == wanted:
        return wanted
    known = before.blocks if before is not None else ()
    blocks = tuple(block if block in known else _without_signature(block) for block in wanted.blocks)
    if isinstance(wanted, ModelTurn):
        return replace(wanted, blocks=blocks, residue=None)
    return replace(wanted, blocks=blocks)


def _without_signature(block: Block) -> Block:
    if isinstance(block, ToolCall):
        return replace(block, residue=None, raw=None)
    return replace(block, residue=None)
