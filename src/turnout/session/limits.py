"""What bounds a session: money, tokens, rounds, time, tools, subagents, retries, timeouts."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from ..parameters import NamedFields
from ..tools.schedule.scheduler import ToolLimits
from .budget import SharedBudget
from .compress import CompressPolicy
from .retry import RetryPolicy


class Timeouts(Struct, frozen=True, metaclass=NamedFields):
    """Seconds until the first byte of a reply, between two events, and for the whole reply."""

    first_byte: float = 60.0
    idle: float = 120.0
    total: float = 1800.0


class SubagentLimits(Struct, frozen=True, metaclass=NamedFields):
    """How far a tree of subagents may grow, and what each of them gets in place of what its parent has.

    Where a field is not given, a subagent has its parent's targets and route, tools, request
    options, compression policy and system text, which holds the project's instructions.
    """

    depth: int = 1
    live: int = 16
    total: int = 64
    target: str | None = None  # whom they ask, without failover; None: whom the parent would ask
    tools: tuple[str, ...] | None = None  # which of the parent's tools they have; None: all of them
    system: str | None = None  # their system text, before our own instruction; None: the parent's
    options: dict[str, Any] = field(default_factory=dict)  # for their requests, over the parent's
    compress: CompressPolicy | None = None


class Limits(Struct, frozen=True, kw_only=True, metaclass=NamedFields):
    """How far a session may go. None means no limit; every other default is the usual one.

    `cost`, `tokens` and the number of subagents are for the session with all its subagents;
    `rounds`, `time` and what follows `timeouts` are for one run.
    """

    cost: float | None = None  # US dollars
    tokens: int | None = None
    rounds: int = 50  # of tool calls; then one last answer without tools
    time: float | None = None  # seconds that one run may take
    tools: ToolLimits | None = None  # calls at once, seconds a call, characters of results
    subagents: SubagentLimits | int | bool = False  # True: a `task` tool; a number: at most so many in all
    retries: RetryPolicy | int | None = None  # a number: so many attempts after the first
    timeouts: Timeouts | None = None  # of one request
    corrections: int = 3  # rounds in a row in which a tool was called wrongly, or no call was valid
    repeats: int = 3  # the same call with the same result
    cycles: int = 3  # a circle of two or three calls, over and over
    pauses: int = 10  # a turn that the provider paused
    budget: SharedBudget | None = None  # money and tokens that this session shares with others

    @property
    def tool_limits(self) -> ToolLimits:
        """The limits of one batch of calls."""
        return self.tools or ToolLimits()

    @property
    def subagent_limits(self) -> SubagentLimits | None:
        """The limits of subagents; None where there are none."""
        match self.subagents:
            case SubagentLimits():
                return self.subagents
            case True:
                return SubagentLimits()
            case int(total) if total > 0:
                return SubagentLimits(total=total)
        return None

    @property
    def retry_policy(self) -> RetryPolicy:
        """How often, and how long, a reply is tried for."""
        if isinstance(self.retries, int):
            return RetryPolicy(attempts=self.retries + 1)
        return self.retries or RetryPolicy()

    @property
    def reply_timeouts(self) -> Timeouts:
        """The timeouts of one request."""
        return self.timeouts or Timeouts()
