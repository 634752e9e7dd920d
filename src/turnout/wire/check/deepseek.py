"""DeepSeek: a thinking model wants its reasoning back, an R1 refuses it.

In thinking mode every assistant message of a turn that used tools must carry
`reasoning_content`, also in all later requests; "" will do. Turns without tools may
leave it out (recorded with 200).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import models, responses
from .chat import CONTRACT, SERVICE, judge, schemas_are_objects
from .model_limits import temperature_up_to
from .pairing import Rule, orphans, unanswered
from .problem import Problem
from .responses_view import Request
from .responses_view import kind as item_kind
from .responses_view import parts as responses_parts
from .view import Message, View, mapping, shown, text

UNANSWERED = (
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each "
    "'tool_call_id'. (insufficient tool messages following tool_calls message): "
)


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What DeepSeek's API would refuse."""
    yield from judge(RULES, body, model=model)


def is_r1(seen: View) -> bool:
    return seen.family == "deepseek" and "r1" in seen.model


def thinks(seen: View) -> bool:
    """V4 and `deepseek-reasoner` think by default; `deepseek-chat` and older ones when asked."""
    asked = mapping(seen.body.get("thinking")).get("type")
    reasoning = mapping(seen.body.get("reasoning"))
    if asked in ("enabled", "disabled"):
        return bool(asked == "enabled")
    if reasoning.get("enabled") is False or "none" in (
        reasoning.get("effort"),
        seen.body.get("reasoning_effort"),
    ):
        return False
    return models.deepseek_version(seen.model) >= 4 or "reasoner" in seen.model


# DSK-01


def tool_turns_carry_reasoning(seen: View) -> Iterator[Problem]:
    yield from _tool_turns_carry(seen, ("reasoning_content",))


def tool_turns_carry_some_reasoning(seen: View) -> Iterator[Problem]:
    """A gateway takes it in its own fields and hands it on."""
    yield from _tool_turns_carry(seen, ("reasoning_content", "reasoning", "reasoning_details"))


def _tool_turns_carry(seen: View, fields: tuple[str, ...]) -> Iterator[Problem]:
    if is_r1(seen) or not thinks(seen):
        return
    for turn in _tool_turns(seen):
        for message in turn:
            if all(message.raw.get(field) is None for field in fields):
                answer = (
                    "The `reasoning_content` in the thinking mode must be passed back to the API. Missing "
                    f"`reasoning_content` field in the assistant message at message index {message.index}."
                )
                advice = 'send the reasoning of that message back, or "" where there was none'
                yield Problem("DSK-01", f"{message.path}.reasoning_content", answer, advice)


def _tool_turns(seen: View) -> Iterator[list[Message]]:
    """The assistant messages of each turn, between two user messages, that made calls."""
    turn: list[Message] = []
    for message in seen.messages:
        if message.role == "user":
            if any(said.calls for said in turn):
                yield turn
            turn = []
        elif message.role == "assistant":
            turn.append(message)
    if any(said.calls for said in turn):
        yield turn


# DSK-02


def r1_gets_no_reasoning(seen: View) -> Iterator[Problem]:
    if not is_r1(seen):
        return
    last = max((i for i, message in enumerate(seen.messages) if message.role == "user"), default=0)
    for message in seen.messages[:last]:
        if message.raw.get("reasoning_content") is not None:
            path = f"{message.path}.reasoning_content"
            answer = "The `reasoning_content` field is not allowed in the input messages of this model (400)"
            yield Problem("DSK-02", path, answer, "leave reasoning_content out of earlier turns")


# DSK-04


def choice_is_free(seen: View) -> Iterator[Problem]:
    choice = seen.body.get("tool_choice")
    if thinks(seen) and (choice == "required" or isinstance(choice, Mapping)):
        who = "deepseek-reasoner" if "reasoner" in seen.model else "Thinking mode"
        answer = f"{who} does not support this tool_choice"
        advice = "use tool_choice auto and send fewer tools, or switch thinking off"
        yield Problem("DSK-04", "tool_choice", answer, advice)


# DSK-06


def parts_are_text(seen: View) -> Iterator[Problem]:
    for message in seen.messages:
        for path, part in message.parts():
            if part.get("type", "text") != "text":
                yield _not_text(message.path, path, part, "text")


def _not_text(holder: str, path: str, part: Mapping[str, Any], expected: str) -> Problem:
    answer = (
        f"Failed to deserialize the JSON body into the target type: {holder}: unknown variant "
        f"`{shown(part.get('type'))}`, expected `{expected}`"
    )
    return Problem("DSK-06", path, answer, "say in words what the image, file or sound is: no model reads it")


PAIRING: tuple[Rule, ...] = (unanswered("DSK-03", UNANSWERED), orphans("OAC-02"))
RULES: tuple[Rule, ...] = (
    *CONTRACT,
    *SERVICE,
    *PAIRING,
    schemas_are_objects,
    tool_turns_carry_reasoning,
    r1_gets_no_reasoning,
    choice_is_free,
    parts_are_text,
    temperature_up_to(2, "Invalid temperature value, the valid range of temperature is [0, 2]"),
)
BEHIND_A_GATEWAY: tuple[Rule, ...] = (tool_turns_carry_some_reasoning, r1_gets_no_reasoning, choice_is_free)


# DeepSeek's Responses API reads the items as Chat messages, and so pairs them.


def responses_violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What DeepSeek's Responses API would refuse."""
    yield from responses.judge(
        (*responses.RULES, calls_are_answered_at_once, items_are_text), body, model=model
    )


def calls_are_answered_at_once(request: Request) -> Iterator[Problem]:
    """DSK-03: nothing is said between the calls of a turn, nor before their outputs. Recorded, 400."""
    waiting: dict[str, str] = {}  # call_id -> the path of the call
    for place, item in request.items:
        match item_kind(item):
            case "function_call":
                waiting[text(item.get("call_id"))] = f"input[{place}]"
            case "function_call_output":
                waiting.pop(text(item.get("call_id")), None)
            case "message" if waiting:
                answer = UNANSWERED + ", ".join(map(shown, waiting))
                advice = "put the message before the calls or after their outputs"
                yield Problem("DSK-03", f"input[{place}]", answer, advice)
                waiting.clear()


def items_are_text(request: Request) -> Iterator[Problem]:
    """DSK-06"""
    for path, _, part in responses_parts(request):
        if text(part.get("type")).startswith("input_") and part["type"] != "input_text":
            yield _not_text(path.partition(".")[0], path, part, "input_text")


RESPONSES_RULES = (*responses.RULES, calls_are_answered_at_once, items_are_text)
