"""From what a model wrote to a call that may run: the tool, its arguments, its places, the verdict.

A call that cannot run becomes an outcome that tells the model why.
"""

from __future__ import annotations

from posixpath import normpath
from typing import Any

from msgspec import Struct

from ...model import Outcome, ToolCall
from ..declare.arguments import Checked, check_arguments, check_call, decode_arguments, explanation, is_costly
from ..declare.footprint import LONGEST_PATH, Footprint
from ..declare.registry import FoundTool, Registry
from ..declare.result import error_outcome
from ..declare.tool import Tool
from ..policy.rules import Policy, Reach, Subject, Verdict
from ..policy.situation import Assessment, Situation


class Admitted(Struct, frozen=True):
    """A call whose arguments fit. `repairs` name what was corrected; `renamed` says that its name was."""

    tool: Tool
    arguments: dict[str, Any]
    values: dict[str, Any]
    subject: Subject
    footprint: Footprint
    verdict: Verdict
    repairs: tuple[str, ...] = ()
    renamed: bool = False


class RefusedCall(Struct, frozen=True):
    """A call that cannot run: what the model reads, and one word for why."""

    outcome: Outcome
    why: str


def admit_call(
    call: ToolCall, registry: Registry, policy: Policy, situation: Situation | None = None
) -> Admitted | RefusedCall:
    """Whether this call can run, and how."""
    found = registry.find(call.name, policy.mode)
    if not isinstance(found, FoundTool):
        return RefusedCall(
            error_outcome(found.explanation), "disabled_tool" if found.disabled else "unknown_tool"
        )
    return admit_checked(
        found.tool, check_call(found.tool, call), policy, situation or Situation(), found.repaired
    )


def costly_tool(call: ToolCall, registry: Registry, policy: Policy) -> Tool | None:
    """The tool of a call whose check may take long and belongs in a separate process; else None."""
    found = registry.find(call.name, policy.mode)
    return found.tool if isinstance(found, FoundTool) and is_costly(found.tool, call) else None


def admit_edited(
    tool: Tool, arguments: dict[str, Any], policy: Policy, situation: Situation | None = None
) -> Admitted | RefusedCall:
    """The same for arguments that a user wrote in place of the model's."""
    return admit_checked(tool, check_arguments(tool, arguments), policy, situation or Situation(), False)


def admit_checked(
    tool: Tool, checked: Checked, policy: Policy, situation: Situation, renamed: bool
) -> Admitted | RefusedCall:
    """The same for arguments that were checked before; `renamed` if the model misspelt the tool's name."""
    values, checked = decode_arguments(tool, checked) if checked.ok else ({}, checked)
    if not checked.ok:
        return RefusedCall(error_outcome(explanation(tool, checked)), checked.kind)
    arguments = checked.arguments
    workspace = situation.workspace
    try:
        assessed = tool.assess(arguments, situation) if tool.assess else None
        named = (*tool.touched_paths(arguments), *(assessed.paths if assessed else ()))
        places = tuple(_spellings(path, workspace) for path in named)
        mentions = _mentioned_paths(assessed, policy, workspace)
    except Exception as error:  # the tool's own function of its paths
        return RefusedCall(
            error_outcome(f"{tool.name} was not run: its paths cannot be determined ({error!r})"), "paths"
        )
    reach = _reach_of(tool, places, workspace)
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


def _mentioned_paths(assessed: Assessment | None, policy: Policy, workspace: Any) -> tuple[str, ...]:
    """Paths that the call may touch besides, in every spelling; only looked up where a rule names paths."""
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


def _reach_of(tool: Tool, places: tuple[tuple[str, ...], ...], workspace: Any) -> Reach:
    shows = getattr(workspace, "shows", lambda path: not path.startswith(("/", "../")) and path != "..")
    leaves = not all(shows(path) for place in places for path in place)
    return "outside" if tool.outside or (leaves and workspace is not None) else "inside"
