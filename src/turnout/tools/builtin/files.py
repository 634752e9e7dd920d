"""read_files: several files in one call, each as read_file shows it, within one budget."""

from __future__ import annotations

from ...model import Content, Media, Outcome, Text
from ..confine.file_names import shown
from ..confine.output import RESULT_LIMIT, clipped, shares
from ..declare.context import ToolContext
from ..declare.result import outcome_of
from ..declare.tool import tool
from .explain import failed
from .read import LINES, read_file

MOST = 50


@tool(risk="read", retry_safe=True, paths=("paths",), groups=("files",))
def read_files(ctx: ToolContext, paths: list[str], limit: int = LINES) -> Outcome | tuple[Content, ...]:
    """Read several files at once, each with line numbers under its name. Use it to save calls.

    Args:
        paths: Files inside the workspace, relative to its root (at most 50).
        limit: How many lines to read of each, from its start.
    """
    if not paths:
        return failed("paths is empty. Name the files to read.")
    if len(paths) > MOST:
        return failed(f"{len(paths)} files are too many for one call; name at most {MOST}.")
    read = [outcome_of(read_file.invoke(ctx, {"path": path, "limit": limit})).outcome for path in paths]
    if all(outcome.status == "error" for outcome in read):
        return failed("\n".join(outcome.text for outcome in read))
    rooms = shares([len(outcome.text) for outcome in read], RESULT_LIMIT)
    blocks: list[Content] = []
    for path, outcome, room in zip(paths, read, rooms, strict=True):
        blocks.append(Text(f"==> {shown(path)} <==\n{clipped(outcome.text, room)}\n"))
        blocks += [block for block in outcome.content if isinstance(block, Media)]
    return tuple(blocks)
