"""Check a transcript: pairing, placement, and what messages may hold.

Written from the rules that every provider's tool protocol shares. It shares no code with the
renderer, so the two can disagree. Each fault has one rule: a call without a result, a result
in the wrong place and a second result are three different faults. A corrupted transcript is
reported, never raised.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..diagnostic import Diagnostic
from ..model import (
    STATUSES,
    Code,
    Media,
    Message,
    Opaque,
    Origin,
    Outcome,
    Residue,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
)

ROLES = ("system", "user", "model", "tool")
CONTENT = (Text, Media, Code, Opaque)
BLOCKS = (*CONTENT, Thinking, ToolCall, ToolResponse)
UNCLEAN = re.compile("[\ud800-\udfff\0]")


class Pairing:
    """Which message holds which calls and which results."""

    def __init__(self, messages: Iterable[Any], target: Origin | None = None) -> None:
        self.messages = list(messages)
        self.target = target
        self.calls: list[tuple[int, ToolCall]] = []
        self.results: list[tuple[int, ToolResponse]] = []
        for at, message in enumerate(self.messages):
            for block in _blocks_in(message):
                if isinstance(block, ToolCall):
                    self.calls.append((at, block))
                elif isinstance(block, ToolResponse):
                    self.results.append((at, block))
        self.called_at = {call.id: at for at, call in reversed(self.calls)}
        self.answered_at = {result.call_id: at for at, result in reversed(self.results)}

    def role(self, at: int) -> str:
        return str(getattr(self.messages[at], "role", ""))


Rule = Callable[[Pairing], Iterator[Diagnostic]]


def violations(messages: Iterable[Any], target: Origin | None = None) -> list[Diagnostic]:
    """Every fault of a transcript. With a target, also private state that it must not see."""
    try:
        pairing = Pairing(messages, target)
    except Exception as error:
        return [_fault("unreadable_transcript", "", repr(error))]
    return [fault for rule in RULES for fault in _faults_of(rule, pairing)]


def _faults_of(rule: Rule, pairing: Pairing) -> Iterator[Diagnostic]:
    try:
        yield from rule(pairing)
    except Exception as error:  # a corrupted value may raise anything
        name = getattr(rule, "__name__", "a rule").strip("_")
        yield _fault("unreadable_transcript", "", f"{name}: {error!r}")


def _fault(code: str, call_id: object = "", detail: str = "") -> Diagnostic:
    return Diagnostic("render", code, call_id if isinstance(call_id, str) else repr(call_id), detail)


def _blocks_in(message: Any) -> tuple[Any, ...]:
    return tuple(message.blocks) if isinstance(message, Message) else ()


# ---- calls and their results


def _call_without_result(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, call in pairing.calls:
        if call.id not in pairing.answered_at:
            yield _fault("call_without_result", call.id, f"message {at} calls {call.name!r}")


def _result_without_call(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, result in pairing.results:
        if result.call_id not in pairing.called_at:
            yield _fault("result_without_call", result.call_id, f"message {at} answers nothing")


def _answered_twice(pairing: Pairing) -> Iterator[Diagnostic]:
    for call_id, count in Counter(result.call_id for _, result in pairing.results).items():
        if count > 1:
            yield _fault("answered_twice", call_id, f"{count} results")


def _called_twice(pairing: Pairing) -> Iterator[Diagnostic]:
    for call_id, count in Counter(call.id for _, call in pairing.calls).items():
        if count > 1:
            yield _fault("called_twice", call_id, f"{count} calls")


def _split_results(pairing: Pairing) -> Iterator[Diagnostic]:
    """The results of one message's calls stand in one message."""
    for call_id, called, answered in _pairs(pairing):
        if answered > called + 1 and _only_results_between(pairing, called, answered):
            yield _fault("split_results", call_id, f"called in message {called}, answered in {answered}")


def _result_apart_from_call(pairing: Pairing) -> Iterator[Diagnostic]:
    """Results come right after the message that calls, with nothing in between."""
    for call_id, called, answered in _pairs(pairing):
        if answered <= called or (
            answered > called + 1 and not _only_results_between(pairing, called, answered)
        ):
            yield _fault(
                "result_apart_from_call", call_id, f"called in message {called}, answered in {answered}"
            )


def _pairs(pairing: Pairing) -> Iterator[tuple[str, int, int]]:
    for call_id, called in pairing.called_at.items():
        if call_id in pairing.answered_at:
            yield call_id, called, pairing.answered_at[call_id]


def _only_results_between(pairing: Pairing, called: int, answered: int) -> bool:
    return all(pairing.role(at) == "tool" for at in range(called + 1, answered))


def _results_out_of_order(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, message in enumerate(pairing.messages[:-1]):
        calls = [block.id for block in _blocks_in(message) if isinstance(block, ToolCall)]
        answers = [b.call_id for b in _blocks_in(pairing.messages[at + 1]) if isinstance(b, ToolResponse)]
        shared = [call_id for call_id in dict.fromkeys(calls) if call_id in answers]
        if shared != [call_id for call_id in dict.fromkeys(answers) if call_id in calls]:
            yield _fault("results_out_of_order", shared[0], f"message {at + 1} answers in another order")


def _result_of_another_name(pairing: Pairing) -> Iterator[Diagnostic]:
    names = {call.id: call.name for _, call in reversed(pairing.calls)}
    for _, result in pairing.results:
        if names.get(result.call_id, result.name) != result.name:
            detail = f"{result.name!r} answers {names[result.call_id]!r}"
            yield _fault("result_of_another_name", result.call_id, detail)


# ---- what a result holds


def _bad_result(pairing: Pairing) -> Iterator[Diagnostic]:
    for _, result in pairing.results:
        outcome = result.outcome
        if not isinstance(outcome, Outcome) or outcome.status not in STATUSES:
            yield _fault("bad_result", result.call_id, "it has no outcome")
        elif not all(isinstance(block, (*CONTENT, ToolCall)) for block in outcome.content):
            yield _fault("bad_result", result.call_id, "its content is not made of blocks")


def _empty_result(pairing: Pairing) -> Iterator[Diagnostic]:
    for _, result in pairing.results:
        content = result.outcome.content if isinstance(result.outcome, Outcome) else ("unreadable",)
        if not any(_says_something(block) for block in content):
            yield _fault("empty_result", result.call_id)


def _says_something(block: Any) -> bool:
    match block:
        case Text() | Opaque():
            return bool(block.text.strip())
        case Code():
            return bool(block.source.strip() or block.output.strip())
    return True


def _call_inside_result(pairing: Pairing) -> Iterator[Diagnostic]:
    for _, result in pairing.results:
        for block in _blocks_inside(result):
            if isinstance(block, ToolCall):
                yield _fault("call_inside_result", result.call_id, f"a call of {block.name!r}")


# ---- what a message holds


def _foreign_message(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, message in enumerate(pairing.messages):
        if not isinstance(message, Message):
            yield _fault("foreign_message", "", f"message {at} is a {type(message).__name__}")
        elif message.role not in ROLES:
            yield _fault("foreign_message", "", f"message {at} has the role {message.role!r}")


def _hollow_message(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, message in enumerate(pairing.messages):
        if isinstance(message, Message) and not message.blocks:
            yield _fault("hollow_message", "", f"message {at} holds nothing")


def _foreign_part(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, block in _blocks_with_place(pairing):
        if not isinstance(block, BLOCKS):
            yield _fault("foreign_part", "", f"message {at} holds a {type(block).__name__}")


def _call_from_another(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, call in pairing.calls:
        if pairing.role(at) != "model":
            yield _fault("call_from_another", call.id, f"message {at} is the {pairing.role(at)}'s")


def _result_from_another(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, result in pairing.results:
        if pairing.role(at) != "tool":
            yield _fault("result_from_another", result.call_id, f"message {at} is the {pairing.role(at)}'s")


def _thinking_from_another(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, block in _blocks_with_place(pairing):
        if isinstance(block, Thinking) and pairing.role(at) != "model":
            yield _fault("thinking_from_another", "", f"message {at} is the {pairing.role(at)}'s")


def _stranger_among_results(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, block in _blocks_with_place(pairing):
        if pairing.role(at) == "tool" and isinstance(block, CONTENT):
            yield _fault("stranger_among_results", "", f"message {at} holds a {type(block).__name__}")


def _empty_text(pairing: Pairing) -> Iterator[Diagnostic]:
    """Only a text that its provider signed, or that keeps two signed thoughts apart, may be empty."""
    for at, message in enumerate(pairing.messages):
        blocks = _blocks_in(message)
        for place, block in enumerate(blocks):
            if not isinstance(block, Text) or block.text or block.residue is not None:
                continue
            around = (*blocks[max(place - 1, 0) : place], *blocks[place + 1 : place + 2])
            if len(around) < 2 or not all(isinstance(near, Thinking) for near in around):
                yield _fault("empty_text", "", f"message {at} says nothing in its block {place}")


def _unreadable_text(pairing: Pairing) -> Iterator[Diagnostic]:
    for at, block in _blocks_with_place(pairing):
        for part in (block, *_blocks_inside(block)):
            texts = (getattr(part, name, "") for name in ("text", "source", "output", "name", "data", "uri"))
            if any(isinstance(text, str) and UNCLEAN.search(text) for text in texts):
                yield _fault("unreadable_text", "", f"message {at} holds a lone surrogate or NUL")


def _arguments_no_object(pairing: Pairing) -> Iterator[Diagnostic]:
    for _, call in pairing.calls:
        arguments: Any = call.arguments
        if not isinstance(arguments, dict):
            yield _fault("arguments_no_object", call.id, f"a {type(arguments).__name__}")


def _leaked_residue(pairing: Pairing) -> Iterator[Diagnostic]:
    """Private state goes back only to the provider that wrote it."""
    if pairing.target is None:
        return
    for at, message in enumerate(pairing.messages):
        held = (part for block in _blocks_in(message) for part in (block, *_blocks_inside(block)))
        for holder in (message, *held):
            residue = getattr(holder, "residue", None)
            if residue is not None and not _is_at_home(residue, pairing.target):
                yield _fault("leaked_residue", "", f"message {at} holds private state of {residue.origin}")


SAME_API = ({"gemini", "vertex"}, {"openai", "azure"}, {"openai-responses", "azure-responses"})
"""Providers that take each other's forms."""


def _is_at_home(residue: Residue, target: Origin) -> bool:
    """A signature is for its model, a file for its account, a form of one API for that API."""
    origin, providers = residue.origin, {residue.origin.provider, target.provider}
    match residue.scope:
        case "account":
            same = len(providers) == 1 or providers == {"openai", "openai-responses"}
            return same and origin.endpoint == target.endpoint
        case "provider":
            return len(providers) == 1 or providers in SAME_API
    return origin.matches(target)


def _blocks_inside(block: Any) -> tuple[Any, ...]:
    """What a result holds; nothing for any other block."""
    return tuple(getattr(block.outcome, "content", ())) if isinstance(block, ToolResponse) else ()


def _blocks_with_place(pairing: Pairing) -> Iterator[tuple[int, Any]]:
    for at, message in enumerate(pairing.messages):
        for block in _blocks_in(message):
            yield at, block


RULES: list[Rule] = [
    _foreign_message,
    _hollow_message,
    _foreign_part,
    _call_from_another,
    _result_from_another,
    _thinking_from_another,
    _stranger_among_results,
    _call_without_result,
    _result_without_call,
    _answered_twice,
    _called_twice,
    _split_results,
    _result_apart_from_call,
    _results_out_of_order,
    _result_of_another_name,
    _bad_result,
    _empty_result,
    _call_inside_result,
    _empty_text,
    _unreadable_text,
    _arguments_no_object,
    _leaked_residue,
]
