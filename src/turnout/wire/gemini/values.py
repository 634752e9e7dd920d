"""Arguments and results as Gemini can hold them: protobuf Structs, which are not quite JSON.

Every number of a Struct is a double, every key is unique, and its parser refuses deep nesting.
A result that would change is sent as text instead.
"""

from __future__ import annotations

import re
from typing import Any

import msgspec

from ...json_size import is_deeper_text
from ...model import ToolCall, ToolResponse
from ...plain import dumps, is_deeper
from ..shared.content import is_failed, response_text
from ..shared.growing_bytes import Wire

MAX_DEPTH = 49
"""Gemini refuses JSON of about 60 levels ("Message too deep"); from 50 on the text is sent instead."""

WHOLE_DOUBLE = 2**53  # beyond it, a double skips integers
_STRINGS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"', re.DOTALL)
_LONG_INTEGER = re.compile(r"(?<![\d.])\d{16,}(?![\d.eE])")


def struct_arguments(call: ToolCall, changes: list[str]) -> Wire:
    """The arguments of a call: an object, always."""
    was_too_deep = call.fault == "too_deep"  # could not be parsed: the arguments already hold their text
    if not was_too_deep and not _is_too_deep(call):
        return call.arguments
    changes.append(f"GEM-05 arguments of {call.id} sent as text under 'json': nested too deeply for this API")
    return call.arguments if was_too_deep else {"json": dumps(call.arguments)}


def _is_too_deep(call: ToolCall) -> bool:
    if call.raw is not None and not call.fault:  # scanning the text is faster than walking the values
        return is_deeper_text(call.raw, MAX_DEPTH)
    return is_deeper(call.arguments, MAX_DEPTH)


def struct_response(response: ToolResponse, changes: list[str]) -> Wire:
    """A result: the object that the tool gave, or its value under the name `output`."""
    text = response_text(response)
    if is_failed(response):
        return {"error": text}
    if not text.startswith(("{", "[")):
        return {"output": text}
    if is_deeper_text(text, MAX_DEPTH - 1):
        changes.append(f"GEM-05 result of {response.call_id} sent as text: nested too deeply for this API")
        return {"output": text}
    value = _decode_json(text)
    if value is None or not _comes_through(text, value):
        return {"output": text}
    return value if isinstance(value, dict) else {"output": value}


def _decode_json(text: str) -> Any:
    """The JSON value of a text; None if it is not JSON, or too deep to be read."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError):
        return None


def _comes_through(text: str, value: Any) -> bool:
    """Whether a Struct can hold everything in the text: every key, and every digit of an integer."""
    outside_strings = _STRINGS.sub("", text)
    if outside_strings.count(":") != _count_pairs(value):
        return False  # a key stands twice in one object, and only the last would be read
    long = _LONG_INTEGER.findall(outside_strings)
    return all(len(digits) == 16 and int(digits) <= WHOLE_DOUBLE for digits in long)


def _count_pairs(value: Any) -> int:
    pairs, waiting = 0, [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            pairs += len(item)
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
    return pairs
