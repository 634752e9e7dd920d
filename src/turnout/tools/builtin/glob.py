"""glob: the files whose names fit a pattern, without what .gitignore leaves out."""

from __future__ import annotations

from itertools import islice

from ...model import Outcome
from ..confine.file_names import escape_name
from ..declare.context import ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool
from .explain import explain_error, workspace_of
from .grep import files_below

SHOWN = 500
COUNTED = 50_000  # files beyond those shown that are counted


@tool(risk="read", retry_safe=True, timeout=60, groups=("files",))
def glob(ctx: ToolContext, pattern: str, path: str = ".", include_ignored: bool = False) -> Outcome | str:
    """Find files by name: *.py anywhere, src/**/*.ts by place, *.{ts,tsx} for either.

    Args:
        pattern: The glob; without a slash it fits names in any folder. `**` stands for any folders.
        path: Folder inside the workspace to look in.
        include_ignored: Also what .gitignore leaves out, and folders like node_modules.
    """
    workspace = workspace_of(ctx)
    if not pattern:
        return error_outcome("pattern is empty. Give a glob, as *.py.")
    try:
        below = workspace.identity(path or ".")
        if workspace.kind(below) != "directory":
            return error_outcome(f"{escape_name(path)} is a file. Give the folder to look in.")
        wanted = pattern if below == "." or "/" not in pattern else f"{below}/{pattern}"
        found = files_below(workspace, below, wanted, include_ignored)
        names = [escape_name(name) for name in islice(found, SHOWN) if not ctx.cancelled.is_set()]
        more = sum(1 for _ in islice(found, COUNTED))
    except OSError as error:
        return explain_error(error, path, workspace)
    denied = f"; {workspace.leaves_out}" if workspace.leaves_out else ""
    if not names:
        hint = "" if include_ignored else "; include_ignored=true also looks at what .gitignore leaves out"
        return f"[no file fits {escape_name(pattern)!r}{hint}{denied}]"
    rest = f", {SHOWN} shown; narrow the pattern to see more" if more else ""
    return "\n".join([*names, f"[{len(names) + more:,} files{rest}{denied}]"])
