"""After a failure: retry, switch the target, change the request, or give up. No IO.

One budget per turn bounds attempts and waiting. A server that names a time is never asked
earlier; in all other cases the wait has full jitter.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Literal

from msgspec import Struct

from ..errors import ProviderError, StreamError
from ..wire.failure.kind import MODEL_FAULTS
from ..world.ports import Chance

Action = Literal["retry", "switch", "recover", "compress", "give_up"]

PASSING = frozenset({"rate_limit", "overloaded", "server", "network", "timeout", "truncated", "malformed"})
ELSEWHERE = PASSING | {"quota", "auth", "not_found", "context_too_long"}


ASKED_AGAIN = 3
"""Attempts at one target before another one is asked, if the model failed and not the server."""


class RetryPolicy(Struct, frozen=True):
    """How much a turn may cost in attempts and waiting."""

    attempts: int = 6
    wait: float = 120.0  # seconds of waiting in all
    base: float = 0.5
    cap: float = 20.0


class Next(Struct, frozen=True):
    """What to do, and after how many seconds."""

    action: Action
    delay: float = 0.0


def is_models_fault(error: ProviderError | StreamError) -> bool:
    """Whether the model wrote something that its server could not parse; the request was fine."""
    return isinstance(error, ProviderError) and error.code in MODEL_FAULTS


class Budget:
    """The attempts and the waiting of one turn."""

    def __init__(self, policy: RetryPolicy, chance: Chance) -> None:
        self.policy = policy
        self.chance = chance
        self.attempts = 0
        self.waited = 0.0

    def after(
        self, error: ProviderError | StreamError, *, others: bool, elsewhere: Collection[str] = ()
    ) -> Next:
        """The next step after a failure; `others`: another target could be asked, also for `elsewhere`."""
        self.attempts += 1
        if self.attempts >= self.policy.attempts:
            return Next("give_up")
        if error.kind == "invalid_request":
            return Next("recover")
        if is_models_fault(error) and self.attempts < ASKED_AGAIN:
            return self._retry_after_delay(error)
        if others and (error.kind in ELSEWHERE or error.kind in elsewhere):
            return Next("switch")
        if error.kind == "context_too_long":
            return Next("compress")
        if error.kind not in PASSING:
            return Next("give_up")
        return self._retry_after_delay(error)

    def _retry_after_delay(self, error: ProviderError | StreamError) -> Next:
        asked = getattr(error, "retry_after", None) or 0.0
        ceiling = min(self.policy.cap, self.policy.base * 2 ** (self.attempts - 1))
        delay = asked + self.chance.uniform(0.0, ceiling)
        if self.waited + delay > self.policy.wait:
            return Next("give_up")
        self.waited += delay
        return Next("retry", delay)
