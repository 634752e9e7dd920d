"""A session: one history, one scheduler, and the targets that it may ask; `run` it with a prompt.

async with Session("anthropic:claude-sonnet-5", tools=[weather]) as session:
    async for event in session.run("What should I wear in Paris?"):
        ...
    session.switch("openai:gpt-5.2")
    answer = await session.ask("And in Oslo?")
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, overload
from weakref import WeakSet

from msgspec.structs import replace

from ..errors import LimitReached, UsageError
from ..history.log import History
from ..history.waiting import known_prompt, waiting_calls
from ..model import Block, ModelTurn, Origin, ToolSpec, Usage, blocks_of
from ..parameters import check_names, with_checked_names
from ..plain import dumps
from ..providers.cost import Spending, check_countable, cost_of, total_usage
from ..targets.target import Route, Target, find_target
from ..telemetry.counts import Exporter, Telemetry, ToolWatch
from ..tools.confine.threads import NoThread, ThreadPort, call_on_loop, run_in_thread
from ..tools.declare.given_tools import split_tools
from ..tools.declare.tool import Tool, ToolOffer
from ..tools.policy.rules import Mode, Policy
from ..tools.schedule.running import SharedTree
from ..tools.schedule.scheduler import ToolScheduler
from ..wire.options import Options
from ..world.account_targets import targets_by_account
from ..world.aws_credentials import with_region
from ..world.keys import Keys, KeySource, account_name
from ..world.ports import Chance, Transport, WallClock
from ..world.secrets import Secrets
from ..world.shared_http import SharedHttp
from ..world.world import World
from .answer import CORRECTIONS, Answer, OutputT, ask_until_it_fits, partial_values
from .answers import answer_call, apply_stored_answers
from .attempt import RequestPorts
from .compress import INSTRUCTION, Compressor, CompressPolicy
from .durability import WRITERS, ReplyDurability
from .events import SessionEvent
from .exchange import ReplyPorts, ReplyRules
from .guards import Guard
from .hooks import Hooks, ModelHooks, hooks_tuple, tool_hooks
from .limits import Limits
from .one_reply import OneReply
from .opening import HistoryOpening, OpenedHistory
from .provider_tools import is_remote
from .recovery import Recovery
from .rounds import RoundPorts, Rounds
from .routing import Router
from .run import Events, Run, RunPorts
from .settings import Approval, Routing, Workspace
from .subagents import ParentPorts, Subagents, Tree
from .typed import Shape
from .workspace_setup import open_store_at, workspace_ports

if TYPE_CHECKING:
    from ..store import Store


Prompt: TypeAlias = str | Block | Iterable[str | Block]

SWITCHABLE = ("policy", "approver", "asker", "save_rule", "hooks", "limits")
"""Attributes of the scheduler that may change during a session; subagents get the current values."""


class Session:
    """One conversation that can change provider at any turn.

    `fallback` are the targets to ask when `target` fails; `route` is how they take turns, "failover"
    where a fallback is given, or a `Routing` to ask the next one after some answers too. `store` and
    `id` keep the session in a file, or in a database, which is opened when the session is entered or
    first asked; `history` is one that you hold yourself. `options` are for every
    request; `ask` and `run` take the same names as keywords.
    """

    subagents: Subagents | None

    @with_checked_names(options=Options, approval=Approval, workspace=Workspace, limits=Limits, world=World)
    def __init__(
        self,
        target: str | Target,
        *,
        fallback: Sequence[str | Target] = (),
        route: Route | Routing | None = None,
        tools: Iterable[Any] = (),
        system: str = "",
        store: Store | str | Path | None = None,
        id: str | None = None,
        history: History | None = None,
        options: Options | Mapping[str, Any] | None = None,
        approval: Mode | Approval = "ask",
        workspace: str | os.PathLike[str] | Workspace | None = None,
        limits: Limits | None = None,
        compress: CompressPolicy | None = None,
        hooks: Hooks | Iterable[Hooks] | None = None,
        telemetry: Telemetry | Exporter | None = None,
        world: World | None = None,
        api_key: KeySource | None = None,
        base_url: str = "",
    ) -> None:
        self._set_world(world or World())
        self.router = self._make_router(target, fallback, route, base_url, api_key)
        registry, self.provider_tools = split_tools(tools)
        self.options = {**(options or {})}
        Options.of(self.options)  # so that a mistake is found at once
        self._queued: deque[tuple[Block, ...]] = deque()
        self._run: Run | None = None  # the one that has the session
        self._asked: WeakSet[Run] = WeakSet()  # and those that wait for it, or have no listener yet
        self.id = id or _new_id()
        self.limits = limits or Limits()
        self.store, self._own_store = open_store_at(store, self.environment)
        self._opening: HistoryOpening | None = None  # while the store is not open
        self._settings = (system, registry, compress, telemetry, hooks, approval, workspace)
        if history is not None or self.store is None:
            own = history if history is not None else History(self.id, system=system)
            self._set_parts(OpenedHistory(own))
            return
        self._opening = HistoryOpening(
            self.store,
            self.id,
            system=system,
            retry_safe={tool.name for tool in registry if tool.retry_safe},
            counts_subagents=self.limits.subagent_limits is not None,
            closes_store=self._own_store,
        )
        if not self._opening.may_block:
            self._open_now(self._opening)

    def _set_world(self, world: World) -> None:
        """Everything that differs between two runs."""
        self.world = world
        self.environment = os.environ if world.environment is None else world.environment
        # The module has a generator of its own, seeded again after a fork; to seed another takes 50 µs.
        self.chance: Chance = world.chance or random
        self.wall_clock: WallClock = world.wall_clock or time.time
        self.debug: Callable[..., None] = world.debug or _ignore
        self.keys = Keys(self.environment, world.keys)
        self.accounts = self.keys.accounts
        self.secrets = Secrets(self.environment, lambda: self.keys.secrets())
        self.transport: Transport = SharedHttp() if world.transport is None else world.transport

    def _make_router(
        self,
        target: str | Target,
        fallback: Sequence[str | Target],
        route: Route | Routing | None,
        base_url: str,
        api_key: KeySource | None,
    ) -> Router:
        self.routing = route if isinstance(route, Routing) else Routing()
        route = route.order if isinstance(route, Routing) else route
        others = (fallback,) if isinstance(fallback, str | Target) else fallback
        if api_key is not None:
            self.keys.set(account_name(self._find_place(target, base_url)), api_key)
        first, *spares = self._find_accounts(self._find_place(target, base_url))
        more = [place for name in others for place in self._find_accounts(self._find_place(name))]
        if more or route not in (None, "fixed"):
            return Router([first, *spares, *more], route or "failover")
        router = Router([first], "fixed")
        router.spares = spares
        return router

    def _find_accounts(self, place: Target) -> list[Target]:
        """The target with each stored account of the user; as it is where a key was given for it."""
        return [place] if self.keys.is_given(place) else targets_by_account(place, self.accounts)

    def _find_place(self, name: str | Target, base_url: str = "") -> Target:
        """A target, at the address and for the project that arguments or the environment give."""
        place = find_target(name, base_url=base_url)
        if not place.model and not place.provider.serves_one:
            known = place.provider.name
            raise UsageError(f"{known!r} names no model; say '{known}:MODEL' (`turnout models` lists some)")
        if isinstance(name, Target) and name.placed:
            return place
        configured = base_url or self.environment.get(place.provider.base_url_variable, "")
        project = place.provider.project or self.environment.get(place.provider.project_variable, "")
        filled = self.environment if place.provider.token_source != "aws" else with_region(self.environment)
        origin = name.origin if isinstance(name, Target) else name
        found = find_target(origin, base_url=configured, project=project, environment=filled)
        return replace(found, headers=place.headers, query=place.query, options=place.options)

    # Opening

    async def open(self) -> Session:
        """Open the store without blocking the loop. `async with`, `ask` and `run` do it by themselves."""
        if (opening := self._opening) is not None:
            found = await opening.open_off_loop(self._writers)
            if self._opening is not None:  # another who waited for the same has not been here
                self._set_parts(found)
        return self

    def _open_now(self, opening: HistoryOpening) -> None:
        self._set_parts(opening.open_history())

    if not TYPE_CHECKING:  # else the type checker would believe in any attribute

        def __getattr__(self, name: str) -> Any:
            """What a session has once it is open. To ask for it before opens the store now."""
            opening = self.__dict__.get("_opening")
            if opening is None or name.startswith("__"):
                raise AttributeError(f"a session has no attribute {name!r}; check the name")
            self._open_now(opening)
            return getattr(self, name)

    def _set_parts(self, opened: OpenedHistory) -> None:
        """Everything that needs the history."""
        system, tools, compress, telemetry, hooks, approval, workspace = self._settings
        self._opening = None
        self._set_history(opened.history, system)
        self._set_limits(self.limits, compress)
        self._set_watchers(telemetry, hooks)
        self._set_scheduler(tools, self._tool_ports(approval, workspace))
        self.subagents = self._start_subagents(opened.subagents)

    def _set_history(self, history: History, system: str) -> None:
        self.history = history
        self.history.scheduled = True
        self._keeping = ReplyDurability(self.history, self.world.threads)
        self.system = system or self.history.system
        self.turns = self._earlier_replies()  # replies of this session, for usage and cost
        self._spending = Spending(self.turns)

    def _set_limits(self, limits: Limits, compress: CompressPolicy | None) -> None:
        """How far the session may go, and how it recovers from failures."""
        self.limits = limits
        self.guard = Guard(limits)
        self.recovery = Recovery(self.world.learned)
        self._renewed_keys: set[Origin] = set()
        self._told_ends: set[Origin] = set()  # models whose end of life the user knows of
        self.compressor = Compressor(
            self.history,
            compress or CompressPolicy(),
            recovery=self.recovery,
            overhead=self._overhead,
            ask_for_summary=self._ask_for_summary,
            debug=self.debug,
        )

    def _set_watchers(
        self, telemetry: Telemetry | Exporter | None, hooks: Hooks | Iterable[Hooks] | None
    ) -> None:
        counters = self.store.counters if self.store is not None else None
        self.telemetry = telemetry if isinstance(telemetry, Telemetry) else Telemetry(counters, telemetry)
        self.hooks = hooks_tuple(hooks)

    def _earlier_replies(self) -> list[ModelTurn]:
        """The replies of earlier runs of a stored session: they count for its limits."""
        return [entry for entry in self.history.entries if isinstance(entry, ModelTurn)] if self.store else []

    def _tool_ports(
        self, approval: Mode | Approval, workspace: str | os.PathLike[str] | Workspace | None
    ) -> dict[str, Any]:
        """What the scheduler is made with. A subagent's scheduler gets the same."""
        agreed = approval if isinstance(approval, Approval) else Approval(approval)
        place = workspace if isinstance(workspace, Workspace) or workspace is None else Workspace(workspace)
        ports = {
            "policy": Policy(agreed.mode, tuple(agreed.rules), agreed.taint),
            "approver": agreed.approver,
            "asker": agreed.asker,
            "save_rule": agreed.save_rule,
            "defers_approval": agreed.defer,
            "limits": self.limits.tool_limits,
            "environment": self.environment,
            "hooks": tool_hooks(self.hooks),
            "tree": SharedTree(self.limits.tool_limits.parallel),
            "threads": self.world.threads,
            "provides": tuple(self.world.provides),
            **workspace_ports(place, self.environment),
        }
        return {**ports, "save": self.world.save} if self.world.save is not None else ports

    def _set_scheduler(self, tools: Iterable[Tool], ports: Mapping[str, Any]) -> None:
        self.tool_ports = dict(ports)
        watch = ToolWatch(self.history, self.telemetry, self.keys.secrets, lambda: self.target.origin)
        commit = self._keeping.commit
        self.scheduler = ToolScheduler(tools, self.history, around=watch, commit=commit, **self.tool_ports)
        self.model_hooks = ModelHooks(self.hooks, self.history, self.scheduler.cancel_task)

    def _start_subagents(self, earlier: int) -> Subagents | None:
        limits = self.limits.subagent_limits
        if limits is None:
            return None
        Options.of(limits.options)  # so that a mistake is found at once
        tree = Tree(limits)
        tree.total = earlier
        return self._add_subagents(tree)

    def _add_subagents(self, tree: Tree, depth: int = 1) -> Subagents:
        """Give this session the tools that start subagents."""
        parent = ParentPorts(
            history=self.history,
            store=self.store,
            scheduler=self.scheduler,
            system=self.system,
            request_options=self._request_options,
            emit=self._emit_to_run,
            open_child=self._open_subagent,
        )
        made = Subagents(parent, tree, depth)
        for each in made.tools:
            self.scheduler.registry.add(each)
        return made

    # Asking

    def run(
        self, prompt: str | Block | Iterable[str | Block], *, key: str | None = None, **options: Any
    ) -> Events:
        """Send a prompt; get every event, the last of which is terminal.

        A prompt with a `key` is said once: with a key that the session knows, the run goes on, or gives
        what came of it.
        """
        return self._start_run(prompt, options, "run()", key or "")

    def _start_run(
        self, prompt: str | Block | Iterable[str | Block], options: dict[str, Any], where: str, key: str = ""
    ) -> Events:
        check_names(where, "option", options, ("key", *Options.__struct_fields__))
        self._check_free("session.queue(text) what comes next")
        said = blocks_of(prompt)

        def make_run() -> Run:
            rounds = Rounds(self._round_ports(), said, {**self.options, **options}, key)
            run = Run(self._run_ports(), rounds, options)
            run.key, run.is_new = key, bool(said) and (not key or known_prompt(self.history, key) is None)
            return run

        return self._events_of(make_run)

    def _events_of(self, make_run: Callable[[], Run]) -> Events:
        """The events of a run, which is made once the session is open."""

        def add_run() -> Run:
            run = make_run()
            self._asked.add(run)
            return run

        async def open_run() -> Run:
            await self.open()
            return add_run()

        return Events(add_run() if self._opening is None else open_run)

    def go_on(self, **options: Any) -> Events:
        """Continue without a new prompt. After a crash, the calls that had not started run first."""
        return self._start_run((), options, "go_on()")

    def answer(self, call_id: str, outcome: Any, **options: Any) -> Events:
        """Answer a call that waits, then go on. The answer is stored when this returns.

        For a call of an external tool, `outcome` is what came of it: an `Outcome`, or its content. For one
        that waits for approval, it is a `Decision`, or True or False. Walk the events, or await them for the
        last one; where other calls still wait, that is `Waiting` again.
        """
        answer_call(self.history, call_id, outcome)
        return self._start_run((), options, "answer()")

    async def _take_answers(self) -> None:
        """Settle the calls that were answered through the store meanwhile."""
        if self.store is not None and waiting_calls(self.history):
            store = self.store
            found = await run_in_thread(
                self._writers, lambda: store.backend.waiting_calls.read_answers(self.id)
            )
            apply_stored_answers(self.history, found)

    def reply(self, *, keep: bool = True, **options: Any) -> Events:
        """Ask for one reply to the history as it is; no tool runs, and the calls are yours to answer.

        The last event is `Complete`, `Failed` or `Cancelled`. There are retries and other targets until
        the first event of a reply was passed on; after that, a failure is the end. Text and arguments
        are not redacted, so that the calls can be run. `keep=False` leaves the history without the reply.
        """
        check_names("reply()", "option", options, ("keep", *Options.__struct_fields__))
        self._check_free("wait for its end")
        rules = ReplyRules(keeps=keep, replaces=False)

        def make_run() -> Run:
            work = OneReply(self._round_ports(), {**self.options, **options}, rules)
            return Run(self._run_ports(returns_calls=True), work, options)

        return self._events_of(make_run)

    @overload
    async def ask(
        self, prompt: Prompt, *, output: type[OutputT], corrections: int = CORRECTIONS, **options: Any
    ) -> Answer[OutputT]: ...

    @overload
    async def ask(
        self, prompt: Prompt, *, output: Any = None, corrections: int = CORRECTIONS, **options: Any
    ) -> Answer[Any]: ...

    async def ask(
        self, prompt: Prompt, *, output: Any = None, corrections: int = CORRECTIONS, **options: Any
    ) -> Answer[Any]:
        """Send a prompt; get the answer.

        `output` is a JSON Schema or a type for a typed answer. An answer that does not fit is asked for
        again with the problem, at most `corrections` times.
        """
        check_names("ask()", "option", options, ("output", "corrections", "key", *Options.__struct_fields__))
        return await ask_until_it_fits(self.run, prompt, Shape.of(output), corrections, options)

    def ask_partially(self, prompt: Prompt, *, output: Any, **options: Any) -> AsyncIterator[Any]:
        """Send a prompt; get the typed answer as it grows: plain values, then the whole one of the type."""
        check_names("ask_partially()", "option", options, ("output", *Options.__struct_fields__))
        if (shape := Shape.of(output)) is None:
            raise UsageError("ask_partially() needs a type or a JSON Schema; give output=, or use run()")
        return partial_values(self.run, prompt, shape, options)

    def ask_sync(self, prompt: Prompt, **options: Any) -> Answer[Any]:
        """`ask` for code without an event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:
            return asyncio.run(self.ask(prompt, **options))  # which closes the connections with its loop
        raise UsageError("ask_sync would block the event loop that runs here: `await session.ask(...)`")

    def queue(self, text: str | Block | Iterable[str | Block]) -> None:
        """Queue a message; it is added after the current tool calls, before the next request."""
        self._queued.append(blocks_of(text))

    def switch(self, target: str | Target, *, base_url: str = "") -> None:
        """Change the target from the next request on; a request in flight is not moved."""
        place, *spares = self._find_accounts(self._find_place(target, base_url))
        self.router.take(place, spares)
        self.history.note("switch", {"target": str(place.origin)})

    def cancel(self) -> None:
        """Cancel every run of this session, started or not; the history is valid at once.

        A prompt with a key is over then: saying it again gives `Cancelled`.
        """
        for run in tuple(self._asked):
            run.is_given_up = True
            run.cancel()

    @property
    def target(self) -> Target:
        """Whom the next request goes to."""
        return self.router.current

    @property
    def busy(self) -> bool:
        """Whether a run is under way and has a listener."""
        return self._run is not None and self._run.active and not self._run.left

    def _check_free(self, way_on: str) -> None:
        if self.busy:
            raise UsageError(f"a run is under way: wait for its end, or {way_on}")

    def _request_options(self) -> dict[str, Any]:
        """The session's options for requests, with those of the run that is under way."""
        return {**self.options, **(self._run.options if self._run is not None else {})}

    # Usage and limits

    @property
    def usage(self) -> Usage:
        """The tokens of all replies so far."""
        return total_usage(turn.usage for turn in self.turns)

    @property
    def cost(self) -> float | None:
        """What the replies cost in US dollars; None where a price is not known."""
        return cost_of(self.turns)

    def _check_prices(self) -> None:
        """Raise where the limit on money could not be counted for a model that may be asked."""
        for limit in (self.limits.cost, self.limits.budget.cost if self.limits.budget else None):
            check_countable(limit, self._origins_to_ask())

    def _check_limits(self) -> None:
        """Raise where a limit is used up, or cannot be counted. Called before every request."""
        self._check_prices()
        if (
            used_up := self._spending.reached_limit(tokens=self.limits.tokens, cost=self.limits.cost)
        ) is not None:
            raise LimitReached(used_up)
        if self.limits.budget is not None:
            self.limits.budget.check()

    def _origins_to_ask(self) -> Iterator[Origin]:
        """Every model that this session may ask: for replies, for a summary, or as a subagent."""
        yield from (place.origin for place in (self.router.current, *self.router.targets))
        others = [
            self.compressor.policy.target,
            self.subagents.tree.limits.target if self.subagents else None,
        ]
        yield from (self._find_place(name).origin for name in others if name is not None)

    # Compression

    async def compact(self, emit: Callable[[SessionEvent], None] | None = None) -> bool:
        """Make room in the context now."""
        self._check_free("let it make room by itself")
        return await self.compressor.compact(emit or _ignore)

    def pin(self, turn_key: str) -> None:
        """Keep a turn whole through every compaction; `unpin` undoes this."""
        self.compressor.pin(turn_key)

    def unpin(self, turn_key: str) -> None:
        """Let a turn be compacted again."""
        self.compressor.unpin(turn_key)

    def _overhead(self) -> int:
        """Characters that every request holds besides the conversation: the system text and the tools."""
        tools = sum(len(spec.description) + len(dumps(spec.parameters)) for spec in self.tool_specs())
        return len(self.system) + tools

    async def _ask_for_summary(self, seen: History) -> str:
        """Ask a model for a summary, in a child session. What that costs, this session has spent."""
        policy = self.compressor.policy
        shorter = CompressPolicy(strategy="truncate", output=policy.output)
        child = self.child(history=seen, target=policy.target, compress=shorter)
        answer = await child.ask(INSTRUCTION, tool_choice="none")
        self.turns.append(answer.turn)
        return answer.text

    # Children: sessions over the same transport and keys

    def child(
        self,
        *,
        history: History,
        target: str | None = None,
        tools: Iterable[Tool] = (),
        ports: Mapping[str, Any] | None = None,
        system: str = "",
        limits: Limits | None = None,
        compress: CompressPolicy | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> Session:
        """Another session over the same transport and keys: for summaries and subagents.

        It asks the targets that this one would ask, failover included, unless a target is named.
        `ports` are what its tools run with.
        """
        ours = self.limits
        below = Limits(retries=ours.retries, timeouts=ours.timeouts, budget=ours.budget)
        child = Session(
            target or self.router.current,
            history=history,
            system=system,
            options=options,
            limits=replace(limits, subagents=False) if limits is not None else below,
            compress=compress,
            hooks=self.hooks,
            telemetry=self.telemetry,
            world=replace(
                self.world,
                transport=self.transport,
                environment=self.environment,
                chance=self.chance,
                wall_clock=self.wall_clock,
                debug=self.debug,
            ),
        )
        child.keys = self.keys
        child._set_scheduler(tools, ports if ports is not None else child.tool_ports)
        if target is None:
            child.router, child.routing = self.router.branch(), self.routing
        else:  # a server that is rate limited is so for every session with the same key
            child.router.breakers = self.router.breakers
        return child

    def _open_subagent(
        self,
        history: History,
        *,
        target: str | None,
        tools: Sequence[Tool],
        system: str,
        options: Mapping[str, Any],
        compress: CompressPolicy | None,
        tree: Tree,
        depth: int,
    ) -> Session:
        """The session of a subagent. It spends what this one may spend, and works as its tools do now."""
        now = {name: getattr(self.scheduler, name) for name in SWITCHABLE}
        child = self.child(
            history=history,
            target=target,
            tools=tools,
            ports={**self.tool_ports, **now},  # a mode that was switched since counts
            system=system,
            limits=self.limits,
            compress=compress or self.compressor.policy,
            options=options,
        )
        if tree.limits.tools is None:  # else the limits name all tools that it gets
            child.provider_tools = self.provider_tools
        child.turns, child._spending = self.turns, self._spending
        child.scheduler.taint = self.scheduler.taint  # the parent reads what the child has read
        child._add_subagents(tree, depth)
        return child

    # What the parts of a run need

    def _run_ports(self, *, returns_calls: bool = False) -> RunPorts:
        ends = (self._keeping.commit, self._begin_run, self._end_run)
        return RunPorts(self.history, self.secrets, *ends, returns_calls=returns_calls)

    def _round_ports(self) -> RoundPorts:
        return RoundPorts(
            history=self.history,
            router=self.router,
            scheduler=self.scheduler,
            telemetry=self.telemetry,
            limits=self.limits,
            guard=self.guard,
            check_prices=self._check_prices,
            check_limits=self._check_limits,
            take_queued=self.take_queued,
            take_answers=self._take_answers,
            tool_specs=self.tool_specs,
            reply=self._reply_ports(),
        )

    def _reply_ports(self) -> ReplyPorts:
        return ReplyPorts(
            request=self._request_ports(),
            compressor=self.compressor,
            hooks=self.model_hooks,
            system=self.system,
            retry=self.limits.retry_policy,
            chance=self.chance,
            renewed_keys=self._renewed_keys,
            told_ends=self._told_ends,
            routing=self.routing,
            on_reply=self._count_reply,
            debug=self.debug,
        )

    def _request_ports(self) -> RequestPorts:
        return RequestPorts(
            history=self.history,
            keeping=self._keeping,
            router=self.router,
            recovery=self.recovery,
            transport=self.transport,
            keys=self.keys,
            secrets=self.secrets,
            timeouts=self.limits.reply_timeouts,
            telemetry=self.telemetry,
            wall_clock=self.wall_clock,
        )

    async def _begin_run(self, run: Run) -> None:
        """Give this run the session, once the run before it has ended."""
        while self._run is not None and self._run.active:
            self._check_free("session.queue(text) what comes next")
            await self._run.wait_until_over()
        self._run = run
        self._keeping.begin_run()
        if self.store is not None:
            await self._listen_for_cancel(self.store, run)

    def _end_run(self, run: Run) -> None:
        if self._run is run:
            self._run = None
            self._keeping.end_run()
            if self.store is not None:
                self._stop_listening(self.store, run)

    async def _listen_for_cancel(self, store: Store, run: Run) -> None:
        """Cancel this run when another process asks for it. A request about an earlier prompt is over."""
        if run.is_new:
            await run_in_thread(self._writers, lambda: store.forget_cancel(self.id, clear=True))
        loop = asyncio.get_running_loop()

        def cancel_run() -> None:
            run.is_cancelled_elsewhere = run.is_given_up = True
            run.cancel()

        store.on_cancel(self.id, lambda: call_on_loop(loop, cancel_run))

    def _stop_listening(self, store: Store, run: Run) -> None:
        if not run.is_cancelled_elsewhere:
            store.forget_cancel(self.id, clear=False)
            return
        with suppress(NoThread):  # the next new prompt clears it too
            self._writers.start(lambda: store.forget_cancel(self.id, clear=True))

    @property
    def _writers(self) -> ThreadPort:
        return self.world.threads or WRITERS

    def _emit_to_run(self, event: SessionEvent) -> None:
        """Pass an event to the listener of the run under way."""
        if self._run is not None:
            self._run.emit(event)

    def take_queued(self) -> list[tuple[Block, ...]]:
        """Remove the queued messages from the queue, and give them."""
        waiting = list(self._queued)
        self._queued.clear()
        return waiting

    def tool_specs(self) -> tuple[ToolSpec, ...]:
        """The tools that the model may use in the current mode."""
        mode = self.scheduler.policy.mode
        offer = ToolOffer(self.target.origin, self.history, mode)
        functions = (tool.spec for tool in self.scheduler.registry.offered_tools(mode, offer))
        # What a remote server does is not known, so plan mode goes without it.
        return (*functions, *(spec for spec in self.provider_tools if mode != "plan" or not is_remote(spec)))

    def _count_reply(self, turn: ModelTurn) -> None:
        self.turns.append(turn)
        if self.limits.budget is not None:
            self.limits.budget.count_reply(turn)
        self.telemetry.count_reply(turn)

    # Ending

    async def close(self) -> None:
        """Cancel what runs, stop tools and commands, and release the session in the store."""
        for run in tuple(self._asked):
            run.cancel()
        for run in tuple(self._asked):
            await run.wait_until_over()
        if self._opening is not None:
            await self._opening.wait_until_over()
            await run_in_thread(self._writers, self._release_store)
            return
        if self.subagents is not None:
            await self.subagents.close()
        await self.scheduler.close()
        if self.store is None:
            return
        await run_in_thread(self._writers, self._release_store)

    def _release_store(self) -> None:
        assert self.store is not None
        try:
            self.store.release(self.id)
        finally:
            if self._own_store:
                self.store.close()

    async def __aenter__(self) -> Session:
        return await self.open()

    async def __aexit__(self, *_: object) -> None:
        await self.close()


def _new_id() -> str:
    return f"s{os.urandom(8).hex()}"


def _ignore(*_: Any, **__: Any) -> None:
    return None
