"""Which target answers next: fixed, round-robin or failover, with a breaker per target. No IO.

A target is kept until it fails. One that keeps failing rests for a while, longer each time.
One that named a time is not asked before it by any session that shares these breakers. The
choice is made when a request is assembled; a request in flight is not moved.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from ..errors import UsageError
from ..model import Origin
from ..targets.target import Route, Target

FAILURES = 3
"""Failures in a row after which a target rests."""
REST = 30.0
LONGEST_REST = 300.0


class Breaker:
    """Lets a target rest when it keeps failing."""

    def __init__(self) -> None:
        self.failures = 0
        self.rests_until = 0.0
        self.asked_until = 0.0  # the time that the server named
        self._rests = 0

    def note_failure(self, now: float, rest: float = 0.0) -> None:
        self.failures += 1
        self.asked_until = max(self.asked_until, now + rest)
        if self.failures >= FAILURES:
            self.rests_until = now + min(LONGEST_REST, REST * 2**self._rests)
            self._rests += 1

    def note_success(self) -> None:
        self.failures = self._rests = 0
        self.rests_until = 0.0

    def seconds_left(self, now: float) -> float:
        """Seconds for which this target should not be asked."""
        return max(self.rests_until, self.asked_until, now) - now


class Router:
    """The targets of a session, and which of them is current."""

    def __init__(
        self, targets: Sequence[Target], route: Route = "fixed", breakers: dict[Origin, Breaker] | None = None
    ) -> None:
        if not targets:
            raise UsageError("a session needs a target; give one such as 'anthropic:claude-sonnet-5'")
        if route not in get_args(Route):
            raise UsageError(f"route {route!r} is not one of {', '.join(get_args(Route))}")
        self.targets = list(targets)
        self.route = route
        self.current = self.targets[0]
        self.spares: list[Target] = []  # the current target with other accounts of the user
        self._served = False
        self.asked_facts: set[Origin] = set()  # targets whose server was asked what the model reads
        self.breakers: dict[Origin, Breaker] = {} if breakers is None else breakers

    def choose(self, now: float) -> Target:
        """The target of the next request."""
        if self.route == "round-robin" and self._served:
            self.current = self._target_after(self.current, now)
        elif self.route == "failover" or self.spares:
            self._use_account(self._soonest(self._known_targets(), now))
        self._served = True
        return self.current

    def replace_target(self, old: Target, new: Target) -> None:
        """The same target with facts that are known better."""
        self.targets = [new if each is old else each for each in self.targets]
        self.current = new if self.current is old else self.current

    def branch(self) -> Router:
        """A router with the same targets for a child session; it begins with the current target."""
        made = Router(self.targets, self.route, self.breakers)
        made.current = self.current
        made.spares = [*self.spares]
        return made

    def other(self, tried: set[Origin], now: float, *, larger_than: int = 0) -> Target | None:
        """A target that was not tried yet for this turn."""
        if self.route == "fixed" and not self.spares:
            return None
        known = self._known_targets()
        fresh = [one for one in known if one.origin not in tried and one.facts.context > larger_than]
        return self._soonest(fresh, now) if fresh else None

    def _known_targets(self) -> list[Target]:
        """Every target that may be asked; the one that was chosen meanwhile comes first."""
        others = () if self.route == "fixed" else self.targets
        return [self.current, *self.spares, *others]

    def _use_account(self, target: Target) -> None:
        """Make this the current target; if it is another account of the same, the two change places."""
        if target in self.spares:
            self.spares = [*(one for one in self.spares if one is not target), self.current]
        self.current = target

    def take(self, target: Target, spares: Sequence[Target] = ()) -> None:
        """Make this the current target; it joins the others if it is new.

        `spares` are the same target with other accounts, which are asked when this one fails.
        """
        if target in self.spares:
            self._use_account(target)
            self._served = False
            return
        self.spares = list(spares)
        if all(one.origin != target.origin for one in self.targets):
            if self.route == "fixed":
                self.targets = [target]
            else:
                self.targets.append(target)
        self.current = target
        self._served = False

    def note_failure(self, target: Target, now: float, rest: float = 0.0) -> None:
        """A request failed; `rest` is how many seconds the server asked us to wait."""
        self._breaker(target).note_failure(now, rest)

    def note_success(self, target: Target) -> None:
        self._breaker(target).note_success()

    def rest_asked(self, target: Target, now: float) -> float:
        """Seconds that are left of the time that the server asked us to wait."""
        return max(self._breaker(target).asked_until - now, 0.0)

    def _target_after(self, target: Target, now: float) -> Target:
        at = next((at for at, one in enumerate(self.targets) if one.origin == target.origin), -1)
        return self._soonest([*self.targets[at + 1 :], *self.targets[: at + 1]], now)

    def _soonest(self, targets: Sequence[Target], now: float) -> Target:
        """The first that does not rest, or else the one whose rest ends first."""
        return min(targets, key=lambda one: self._breaker(one).seconds_left(now))

    def _breaker(self, target: Target) -> Breaker:
        return self.breakers.setdefault(target.origin, Breaker())
