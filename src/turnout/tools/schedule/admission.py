"""From what a model wrote to a call that may run: the tool, its arguments, its places, the verdict.

Whatever stands in the way becomes an outcome that the model can act on.
"""

from __future__ import annotations

from posixpath import normpath
from typing import Any

from msgspec import Struct

from ...model import Outcome, Text, ToolCall
from ..declare.arguments import Checked, check, check_arguments, decode, explanation, is_costly
from ..declare.footprint import LONGEST_PATH, Footprint
from ..declare.problems import tool_error
from ..declare.registry import Found, Registry
from ..declare.tool import Tool
from ..policy.rules import Policy, Reach, Subject, Verdict
from ..policy.situation import Assessment, Situation


class Admitted(Struct, frozen=True):
    """A call whose arguments fit. `repairs` name what was put right; `renamed` a name that was."""

    tool: Tool
    arguments: dict[str, Any]
    values: dict[str, Any]
    subject: Subject
    footprint: Footprint
    verdict: Verdict
    repairs: tuple[str, ...] = ()
    renamed: bool = False


class Refused(Struct, frozen=True):
    """A call that cannot run, and what the model reads."""

    outcome: Outcome
    why: str


def admit(
    call: ToolCall, registry: Registry, policy: Policy, situation: Situation | None = None
) -> Admitted | Refused:
    """Whether this call can run, and how."""
    found = registry.find(call.name, policy.mode)
    if not isinstance(found, Found):
        return Refused(failed(found.explanation), "disabled_tool" if found.disabled else "unknown_tool")
    return _admitted(found.tool, check(found.tool, call), policy, situation or Situation(), found.repaired)


def costly_tool(call: ToolCall, registry: Registry, policy: Policy) -> Tool | None:
    """The tool of a call that should be checked in a process of its own, if this is one."""
    found = registry.find(call.name, policy.mode)
    return found.tool if isinstance(found, Found) and is_costly(found.tool, call) else None


def admit_checked(
    tool: Tool, checked: Checked, policy: Policy, situation: Situation | None, renamed: bool
) -> Admitted | Refused:
    """The same for a call that was checked elsewhere."""
    return _admitted(tool, checked, policy, situation or Situation(), renamed)


def admit_edited(
    tool: Tool, arguments: dict[str, Any], policy: Policy, situation: Situation | None = None
) -> Admitted | Refused:
    """The same for arguments that a user wrote in place of the model's."""
    return _admitted(tool, check_arguments(tool, arguments), policy, situation or Situation(), False)


def failed(message: str) -> Outcome:
    return Outcome("error", (Text(message),))


def too_many(call: ToolCall, limit: int) -> Outcome:
    """The answer to a call beyond the limit of one turn."""
    message = f"This call was not run: one turn may hold {limit} calls. Make it again in the next turn."
    return failed(tool_error("too_many_calls", call.name, message, limit=limit))


def held(tool: Tool) -> Outcome:
    """The answer to a call whose path is still in the hands of a tool that would not stop."""
    message = (
        f"{tool.name} was not run: an earlier call that was stopped may still be changing the same path. "
        "Inspect the state of things before you try again."
    )
    return failed(tool_error("path_in_use", tool.name, message))


def timed_out(tool: Tool, seconds: float, output: str, given_up: bool) -> Outcome:
    """The answer to a call that took too long: it may have taken effect."""
    ending = "It did not stop when told to and may still run." if given_up else "It was stopped."
    message = f"{tool.name} took longer than {seconds:g} s. {ending} It may have taken effect: inspect first."
    content = [Text(tool_error("timeout", tool.name, message, seconds=seconds))]
    content += [Text(output)] if output.strip() else []
    return Outcome("error", tuple(content), reason="stopped")


def _admitted(
    tool: Tool, checked: Checked, policy: Policy, situation: Situation, renamed: bool
) -> Admitted | Refused:
    values, checked = decode(tool, checked) if checked.ok else ({}, checked)
    if not checked.ok:
        return Refused(failed(explanation(tool, checked)), checked.kind)
    arguments = checked.arguments
    workspace = situation.workspace
    try:
        assessed = tool.assess(arguments, situation) if tool.assess else None
        named = (*tool.touched(arguments), *(assessed.paths if assessed else ()))
        places = tuple(_spellings(path, workspace) for path in named)
        mentions = _mentioned(assessed, policy, workspace)
    except Exception as error:  # the tool's own function of its paths
        return Refused(failed(f"{tool.name} was not run: its paths cannot be told ({error!r})"), "paths")
    reach = _reach(tool, places, workspace)
    subject = Subject(
        tool,
        arguments,
        places,
        reach,
        assessed,
        situation.tainted,
        mentions,
        tuple(getattr(workspace, "roots", ())),
    )
    footprint = _footprint(subject)
    return Admitted(
        tool, arguments, values, subject, footprint, policy.decide(subject), checked.repairs, renamed
    )


def _mentioned(assessed: Assessment | None, policy: Policy, workspace: Any) -> tuple[str, ...]:
    """What the call may touch besides, in every spelling; looked up only where a rule could care."""
    if assessed is None or not any(rule.path and rule.effect != "allow" for rule in policy.rules):
        return ()
    named = (each for path in assessed.mentions for each in _spellings(path, workspace))
    return tuple(dict.fromkeys(named))


def _footprint(subject: Subject) -> Footprint:
    """What the call touches. A command that only reads may look at more than the paths it names."""
    tool, only_reads = subject.tool, subject.assessed is not None and subject.assessed.only_reads
    return Footprint(
        tuple(spellings[-1] for spellings in subject.paths),
        changes=tool.changes_things and not only_reads,
        alone=not tool.parallel and not only_reads,
        everywhere=not tool.parallel and only_reads,
        counted=not tool.delegates,
    )


def _spellings(path: str, workspace: Any) -> tuple[str, ...]:
    """The path as written, and last the one name of the place it leads to."""
    root = getattr(workspace, "root", "")
    plain = _relative(normpath(path), root)
    if len(path) > LONGEST_PATH or not hasattr(workspace, "identity"):
        return (plain,)
    identity = _relative(workspace.identity(path), root)
    return (plain,) if identity == plain else (plain, identity)


def _relative(path: str, root: str) -> str:
    if root and path == root:
        return "."
    return path.removeprefix(root.rstrip("/") + "/") if root else path


def _reach(tool: Tool, places: tuple[tuple[str, ...], ...], workspace: Any) -> Reach:
    shows = getattr(workspace, "shows", lambda path: not path.startswith(("/", "../")) and path != "..")
    leaves = not all(shows(path) for place in places for path in place)
    return "outside" if tool.outside or (leaves and workspace is not None) else "inside"
