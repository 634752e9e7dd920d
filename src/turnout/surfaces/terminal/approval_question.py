"""An approval request as a question on the screen, and a key as its answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Any

from msgspec import Struct

from ...plain import loads
from ...tools.policy.approval import ApprovalRequest, Decision
from ...tools.policy.rules import Rule, is_mild
from .changes import Look, change_of
from .pieces import ApprovalQuestion

MAIN = ("command", "path", "url", "pattern", "prompt")
IN_A_CHANGE = {"write_file": ("content",), "edit_file": ("old_text", "new_text"), "apply_patch": ("patch",)}


class AnswerChoice(Struct, frozen=True):
    """A key, and what it answers."""

    key: str
    word: str


ONCE = AnswerChoice("y", "yes, once")
SESSION = AnswerChoice("s", "yes, for this session")
ALWAYS = AnswerChoice("a", "always here")
NO = AnswerChoice("n", "no")
EDIT = AnswerChoice("e", "edit")
CHOICES = (ONCE, SESSION, ALWAYS, NO, EDIT)
PATTERN = {
    SESSION: AnswerChoice("S", "commands to allow for this session"),
    ALWAYS: AnswerChoice("A", "commands to allow always here"),
}
"""What a lasting yes becomes when the user edits which commands it covers."""


def question_of(request: ApprovalRequest, look: Look, tool_risk: str = "risky") -> ApprovalQuestion:
    """Everything the user must know to answer: the whole command, the change, other arguments, the reason."""
    arguments = request.arguments
    main = next((name for name in MAIN if isinstance(arguments.get(name), str)), "")
    change = change_of(request.tool, arguments, look)
    left_out = {main, *(IN_A_CHANGE.get(request.tool, ()) if change else ())}
    rest = {name: value for name, value in arguments.items() if name not in left_out}
    details = [line for name, value in rest.items() for line in _detail_lines(name, value)]
    if request.reach == "outside":
        details.append(f"outside the workspace: {', '.join(request.paths)}")
    return ApprovalQuestion(
        request.tool,
        request.risk,
        request.why,
        str(arguments.get(main, "")),
        tuple(details),
        change,
        request.problem,
        covers(request, tool_risk),
    )


def covers(request: ApprovalRequest, tool_risk: str) -> str:
    """What a lasting yes would allow. It depends on the risk of the tool and on the risk of this call."""
    if is_mild(tool_risk, request.risk):
        return f"every {request.tool} {request.reach} the workspace"
    return "exactly this call"


def decision(request: ApprovalRequest, choice: AnswerChoice, text: str = "") -> Decision:
    """The answer to a request; `text` is the reason for a no, or the edited arguments."""
    match choice.key:
        case "y":
            return request.once()
        case "s":
            return request.for_session()
        case "a":
            return request.always()
        case "S":
            return request.for_session(rule=_pattern_rule(request, text))
        case "A":
            return request.always(rule=_pattern_rule(request, text))
        case "e":
            return request.edit(parse_arguments(text))
        case _:
            return request.no(text)


def pattern_of(request: ApprovalRequest) -> str | None:
    """The pattern that covers only this command; None if the call is not a command."""
    command = request.arguments.get("command")
    return command if isinstance(command, str) and "\n" not in command else None


def _pattern_rule(request: ApprovalRequest, pattern: str) -> Rule:
    """A rule for commands like this one, such as `npm test *`; ValueError says why it cannot be one."""
    command = str(request.arguments.get("command", ""))
    program = pattern.partition(" ")[0]
    if not program or any(sign in program for sign in "*?["):
        raise ValueError("the pattern must start with the name of a program, as in: npm test *")
    if not fnmatchcase(command, pattern) and command != pattern:
        raise ValueError(f"{pattern!r} does not cover the command in question; a * covers any text")
    return Rule("allow", request.tool, arguments={"command": pattern})


def answer_line(decided: Decision, asked: ApprovalQuestion) -> str:
    """The answer in words. A lasting yes names what it covers."""
    covered = decided.rule.scope if decided.rule is not None else asked.covers
    match decided.answer:
        case "session":
            return f"{SESSION.word}: {covered}"
        case "always":
            return f"{ALWAYS.word}: {covered}; /permissions revokes it"
        case "once":
            return ONCE.word
        case "no":
            return NO.word
        case _:
            return "edited"


def arguments_text(arguments: Mapping[str, Any]) -> str:
    """Arguments as text that the user can edit."""
    return json.dumps(dict(arguments), ensure_ascii=False, indent=2)


def parse_arguments(text: str) -> dict[str, Any]:
    """Arguments as the user edited them; ValueError says what is wrong."""
    value = loads(text)
    if not isinstance(value, dict):
        raise ValueError("the arguments must be a JSON object")
    return value


def _detail_lines(name: str, value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    first, *rest = text.split("\n")
    return [f"{name}: {first}", *(f"  {line}" for line in rest)]
