"""OpenAI Chat Completions: what the API refuses, and which of it other servers refuse.

Hundreds of servers speak this protocol, and each checks less than OpenAI does. So there are
three sets of rules: EVERYWHERE is the common contract, HOSTED adds what hosted services
share, OPENAI is everything that api.openai.com and Azure check.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from .. import model_limits, models
from ..problem import Level, Problem
from ..strict import strict_faults
from .pairing import Rule, orphan_rule, unanswered_rule
from .view import ChatCall, ChatMessage, ChatView, array, brief, is_redacted, kind, mapping, view

MAX_ID = 40
MAX_CALLS = 128
MAX_TOOLS = 128
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
REASONING = (
    "reasoning",
    "reasoning_content",
    "reasoning_details",
    "reasoning_opaque",
    "reasoning_text",
    "thinking",
    "signature",
)


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What OpenAI would refuse."""
    yield from apply_rules(OPENAI, body, model=model)


def apply_rules(rules: tuple[Rule, ...], body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """Apply rules to a body, reading it once."""
    seen = view(body, model)
    for rule in rules:
        yield from rule(seen)


def missing_parameter(path: str) -> str:
    return f"Missing required parameter: '{path}'."


def wrong_type(path: str, expected: str, value: Any) -> str:
    return f"Invalid type for '{path}': expected {expected}, but got {kind(value)} instead."


def too_long(path: str, what: str, limit: int, length: int) -> str:
    return (
        f"Invalid '{path}': {what} too long. Expected {'an' if what == 'array' else 'a'} {what} with maximum "
        f"length {limit}, but got {'an' if what == 'array' else 'a'} {what} with length {length} instead."
    )


def empty_value(path: str, what: str) -> str:
    return (
        f"Invalid '{path}': empty {what}. Expected {'an' if what == 'array' else 'a'} {what} with minimum "
        f"length 1, but got an empty {what} instead."
    )


# The basic shape. Every server requires it, so it has no number.


def messages_present(seen: ChatView) -> Iterator[Problem]:
    messages = seen.body.get("messages")
    advice = "send the conversation as `messages`, an array of objects"
    if "messages" not in seen.body:
        yield Problem("BODY", "messages", missing_parameter("messages"), advice)
    elif not isinstance(messages, list | tuple):
        yield Problem("BODY", "messages", wrong_type("messages", "an array of objects", messages), advice)
    elif not messages:
        yield Problem("BODY", "messages", empty_value("messages", "array"), advice)
    for index, message in enumerate(array(messages)):
        path = f"messages[{index}]"
        if not isinstance(message, Mapping):
            yield Problem("BODY", path, wrong_type(path, "an object", message), advice)
        elif not isinstance(message.get("role"), str):
            yield Problem(
                "BODY", f"{path}.role", missing_parameter(f"{path}.role"), "give every message a role"
            )


def parts_have_types(seen: ChatView) -> Iterator[Problem]:
    for message in seen.messages:
        for path, part in message.parts():
            if "type" not in part:
                advice = 'say what the part is, as in {"type": "text", "text": "…"}'
                yield Problem("BODY", f"{path}.type", missing_parameter(f"{path}.type"), advice)


# OAC-03


def ids_fit(seen: ChatView) -> Iterator[Problem]:
    """1 to 40 characters. Newer routes accept 64; all routes accept 40."""
    for message in seen.messages:
        for call in message.calls:
            yield from _id_fits(f"{call.path}.id", call.id)
        if message.role == "tool":
            yield from _id_fits(f"{message.path}.tool_call_id", message.answers)


def _id_fits(path: str, id: Any) -> Iterator[Problem]:
    advice = f"use an id of 1 to {MAX_ID} characters, the same on the call and on its result"
    if id is None:
        yield Problem("OAC-03", path, missing_parameter(path), advice)
    elif not isinstance(id, str):
        yield Problem("OAC-03", path, wrong_type(path, "a string", id), advice)
    elif not id:
        yield Problem("OAC-03", path, empty_value(path, "string"), advice)
    elif len(id) > MAX_ID and not is_redacted(id):
        yield Problem("OAC-03", path, too_long(path, "string", MAX_ID, len(id)), advice)


# OAC-05


def calls_counted(seen: ChatView) -> Iterator[Problem]:
    for message in seen.assistants():
        if "tool_calls" not in message.raw:
            continue
        path, calls = f"{message.path}.tool_calls", message.raw["tool_calls"]
        if not isinstance(calls, list | tuple):
            answer = wrong_type(path, "an array of objects", calls)
            yield Problem("OAC-05", path, answer, "leave the key out when there are no calls")
        elif not calls:
            yield Problem(
                "OAC-05", path, empty_value(path, "array"), "leave the key out when there are no calls"
            )
        elif len(calls) > MAX_CALLS:
            answer = too_long(path, "array", MAX_CALLS, len(calls))
            yield Problem("OAC-05", path, answer, f"split the turn: at most {MAX_CALLS} calls in one message")


# OAC-06


def tools_counted(seen: ChatView) -> Iterator[Problem]:
    tools = array(seen.body.get("tools"))
    if len(tools) > MAX_TOOLS:
        answer = too_long("tools", "array", MAX_TOOLS, len(tools))
        yield Problem("OAC-06", "tools", answer, f"declare at most {MAX_TOOLS} tools")


def tool_options_need_tools(seen: ChatView) -> Iterator[Problem]:
    tools = seen.body.get("tools")
    if tools == []:
        yield Problem(
            "OAC-06", "tools", empty_value("tools", "array"), "leave `tools` out when there are none"
        )
    for key, expected in (("tool_choice", "a string or an object"), ("parallel_tool_calls", "a boolean")):
        if key not in seen.body:
            continue
        if seen.body[key] is None:
            # Recorded: Azure takes a null for tool_choice, status 200; a null for the other is refused.
            level: Level = "warning" if key == "tool_choice" else "refused"
            yield Problem("OAC-06", key, wrong_type(key, expected, None), f"leave `{key}` out", level)
        elif tools is None:
            answer = f"Invalid value for '{key}': '{key}' is only allowed when 'tools' are specified."
            yield Problem("OAC-06", key, answer, f"leave `{key}` out, or declare the tools")


# OAC-07


def names_fit(seen: ChatView) -> Iterator[Problem]:
    for tool in seen.tools:
        yield from _name_fits(f"{tool.path}.{tool.body}.name", tool.name)
    for call in seen.calls():
        yield from _name_fits(f"{call.path}.{call.body}.name", call.name)


def _name_fits(path: str, name: Any) -> Iterator[Problem]:
    advice = "use 1 to 64 letters, digits, underscores and dashes, the same in `tools` and in every call"
    if name is None:
        yield Problem("OAC-07", path, missing_parameter(path), advice)
    elif not isinstance(name, str):
        yield Problem("OAC-07", path, wrong_type(path, "a string", name), advice)
    elif not name:
        yield Problem("OAC-07", path, empty_value(path, "string"), advice)
    elif len(name) > 64:
        yield Problem("OAC-07", path, too_long(path, "string", 64, len(name)), advice)
    elif not NAME.fullmatch(name):
        answer = (
            f"Invalid '{path}': string does not match pattern. Expected a string that matches the "
            "pattern '^[a-zA-Z0-9_-]+$'."
        )
        yield Problem("OAC-07", path, answer, advice)


# OAC-08. OpenAI does not parse the string ("15 * 4" was answered with 200). Servers that do
# have their own rules.


def arguments_are_strings(seen: ChatView) -> Iterator[Problem]:
    for call in _function_calls(seen):
        if not isinstance(call.arguments, str):
            path = f"{call.path}.function.arguments"
            advice = 'send the arguments as JSON text, "{}" when there are none'
            yield Problem("OAC-08", path, wrong_type(path, "a string", call.arguments), advice)


def arguments_are_not_empty(seen: ChatView) -> Iterator[Problem]:
    for call in _function_calls(seen):
        if call.arguments == "":
            path = f"{call.path}.function.arguments"
            yield Problem(
                "OAC-08", path, empty_value(path, "string"), 'send "{}" when there are no arguments'
            )


def _function_calls(seen: ChatView) -> Iterator[ChatCall]:
    return (call for call in seen.calls() if call.body == "function")


# OAC-09


def assistant_says_something(seen: ChatView) -> Iterator[Problem]:
    """Null content needs a call; a refusal or audio may take the place of content."""
    for message in seen.assistants():
        if message.content is None and not message.calls and not _stands_for_content(message):
            answer = "Invalid value for 'content': expected a string, got null."
            advice = "give the assistant message text, or leave the message out"
            yield Problem("OAC-09", f"{message.path}.content", answer, advice)


def _stands_for_content(message: ChatMessage) -> bool:
    return any(message.raw.get(key) for key in ("function_call", "refusal", "audio", *REASONING))


def assistant_parts_are_text(seen: ChatView) -> Iterator[Problem]:
    for message in seen.assistants():
        path, content = f"{message.path}.content", message.content
        advice = "assistant content is text: a string, or an array of text and refusal parts"
        if isinstance(content, list | tuple):
            if not content:
                yield Problem("OAC-09", path, empty_value(path, "array"), advice)
            yield from _parts_are(message, ("text", "refusal"), "OAC-09", advice)
        elif content is not None and not isinstance(content, str):
            yield Problem("OAC-09", path, wrong_type(path, "a string", content), advice)


def _parts_are(message: ChatMessage, types: tuple[str, ...], rule: str, advice: str) -> Iterator[Problem]:
    supported = " and ".join(f"'{name}'" for name in types)
    for path, part in message.parts():
        if "type" in part and part["type"] not in types:
            answer = f"Invalid value: '{brief(part['type'])}'. Supported values are: {supported}."
            yield Problem(rule, path, answer, advice)


# OAC-10


def results_are_text(seen: ChatView) -> Iterator[Problem]:
    advice = (
        "a result is text: a string, or an array of text parts; put images and files into a user message "
        "after the last result"
    )
    for message in seen.messages:
        if message.role != "tool":
            continue
        path, content = f"{message.path}.content", message.content
        if isinstance(content, list | tuple):
            if not content:
                yield Problem("OAC-10", path, empty_value(path, "array"), advice)
            yield from _parts_are(message, ("text",), "OAC-10", advice)
        elif not isinstance(content, str):
            yield Problem("OAC-10", path, wrong_type(path, "a string or an array", content), advice)


# OAC-11


def new_models_think_elsewhere(seen: ChatView) -> Iterator[Problem]:
    """5.4 and 5.5 accept tools without an effort (recorded); 5.6 requires the effort none."""
    version, effort = models.gpt_version(seen.model), seen.body.get("reasoning_effort")
    if version < (5, 4) or effort == "none" or not _has_function_tools(seen):
        return
    if effort is not None or version >= (5, 6):
        answer = (
            f"Function tools with reasoning_effort are not supported for {brief(seen.model)} in "
            "/v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to "
            "'none'."
        )
        advice = "send reasoning_effort 'none', or use the Responses API, where the model may think"
        yield Problem("OAC-11", "reasoning_effort", answer, advice)


def _has_function_tools(seen: ChatView) -> bool:
    return any(tool.body == "function" for tool in seen.tools)


# OAC-12


def no_reasoning_sent_back(seen: ChatView) -> Iterator[Problem]:
    for message in seen.messages:
        for key in REASONING:
            if message.raw.get(key) is not None:
                path = f"{message.path}.{key}"
                answer = f"'{message.path}': property '{key}' is unsupported"
                yield Problem(
                    "OAC-12", path, answer, f"leave `{key}` out: this API has no way to take it back"
                )


# OAC-13


def strict_schemas_are_closed(seen: ChatView) -> Iterator[Problem]:
    """The same rule applies to a tool's parameters and to the format of an answer."""
    for path, what, schema in _strict_schemas(seen):
        for fault in strict_faults(schema):
            answer = f"Invalid schema for {what}: {fault}"
            advice = "list every property in `required`, close every object, or send strict: false"
            yield Problem("OAC-13", path, answer, advice)


def _strict_schemas(seen: ChatView) -> Iterator[tuple[str, str, Any]]:
    for tool in seen.tools:
        if tool.definition.get("strict") is True:
            path = f"{tool.path}.function.parameters"
            yield path, f"function '{brief(tool.name)}'", tool.definition.get("parameters")
    form = mapping(mapping(seen.body.get("response_format")).get("json_schema"))
    if form.get("strict") is True:
        what = f"response_format '{brief(form.get('name'))}'"
        yield "response_format.json_schema.schema", what, form.get("schema")


# OAC-14. No schema, or {}, is a tool without parameters.

COMBINED = ("oneOf", "anyOf", "allOf", "enum", "not")


def schemas_are_objects(seen: ChatView) -> Iterator[Problem]:
    for path, name, schema in _schemas(seen):
        kind = schema.get("type")
        if kind != "object":
            got = f'"{brief(kind)}"' if isinstance(kind, str) else "null"
            fault = f"schema must be a JSON Schema of 'type: \"object\"', got 'type: {got}'."
            advice = 'give the root of the schema "type": "object"'
            yield Problem("OAC-14", path, f"Invalid schema for function '{name}': {fault}", advice)


def schemas_are_plain(seen: ChatView) -> Iterator[Problem]:
    for path, name, schema in _schemas(seen):
        if any(key in schema for key in COMBINED):
            fault = (
                "schema must have type 'object' and not have 'oneOf'/'anyOf'/'allOf'/'enum'/'not' at the top "
                "level."
            )
            advice = "make the root one object; move alternatives into a property"
            yield Problem("OAC-14", path, f"Invalid schema for function '{name}': {fault}", advice)
        elif schema.get("type") == "object" and "properties" not in schema:
            fault = "In context=(), object schema missing properties."
            advice = 'send "properties": {} for a tool without parameters'
            yield Problem("OAC-14", path, f"Invalid schema for function '{name}': {fault}", advice)


def _schemas(seen: ChatView) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for tool in seen.tools:
        schema = mapping(tool.definition.get("parameters"))
        if tool.body == "function" and schema:
            yield f"{tool.path}.function.parameters", brief(tool.name), schema


# OAC-15


def roles_suit_the_model(seen: ChatView) -> Iterator[Problem]:
    """The first reasoning models take only user and assistant messages."""
    for message in seen.messages:
        if message.role in ("system", "developer") and models.hears_no_system(seen.model):
            path = f"{message.path}.role"
            answer = f"Unsupported value: '{path}' does not support '{message.role}' with this model."
            yield Problem("OAC-15", path, answer, "send it as the user")


CONTRACT: tuple[Rule, ...] = (messages_present, arguments_are_strings, assistant_says_something)
PAIRING: tuple[Rule, ...] = (unanswered_rule("OAC-01"), orphan_rule("OAC-02"))
SERVICE: tuple[Rule, ...] = (tools_counted, names_fit)

EVERYWHERE: tuple[Rule, ...] = (*CONTRACT, *PAIRING)
HOSTED: tuple[Rule, ...] = (*EVERYWHERE, *SERVICE)
OPENAI: tuple[Rule, ...] = (
    *HOSTED,
    parts_have_types,
    ids_fit,
    calls_counted,
    tool_options_need_tools,
    arguments_are_not_empty,
    assistant_parts_are_text,
    results_are_text,
    new_models_think_elsewhere,
    no_reasoning_sent_back,
    strict_schemas_are_closed,
    schemas_are_objects,
    schemas_are_plain,
    roles_suit_the_model,
    *model_limits.OPENAI,
)
