"""Moonshot's Kimi: Chat messages that must carry their reasoning.

A model that thinks requires its reasoning on every message of its own that made calls.
`reasoning_content` carries it, and a placeholder is enough. Every id is accepted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import models
from ..problem import Problem
from ..schema import nodes
from .pairing import Rule, orphan_rule, unanswered_rule
from .rules import SERVICE, apply_rules, arguments_are_strings, messages_present
from .view import ChatView, brief, is_empty, mapping

UNANSWERED = (
    "Invalid request: an assistant message with 'tool_calls' must be followed by tool messages responding to "
    "each 'tool_call_id'. The following tool_call_ids did not have response messages: "
)
ORPHAN = (
    "Invalid request: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'"
)

REFUSED_FIRST = (*"-0123456789",)


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What Moonshot's API would refuse."""
    yield from apply_rules(RULES, body, model=model)


def thinks(seen: ChatView) -> bool:
    """On by default since K2.5 and in K2-thinking; since K2.7 it cannot be switched off."""
    version = models.kimi_version(seen.model)
    if version >= (2, 7):
        return True
    if mapping(seen.body.get("thinking")).get("type") == "disabled" or _off_at_a_gateway(seen):
        return False
    return version >= (2, 5) or "thinking" in seen.model


def _off_at_a_gateway(seen: ChatView) -> bool:
    reasoning = mapping(seen.body.get("reasoning"))
    return reasoning.get("enabled") is False or reasoning.get("effort") == "none"


# KIM-02


def calls_carry_reasoning(seen: ChatView) -> Iterator[Problem]:
    yield from _calls_carry(seen, ("reasoning_content",))


def calls_carry_some_reasoning(seen: ChatView) -> Iterator[Problem]:
    """A gateway takes it in its own fields and forwards it."""
    yield from _calls_carry(seen, ("reasoning_content", "reasoning", "reasoning_details"))


def _calls_carry(seen: ChatView, fields: tuple[str, ...]) -> Iterator[Problem]:
    if not thinks(seen):
        return
    for message in seen.messages:
        if message.calls and all(message.raw.get(field) is None for field in fields):
            answer = (
                "thinking is enabled but reasoning_content is missing in assistant tool call message at "
                f"index {message.index}"
            )
            advice = 'send the reasoning of that message back, or " " where there was none'
            yield Problem("KIM-02", f"{message.path}.reasoning_content", answer, advice)


# KIM-03


def choice_is_free(seen: ChatView) -> Iterator[Problem]:
    choice = seen.body.get("tool_choice")
    if thinks(seen) and (choice == "required" or isinstance(choice, Mapping)):
        answer = "tool_choice specified is incompatible with thinking enabled"
        yield Problem("KIM-03", "tool_choice", answer, "use tool_choice auto, or switch thinking off")


# KIM-04


def assistant_is_not_empty(seen: ChatView) -> Iterator[Problem]:
    for message in seen.assistants():
        if not message.calls and is_empty(message.content) and not message.raw.get("partial"):
            answer = (
                f"Invalid request: the message at position {message.index} with role 'assistant' "
                "must not be empty"
            )
            yield Problem("KIM-04", f"{message.path}.content", answer, "leave the message out")


# OAC-07, narrower at Moonshot. Its documents allow a leading underscore, its answer names letters
# only. A leading underscore was never seen refused, so it passes.


def names_begin_with_a_letter(seen: ChatView) -> Iterator[Problem]:
    for tool in seen.tools:
        if isinstance(tool.name, str) and tool.name[:1] in REFUSED_FIRST:
            answer = (
                "Invalid request: function name is invalid, must start with a letter and can contain "
                f"letters, numbers, underscores, and dashes: {brief(tool.name)}"
            )
            path = f"{tool.path}.{tool.body}.name"
            yield Problem("OAC-07", path, answer, "put a letter before the name, there and in every call")


# KIM-06


def schemas_are_moonshots(seen: ChatView) -> Iterator[Problem]:
    for tool in seen.tools:
        for path, fault in _schema_faults(tool.definition.get("parameters")):
            answer = (
                "Invalid request: tools.function.parameters is not a valid moonshot flavored json schema, "
                f"details: <At path '{path}': {fault}>"
            )
            advice = "keep $ref alone, put `type` inside the branches of anyOf, give `items` one schema"
            yield Problem("KIM-06", f"{tool.path}.function.parameters", answer, advice)


def _schema_faults(schema: Any) -> Iterator[tuple[str, str]]:
    if isinstance(schema, Mapping) and schema and schema.get("type") != "object":
        yield "", "the root must have type object"
    for context, node in nodes(schema):
        for fault in _node_faults(node):
            yield brief(".".join(context)), fault


def _node_faults(schema: Mapping[str, Any]) -> Iterator[str]:
    if "$ref" in schema and len(schema) > 1:
        yield "nothing may stand beside $ref"
    if "anyOf" in schema and "type" in schema:
        yield "type should be defined in anyOf items instead of the parent schema"
    if isinstance(schema.get("items"), list):
        yield "items must be one schema, not a list of them"


# KIM-07


def sampling_is_unset(seen: ChatView) -> Iterator[Problem]:
    """The server fixes sampling; a value is accepted only if it is the fixed one."""
    if models.kimi_version(seen.model) < (2, 5):
        return
    for key, values in _pinned_values(seen).items():
        if seen.body.get(key) is not None and seen.body[key] not in values:
            answer = f"invalid {key}: only {values[0]} is allowed for this model"
            yield Problem("KIM-07", key, answer, f"leave `{key}` out")


def _pinned_values(seen: ChatView) -> dict[str, tuple[float, ...]]:
    """Without thinking, endpoints differ over the temperature: 0.6 at one, 1 at another."""
    temperature: tuple[float, ...] = (1,) if thinks(seen) else (0.6, 1)
    zero = (0,)
    return {
        "temperature": temperature,
        "top_p": (0.95,),
        "n": (1,),
        "presence_penalty": zero,
        "frequency_penalty": zero,
    }


PAIRING: tuple[Rule, ...] = (unanswered_rule("KIM-01", UNANSWERED), orphan_rule("KIM-01", ORPHAN))
RULES: tuple[Rule, ...] = (
    messages_present,
    arguments_are_strings,
    *SERVICE,
    *PAIRING,
    calls_carry_reasoning,
    choice_is_free,
    assistant_is_not_empty,
    names_begin_with_a_letter,
    schemas_are_moonshots,
    sampling_is_unset,
)
BEHIND_A_GATEWAY: tuple[Rule, ...] = (calls_carry_some_reasoning, choice_is_free, assistant_is_not_empty)
