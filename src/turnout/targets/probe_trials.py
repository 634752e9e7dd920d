"""What `turnout probe` tries: small conversations, and what to change in a dialect where one is refused.

Each trial shows one thing that servers differ in. Trials build on each other: when one is
tried, those before it are accepted. So a single change is enough to explain a refusal.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from ..providers.families import DEEPSEEK, KIMI, MISTRAL, OLD_MISTRAL, THINKING_KIMI

Changes = dict[str, Any]
"""Fields of a dialect, and what they become."""


class Trial(Struct, frozen=True, kw_only=True):
    """One small conversation, and the changes to try where it is refused, in this order."""

    name: str
    what: str
    messages: tuple[dict[str, Any], ...]
    tools: tuple[dict[str, Any], ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    otherwise: Changes = field(default_factory=dict)  # where no fix helps: turnout does not ask for this
    fixes: tuple[Changes, ...] = ()


def _trial_question(text: str) -> dict[str, Any]:
    return {"role": "user", "content": text}


def _trial_reply(text: str | None, *calls: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": text}
    return {**message, "tool_calls": list(calls)} if calls else message


def _trial_call(id: str, name: str, arguments: str) -> dict[str, Any]:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def _result(id: str, text: str) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


SYSTEM = {"role": "system", "content": "Answer with one word."}
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {"name": "weather", "description": "The weather in a city.", "parameters": SCHEMA}
CLOCK = {"name": "clock", "description": "The time in a city.", "parameters": SCHEMA}
HARD = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "minLength": 1, "maxLength": 40, "pattern": "^[A-Z]", "default": "Rome"},
        "when": {"anyOf": [{"type": "string", "format": "date"}, {"type": "null"}]},
        "units": {"type": ["string", "null"], "enum": ["C", "F", None]},
        "many": {"type": "array", "items": {"$ref": "#/$defs/place"}, "minItems": 0},
        "any": {},
    },
    "$defs": {"place": {"type": "object", "properties": {"lat": {"type": "number"}}}},
    "additionalProperties": False,
}
ROME, OSLO = '{"city":"Rome"}', '{"city":"Oslo"}'
ROUND = (
    _trial_question("Weather in Rome?"),
    _trial_reply(None, _trial_call("call_0123456789abcdefghij", "weather", ROME)),
    _result("call_0123456789abcdefghij", "sunny"),
)
REASONED: Changes = {"reasoning_field": "reasoning_content", "requires_reasoning": "calls"}
FAMILY_FIXES: tuple[Changes, ...] = (
    MISTRAL,
    OLD_MISTRAL,
    KIMI,
    {**REASONED, **THINKING_KIMI},
    {**REASONED, **DEEPSEEK},
)
PAIRING_FIXES: tuple[Changes, ...] = (
    {"id_format": "mistral"},
    {"content_when_empty": ""},
    {"names_tool_results": True},
    REASONED,
    {**REASONED, "requires_reasoning": "all", "reasoning_placeholder": ""},
    {"unreasoned_calls": "extra_content"},
    {"unreasoned_calls": "sentinel", "reasoning_field": "reasoning"},
    {"unreasoned_calls": "off", "reasoning_field": "reasoning", "thinking_switch": "reasoning"},
    *FAMILY_FIXES,
)
FORCING_FIXES: tuple[Changes, ...] = (
    {"forces_while_thinking": False, "thinking_switch": "type", "thinks_unasked": True},
    {"forces_while_thinking": False, "thinking_switch": "enable", "thinks_unasked": True},
    {"required_word": "any"},
)
UNFORCED: Changes = {"forces_while_thinking": False, "stops_thinking": False}

HELLO = Trial(
    name="hello",
    what="one question of the user",
    messages=(_trial_question("Say hi."),),
    fixes=(
        {"max_tokens_field": "max_completion_tokens"},
        {"caching": "blocks"},
        {"caching": ""},
    ),
)
ROUND_TRIP = Trial(
    name="call",
    what="a call with its result",
    messages=ROUND,
    tools=(WEATHER,),
    fixes=(*PAIRING_FIXES, {"sends_ids": False}),
)
TRIALS = (
    Trial(
        name="system",
        what="system text at the beginning",
        messages=(SYSTEM, _trial_question("Say hi.")),
        fixes=({"system_role": "developer"}, {"system_role": "user", "system_anywhere": False}),
    ),
    Trial(
        name="parallel calls",
        what="two calls at once, with words beside them",
        messages=(
            _trial_question("Weather in Rome, time in Oslo?"),
            _trial_reply(
                "I look.", _trial_call("call_a", "weather", ROME), _trial_call("call_b", "clock", OSLO)
            ),
            _result("call_b", "noon"),
            _result("call_a", "sunny"),
        ),
        tools=(WEATHER, CLOCK),
        fixes=({"calls_alone": True}, {"content_when_empty": ""}, *FAMILY_FIXES),
    ),
    Trial(
        name="user after a result",
        what="the user speaks right after a result",
        messages=(*ROUND, _trial_question("And tomorrow?")),
        tools=(WEATHER,),
        fixes=({"bridges_tool_to_user": True}, *FAMILY_FIXES),
    ),
    Trial(
        name="system later",
        what="system text in the middle",
        messages=(_trial_question("Say hi."), _trial_reply("Hi."), SYSTEM, _trial_question("Again.")),
        fixes=({"system_anywhere": False},),
    ),
    Trial(
        name="neighbours",
        what="two questions and two answers in a row",
        messages=(
            _trial_question("One."),
            _trial_question("Two."),
            _trial_reply("1"),
            _trial_reply("2"),
            _trial_question("Three."),
        ),
        fixes=({"alternates": True}, {"alternates": True, "system_anywhere": False}),
    ),
    Trial(
        name="model first",
        what="a conversation that the model begins",
        messages=(_trial_reply("How can I help?"), _trial_question("Say hi.")),
        fixes=({"starts_with_user": True},),
    ),
    Trial(
        name="parts",
        what="several texts in one message",
        messages=(
            {"role": "user", "content": [{"type": "text", "text": "One."}, {"type": "text", "text": "Two."}]},
        ),
        fixes=({"text_parts": False},),
    ),
    Trial(
        name="unfinished",
        what="a call that never got a result, of a tool that is not declared",
        messages=(
            _trial_question("Weather in Rome?"),
            _trial_reply("", _trial_call("functions.sky watch:0", "sky watch", "{}")),
            _trial_question("Stop. What do you know?"),
        ),
        tools=(WEATHER,),
        fixes=(*PAIRING_FIXES, {"bridges_tool_to_user": True}),
    ),
    Trial(
        name="damaged",
        what="arguments that are not JSON, and an empty result",
        messages=(
            _trial_question("Weather in Rome?"),
            _trial_reply(None, _trial_call("x" * 64, "weather", '{"ci')),
            _result("x" * 64, ""),
            _trial_reply(""),
            _trial_question("So?"),
        ),
        tools=(WEATHER,),
        fixes=PAIRING_FIXES,
    ),
    Trial(
        name="schema",
        what="a schema with unions, references and limits",
        messages=(_trial_question("Weather in Rome?"),),
        tools=({**WEATHER, "parameters": HARD},),
        fixes=({"schema": "moonshot"}, {"schema": "xai"}, {"schema": "plain"}),
    ),
    Trial(
        name="required",
        what="a call that is forced",
        messages=(_trial_question("Weather in Rome?"),),
        tools=(WEATHER,),
        options={"tool_choice": "required"},
        fixes=FORCING_FIXES,
        otherwise=UNFORCED,
    ),
    Trial(
        name="named choice",
        what="a call of one named tool",
        messages=(_trial_question("Weather in Rome?"),),
        tools=(WEATHER, CLOCK),
        options={"tool_choice": "weather"},
        fixes=FORCING_FIXES[:2],
        otherwise=UNFORCED,
    ),
    Trial(
        name="one call at a time",
        what="parallel calls switched off",
        messages=(_trial_question("Weather in Rome?"),),
        tools=(WEATHER,),
        options={"parallel": False},
        fixes=({"takes_parallel": False},),
    ),
    Trial(
        name="strict",
        what="arguments that the server guarantees",
        messages=(_trial_question("Weather in Rome?"),),
        tools=(WEATHER,),
        options={"strict": True},
        fixes=({"strict_tools": False},),
    ),
    Trial(
        name="stream",
        what="a streamed answer with token counts",
        messages=(_trial_question("Say hi."),),
        options={"stream": True},
        fixes=({"stream_usage": False},),
    ),
    Trial(
        name="sampling",
        what="a high temperature",
        messages=(_trial_question("Say hi."),),
        options={"temperature": 1.5},
        fixes=({"max_temperature": 1.0}, {"pins_sampling": True}),
    ),
    Trial(
        name="low sampling",
        what="a low temperature",
        messages=(_trial_question("Say hi."),),
        options={"temperature": 0.3},
        fixes=({"pins_sampling": True},),
    ),
    Trial(
        name="seed",
        what="a seed",
        messages=(_trial_question("Say hi."),),
        options={"seed": 7},
        fixes=({"seed_field": "random_seed"},),
    ),
    Trial(
        name="stop words",
        what="five stop words",
        messages=(_trial_question("Say hi."),),
        options={"stop": ("aa", "bb", "cc", "dd", "ee")},
        fixes=({"max_stops": 4}, {"max_stops": 1}),
    ),
    Trial(
        name="rare options",
        what="penalties, and the user's name",
        messages=(_trial_question("Say hi."),),
        options={"frequency_penalty": 0.1, "presence_penalty": 0.1, "user": "probe"},
        fixes=({"takes": ("frequency_penalty", "presence_penalty")}, {"takes": ("user",)}, {"takes": ()}),
    ),
)
"""In the order in which they are tried, after HELLO and ROUND_TRIP."""
