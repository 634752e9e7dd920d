"""A session: one history, one scheduler, the targets it may speak to; `run` it with a prompt.

async with Session("anthropic:claude-sonnet-4-5", tools=[weather]) as session:
    async for event in session.run("What should I wear in Paris?"):
        ...
    session.switch("openai:gpt-5.1")
    answer = await session.ask("And in Oslo?")
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from msgspec import Struct

from ..errors import LimitReached, TurnoutError, UsageError
from ..history.log import History
from ..model import Block, ModelTurn, Origin, ToolSpec, Usage, blocks_of
from ..providers.cost import Limits as Limits
from ..providers.cost import check_countable, cost_of, reached, total_usage
from ..targets.target import Route, Target, find_target
from ..telemetry.counts import Exporter, Telemetry, ToolWatch
from ..tools.confine.workspace import WorkspaceFiles
from ..tools.declare.context import Asker
from ..tools.declare.tool import Tool
from ..tools.declare.tool import tool as make_tool
from ..tools.policy.approval import Approver
from ..tools.policy.rules import Mode, Policy, Rule
from ..tools.schedule.running import SharedTree
from ..tools.schedule.scheduler import ToolLimits, ToolScheduler
from ..world.keys import Keys, KeySource, account
from ..world.ports import Chance, Transport, WallClock
from ..world.secrets import Secrets
from .attempt import Timeouts
from .compress import Compressor, CompressPolicy
from .durability import Keeping
from .events import Cancelled, Complete, Failed, SessionEvent
from .guards import Guard, GuardLimits
from .hooks import Hooks, ModelHooks, several, tool_hooks
from .recovery import Recovery
from .retry import RetryPolicy
from .rounds import Rounds
from .routing import Router
from .run import Events, Run
from .subagents import SubagentLimits, Subagents, Tree
from .typed import Shape
from .workspace_setup import opened, place_of_work

if TYPE_CHECKING:
    from ..store import Store


class Answer(Struct, frozen=True):
    """What came of a prompt. `output` is the typed value where one was asked for."""

    text: str
    turn: ModelTurn
    usage: Usage
    cost: float | None = None
    output: Any = None


class Session:
    """One conversation that can change provider at any turn."""

    def __init__(
        self,
        target: str | Target | None = None,
        *,
        targets: Sequence[str | Target] = (),
        route: Route | None = None,
        tools: Iterable[Any] = (),
        system: str = "",
        base_url: str = "",
        api_key: KeySource | None = None,
        keys: Mapping[str, KeySource] | None = None,
        id: str | None = None,
        store: Store | str | Path | None = None,
        history: History | None = None,
        transport: Transport | None = None,
        limits: Limits | None = None,
        guard: Guard | GuardLimits | None = None,
        retry: RetryPolicy | None = None,
        timeouts: Timeouts | None = None,
        compress: CompressPolicy | None = None,
        tool_limits: ToolLimits | None = None,
        approval: Mode = "ask",
        rules: Iterable[Rule] = (),
        approver: Approver | None = None,
        asker: Asker | None = None,
        taint: bool = True,
        workspace: str | WorkspaceFiles | None = None,
        network: bool = False,
        telemetry: Telemetry | Exporter | None = None,
        hooks: Hooks | Iterable[Hooks] | None = None,
        environment: Mapping[str, str] | None = None,
        chance: Chance | None = None,
        wall_clock: WallClock | None = None,
        debug: Callable[..., None] | None = None,
        scheduling: Mapping[str, Any] | None = None,
        subagents: SubagentLimits | bool = False,
        **options: Any,
    ) -> None:
        self._set_world(environment, chance, wall_clock, debug, transport)
        self.keys = Keys(self.environment, keys)
        self.secrets = Secrets(self.environment, lambda: self.keys.secrets())
        self.router = self._router(target, targets, route, base_url, api_key)
        registry = [tool if isinstance(tool, Tool) else make_tool(tool) for tool in tools]
        self._set_history(id, store, history, system, registry)
        self._set_measures(limits, guard, retry, timeouts, compress)
        self._set_watchers(telemetry, hooks)
        self.options = options
        self._queued: deque[tuple[Block, ...]] = deque()
        self._run: Run | None = None  # the one that has the session
        self._asked: WeakSet[Run] = WeakSet()  # with those that wait for it, or were not listened to yet
        self.scheduling = {
            "policy": Policy(approval, tuple(rules), taint),
            "approver": approver,
            "asker": asker,
            "limits": tool_limits,
            "environment": self.environment,
            "hooks": tool_hooks(self.hooks),
            "tree": SharedTree((tool_limits or ToolLimits()).parallel),
            **place_of_work(workspace, network, self.environment),
            **(scheduling or {}),
        }
        watch = ToolWatch(self.history, self.telemetry, self.keys.secrets, lambda: self.target.origin)
        self.scheduler = ToolScheduler(registry, self.history, around=watch, **self.scheduling)
        self.subagents = self._subagents(subagents)

    def _set_world(
        self,
        environment: Mapping[str, str] | None,
        chance: Chance | None,
        wall_clock: WallClock | None,
        debug: Callable[..., None] | None,
        transport: Transport | None,
    ) -> None:
        """Everything that differs between two runs."""
        self.environment = os.environ if environment is None else environment
        self.chance: Chance = chance or random.Random()
        self.wall_clock: WallClock = wall_clock or time.time
        self.debug: Callable[..., None] = debug or _silence
        self._own_transport: Any = None
        self._transport = transport

    def _router(
        self,
        target: str | Target | None,
        targets: Sequence[str | Target],
        route: Route | None,
        base_url: str,
        api_key: KeySource | None,
    ) -> Router:
        names = [*([target] if target is not None else []), *targets]
        places = [self._place(name, base_url if name is target or len(names) == 1 else "") for name in names]
        router = Router(places, route or ("failover" if len(places) > 1 else "fixed"))
        if api_key is not None:
            self.keys.set(account(places[0]), api_key)
        return router

    def _place(self, name: str | Target, base_url: str = "") -> Target:
        """A target, at the address and for the project that arguments or the environment give."""
        place = find_target(name, base_url=base_url)
        if not place.model and not place.provider.serves_one:
            known = place.provider.name
            raise UsageError(f"{known!r} names no model; say '{known}:MODEL' (`turnout models` lists some)")
        if isinstance(name, Target):
            return place
        configured = base_url or self.environment.get(place.provider.base_url_variable, "")
        project = self.environment.get(place.provider.project_variable, "")
        return find_target(name, base_url=configured, project=project)

    def _set_history(
        self,
        id: str | None,
        store: Store | str | Path | None,
        history: History | None,
        system: str,
        tools: Sequence[Tool],
    ) -> None:
        """What was said before, here or in the store."""
        self.id = id or _new_id()
        self.store, self._own_store = opened(store, self.environment)
        if history is not None:
            self.history = history
        elif self.store is not None:
            safe = {tool.name for tool in tools if tool.retry_safe}
            self.history = self.store.open(self.id, system=system, retry_safe=safe)
        else:
            self.history = History(self.id, system=system)
        self.history.scheduled = True
        self.keeping = Keeping(self.history)
        self.system = system or self.history.system
        self.turns = self._earlier_replies()  # replies of this session, for usage and cost

    def _set_measures(
        self,
        limits: Limits | None,
        guard: Guard | GuardLimits | None,
        retry: RetryPolicy | None,
        timeouts: Timeouts | None,
        compress: CompressPolicy | None,
    ) -> None:
        """How far it may go, and what it does when things go wrong."""
        self.limits = limits or Limits()
        self.guard = guard if isinstance(guard, Guard) else Guard(guard)
        self.retry = retry or RetryPolicy()
        self.timeouts = timeouts or Timeouts()
        self.recovery = Recovery()
        self.compressor = Compressor(self, compress or CompressPolicy())
        self.renewed: set[Origin] = set()

    def _set_watchers(
        self, telemetry: Telemetry | Exporter | None, hooks: Hooks | Iterable[Hooks] | None
    ) -> None:
        counters = self.store.counters if self.store is not None else None
        self.telemetry = telemetry if isinstance(telemetry, Telemetry) else Telemetry(counters, telemetry)
        self.hooks = several(hooks)
        self.model_hooks = ModelHooks(self, self.hooks)

    def _earlier_replies(self) -> list[ModelTurn]:
        """What a stored session has said, and so spent, before."""
        return [entry for entry in self.history.entries if isinstance(entry, ModelTurn)] if self.store else []

    def _subagents(self, wanted: SubagentLimits | bool) -> Subagents | None:
        if not wanted:
            return None
        tree = Tree(wanted if isinstance(wanted, SubagentLimits) else SubagentLimits())
        if self.store is not None:
            tree.total = len(self.store.list(within=self.id))
        made = Subagents(self, tree)
        for each in made.tools:
            self.scheduler.registry.add(each)
        return made

    # Asking

    def run(self, prompt: str | Block | Iterable[str | Block], **options: Any) -> Events:
        """Say something and get everything that happens, the last event being terminal."""
        self._check_free("session.queue(text) what comes next")
        run = Run(self, Rounds(self, blocks_of(prompt), options), options)
        self._asked.add(run)
        return Events(run)

    def go_on(self, **options: Any) -> Events:
        """Go on without a new prompt: after a crash, the calls that had not begun run first."""
        return self.run((), **options)

    async def ask(
        self, prompt: str | Block | Iterable[str | Block], *, output: Any = None, **options: Any
    ) -> Answer:
        """Say something and get the answer; `output` is a JSON Schema or a class for a typed one."""
        shape = Shape.of(output)
        if shape is not None:
            options["schema"] = shape.schema
        async with aclosing(self.run(prompt, **options)) as events:
            async for event in events:
                match event:
                    case Complete(turn, usage, cost):
                        value = shape.read(turn.text) if shape is not None else None
                        return Answer(turn.text, turn, usage, cost, value)
                    case Failed(error):
                        raise error
                    case Cancelled():
                        raise TurnoutError("the run was cancelled")
        raise TurnoutError("the run ended without a word")  # pragma: no cover: a run always ends

    def ask_sync(self, prompt: str | Block | Iterable[str | Block], **options: Any) -> Answer:
        """`ask` for code without an event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self._once(prompt, options))
        raise UsageError("ask_sync would block the event loop that runs here: `await session.ask(...)`")

    async def _once(self, prompt: Any, options: dict[str, Any]) -> Answer:
        try:
            return await self.ask(prompt, **options)
        finally:
            await self._close_transport()

    def queue(self, text: str | Block | Iterable[str | Block]) -> None:
        """Hold a message; it is said after the tools of the moment, before the next request."""
        self._queued.append(blocks_of(text))

    def switch(self, target: str | Target, *, base_url: str = "") -> None:
        """Another target from the next request on; what is in flight stays where it is."""
        place = self._place(target, base_url)
        self.router.take(place)
        self.history.note("switch", {"target": str(place.origin)})

    def cancel(self) -> None:
        """Stop every run that has been asked for, under way or not; the history is valid at once."""
        for run in tuple(self._asked):
            run.cancel()

    @property
    def target(self) -> Target:
        return self.router.current

    @property
    def busy(self) -> bool:
        """Whether a run is under way that someone listens to."""
        return self._run is not None and self._run.active and not self._run.left

    def _check_free(self, way_on: str) -> None:
        if self.busy:
            raise UsageError(f"a run is under way: wait for its end, or {way_on}")

    @property
    def request_options(self) -> dict[str, Any]:
        """The session's options for requests, with those of the run that is under way."""
        return {**self.options, **(self._run.options if self._run is not None else {})}

    # What it has used

    @property
    def usage(self) -> Usage:
        return total_usage(turn.usage for turn in self.turns)

    @property
    def cost(self) -> float | None:
        return cost_of(self.turns)

    def cost_of(self, turns: Sequence[ModelTurn]) -> float | None:
        return cost_of(turns)

    def check_prices(self) -> None:
        """Raise where the limit on money could not be counted for someone who may be asked."""
        check_countable(self.limits, self._origins_to_ask())

    def check_limits(self) -> None:
        """Raise where a limit is used up, or cannot be counted. Asked before every request."""
        self.check_prices()
        if (used_up := reached(self.limits, self.turns)) is not None:
            raise LimitReached(used_up)

    def _origins_to_ask(self) -> Iterator[Origin]:
        """Whoever may be asked in this session: itself, for a summary, or as a subagent."""
        yield from (place.origin for place in (self.router.current, *self.router.targets))
        others = [
            self.compressor.policy.target,
            self.subagents.tree.limits.target if self.subagents else None,
        ]
        yield from (self._place(name).origin for name in others if name is not None)

    # Compression

    async def compact(self, emit: Callable[[SessionEvent], None] | None = None) -> bool:
        """Make room in the context now."""
        self._check_free("let it make room by itself")
        return await self.compressor.compact(emit or _silence)

    def pin(self, turn_key: str) -> None:
        """Keep a turn whole, whatever is cut around it; `unpin` lets it go."""
        self.compressor.pin(turn_key)

    def unpin(self, turn_key: str) -> None:
        self.compressor.unpin(turn_key)

    # For the loop

    def child(self, *, history: History, target: str | None = None, **settings: Any) -> Session:
        """A session of its own over the same transport and keys: for summaries and subagents.

        It asks whom this one would ask, failover included, unless a target is named.
        """
        child = Session(
            target or self.router.current,
            history=history,
            transport=self.transport,
            environment=self.environment,
            chance=self.chance,
            wall_clock=self.wall_clock,
            retry=self.retry,
            timeouts=self.timeouts,
            telemetry=self.telemetry,
            debug=self.debug,
            hooks=self.hooks,
            **settings,
        )
        child.keys = self.keys
        if target is None:
            child.router = self.router.branch()
        else:
            child.router.breakers = (
                self.router.breakers
            )  # a server that wants no requests wants none from us all
        return child

    @property
    def transport(self) -> Transport:
        if self._transport is None:
            from ..world.transport import HttpTransport  # the HTTP client is loaded when it is needed

            self._transport = self._own_transport = HttpTransport()
        return self._transport

    async def begin(self, run: Run) -> None:
        """Let this run have the session, once what was left before has ended."""
        while self._run is not None and self._run.active:
            self._check_free("session.queue(text) what comes next")
            await self._run.over()
        self._run = run
        self.keeping.begin()

    def end(self, run: Run) -> None:
        if self._run is run:
            self._run = None
            self.keeping.end()

    def emit(self, event: SessionEvent) -> None:
        """Tell whoever listens to the run that is under way."""
        if self._run is not None:
            self._run.emit(event)

    def take_queued(self) -> list[tuple[Block, ...]]:
        waiting = list(self._queued)
        self._queued.clear()
        return waiting

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self.scheduler.registry.offered(self.scheduler.policy.mode))

    def replied(self, turn: ModelTurn) -> None:
        self.turns.append(turn)
        self.telemetry.replied(turn)

    # Ending

    async def close(self) -> None:
        self.cancel()
        for run in tuple(self._asked):
            await run.over()
        if self.subagents is not None:
            await self.subagents.close()
        await self.scheduler.close()
        await self._close_transport()
        if self.store is None:
            return
        try:
            self.store.release(self.id)
        finally:
            if self._own_store:
                self.store.close()

    async def _close_transport(self) -> None:
        if self._own_transport is not None:
            await self._own_transport.close()
            self._transport = self._own_transport = None

    async def __aenter__(self) -> Session:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _new_id() -> str:
    return f"s{os.urandom(8).hex()}"


def _silence(*_: Any, **__: Any) -> None:
    return None
