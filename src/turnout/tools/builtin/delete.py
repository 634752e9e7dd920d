"""delete_file: deletes one file; this cannot be undone."""

from __future__ import annotations

from ...model import Outcome
from ..confine.file_names import escape_name
from ..declare.context import ToolContext
from ..declare.tool import tool
from .explain import explain_error, workspace_of


@tool(risk="dangerous", groups=("files",))
def delete_file(ctx: ToolContext, path: str) -> Outcome | str:
    """Delete one file. A symlink is deleted itself, not what it points to. Folders cannot be deleted.

    Args:
        path: File inside the workspace, relative to its root.
    """
    workspace = workspace_of(ctx)
    try:
        workspace.delete(path)
    except OSError as error:
        return explain_error(error, path, workspace)
    return f"Deleted {escape_name(path)}"
