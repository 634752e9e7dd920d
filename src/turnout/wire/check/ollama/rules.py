"""Ollama's own chat: it decodes the body into Go types, and refuses what does not fit them.

It checks no pairing and no order: the chat template shows what it is given. The answers are those of
Go's JSON decoder and of Ollama's own types.
"""

from __future__ import annotations

import binascii
from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.view import array, brief, mapping, text
from ..problem import Problem
from ..reading import objects

LEVELS = ("low", "medium", "high", "max")
WHOLE = ("num_ctx", "num_predict", "top_k", "seed", "num_keep", "repeat_last_n")
NUMBERS = (
    *("temperature", "top_p", "min_p", "typical_p", "repeat_penalty"),
    *("presence_penalty", "frequency_penalty"),
)


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What Ollama's `/api/chat` would refuse."""
    if not text(body.get("model")):
        yield Problem("OLL-04", "model", "model is required", "name the model")
    messages = body.get("messages")
    if messages is not None and not isinstance(messages, list | tuple):
        yield _unfit("messages", messages, "messages", "[]api.Message", "send a list of messages")
    for place, message in enumerate(array(messages)):
        path = f"messages[{place}]"
        if not isinstance(message, Mapping):
            yield _unfit(path, message, "messages", "api.Message", "send objects")
        else:
            yield from _message_problems(message, path)
    yield from _tool_problems(body)
    yield from _think_problems(body.get("think"))
    yield from _format_problems(body.get("format"))
    yield from _option_problems(body.get("options"))


# OLL-04: the shape of messages


def _message_problems(message: Mapping[str, Any], path: str) -> Iterator[Problem]:
    for name in ("role", "content", "thinking", "tool_name"):
        value = message.get(name)
        if value is not None and not isinstance(value, str):
            advice = "send text; images go beside it, in `images`"
            yield _unfit(f"{path}.{name}", value, f"messages.{name}", "string", advice)
    for place, call in objects(message.get("tool_calls")):
        arguments = mapping(call.get("function")).get("arguments")
        if arguments is not None and not isinstance(arguments, Mapping):
            where = f"{path}.tool_calls[{place}].function.arguments"
            kind = "api.ToolCallFunctionArguments"
            advice = "send the arguments as an object, not as text"
            yield _unfit(where, arguments, "messages.tool_calls.function.arguments", kind, advice)
    for place, image in enumerate(array(message.get("images"))):
        if not _is_base64(image):
            advice = "send the bytes of the image in base64, without `data:` before them"
            yield Problem("OLL-04", f"{path}.images[{place}]", "illegal base64 data at input byte 0", advice)


def _is_base64(image: Any) -> bool:
    if not isinstance(image, str):
        return False
    try:
        b64decode(image, validate=True)
    except (ValueError, binascii.Error):
        return False
    return True


def _unfit(path: str, value: Any, field: str, kind: str, advice: str) -> Problem:
    answer = (
        f"json: cannot unmarshal {_go_name(value)} into Go struct field ChatRequest.{field} of type {kind}"
    )
    return Problem("OLL-04", path, answer, advice)


def _go_name(value: Any) -> str:
    match value:
        case bool():
            return "bool"
        case int() | float():
            return "number"
        case str():
            return "string"
        case Mapping():
            return "object"
        case _:
            return "array"


# OLL-05: tools, thinking, format, options


def _tool_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    for place, tool in objects(body.get("tools")):
        schema = mapping(mapping(tool.get("function")).get("parameters"))
        path = f"tools[{place}].function.parameters"
        if not isinstance(schema.get("type", ""), str):
            advice = 'give the root of the schema "type": "object"'
            yield _unfit(path, schema["type"], "tools.function.parameters.type", "string", advice)
        for name, each in mapping(schema.get("properties")).items():
            if not isinstance(each, Mapping):
                where = "tools.function.parameters.properties"
                advice = "write the property as an object"
                yield _unfit(f"{path}.properties.{name}", each, where, "api.ToolProperty", advice)


def _think_problems(value: Any) -> Iterator[Problem]:
    if value is not None and not isinstance(value, bool) and value not in LEVELS:
        answer = f'invalid think value: "{brief(value)}" (must be "high", "medium", "low", true, or false)'
        yield Problem("OLL-05", "think", answer, "send true, false, or one of the levels")


def _format_problems(value: Any) -> Iterator[Problem]:
    if value not in (None, "", "json") and not isinstance(value, Mapping):
        answer = f'invalid format: "{brief(value)}"; expected "json" or a valid JSON Schema object'
        yield Problem("OLL-05", "format", answer, 'send "json" or a schema')


def _option_problems(value: Any) -> Iterator[Problem]:
    for name, given in mapping(value).items():
        is_number = isinstance(given, int | float) and not isinstance(given, bool)
        if given is not None and name in WHOLE and not (is_number and float(given).is_integer()):
            yield _wrong_option(name, "integer")
        elif given is not None and name in NUMBERS and not is_number:
            yield _wrong_option(name, "float32")
        elif given is not None and name == "stop" and not isinstance(given, list | tuple):
            yield _wrong_option(name, "array")


def _wrong_option(name: str, kind: str) -> Problem:
    answer = f'option "{name}" must be of type {kind}'
    return Problem("OLL-05", f"options.{name}", answer, "send a value of that type, or leave it out")
