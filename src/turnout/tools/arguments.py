"""Guardrails before a tool runs: arguments that fit its schema, or every problem named.

Few repairs are safe, and only those are made: no text at all for "no arguments", JSON
encoded twice, JSON in a code fence, a trailing comma, a string that spells the number
the schema wants. Each is named in `Checked.repairs`. Nothing is guessed: what was cut off
is never run, and what cannot be read never becomes `{}`.

What a model may write is not bounded, and the validator cannot be stopped. So arguments are
measured first: those that are too large are refused unread, and those whose check could take
long (`is_costly`) are checked in a process of its own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from jsonschema_rs import ValidationError
from msgspec import Struct

from .. import plain
from ..json_size import LONGEST, MOST_VALUES, values_at_most
from ..model import ToolCall
from .problems import (
    NOTHING,
    SHOWN,
    Problem,
    at,
    cut,
    described,
    problem_in_brief,
    problems_in,
    shown,
    tool_error,
    written,
)
from .schema import Undecodable
from .schema_cost import COSTLY, DETAILED, SMALL
from .tool import Tool

NAMED = 32
"""How many problems are named; the rest are counted."""

MANY = 100
"""More problems than this and none is repaired: each takes 0.1 ms to be read."""

USAGE = 4000  # characters

FEW = 1000  # values; a text with fewer need not be looked at

REREAD = 100_000  # characters up to which text that is not as it should be is read once more

ROUNDS = 2  # JSON inside a string may itself hold numbers as strings

_COMMA = re.compile(r'"(?:[^"\\]|\\.)*+(?:"|\Z)|(,)(?=\s*+[}\]])', re.DOTALL)
_NUMBER = re.compile(r"\s*-?(?:0|[1-9][0-9]{0,40})(?:\.[0-9]{1,40})?(?:[eE][+-]?[0-9]{1,4})?\s*")


class Checked(Struct, frozen=True, gc=False):
    """Arguments after the guardrails. They may be used only when `kind` is empty.

    `kind` is `invalid_arguments`, `truncated_arguments`, `unreadable_arguments` or `arguments_too_large`.
    """

    arguments: dict[str, Any]
    repairs: tuple[str, ...] = ()
    kind: str = ""
    problems: tuple[Problem, ...] = ()
    missing: tuple[str, ...] = ()
    more: int = 0
    is_first: bool = False  # nobody looked for more than the first problem

    @property
    def ok(self) -> bool:
        return not self.kind


def check(tool: Tool, call: ToolCall) -> Checked:
    """Whether a call's arguments fit the tool, after safe repairs."""
    arguments = call.arguments
    if (size := _size(call)) > tool.argument_limit:
        return _too_large(tool, size)
    if not call.fault and tool.fits(arguments):
        return Checked(arguments) if arguments else _no_arguments(call)
    return _looked_into(tool, call)


def is_costly(tool: Tool, call: ToolCall) -> bool:
    """Whether checking a call could take longer than the loop may be held up."""
    size = _size(call)
    if call.fault or size > tool.argument_limit or (size <= SMALL and tool.cost.is_light):
        return False  # with a fault it is refused unread, or read anew and then measured
    steps = _steps(tool, call.arguments, call.raw)
    if steps > DETAILED and tool.cost.branches:  # it is the report of what does not fit that takes long
        return steps > COSTLY or not tool.fits(call.arguments)
    return steps > COSTLY


def _steps(tool: Tool, arguments: Mapping[str, Any], raw: str | None) -> float:
    """How many steps of the validator these arguments may take."""
    text = plain.dumps(arguments) if raw is None else raw
    # A value takes two characters; those of a text that is an argument itself hold no other values.
    texts = sum(len(each) for each in islice(arguments.values(), FEW) if isinstance(each, str))
    at_most = max(len(text) - texts, 0) // 2 + 2
    values = at_most if at_most < FEW else min(at_most, values_at_most(text, at_most))
    cost = tool.cost
    depth = plain.depth_of(arguments, cost.levels, is_tree=True) if cost.is_deep else cost.levels
    return cost.bound(values, depth, len(text))


def _size(call: ToolCall) -> int:
    if call.raw is not None:
        return len(call.raw)
    return len(plain.dumps(call.arguments))


def _too_large(tool: Tool, size: int) -> Checked:
    expected = f"at most {tool.argument_limit:,} characters; send less, or in several calls"
    return not_checked({}, expected, f"{size:,} characters")


def not_checked(arguments: dict[str, Any], expected: str, got: str = "") -> Checked:
    """Arguments that are too much to be read, or to be checked."""
    got = got or shown(arguments)
    return Checked(arguments, (), "arguments_too_large", (Problem("", expected, got),))


def _no_arguments(call: ToolCall) -> Checked:
    said_nothing = call.raw is not None and not call.raw.strip()
    return Checked({}, ("empty",) if said_nothing else ())


def _looked_into(tool: Tool, call: ToolCall) -> Checked:
    arguments, fault, repairs = call.arguments, call.fault, []  # type: dict[str, Any], str, list[str]
    if fault == "too_large" and call.raw is not None and len(call.raw) > LONGEST:
        arguments, fault = plain.arguments(call.raw, tool.argument_limit)  # this tool allows for more
    elif fault == "not_json" and call.raw is not None and len(call.raw) <= REREAD:
        arguments, fault, repairs = _reread(call.raw)
    elif call.raw is not None and not call.raw.strip():
        repairs = ["empty"]
    if fault == "too_large":
        return not_checked({}, f"at most {MOST_VALUES:,} values; send less, or in several calls", "more")
    if fault == "double_encoded":
        repairs.append("double_encoded")
    elif fault:
        return _unreadable(fault, call)
    return _check_values(tool, arguments, call.raw, tuple(repairs))


def check_arguments(tool: Tool, arguments: Mapping[str, Any], repairs: tuple[str, ...] = ()) -> Checked:
    """Whether an object fits the tool's schema, after the repairs that single values may need."""
    text = plain.dumps(arguments)
    if len(text) > tool.argument_limit:
        return _too_large(tool, len(text))
    return _check_values(tool, plain.plain(arguments), text, repairs)


def _check_values(tool: Tool, value: dict[str, Any], text: str | None, repairs: tuple[str, ...]) -> Checked:
    steps = _steps(tool, value, text)
    if steps > COSTLY:
        return not_checked(value, "arguments that take less to be checked")
    if tool.fits(value):
        return Checked(value, repairs)
    if steps > DETAILED:
        return _first_problem(tool, value, repairs)
    value = plain.plain(value)  # repairs are made in it
    for _ in range(ROUNDS):
        counted = tool.validator.evaluate(value).errors()
        if len(counted) > MANY:
            return _overwhelmed(value, repairs, counted)
        if not (mended := tuple(_mend(tool, value))):
            break
        repairs += mended
        if tool.fits(value):
            return Checked(value, repairs)
    return _invalid(tool, value, repairs)


def decode(tool: Tool, checked: Checked) -> tuple[dict[str, Any], Checked]:
    """The Python values a tool is called with; a value that its type refuses is a problem like any other."""
    try:
        return tool.signature.decode(checked.arguments), checked
    except Undecodable as error:
        problem = Problem(
            written(error.path), cut(error.message, 300), shown(at(checked.arguments, error.path))
        )
        return {}, Checked(checked.arguments, checked.repairs, "invalid_arguments", (problem,))


# Text that is not JSON


def _reread(raw: str) -> tuple[dict[str, Any], str, list[str]]:
    repairs = []
    text = raw.strip()
    if len(text) > 6 and text.startswith("```") and text.endswith("```"):
        text = text[3:-3].partition("\n")[2]  # the first line names the language
        repairs.append("fenced")
    arguments, fault = plain.arguments(text)
    if fault == "not_json" and (without := _COMMA.sub(_drop_comma, text)) != text:
        arguments, fault = plain.arguments(without)
        repairs.append("trailing_comma")
    if not text.strip():  # a fence around nothing says nothing
        fault = "not_json"
    return arguments, fault, repairs


def _drop_comma(match: re.Match[str]) -> str:
    return "" if match.group(1) else match.group(0)


def _unreadable(fault: str, call: ToolCall) -> Checked:
    expected = {
        "truncated": "a whole JSON object; what came is cut off, so it was not run",
        "not_json": "a JSON object; what came is not JSON",
        "too_deep": f"a JSON object of at most {plain.MAX_DEPTH} levels; what came is nested deeper",
    }.get(fault, "a JSON object")
    kind = "truncated_arguments" if fault == "truncated" else "unreadable_arguments"
    got = call.raw if call.raw is not None else plain.dumps(call.arguments)
    return Checked({}, (), kind, (Problem("", expected, cut(got, SHOWN)),))


# Single values


def _mend(tool: Tool, value: dict[str, Any]) -> Iterator[str]:
    """Put right, in place, what may be put right; name each repair."""
    for error in tool.validator.iter_errors(value):
        path = error.instance_path
        if not path or not isinstance(error.instance, str):
            continue
        found, kind = _meant(error.instance, set(_wanted(error)))
        if kind:
            at(value, path[:-1])[path[-1]] = found
            yield f"{kind} at {written(path)}"


def _wanted(error: Any) -> Iterable[str]:
    """The types that would fit, provided that only the type is wrong."""
    if error.kind.name == "type":
        return error.kind.types  # type: ignore[no-any-return]
    if error.kind.name not in ("anyOf", "oneOf"):
        return ()
    inner = [problem for branch in getattr(error.kind, "context", ()) for problem in branch]
    if any(problem.kind.name != "type" or problem.instance_path != error.instance_path for problem in inner):
        return ()
    return [kind for problem in inner for kind in problem.kind.types]


def _meant(text: str, wanted: set[str]) -> tuple[Any, str]:
    if wanted & {"integer", "number"} and len(text) < 64 and _NUMBER.fullmatch(text):
        number = plain.loads(text.strip())
        if "number" in wanted or isinstance(number, int) or number.is_integer():
            return number, "number"
    if wanted & {"object", "array"} and text.lstrip()[:1] in ("{", "[") and len(text) <= REREAD:
        try:
            value = plain.loads(text)
        except (ValueError, RecursionError):
            return None, ""
        if ("object" if isinstance(value, dict) else "array") in wanted:
            return value, "double_encoded"
    return None, ""


def _invalid(tool: Tool, value: dict[str, Any], repairs: tuple[str, ...]) -> Checked:
    errors = tool.validator.iter_errors(value)
    found = [problem for error in errors for problem in problems_in(error, tool.signature.schema)]
    missing = tuple(problem.path for problem in found if problem.got == NOTHING)
    named = tuple(found[:NAMED])
    return Checked(value, repairs, "invalid_arguments", named, missing, len(found) - len(named))


def _first_problem(tool: Tool, value: dict[str, Any], repairs: tuple[str, ...]) -> Checked:
    """The first thing that does not fit; there may be more.

    Where the schema has alternatives the validator would report on each of them, at every level.
    """
    if tool.cost.branches:
        unnamed = Problem("", "arguments that fit its parameters", shown(value))
        return Checked(value, repairs, "invalid_arguments", (unnamed,), is_first=True)
    try:
        tool.validator.validate(value)
    except ValidationError as error:
        named = tuple(problems_in(error, tool.signature.schema))
        missing = tuple(problem.path for problem in named if problem.got == NOTHING)
        return Checked(value, repairs, "invalid_arguments", named[:NAMED], missing, is_first=True)
    return Checked(value, repairs)


def _overwhelmed(value: Any, repairs: tuple[str, ...], counted: Sequence[Any]) -> Checked:
    named = tuple(problem_in_brief(error, value) for error in counted[:NAMED])
    return Checked(value, repairs, "invalid_arguments", named, (), len(counted) - NAMED)


# For a model to read


def usage(tool: Tool) -> str:
    """How to call the tool, in one line: `read_file(path: string, limit?: integer)`."""
    schema = tool.signature.schema
    required = set(schema.get("required", ()))
    wanted = (
        f"{name}{'' if name in required else '?'}: {described(kind)}"
        for name, kind in schema.get("properties", {}).items()
    )
    return cut(f"{tool.name}({', '.join(wanted)})", USAGE)


def explanation(tool: Tool, checked: Checked) -> str:
    """The `tool_error` that a model can act on: what is missing, what is wrong, how to call."""
    fields: dict[str, Any] = {"message": _sentence(tool.name, checked)}
    if checked.missing:
        fields["missing"] = list(checked.missing)
    fields["problems"] = [{"path": p.path, "expected": p.expected, "got": p.got} for p in checked.problems]
    if checked.more:
        fields["more_problems"] = checked.more
    if checked.is_first:
        fields["note"] = "Only the first problem is named. There may be more."
    return tool_error(checked.kind, tool.name, usage=usage(tool), **fields)


def _sentence(name: str, checked: Checked) -> str:
    if checked.kind == "truncated_arguments":
        return f"{name} was not run: its arguments were cut off. Write the call again, in smaller parts."
    if checked.kind == "unreadable_arguments":
        return f"{name} was not run: its arguments are not a JSON object. Write the call again."
    if checked.kind == "arguments_too_large":
        return f"{name} was not run: its arguments are too large. Send less, or in several calls."
    if checked.missing:
        return (
            f"{name} was not run: {', '.join(checked.missing)} missing. Write the call again with all of it."
        )
    return f"{name} was not run: its arguments do not fit. Correct them and write the call again."
