"""Why a file tool failed, in words that a model can act on.

An error names the thing, the rule and what to do next; where a name is wrong, it lists similar
names.
"""

from __future__ import annotations

import errno
import os
from difflib import get_close_matches

from ...errors import UsageError
from ...model import Outcome
from ..confine.beneath import PathRefused
from ..confine.file_names import escape_name
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.result import error_outcome

_RULES = {
    "outside": "{path} leads out of the workspace ({root}), and only files inside it can be used. "
    "Symlinks may not lead out or be absolute. Use a path relative to the workspace.",
    "protected": "{path} is protected, because other programs run or obey what is in it (.git, .turnout, "
    ".mcp.json): it may be read, not changed. Ask the user to change it.",
    "denied": "A rule of the user denies {path}: its content cannot be read, under this name or another. "
    "Continue without it, or ask the user.",
    "read_only": "{path} is saved output: it can be read, not changed. Write to a path in the workspace.",
    "not_a_file": "{path} is a device, pipe or socket. Only regular files can be read and written.",
    "changed": "{path} was changed by another program while this call ran; nothing was written. "
    "Read it again and repeat the edit on its current content.",
    "too_large": "{error}. Use shell with a command that works on large files.",
    "invalid": "{error}. Give the path without it.",
}


def workspace_of(context: ToolContext) -> WorkspaceFiles:
    """The workspace of this call; file tools need one."""
    if not isinstance(context.workspace, WorkspaceFiles):
        raise UsageError(
            f"{context.name or 'this tool'} needs a workspace; give the session workspace=FOLDER"
        )
    return context.workspace


def explain_error(error: OSError, path: str, workspace: WorkspaceFiles) -> Outcome:
    """The error of the system for a path, and what to do about it."""
    where = escape_name(path) or "the empty path"
    if isinstance(error, PathRefused):
        words = {"path": where, "root": workspace.root, "error": escape_name(error.strerror or "")}
        return error_outcome(_RULES[error.rule].format(**words))
    match error.errno:
        case errno.ENOENT:
            return error_outcome(f"{where} does not exist. {_nearby(path, workspace)}")
        case errno.EISDIR:
            return error_outcome(f"{where} is a folder, not a file. list_directory shows what is in it.")
        case errno.ENOTDIR:
            return error_outcome(f"{where} treats a file as a folder. list_directory shows what is there.")
        case errno.EACCES | errno.EPERM | errno.EROFS:
            return error_outcome(
                f"{where}: permission denied by the system. Ask the user to change its mode or owner."
            )
        case errno.ENAMETOOLONG:
            return error_outcome(
                "The path is too long for the system (255 bytes a name, 4,095 in all). Shorten it."
            )
        case errno.ELOOP:
            return error_outcome(
                f"{where} runs through symlinks in a circle. list_directory shows where they point."
            )
        case errno.ENOSPC | errno.EDQUOT:
            return error_outcome(f"{where} was not written: the disk is full. Ask the user to make room.")
        case _:
            return error_outcome(f"{where}: {error.strerror or error}.")


def _nearby(path: str, workspace: WorkspaceFiles) -> str:
    """Similar names in the same folder."""
    folder, _, name = path.rstrip("/").rpartition("/")
    if path.startswith("~"):
        return "~ is not expanded here; give a path relative to the workspace."
    try:
        names = [entry.name for entry in workspace.entries(folder or ".")]
    except OSError:
        return "Its folder does not exist either; list_directory shows what does."
    by_lower = {each.lower(): each for each in names}
    close = [by_lower[each] for each in get_close_matches(name.lower(), by_lower, 3, 0.6)]
    if not close:
        return "list_directory shows what is there."
    return f"Did you mean {' or '.join(escape_name(os.path.join(folder, each)) for each in close)}?"
