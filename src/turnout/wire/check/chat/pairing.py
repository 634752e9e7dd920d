"""Calls and the tool messages that answer them, as every Chat server reads them.

One pass finds each fault once: a result that comes too late belongs to the unanswered call,
so it is not reported again as an orphan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from ..problem import Problem
from .view import ChatMessage, ChatView, brief

Rule = Callable[[ChatView], Iterator[Problem]]

UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. The following tool_call_ids did not have response messages: "
)
REPEATED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. Found more than one response message for tool_call_id: "
)
ORPHAN = (
    "Invalid parameter: messages with role 'tool' must be a response to a preceeding message "
    "with 'tool_calls'."
)
ANSWER_EACH = (
    "put one tool message for each call directly after the assistant message, before anything else; "
    "a call that never ran needs a result that says so"
)
ANSWER_ONCE = "send one result for each call"
DROP_ORPHAN = "remove the result, or put it directly after the assistant message that made the call"


class Fault(Struct, frozen=True):
    kind: str  # "unanswered", "repeated" or "orphan"
    path: str
    ids: tuple[str | None, ...]

    @property
    def ids_text(self) -> str:
        return ", ".join(brief(id) if id else "(no id)" for id in self.ids[:20])


class _Batch:
    """The calls of the last assistant message, and how many results each still needs."""

    def __init__(self, message: ChatMessage) -> None:
        self.path = message.path
        self.wanted = Counter(_key_of_id(call.id) for call in message.calls)

    def left_over(self) -> tuple[str | None, ...]:
        return tuple(id for id, count in self.wanted.items() if count > 0)


def _key_of_id(id: Any) -> str | None:
    """Calls and results without an id pair with each other: another rule requires the id."""
    return id if isinstance(id, str) and id else None


def faults(view: ChatView) -> Iterator[Fault]:
    batch: _Batch | None = None
    late: set[str | None] = set()
    for message in view.messages:
        if message.role == "tool":
            yield from _answer_call(batch, late, message)
            continue
        yield from _close_batch(batch, late)
        if message.role == "assistant":
            batch = _Batch(message)
    yield from _close_batch(batch, late)


def _answer_call(batch: _Batch | None, late: set[str | None], message: ChatMessage) -> Iterator[Fault]:
    id = _key_of_id(message.answers)
    if id in late:
        return
    if batch is None or id not in batch.wanted:
        yield Fault("orphan", message.path, (id,))
    elif batch.wanted[id] > 0:
        batch.wanted[id] -= 1
    else:
        yield Fault("repeated", message.path, (id,))


def _close_batch(batch: _Batch | None, late: set[str | None]) -> Iterator[Fault]:
    if batch and (left := batch.left_over()):
        yield Fault("unanswered", f"{batch.path}.tool_calls", left)
        late.update(left)
        batch.wanted.clear()


def unanswered_rule(rule: str, start: str = UNANSWERED, wrap: Callable[[str], str] = str) -> Rule:
    """The rule that every call has exactly one result, right after it."""

    def unanswered_calls(view: ChatView) -> Iterator[Problem]:
        for fault in faults(view):
            if fault.kind == "unanswered":
                yield Problem(rule, fault.path, wrap(start + fault.ids_text), ANSWER_EACH)
            elif fault.kind == "repeated":
                yield Problem(rule, fault.path, wrap(REPEATED + fault.ids_text), ANSWER_ONCE)

    return unanswered_calls


def orphan_rule(rule: str, answer: str = ORPHAN, wrap: Callable[[str], str] = str) -> Rule:
    """The rule that every result answers a call of the last assistant message."""

    def orphan_results(view: ChatView) -> Iterator[Problem]:
        for fault in faults(view):
            if fault.kind == "orphan":
                yield Problem(rule, fault.path, wrap(answer), DROP_ORPHAN)

    return orphan_results
