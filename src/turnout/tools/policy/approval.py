"""Approval of a call: the question, the answers, and the function that is asked.

An answer is bound to the call and to the exact arguments of the question. An answer for
another call or for other arguments counts as no.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal, TypeAlias

from msgspec import Struct, field

from ...model import Outcome, Text
from ...plain import dumps
from ..declare.tool import Risk
from .rules import Reach, Rule, call_fingerprint
from .visible import visible

Answer = Literal["once", "session", "always", "no", "edit"]


class Decision(Struct, frozen=True):
    """An answer. Make it with the methods of the question, which bind it.

    `rule` may widen or narrow what "session" and "always" cover; without it the policy chooses.
    """

    answer: Answer
    call_id: str
    fingerprint: str
    message: str = ""
    arguments: dict[str, Any] | None = None
    rule: Rule | None = None


class ApprovalRequest(Struct, frozen=True):
    """One question: may this call run with these arguments? `why` says why it is asked.

    `problem` is set when the edited arguments of the answer before do not fit. Surfaces print
    `visible_arguments`, never `arguments`: users cannot agree to what they cannot see.
    """

    call_id: str
    tool: str
    arguments: dict[str, Any]
    risk: Risk
    why: str
    paths: tuple[str, ...] = ()
    reach: Reach = "inside"
    description: str = ""
    problem: str = ""
    fingerprint: str = field(default="")

    def once(self) -> Decision:
        """Yes, to this call only."""
        return self._decision("once")

    def for_session(self, rule: Rule | None = None) -> Decision:
        """Yes, and to calls like it until the session ends; `rule` says which."""
        return self._decision("session", rule=rule)

    def always(self, rule: Rule | None = None) -> Decision:
        """Yes, and to calls like it from now on; `rule` is saved."""
        return self._decision("always", rule=rule)

    def no(self, message: str = "") -> Decision:
        """Refuse; the model reads the message."""
        return self._decision("no", message=message)

    def edit(self, arguments: Mapping[str, Any]) -> Decision:
        """Agree, with other arguments."""
        return self._decision("edit", arguments=dict(arguments))

    def binds(self, decision: object) -> bool:
        """Whether this is an answer to this very question."""
        if not isinstance(decision, Decision):
            return False
        return (decision.call_id, decision.fingerprint) == (self.call_id, self.bound_to)

    @property
    def visible_arguments(self) -> dict[str, str]:
        """The arguments as a user should see them: invisible and turning characters are spelled out."""
        return {
            visible(name): visible(value if isinstance(value, str) else dumps(value))
            for name, value in self.arguments.items()
        }

    @property
    def bound_to(self) -> str:
        """What a decision must name, so that it counts for this call with these arguments only."""
        return self.fingerprint or call_fingerprint(self.tool, self.arguments)

    def _decision(self, answer: Answer, **more: Any) -> Decision:
        return Decision(answer, self.call_id, self.bound_to, **more)


Approver: TypeAlias = Callable[[ApprovalRequest], Awaitable[Decision]]
"""The function that asks the user. It has no time limit; cancelling the call cancels it."""


def denied_outcome(message: str) -> Outcome:
    """The outcome of a call that may not run."""
    return Outcome("denied", (Text(message),) if message else (), reason="denied")
