"""apply_patch: changes to several files, all of them or none.

Every new text is computed before the first is written. If writing fails in the middle, the files
written so far are restored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from msgspec import Struct

from ...model import Outcome
from ..confine.beneath import PathRefused
from ..confine.file_names import escape_name
from ..confine.file_text import DecodedText, decode_text, is_binary
from ..confine.open_folder import Stamp
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool
from ..policy.situation import Assessment, Situation
from .explain import explain_error, workspace_of
from .patch_format import Change, PatchError, apply_hunks, parse_patch

LIMIT = 16 * 1024 * 1024
FILES = 100


def touched_paths(arguments: Mapping[str, Any]) -> Iterable[str]:
    """The paths that a patch names; none when it cannot be read, since then it changes nothing."""
    return [path for change in _changes(arguments) for path in change.paths]


def assess_patch(arguments: Mapping[str, Any], situation: Situation) -> Assessment:
    """A patch writes; one that deletes a file cannot be undone."""
    deletes = any(change.kind == "delete" for change in _changes(arguments))
    return Assessment("dangerous", "it deletes files") if deletes else Assessment("write")


def _changes(arguments: Mapping[str, Any]) -> list[Change]:
    try:
        return parse_patch(str(arguments.get("patch", "")))
    except PatchError:
        return []


@tool(risk="write", paths=touched_paths, groups=("files",), assess=assess_patch)
def apply_patch(ctx: ToolContext, patch: str) -> Outcome | str:
    """Change, add, delete or rename several files in one step. Nothing is written unless all of it fits.

    Args:
        patch: A unified diff, or this form:
            *** Begin Patch
            *** Update File: src/a.py
            @@ def main():
             a line that stays
            -a line that goes
            +a line that comes
            *** Add File: src/new.py
            +its lines
            *** Delete File: src/old.py
            *** End Patch
            Lines that stay must stand exactly as in the file; three around each change are enough.
            `*** Move to: new/path` below an Update line renames the file.
    """
    workspace = workspace_of(ctx)
    try:
        changes = parse_patch(patch)
    except PatchError as error:
        return error_outcome(f"The patch was not applied: {error}.")
    if len(changes) > FILES:
        return error_outcome(f"The patch names {len(changes)} files; change at most {FILES} in one call.")
    plan = PatchPlan(workspace)
    for change in changes:
        try:
            plan.add(change)
        except PatchError as error:
            return error_outcome(f"Nothing was changed. {escape_name(change.path)}: {error}")
        except OSError as error:
            return error_outcome(f"Nothing was changed. {explain_error(error, change.path, workspace).text}")
    return plan.carry_out()


class PatchStep(Struct, frozen=True):
    """One write or one deletion, and the content before it."""

    path: str
    data: bytes | None
    before: bytes | None
    stamp: Stamp | None
    note: str


class PatchPlan:
    """The steps of a patch, file by file, before anything is written."""

    def __init__(self, workspace: WorkspaceFiles) -> None:
        self.workspace = workspace
        self.steps: dict[str, PatchStep] = {}

    def add(self, change: Change) -> None:
        match change.kind:
            case "add":
                self._add_file(change)
            case "delete":
                data, stamp = self._read_file(change.path)
                self._put_step(
                    PatchStep(change.path, None, data, stamp, f"deleted {escape_name(change.path)}")
                )
            case "update":
                self._update_file(change)

    def _add_file(self, change: Change) -> None:
        if self._exists(change.path):
            raise PatchError("it exists already; use an Update section to change it")
        lines = [line for hunk in change.hunks for line in hunk.new]
        text = "\n".join(lines) + ("" if change.ends_open or not lines else "\n")
        self._put_step(
            PatchStep(
                change.path, text.encode(errors="replace"), None, None, f"added {escape_name(change.path)}"
            )
        )

    def _update_file(self, change: Change) -> None:
        data, stamp = self._read_file(change.path)
        if is_binary(data):
            raise PatchError("it is binary; only text can be patched")
        try:
            new = _patched_bytes(decode_text(data), change)
        except UnicodeEncodeError:
            raise PatchError("its encoding has no such characters; rewrite it with write_file") from None
        if not change.to:
            self._put_step(PatchStep(change.path, new, data, stamp, f"changed {escape_name(change.path)}"))
            return
        if self._exists(change.to):
            raise PatchError(f"it cannot move to {escape_name(change.to)}, which exists already")
        self._put_step(
            PatchStep(
                change.to, new, None, None, f"moved {escape_name(change.path)} to {escape_name(change.to)}"
            )
        )
        self._put_step(PatchStep(change.path, None, data, stamp, ""))

    def _put_step(self, step: PatchStep) -> None:
        place = self.workspace.identity(step.path)
        if place in self.steps:
            raise PatchError("the patch names it twice; put its changes into one section")
        self.steps[place] = step

    def _read_file(self, path: str) -> tuple[bytes, Stamp]:
        return self.workspace.read(path, LIMIT)

    def _exists(self, path: str) -> bool:
        try:
            self.workspace.kind(path)
        except PathRefused:
            raise
        except OSError:
            return False
        return True

    def carry_out(self) -> Outcome | str:
        done: list[PatchStep] = []
        for step in self.steps.values():
            try:
                self._do_step(step)
                done.append(step)
            except OSError as error:
                problem = explain_error(error, step.path, self.workspace).text
                return error_outcome(f"{problem} {self._undo_steps(done)}")
        notes = [step.note for step in self.steps.values() if step.note]
        return f"Applied the patch: {', '.join(notes)}"

    def _do_step(self, step: PatchStep) -> None:
        if step.data is None:
            self.workspace.delete(step.path, expected=step.stamp)
        else:
            self.workspace.write(step.path, step.data, expected=step.stamp)

    def _undo_steps(self, done: list[PatchStep]) -> str:
        left = []
        for step in reversed(done):
            try:
                if step.before is None:
                    self.workspace.delete(step.path)
                else:
                    self.workspace.write(step.path, step.before)
            except OSError:
                left.append(escape_name(step.path))
        return f"These could not be restored: {', '.join(left)}." if left else "Nothing was changed."


def _patched_bytes(file: DecodedText, change: Change) -> bytes:
    """The new bytes of a file; lines that stay keep their endings."""
    ends_open = bool(file.text) and not file.text.endswith("\n")
    lines = file.text.split("\n")
    if not ends_open:
        lines.pop()
    result = apply_hunks(lines, change.hunks, "\r" if file.newline == "\r\n" else "")
    text = "\n".join(result) + ("\n" if result and not (ends_open or change.ends_open) else "")
    return file.encode(text)
