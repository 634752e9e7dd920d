"""A small "model" made of rules: enough for a useful conversation with tools and no network.

It reads the prompt, calls the matching tools (several at once where several match), and answers
from their results. It never claims more than the results show. Ask it to read files, list a
folder, search, run a command, write or change a file, look over a project, or to use any tool by
its name.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from ..model import ModelTurn, Outcome, Text, ToolSpec
from ..wire.shared.reply import Call, Part, Say, Think
from .request import SimulatedRequest

Result = tuple[str, dict[str, Any], Outcome]

FILE = r"(?:[\w.-]+/)*[\w-]+(?:\.[\w-]+)+|README|Makefile|Dockerfile|LICENSE"
QUOTED = r"`([^`]+)`|\"([^\"]+)\"|“([^”]+)”"
_BEHIND = re.compile(r"\s*(?:^The file ([^\n]+):\n\n|^I ran this command myself:\n)", re.MULTILINE)
"""How turnout writes files and commands that come with a prompt."""

SHOWN_LINES = 6
SHOWN_LETTERS = 300


class DemoRule(Struct, frozen=True):
    """What a user may ask for, and the calls that follow."""

    pattern: re.Pattern[str]
    tool: str
    arguments: Callable[[re.Match[str]], dict[str, Any]]
    repeats: bool = False  # every match is a separate call


def _make_rule(
    pattern: str, tool: str, arguments: Callable[[re.Match[str]], Any], repeats: bool = False
) -> DemoRule:
    return DemoRule(re.compile(pattern, re.IGNORECASE | re.DOTALL), tool, arguments, repeats)


ABOUT = (
    "I am a model made of rules. Ask me to understand the code, read README.md, search for TODO, run `ls`, "
    "write notes.md saying: hello, or replace `a` with `b` in a file."
)

RULES: tuple[DemoRule, ...] = (
    _make_rule(
        r"\b(understand|overview|explore|explain|look over|get to know)\b.{0,40}\b(code|project|repo\w*)\b"
        r"|\bwhat (is|does) this (project|code|repo\w*)\b|\boverview\b",
        "codebase_overview",
        lambda found: {},
    ),
    _make_rule(
        rf"\b(?:replace|change) (?:{QUOTED}|(\w+)) (?:with|by|to) (?:{QUOTED}|(\w+)) in ({FILE})",
        "edit_file",
        lambda found: {
            "path": found[9],
            "old_text": _first_group(found.groups()[:4]),
            "new_text": _first_group(found.groups()[4:8]),
        },
    ),
    _make_rule(
        rf"\b(?:write|create|make)\b(?: a file)?(?: called)? ({FILE})(?: with| saying| containing)?:? (.+)$",
        "write_file",
        lambda found: {"path": found[1], "content": found[2].strip(' `"“”') + "\n"},
    ),
    _make_rule(
        rf"\b(?:delete|remove)\b(?: the)?(?: file)? ({FILE})",
        "delete_file",
        lambda found: {"path": found[1]},
    ),
    _make_rule(
        rf"\b(?:run|execute)\b(?: the command)? (?:{QUOTED})",
        "shell",
        lambda found: {"command": _first_group(found.groups())},
    ),
    _make_rule(
        r"\brun ((?:git|ls|wc|echo|python3?|cat|make|pytest) [^.;\n]*)",
        "shell",
        lambda found: {"command": found[1].strip()},
    ),
    _make_rule(
        rf"\b(?:search|grep|find|look for|where is|uses of)\b(?: for)?(?: all)?(?: uses of)? "
        rf"(?:{QUOTED}|(\w+))(?! \w*file)",
        "grep",
        lambda found: {"pattern": _first_group(found.groups())},
    ),
    _make_rule(
        r"\b(?:list|show|what)\b.{0,30}\b(?:files|folder|directory|directories)\b",
        "list_directory",
        lambda found: {},
    ),
    _make_rule(
        rf"(?<![\w/.`\"-])({FILE})(?![\w/-])", "read_file", lambda found: {"path": found[1]}, repeats=True
    ),
)
"""The narrowest rule first; text that one rule has used is removed for the next."""


def demo(asked: SimulatedRequest) -> list[Part]:
    """The answer of the demo model to a request."""
    if asked.results:
        if further := _second_look(asked):
            return [Think("One more look before I answer."), *further]
        return [Think("The results are in."), Say(_answer_text(asked.results))]
    calls = list(_calls_for(asked)) if asked.may_call else []
    if not calls:
        return [Say(_from_memory(asked))]
    names = ", ".join(dict.fromkeys(call.name for call in calls))
    together = " at once" if len(calls) > 1 else ""
    return [Think(f"I need {names}{together}."), *calls]


# What to call


def _prompt_and_files(asked: SimulatedRequest) -> tuple[str, dict[str, str]]:
    """The text of the user, and the files that follow it: files hold no requests."""
    words, *behind = _BEHIND.split(asked.user)
    files = dict(zip(behind[::2], behind[1::2], strict=True))
    for path in files:
        words = words.replace(f'@"{path}"', " ").replace(f"@{path}", " ") if path else words
    return words, {path: text for path, text in files.items() if path}


def _calls_for(asked: SimulatedRequest) -> Iterator[Call]:
    text, found = _prompt_and_files(asked)[0], False
    for rule in RULES:
        if rule.tool not in asked.tools:
            continue
        matches = list(rule.pattern.finditer(text))[: None if rule.repeats else 1]
        for match in matches:
            found = True
            yield Call(rule.tool, rule.arguments(match))
            text = text.replace(match[0], " ", 1)
    if not found:
        yield from _calls_by_tool_name(asked)


def _calls_by_tool_name(asked: SimulatedRequest) -> Iterator[Call]:
    """Calls of any other tool that the user names: `weather` in "the weather in Paris and Oslo"."""
    words = _prompt_and_files(asked)[0]
    said = words.lower()
    for spec in (tool for tool in asked.history.tools if tool.is_function):
        named = re.split(r"[_\W]+", spec.name.lower())
        if any(len(word) > 3 and word in said for word in named):
            for arguments in _guess_arguments(spec, words):
                yield Call(spec.name, arguments)


def _guess_arguments(spec: ToolSpec, text: str) -> list[dict[str, Any]]:
    """Arguments for the required texts of a tool: quoted texts, or names."""
    properties = spec.parameters.get("properties") or {}
    required = [name for name in spec.parameters.get("required") or () if name in properties]
    if not required:
        return [{}]
    quoted = [_first_group(groups) for groups in re.findall(QUOTED, text)]
    named = quoted or re.findall(r"(?<=[a-z,] )[A-Z]\w+", text) or [text]
    if len(required) > 1:
        values = [*named, *named[-1:] * len(required)]
        return [
            {
                name: _value_for_schema(properties[name], value)
                for name, value in zip(required, values, strict=False)
            }
        ]
    return [{required[0]: _value_for_schema(properties[required[0]], value)} for value in named]


def _value_for_schema(schema: Any, value: str) -> Any:
    kind = schema.get("type") if isinstance(schema, dict) else "string"
    if kind in ("integer", "number"):
        digits = re.search(r"-?\d+", value)
        return int(digits[0]) if digits else 1
    return [value] if kind == "array" else kind != "boolean" and value


def _second_look(asked: SimulatedRequest) -> list[Call]:
    """After an overview that names a README, read it."""
    names = [name for name, _, _ in asked.results]
    if names != ["codebase_overview"] or "read_file" not in asked.tools or not asked.may_call:
        return []
    readme = re.search(r"\bREADME(?:\.\w+)?", asked.results[0][2].text)
    return [Call("read_file", {"path": readme[0]})] if readme else []


# What to say


def _answer_text(results: tuple[Result, ...]) -> str:
    told = [_result_text(*result) for result in results]
    return told[0] if len(told) == 1 else "\n\n".join(f"{at}. {text}" for at, text in enumerate(told, 1))


def _result_text(name: str, arguments: dict[str, Any], outcome: Outcome) -> str:
    text = outcome.text.strip()
    subject = _subject(name, arguments)
    if re.match(r"(The user cancelled|The user refused|This call|No result of this call)", text):
        return f"{subject} gave no result: {text}"
    if outcome.status not in ("complete", "interrupted") or text.lower().startswith("error"):
        return f"{subject} failed: {_truncate_text(text)}"
    lines = text.count("\n") + 1
    counted = f" ({lines} lines)" if lines > 1 else ""
    return f"{subject}{counted}:\n\n```\n{_truncate_text(text)}\n```"


def _subject(name: str, arguments: dict[str, Any]) -> str:
    for key in ("path", "command", "pattern"):
        if isinstance(arguments.get(key), str):
            return f"`{name}` on `{arguments[key]}`"
    given = ", ".join(f"{value}" for value in arguments.values())
    return f"`{name}` for {given}" if given else f"`{name}`"


def _truncate_text(text: str) -> str:
    lines = text.splitlines()
    short = "\n".join(line[:160] for line in lines[:SHOWN_LINES])
    if len(short) > SHOWN_LETTERS:
        short = short[:SHOWN_LETTERS]
    return short if short == text else f"{short} …"


def _from_memory(asked: SimulatedRequest) -> str:
    """An answer without tools, from what the conversation holds already."""
    words, files = _prompt_and_files(asked)
    if files:
        return _answer_text(
            tuple(("file", {"path": path}, _outcome_of_text(text)) for path, text in files.items())
        )
    settled = [
        (call.name, call.arguments, outcome)
        for turn in asked.history.turns
        if isinstance(turn, ModelTurn)
        for call in turn.tool_calls
        if (outcome := asked.history.interaction(call.id).outcome) is not None
    ]
    if not settled:
        known = ", ".join(f"`{name}`" for name in asked.tools) or "none"
        return f"You said: {words[:200]}\n\n{ABOUT} My tools are: {known}."
    count = f"{len(settled)} tool result{'s' if len(settled) > 1 else ''}"
    return f"From this conversation I know {count}. The last one: {_result_text(*settled[-1])}"


def _outcome_of_text(text: str) -> Outcome:
    return Outcome("complete", (Text(text),))


def _first_group(groups: Any) -> str:
    return next((group for group in groups if group), "")
