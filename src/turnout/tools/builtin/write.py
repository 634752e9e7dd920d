"""write_file: a whole file, in one step, with the encoding and line endings of the file it replaces."""

from __future__ import annotations

from ...model import Outcome
from ..confine.file_names import escape_name
from ..confine.file_text import DecodedText, decode_text, is_binary
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.tool import tool
from .explain import explain_error, workspace_of

KEPT_LIMIT = 16 * 1024 * 1024  # a larger file is replaced without a look at its encoding


@tool(risk="write", groups=("files",))
def write_file(ctx: ToolContext, path: str, content: str) -> Outcome | str:
    """Create a file or replace all of it. Missing folders are made. To change a part, use edit_file.

    An existing file keeps its mode, encoding and line endings.

    Args:
        path: File inside the workspace, relative to its root.
        content: The whole new text.
    """
    workspace = workspace_of(ctx)
    try:
        before = _text_before(workspace, path)
        data, notes = _in_the_manner_of(before, content)
        created = workspace.write(path, data)
    except OSError as error:
        return explain_error(error, path, workspace)
    lines = content.count("\n") + (not content.endswith("\n") and bool(content))
    what = "new file" if created else "replaced" + "".join(f", {note}" for note in notes)
    return f"Wrote {escape_name(path)}: {lines:,} lines, {len(data):,} bytes ({what})"


def _text_before(workspace: WorkspaceFiles, path: str) -> DecodedText | None:
    """The text that will be replaced; None where there is none."""
    try:
        data, _ = workspace.read(path, KEPT_LIMIT)
    except OSError:
        return None  # if something is wrong, writing will report it
    return None if is_binary(data) else decode_text(data)


def _in_the_manner_of(before: DecodedText | None, content: str) -> tuple[bytes, list[str]]:
    if before is None:
        return content.encode(errors="replace"), []
    notes = []
    if before.newline == "\r\n" and "\r\n" not in content:
        content = content.replace("\n", "\r\n")
        notes.append("CRLF line endings kept")
    content = content.removeprefix("\ufeff") if before.mark else content
    try:
        data = before.encode(content)
    except UnicodeEncodeError:
        return content.encode(errors="replace"), [*notes, f"now UTF-8, was {before.encoding_note}"]
    return data, [*notes, f"{before.encoding_note} kept"] if before.encoding_note else notes
