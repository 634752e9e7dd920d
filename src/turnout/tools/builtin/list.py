"""list_directory: what a folder holds, as a short tree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from ...model import Outcome
from ..confine.file_names import escape_name
from ..confine.ignore import NOISE
from ..confine.open_folder import Entry
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.tool import tool
from .explain import explain_error, workspace_of

SHOWN = 500
COUNTED = 50_000  # entries beyond those shown that are counted
DEPTH = 5


@tool(risk="read", retry_safe=True, groups=("files",))
def list_directory(ctx: ToolContext, path: str = ".", depth: int = 1) -> Outcome | str:
    """List a folder: subfolders with a slash, files with their size in bytes, symlinks with their target.

    Args:
        path: Folder inside the workspace; the workspace itself by default.
        depth: How many levels of subfolders to show (1 to 5).
    """
    workspace = workspace_of(ctx)
    try:
        entries = workspace.entries(path or ".")
    except OSError as error:
        return explain_error(error, path, workspace)
    name = escape_name(path or ".").rstrip("/") or "/"
    if not entries:
        return f"{name}/ is empty"
    lines = _tree(workspace, (path or ".").rstrip("/") or "/", entries, min(max(depth, 1), DEPTH))
    kept = list(islice(lines, SHOWN))
    more = sum(1 for _ in islice(lines, COUNTED))
    rest = [f"[{more:,} more entries left out; list a subfolder to see them]"] if more else []
    return "\n".join([f"{name}/ ({len(entries):,} entries)", *kept, *rest])


def _tree(
    workspace: WorkspaceFiles, folder: str, entries: list[Entry], depth: int, indent: str = "  "
) -> Iterator[str]:
    for entry in sorted(entries, key=lambda entry: (entry.kind != "directory", entry.name)):
        yield indent + _line_of_entry(entry)
        if entry.kind != "directory" or depth <= 1 or entry.name in NOISE:
            continue
        below = f"{folder}/{entry.name}"
        try:
            inside = workspace.entries(below)
        except OSError as error:
            yield f"{indent}  [cannot be read: {error.strerror}]"
            continue
        yield from _tree(workspace, below, inside, depth - 1, indent + "  ")


def _line_of_entry(entry: Entry) -> str:
    name = escape_name(entry.name)
    match entry.kind:
        case "directory":
            return f"{name}/"
        case "link":
            return f"{name} -> {escape_name(entry.target)}"
        case "file":
            return f"{name}  {entry.size:,}"
        case "other":
            return f"{name}  (device, pipe or socket)"
