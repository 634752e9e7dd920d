"""Which target answers next: fixed, round-robin or failover, with a breaker per target. No IO.

A choice holds until it fails; a target that keeps failing rests for a while, longer each
time. What is in flight stays where it is: choices are made when a request is assembled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from ..errors import UsageError
from ..model import Origin
from ..providers import Target

Route = Literal["fixed", "round-robin", "failover"]

FAILURES = 3
"""Failures in a row after which a target rests."""
REST = 30.0
LONGEST_REST = 300.0


class Breaker:
    """Lets a target rest when it keeps failing."""

    def __init__(self) -> None:
        self.failures = 0
        self.rests_until = 0.0
        self._rests = 0

    def failed(self, now: float, at_least: float = 0.0) -> None:
        self.failures += 1
        if self.failures >= FAILURES or at_least:
            rest = min(LONGEST_REST, REST * 2**self._rests) if self.failures >= FAILURES else 0.0
            self._rests += self.failures >= FAILURES
            self.rests_until = now + max(rest, at_least)

    def worked(self) -> None:
        self.failures = self._rests = 0
        self.rests_until = 0.0


class Router:
    """The targets of a session, and whose turn it is."""

    def __init__(self, targets: Sequence[Target], route: Route = "fixed") -> None:
        if not targets:
            raise UsageError("a session needs a target, such as 'anthropic:claude-sonnet-4-5'")
        if route not in get_args(Route):
            raise UsageError(f"route {route!r} is not one of {', '.join(get_args(Route))}")
        self.targets = list(targets)
        self.route = route
        self.current = self.targets[0]
        self._served = False
        self._breakers: dict[Origin, Breaker] = {}

    def choose(self, now: float) -> Target:
        """The target of the next request."""
        if self.route == "round-robin" and self._served:
            self.current = self._after(self.current, now)
        elif self.route == "failover" and self._rests(self.current, now):
            self.current = next((one for one in self.targets if not self._rests(one, now)), self.current)
        self._served = True
        return self.current

    def other(self, tried: set[Origin], now: float, *, larger_than: int = 0) -> Target | None:
        """A target that was not tried yet for this turn."""
        if self.route == "fixed":
            return None
        fresh = [one for one in self.targets if one.origin not in tried and one.facts.context > larger_than]
        return next((one for one in fresh if not self._rests(one, now)), fresh[0] if fresh else None)

    def take(self, target: Target) -> None:
        """From now on this target; it joins the others where it is new."""
        if all(one.origin != target.origin for one in self.targets):
            if self.route == "fixed":
                self.targets = [target]
            else:
                self.targets.append(target)
        self.current = target
        self._served = False

    def failed(self, target: Target, now: float, at_least: float = 0.0) -> None:
        self._breaker(target).failed(now, at_least)

    def worked(self, target: Target) -> None:
        self._breaker(target).worked()

    def _after(self, target: Target, now: float) -> Target:
        at = next((at for at, one in enumerate(self.targets) if one.origin == target.origin), -1)
        order = [*self.targets[at + 1 :], *self.targets[: at + 1]]
        return next((one for one in order if not self._rests(one, now)), order[0])

    def _rests(self, target: Target, now: float) -> bool:
        return self._breaker(target).rests_until > now

    def _breaker(self, target: Target) -> Breaker:
        return self._breakers.setdefault(target.origin, Breaker())
