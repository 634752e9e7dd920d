"""The task tool: a subagent is a session whose events feed the call that started it.

The parent sees one call and one result. Depth, number and spending are counted in state that
the whole tree shares, never in text that a model could write. The tree also shares which
places calls work on (see `tools/schedule/running.py`). To cancel the parent is to cancel its
children.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from ..errors import HookError, TurnoutError, UsageError
from ..history.log import History
from ..model import Outcome, Text
from ..tools.declare.context import ToolContext
from ..tools.declare.tool import Tool, tool
from ..tools.schedule.scheduler import ToolScheduler
from .events import Cancelled, Complete, Emit, Failed, Nested, Terminal, Waiting
from .limits import SubagentLimits
from .run import Events

if TYPE_CHECKING:
    from ..store import Store
    from .session import Session

INSTRUCTION = "You are a subagent. Do the task you are given and answer with what was found or done, in full."
OF_ONE_ANSWER = frozenset({"schema", "tool_choice"})
"""Options that shape the parent's answer. A subagent answers something else, with other tools."""


class Tree:
    """What a session and all its descendants share."""

    def __init__(self, limits: SubagentLimits) -> None:
        self.limits = limits
        self.live = 0
        self.total = 0

    def admit(self, depth: int) -> str:
        """The reason why no further subagent may start; "" if one may."""
        if depth > self.limits.depth:
            return f"subagents may be nested {self.limits.depth} deep at most; do this part yourself"
        if self.live >= self.limits.live:
            return f"{self.live} subagents are at work, which is the limit; wait for one to end"
        if self.total >= self.limits.total:
            return (
                f"this session has started {self.total} subagents, which is the limit; do the rest yourself"
            )
        return ""

    def begin(self) -> int:
        """Count one more subagent; its number, which is unique in the tree."""
        self.live += 1
        return self.next_number()

    def next_number(self) -> int:
        self.total += 1
        return self.total


class ParentPorts(Struct):
    """What subagents need of the session that starts them.

    `request_options` are those of the run under way. `open_child` makes the session of a subagent.
    """

    history: History
    store: Store | None
    scheduler: ToolScheduler
    system: str
    request_options: Callable[[], dict[str, Any]]
    emit: Emit
    open_child: Callable[..., Session]


class Subagents:
    """The subagents of one session, and the tools that reach them."""

    def __init__(self, parent: ParentPorts, tree: Tree, depth: int = 1) -> None:
        self._parent = parent
        self.tree = tree
        self._depth = depth
        self._tasks: dict[str, asyncio.Task[Outcome]] = {}
        self._prompts: dict[str, str] = {}

    @property
    def tools(self) -> tuple[Tool, ...]:
        """`task` and the tools for tasks in the background; none at the deepest level."""
        if self._depth > self.tree.limits.depth:
            return ()
        return (self._task_tool(), self._list_tool(), self._wait_tool(), self._stop_tool())

    def _task_tool(self) -> Tool:
        async def task(ctx: ToolContext, prompt: str, background: bool = False) -> Outcome | str:
            """Give a task to a subagent with its own context; you get its answer.

            Args:
                prompt: The whole task: the subagent sees nothing else of this conversation.
                background: Return at once with an id; use task_wait for the answer.
            """
            if refusal := self.tree.admit(self._depth):
                return Outcome("error", (Text(refusal),))
            number = self.tree.begin()
            if not background:
                return await self._run_task(ctx.call_id, prompt, number)
            name = f"task-{number}"
            self._prompts[name] = prompt
            self._tasks[name] = asyncio.ensure_future(self._run_task(ctx.call_id, prompt, number))
            return f"started {name}"

        return tool(risk="read", timeout=float("inf"), delegates=True)(task)

    def _list_tool(self) -> Tool:
        async def task_list() -> list[dict[str, str]]:
            """List the tasks in the background with their status."""
            return [
                {"id": name, "status": _task_status(task), "prompt": self._prompts[name][:200]}
                for name, task in self._tasks.items()
            ]

        return tool(risk="read", polls=True)(task_list)

    def _wait_tool(self) -> Tool:
        async def task_wait(id: str) -> Outcome:
            """Wait for a task in the background and get its answer.

            Args:
                id: The id that `task` gave.
            """
            task = self._task_named(id)
            await asyncio.wait({task})
            if task.cancelled():
                return Outcome("cancelled", (Text(f"{id} was stopped"),), reason="stopped")
            return task.result()

        return tool(risk="read", timeout=float("inf"), delegates=True)(task_wait)

    def _stop_tool(self) -> Tool:
        async def task_stop(id: str) -> str:
            """Stop a task in the background.

            Args:
                id: The id that `task` gave.
            """
            task = self._task_named(id)
            task.cancel()
            await asyncio.wait({task})
            return f"{id} is stopped"

        return tool(risk="read", delegates=True)(task_stop)

    def _task_named(self, name: str) -> asyncio.Task[Outcome]:
        if name not in self._tasks:
            known = ", ".join(self._tasks) or "none"
            raise UsageError(f"there is no task {name!r}; known are: {known}")
        return self._tasks[name]

    async def _run_task(self, call_id: str, prompt: str, number: int) -> Outcome:
        try:
            child = self._open_child(number)
            try:
                return await self._listen_to(child, call_id, prompt)
            finally:
                await child.scheduler.close()
                if self._parent.store is not None:
                    self._parent.store.release(child.history.key)
        finally:
            self.tree.live -= 1

    def _open_child(self, number: int) -> Session:
        limits, system = self.tree.limits, self._system_text()
        return self._parent.open_child(
            self._open_history(number, system),
            target=limits.target,
            tools=self._child_tools(),
            system=system,
            options=self._child_options(),
            compress=limits.compress,
            tree=self.tree,
            depth=self._depth + 1,
        )

    def _open_history(self, number: int, system: str) -> History:
        """A new history, in the parent's store if it has one. Ids of calls are made from its key."""
        store, parent = self._parent.store, self._parent.history.key
        if store is None:
            return History(f"{parent}.sub{number}", system=system)
        while store.knows(f"{parent}.sub{number}"):  # of an earlier run
            number = self.tree.next_number()
        return store.open(f"{parent}.sub{number}", system=system, parent=parent)

    def _system_text(self) -> str:
        """The parent's text, which holds the project's instructions to agents, and then our own."""
        limits = self.tree.limits
        text = self._parent.system if limits.system is None else limits.system
        return text if text.endswith(INSTRUCTION) else "\n\n".join(filter(None, (text, INSTRUCTION)))

    def _child_options(self) -> dict[str, Any]:
        inherited = self._parent.request_options().items()
        return {
            **{name: value for name, value in inherited if name not in OF_ONE_ANSWER},
            **self.tree.limits.options,
        }

    def _child_tools(self) -> list[Tool]:
        """The tools of a subagent: those of the parent's that the limits name, or all."""
        known = {each.name: each for each in self._parent.scheduler.registry if each.name not in OURS}
        wanted = known if self.tree.limits.tools is None else self.tree.limits.tools
        if unknown := [name for name in wanted if name not in known]:
            raise UsageError(
                f"SubagentLimits(tools=…) names {unknown[0]!r}, which is not a tool of this session; "
                f"name one of {', '.join(known) or 'none'}"
            )
        return [known[name] for name in wanted]

    async def _listen_to(self, child: Session, call_id: str, prompt: str) -> Outcome:
        async with aclosing(child.run(prompt)) as events:
            listening = asyncio.ensure_future(self._pass_on(events, call_id))
            try:
                await asyncio.wait({listening})
            except asyncio.CancelledError:
                child.cancel()
                await asyncio.wait({listening})  # the events of its calls still come
                raise
            finally:
                listening.cancel()
            return listening.result()

    async def _pass_on(self, events: Events, call_id: str) -> Outcome:
        async for event in events:
            if isinstance(event, Terminal):
                if (failure := _failed_callback(event)) is not None:
                    self._parent.scheduler.fail(failure)
                return _outcome_of(event)
            self._parent.emit(Nested(call_id, event))
        raise TurnoutError("bug: the subagent ended without a terminal event")  # pragma: no cover

    async def close(self) -> None:
        """Stop the tasks that still run in the background."""
        running = {task for task in self._tasks.values() if not task.done()}
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)


OURS = frozenset({"task", "task_list", "task_wait", "task_stop"})


def _task_status(task: asyncio.Task[Outcome]) -> str:
    if not task.done():
        return "running"
    if task.cancelled():
        return "stopped"
    return "error" if task.exception() is not None else task.result().status


def _failed_callback(terminal: Terminal) -> HookError | None:
    """The error of a function of the user, which is raised to the user through all levels of subagents."""
    match terminal:
        case Failed(HookError(refused=False) as error):
            return error
    return None


def _outcome_of(terminal: Terminal) -> Outcome:
    """What the parent's model reads."""
    if _failed_callback(terminal) is not None:  # a model must not read what broke in it
        return Outcome("error", (Text("the subagent failed: a function that must agree failed"),))
    match terminal:
        case Complete(turn):
            return Outcome("complete", (Text(turn.text),))
        case Failed(error):
            return Outcome("error", (Text(f"the subagent failed: {error}"),))
        case Waiting():
            return Outcome("error", (Text(f"the subagent stopped: {terminal.detail}"),))
        case Cancelled():
            return Outcome("cancelled", (Text("the subagent was stopped"),), reason="stopped")
