"""Read a tool call that stands in a text, in the syntax of each model family.

A reader gets one region with its marks. It returns what the region holds, or None if that is
not a call: then the region is text. Argument values are parsed as JSON where possible, else
they stay text. The tool's schema decides later.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import Any, TypeAlias

from msgspec import Struct

from ..json_size import LONGEST, is_heavy
from ..plain import arguments, loads

LONGEST_EXPRESSION = 20_000
NAME = re.compile(r"[A-Za-z_][\w.:-]{0,127}")


class TextCall(Struct, frozen=True):
    """A call as it stands in a text."""

    name: str
    arguments: Any
    raw_id: str = ""


class TextThought(Struct, frozen=True):
    """Thinking that stands in a text."""

    text: str


Found: TypeAlias = list[str | TextCall | TextThought] | None


# -- Hermes, Qwen, Qwen Coder, GLM


def hermes(region: str) -> Found:
    """<tool_call>…</tool_call> around JSON, around <function=…>, or around a name and its arguments."""
    if region.startswith("<function="):
        return _functions(region)
    body = region.removeprefix("<tool_call>").removesuffix("</tool_call>").strip()
    if body[:1] in ("{", "["):
        return _json_calls(body)
    return _functions(body) if body.startswith("<function=") else _glm(body)


def _functions(text: str) -> Found:
    """<function=name> around <parameter=key> elements (Qwen Coder) or one JSON object (Llama)."""
    calls = [_function(body) for body in _texts_between(text, "<function=", "</function>")]
    return [call for call in calls if call is not None] if calls and None not in calls else None


def _function(body: str) -> TextCall | None:
    name, found, inner = body.partition(">")
    if not found or not NAME.fullmatch(name.strip()):
        return None
    if "<parameter=" not in inner:
        values, fault = arguments(inner, LONGEST)
        return None if fault else TextCall(name.strip(), values)
    parts = (part.partition(">") for part in _texts_between(inner, "<parameter=", "</parameter>"))
    return TextCall(
        name.strip(), {key.strip(): _json_or_text(_without_line_breaks(value)) for key, _, value in parts}
    )


def _glm(body: str) -> Found:
    """A name, then any number of <arg_key>…</arg_key><arg_value>…</arg_value>."""
    name = re.split(r"\n|<arg_key>", body, maxsplit=1)[0].strip()
    keys, values = (list(_texts_between(body, f"<{tag}>", f"</{tag}>")) for tag in ("arg_key", "arg_value"))
    if not NAME.fullmatch(name) or len(keys) != len(values) or (not keys and body != name):
        return None
    return [
        TextCall(name, {key.strip(): _json_or_text(value) for key, value in zip(keys, values, strict=True)})
    ]


# -- Kimi, DeepSeek


def kimi(region: str) -> Found:
    """functions.name:0, a mark, JSON."""
    body = region.removeprefix("<|tool_call_begin|>").removesuffix("<|tool_call_end|>")
    raw_id, found, written = body.partition("<|tool_call_argument_begin|>")
    name = raw_id.strip().removeprefix("functions.").rpartition(":")[0] or raw_id.strip()
    return _call_with_json(name, written, raw_id.strip()) if found else None


def deepseek(region: str) -> Found:
    """name, a mark, JSON (V3.1); function, a mark, name and fenced JSON (V3, R1); or DSML (V3.2)."""
    if region.startswith("<｜DSML｜"):
        return _dsml(region)
    body = region.removeprefix("<｜tool▁call▁begin｜>").removesuffix("<｜tool▁call▁end｜>")
    head, found, rest = body.partition("<｜tool▁sep｜>")
    if not found:
        return None
    if head.strip() == "function":
        head, _, rest = rest.strip().partition("\n")
    fenced = rest.strip().removeprefix("```json").removeprefix("```").removesuffix("```")
    return _call_with_json(head.strip(), fenced)


def _dsml(region: str) -> Found:
    calls: list[str | TextCall | TextThought] = []
    for body in _texts_between(region, "<｜DSML｜invoke name=", "</｜DSML｜invoke>"):
        name, _, inner = body.partition(">")
        calls.append(TextCall(_quoted_value(name), dict(_dsml_values(inner))))
    return calls or None


def _dsml_values(text: str) -> Iterator[tuple[str, Any]]:
    for body in _texts_between(text, "<｜DSML｜parameter name=", "</｜DSML｜parameter>"):
        head, _, value = body.partition(">")
        yield _quoted_value(head), value if 'string="true"' in head else _json_or_text(value)


def _quoted_value(attributes: str) -> str:
    return attributes.partition('"')[2].partition('"')[0]


# -- Llama, Harmony


def llama(region: str) -> Found:
    """JSON with name and parameters, several after one another, or calls as Python writes them."""
    for mark in ("<|python_tag|>", "<|eom_id|>", "<|eot_id|>"):
        region = region.removeprefix(mark).removesuffix(mark)
    body = region.strip()
    if body.startswith("<function="):
        return _functions(body)
    return _json_calls(body) or _python_calls(body)


def harmony(region: str) -> Found:
    """Channels: calls go to a function, analysis is thinking, the rest is said."""
    head, found, body = region.partition("<|message|>")
    if not found:
        return None
    for mark in ("<|call|>", "<|end|>", "<|return|>"):
        body = body.removesuffix(mark)
    if recipient := re.search(r"to=functions\.([\w.-]+)", head):
        return _call_with_json(recipient[1], body)
    return [TextThought(body)] if "<|channel|>analysis" in head else [body]


# -- what they share


def is_cut(region: str, mark: str) -> bool:
    """Whether the mark that ended a region stood inside a JSON string, so that the region continues."""
    written = region[region.find("{") :].removesuffix(mark) if "{" in region else ""
    return bool(written) and arguments(written)[1] == "truncated"


def _call_with_json(name: str, text: str, raw_id: str = "") -> Found:
    values, fault = arguments(text, LONGEST)
    return [TextCall(name, values, raw_id)] if NAME.fullmatch(name) and not fault else None


def _json_calls(text: str) -> Found:
    """Objects with a name and arguments, in a list or one after another."""
    if is_heavy(text):
        return None
    try:
        values = list(_documents(text))
    except (ValueError, RecursionError):
        return None
    flat = [item for value in values for item in (value if isinstance(value, list) else [value])]
    calls = [_json_call(value) for value in flat]
    return [call for call in calls if call is not None] if calls and None not in calls else None


def _documents(text: str) -> Iterator[Any]:
    decoder, at = json.JSONDecoder(), 0
    while at < len(text):
        value, at = decoder.raw_decode(text, at)
        yield value
        while at < len(text) and text[at] in "; \t\r\n":
            at += 1


def _json_call(value: Any) -> TextCall | None:
    if not isinstance(value, dict):
        return None
    function = value.get("function")
    fields = function if isinstance(function, dict) else value
    name = fields.get("name")
    given = fields.get("arguments", fields.get("parameters"))
    if not isinstance(name, str) or not NAME.fullmatch(name) or not isinstance(given, dict | str | None):
        return None
    values, fault = arguments(given if given is not None else "")
    return None if fault or not fields.keys() & {"arguments", "parameters"} else TextCall(name, values)


def _python_calls(text: str) -> Found:
    """[read(path="a"), now()]"""
    if not (text.startswith("[") and text.endswith("]")) or len(text) > LONGEST_EXPRESSION:
        return None
    try:
        tree = ast.parse(text, mode="eval").body
        return (
            [_python_call(item) for item in tree.elts] if isinstance(tree, ast.List) and tree.elts else None
        )
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError):
        return None


def _python_call(node: ast.expr) -> TextCall:
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
        raise ValueError("not a call by keywords")
    values = {str(part.arg): ast.literal_eval(part.value) for part in node.keywords if part.arg}
    return TextCall(node.func.id, values)


def _texts_between(text: str, begin: str, end: str) -> Iterator[str]:
    """The text between each pair of marks."""
    at = text.find(begin)
    while at >= 0:
        start = at + len(begin)
        stop = text.find(end, start)
        if stop < 0:
            return
        yield text[start:stop]
        at = text.find(begin, stop + len(end))


def _without_line_breaks(value: str) -> str:
    return value.removeprefix("\n").removesuffix("\n")


def _json_or_text(text: str) -> Any:
    try:
        return loads(text.strip())
    except (ValueError, RecursionError):
        return text
