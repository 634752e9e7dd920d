"""One seed, one whole run: a user, a session, models and tools and a line that do their worst.

The log of a run holds every event, request and entry with its virtual time; the same seed
gives the same log. At the end the faults stop, and then a last prompt must be answered.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from hashlib import sha256
from typing import Any

from tests.laws.targets import NAMES, TARGETS
from tests.session.settings import make_session
from tests.session.talk import KEYS, PLACES, TERMINAL
from tests.sim import oracles
from tests.sim.clock import live
from tests.sim.fates import Fates
from tests.sim.models import CROWD, PERSONAS, Model
from tests.sim.tools import Workshop
from tests.sim.wires import Line, wall_clock

from turnout.errors import HookError, StoreError, UsageError
from turnout.model import Compaction
from turnout.session.compress import CompressPolicy
from turnout.session.events import Complete
from turnout.session.limits import Limits, SubagentLimits, Timeouts
from turnout.session.session import Session
from turnout.tools.confine.threads import Inline
from turnout.tools.declare.events import ToolState
from turnout.tools.policy.approval import ApprovalRequest, Decision
from turnout.tools.schedule.scheduler import ToolLimits

RUNNING = ("validating", "awaiting_approval", "scheduled", "executing")
REST = 8 * 24 * 3600.0
"""Seconds after which no server can want to be left alone any more."""


class World:
    """Everything that happens with one seed. `meddled` where hooks write other replies than the model's."""

    meddled = False

    def __init__(self, seed: int, without: frozenset[str] = frozenset()) -> None:
        self.fates = Fates(seed, without)
        self.dice = self.fates.dice("user")
        self.workshop = Workshop(self.fates)
        self.line = Line(self.fates, self._persona()(self.fates.dice("model")))
        self.children: list[Session] = []
        self.log: list[str] = []
        self._checked = 0
        self._steps = 0

    def _persona(self) -> Callable[[random.Random], Model]:
        usual, dice = self.dice.choice(PERSONAS), self.fates.dice("crowd")
        return dice.choice(CROWD) if self.fates.rates["crowd"] else usual

    @property
    def _keeps_its_word(self) -> bool:
        """Whether the model writes calls that are not repaired, and nobody changes them."""
        return bool(self.fates.rates["crowd"]) and not self.meddled

    def run(self) -> World:
        live(self._live())
        return self

    @property
    def digest(self) -> str:
        return sha256("\n".join(self.log).encode()).hexdigest()

    # The session

    def _session(self) -> Session:
        dice = self.dice
        names = dice.sample(NAMES, dice.choice([1, 2, 4]))
        session = make_session(
            names[0],
            fallback=names[1:],
            route=dice.choice(["fixed", "failover", "round-robin"]),
            id=f"sim{self.fates.seed}",
            system=dice.choice(["", "Be brief."]),
            tools=self.workshop.tools(),
            transport=self.line,
            environment={**KEYS, **EVERY_KEY},
            chance=self.fates.dice("jitter"),
            wall_clock=wall_clock,
            rounds=dice.choice([3, 6, 10]),
            pauses=2,
            timeouts=Timeouts(first_byte=60, idle=dice.choice([20, 120]), total=600),
            compress=self._compression(),
            limits=Limits(
                tools=ToolLimits(parallel=dice.choice([1, 3, 8]), calls=dice.choice([8, 64]), timeout=120)
            ),
            tokens=dice.choice([None, None, None, 50_000]),
            approval=dice.choice(["ask", "auto-edit", "full", "plan"]),
            approver=dice.choice([None, self._approve]),
            subagents=SubagentLimits(depth=dice.choice([1, 2]), live=4, total=8),
            threads=Inline(),
            save=lambda text: f"saved/{len(text)}",
            **dice.choice(
                [{}, {"thinking": True}, {"stream": False}, {"effort": "high", "max_tokens": 2_000}]
            ),
        )
        session.history.writer = self._write
        self.workshop.parallel = session.scheduler.limits.parallel
        self._watch_children(session)
        return session

    def _watch_children(self, session: Session) -> None:
        """Remember every session below this one, to look at it at the end."""
        born = session.child

        def child(**settings: Any) -> Session:
            made = born(**settings)
            self._watch_children(made)
            self.children.append(made)
            return made

        session.child = child  # type: ignore[method-assign]

    def _compression(self) -> CompressPolicy:
        dice = self.dice
        return CompressPolicy(
            trigger=dice.choice([0.8, 0.01, 0.003]),
            keep_turns=dice.choice([1, 3, 8]),
            output=100,
            strategy=dice.choice(["prune", "truncate", "summarise"]),
            target=dice.choice([None, None, dice.choice(NAMES)]),
        )

    def _write(self, entry: Any) -> None:
        if self.fates.strikes("store") and self.dice.random() < 0.2:
            raise StoreError("the disk is full")
        self._note(entry)

    async def _approve(self, request: ApprovalRequest) -> Decision:
        await asyncio.sleep(self.dice.choice([0, 2, 100]))
        if self.fates.strikes("denying"):
            return self.dice.choice([request.no("not now"), request.edit({"n": 7}), request.edit({})])
        return self.dice.choice([request.once(), request.for_session(), request.always()])

    # The user

    async def _live(self) -> None:
        self.session = self._session()
        try:
            for number in range(self.dice.choice([2, 3, 5])):
                await self._between()
                await self._converse(f"Prompt {number}.")
            await self._last_word()
        finally:
            await self.session.close()
        await asyncio.sleep(REST)
        self._at_the_end()

    async def _converse(self, prompt: str) -> None:
        """One run, in a task of its own that may be cancelled like a surface that dies."""
        surface = asyncio.create_task(self._listen(prompt))
        meddlers = {asyncio.create_task(self._meddle(surface))}
        if self.fates.rates["cancelling"]:
            meddlers.add(asyncio.create_task(self._cancel_often()))
        await asyncio.wait({surface})
        for meddler in meddlers:
            meddler.cancel()
        await asyncio.wait(meddlers)
        if not surface.cancelled() and (error := surface.exception()) is not None:
            raise error
        assert not self.session.busy
        self._check()

    async def _listen(self, prompt: str) -> None:
        run = self.session.run(prompt)
        terminals, patience = 0, self.dice.choice([0, 0, 0, 2])
        running: set[str] = set()
        try:
            async for event in run:
                assert not terminals, "an event came after the last"
                terminals += isinstance(event, TERMINAL)
                if isinstance(event, ToolState):
                    running.add(event.call_id) if event.state in RUNNING else running.discard(event.call_id)
                self._note(event)
                self._check()
                if self.fates.strikes("leaving") and self.dice.random() < 0.1:
                    return
                if patience:
                    await asyncio.sleep(patience)
            assert terminals == 1, "the run ended without its last event"
            assert not running, "a call that was shown as running never ended"
        finally:
            await run.aclose()

    async def _meddle(self, surface: asyncio.Task[None]) -> None:
        for _ in range(200):
            await asyncio.sleep(self.dice.expovariate(1 / 20))
            if not self.fates.strikes("meddling"):
                continue
            deed = self.dice.choice(["cancel", "switch", "switch", "queue", "kill", "compact", "call"])
            self._note(deed)
            match deed:
                case "cancel":
                    self.session.cancel()
                case "switch":
                    self.session.switch(self.dice.choice(NAMES))
                case "queue":
                    self.session.queue("And hurry.")
                case "kill":
                    surface.cancel()
                case "compact":
                    await self._compact()
                case "call" if self.session.history.open_calls:
                    self.session.scheduler.cancel(self.session.history.open_calls[0].call.id)

    async def _cancel_often(self) -> None:
        """Someone who stops things at any moment: the run, a call, a task in the background, or one in it."""
        dice = self.fates.dice(f"cancelling {len(self.log)}")
        for _ in range(100):
            await asyncio.sleep(dice.choice([0, 0.1, dice.expovariate(1 / 4)]))
            if self.fates.calm or dice.random() > self.fates.rates["cancelling"]:
                continue
            busy = [one for one in (self.session, *self.children) if one.history.open_calls]
            match dice.choice(["run", "twice", "call", "call", "child"]):
                case "run":
                    self.session.cancel()
                case "twice":
                    self.session.cancel()
                    await asyncio.sleep(0)
                    self.session.cancel()
                case "call" if busy:
                    one = dice.choice(busy)
                    one.scheduler.cancel(dice.choice(one.history.open_calls).call.id)
                case "child" if self.children:
                    dice.choice(self.children).cancel()

    async def _between(self) -> None:
        deed = self.dice.choice(["", "", "", "wait", "switch", "compact", "rewind", "system", "queue"])
        history = self.session.history
        try:
            match deed:
                case "wait":
                    await asyncio.sleep(self.dice.choice([1, 1_000]))
                case "switch":
                    self.session.switch(self.dice.choice(NAMES))
                case "compact":
                    await self._compact()
                case "rewind" if history.turns and not any(
                    isinstance(e, Compaction) for e in history.entries
                ):
                    history.rewind(self.dice.choice(history.turns).key)
                case "system":
                    history.note_system("Be kind.")
                case "queue":
                    self.session.queue("One thing more.")
        except StoreError:
            pass
        self._check()

    async def _compact(self) -> None:
        try:
            await self.session.compact(self._note)
        except (HookError, StoreError, UsageError) as error:
            self._note(error)

    async def _last_word(self) -> None:
        """The faults stop; whatever happened before, the session goes on."""
        await asyncio.sleep(REST)
        self.fates.calm = True
        self.session.limits = Limits()
        seen = [event async for event in self.session.run("Are you there?")]
        self._note(seen[-1])
        assert isinstance(seen[-1], Complete), seen[-1]

    # What is looked at

    def _note(self, what: Any) -> None:
        text = repr(what)
        if len(text) > 300:
            text = f"{text[:200]} {sha256(text.encode('utf-8', 'replace')).hexdigest()}"
        self.log.append(f"{asyncio.get_running_loop().time():.6f} {text}")

    def _check(self) -> None:
        """After every step: the log is sound, and one provider after the other could read it."""
        history = self.session.history
        if len(history.entries) == self._checked:
            return
        self._checked = len(history.entries)
        self._steps += 1
        oracles.readable(history, TARGETS[(self._steps + self.fates.seed) % len(TARGETS)])
        if self._steps % 3 == 0:
            oracles.sound(history)

    def _at_the_end(self) -> None:
        history = self.session.history
        oracles.sound(history)
        oracles.readable_by_all(history, self.session.tool_specs())
        oracles.replayable(history)
        oracles.never_the_same_refused(self.line)
        oracles.never_taken_back_twice(history)
        oracles.never_run_from_half_a_reply(history)
        assert [*self.workshop.faults, *self.workshop.lost_edits(), *self.line.faults] == []
        for child in self.children:
            oracles.sound(child.history)
            oracles.readable(child.history, TARGETS[self.fates.seed % len(TARGETS)])
            oracles.never_run_from_half_a_reply(child.history)
            assert not child.history.open_calls
        oracles.nothing_held(self.session)
        assert not history.open_calls
        left = asyncio.all_tasks() - {asyncio.current_task()}
        assert not left and not self.session.scheduler._left, f"still running: {left}"
        if not self.fates.distorts:
            for each in (self.session, *self.children) if self._keeps_its_word else ():
                oracles.never_mixes_calls(each.history, self.line)
            refusals = [(seen.url, seen.problems) for seen in self.line.inner.refusals]
            assert refusals == []
        for sent in self.line.sent:
            self.log.append(f"{sent.at:.6f} {sent.place} {sent.status} {sha256(sent.body).hexdigest()}")


EVERY_KEY = {
    **PLACES,
    **{name: "key" for place in TARGETS for name in place.provider.key_variables},
    **{
        blank.variables[0]: "mine"
        for place in TARGETS
        for blank in place.provider.blanks
        if blank.word.isalpha()
    },
}


def run(seed: int, without: frozenset[str] = frozenset()) -> World:
    return World(seed, without).run()
