"""grep: lines that match, by file, bounded in time, memory and length.

Files are opened here, beneath the workspace. Matching happens in a separate process (`matcher`),
because only a process can be killed when a pattern takes too long. Where ripgrep is installed, it
first finds the files to open.
"""

from __future__ import annotations

import os
import re
import select
import time
from collections.abc import Iterator
from typing import Any, BinaryIO

from ... import plain
from ...model import Outcome
from ..confine.file_names import escape_name
from ..confine.file_text import SNIFFED, as_utf8, is_binary
from ..confine.ignore import Ignored, glob
from ..confine.open_folder import Entry
from ..confine.output import RESULT_LIMIT
from ..confine.process import start_python
from ..confine.workspace import WorkspaceFiles
from ..declare.context import ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool
from . import matcher
from .explain import explain_error, workspace_of
from .ripgrep import candidates

SECONDS = 20.0
MATCHES = 200
PER_FILE = 50
CONTEXT = 5
BLOCK = 1024 * 1024
IGNORE_FILE_LIMIT = 256 * 1024


@tool(risk="read", retry_safe=True, timeout=60, groups=("files",))
def grep(
    ctx: ToolContext,
    pattern: str,
    path: str = ".",
    include: str = "",
    ignore_case: bool = False,
    literal: bool = False,
    context: int = 0,
    include_ignored: bool = False,
) -> Outcome | str:
    """Search files for lines that match a regular expression (Python syntax). Binary files are skipped.

    Args:
        pattern: What to look for; each line is matched on its own.
        path: File or folder inside the workspace to search.
        include: Only files that fit this glob, as *.py or src/**/*.{ts,tsx}.
        ignore_case: Whether upper and lower case are the same.
        literal: Take the pattern as plain text instead of a regular expression.
        context: Lines to show around each match (0 to 5).
        include_ignored: Also search what .gitignore leaves out, and folders like node_modules.
    """
    workspace = workspace_of(ctx)
    if not pattern:
        return error_outcome("pattern is empty, and would match every line. Give the text to look for.")
    search = Search(ctx, workspace, max(0, min(context, CONTEXT)))
    question = {"pattern": pattern, "ignore_case": ignore_case, "literal": literal or _is_literal(pattern)}
    try:
        place = workspace.identity(path or ".")
        files, search.guided = _files_to_search(ctx, workspace, place, question, include, include_ignored)
        return search.search(question, files) or search.text(pattern, include_ignored)
    except OSError as error:
        return explain_error(error, path, workspace)


def _is_literal(pattern: str) -> bool:
    return not re.search(r"[.^$*+?{}\[\]\\|()]", pattern)


def _files_to_search(
    ctx: ToolContext,
    workspace: WorkspaceFiles,
    path: str,
    question: dict[str, Any],
    include: str,
    all_files: bool,
) -> tuple[Iterator[str], bool]:
    """The files to search: those that ripgrep names, or else all of them; and whether ripgrep named them."""
    if workspace.kind(path) != "directory":
        return iter([path]), False
    found = candidates(ctx, workspace, path, **question, include_ignored=all_files, seconds=SECONDS / 2)
    # Denied files are removed first: not even a count may show whether they hold a match.
    found = [name for name in found or () if not workspace.denies(name)]
    if not found:  # search again ourselves, so that we can say how many files were searched
        return files_below(workspace, path, include, all_files), False
    ignored = Ignored(lambda name: _small_text(workspace, name))
    fits = glob(include) if include else lambda name: True
    return (name for name in found if fits(name) and (all_files or not _left_out(name, ignored))), True


def _left_out(name: str, ignored: Ignored) -> bool:
    parts = name.split("/")
    folders = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
    return any(ignored(folder, True) for folder in folders) or ignored(name, False)


def files_below(workspace: WorkspaceFiles, path: str, include: str, include_ignored: bool) -> Iterator[str]:
    """The files of a folder that fit a glob, without what .gitignore leaves out."""
    ignored = Ignored(lambda name: _small_text(workspace, name))
    fits = glob(include) if include else lambda name: True

    def leave_out(name: str, entry: Entry) -> bool:
        if include_ignored:
            return entry.name == ".git"
        return ignored(name, entry.kind == "directory")

    return (name for name, entry in workspace.walk(path, leave_out) if entry.kind == "file" and fits(name))


def _small_text(workspace: WorkspaceFiles, name: str) -> str:
    try:
        return workspace.read(name, IGNORE_FILE_LIMIT)[0].decode(errors="surrogateescape")
    except OSError:
        return ""


class RanAway(Exception):
    """The time is up, or the call was cancelled."""


class Search:
    """One search: what was found, and how much was searched."""

    def __init__(self, ctx: ToolContext, workspace: WorkspaceFiles, context: int) -> None:
        self.ctx, self.workspace, self.context = ctx, workspace, context
        self.lines: list[str] = []
        self.size = 0
        self.matches = self.shown = self.files = self.searched = self.binary = self.unread = 0
        self.stopped = ""
        self.guided = False  # only files that ripgrep named are searched

    def search(self, question: dict[str, Any], files: Iterator[str]) -> Outcome | None:
        """Search until all is found, enough is shown or the time is up; returns an outcome on failure."""
        with MatcherProcess(self.ctx, SECONDS) as matching:
            reply = matching.ask(
                plain.dumps({**question, "context": self.context, "limit": PER_FILE}).encode()
            )
            if reply["error"]:
                return error_outcome(
                    f"The pattern is not a valid regular expression: {reply['error']}. "
                    "Escape what is meant literally, or set literal=true."
                )
            for name in files:
                if self.shown >= MATCHES or self.size > RESULT_LIMIT:
                    self.stopped = (
                        f"stopped after {self.shown} shown; narrow path, include or pattern to see more"
                    )
                    return None
                try:
                    self._search_name(name, matching)
                except RanAway:
                    self.stopped = f"stopped after {SECONDS:g} s in {escape_name(name)}: "
                    self.stopped += "the pattern is too slow or there is too much; simplify or narrow it"
                    return None
        return None

    def _search_name(self, name: str, matching: MatcherProcess) -> None:
        try:
            with self.workspace.open(name) as file:
                head = file.read(SNIFFED)
                if is_binary(head):
                    self.binary += 1
                    return
                file.seek(0)
                self.searched += 1
                self._search_file(name, file, head, matching)
        except OSError:
            self.unread += 1

    def _search_file(self, name: str, file: BinaryIO, head: bytes, matching: MatcherProcess) -> None:
        first, found = 1, 0
        for piece in _utf8_pieces(file, head):
            reply = matching.ask(piece)
            if reply["count"]:
                self._add_lines(name, first, reply["lines"], new=not found)
                found += reply["count"]
            first += piece.count(b"\n")
        self.matches += found
        self.files += bool(found)

    def _add_lines(self, name: str, first: int, lines: list[tuple[int, bool, str]], new: bool) -> None:
        room = MATCHES - self.shown
        if room <= 0 or not lines:
            return
        self._add_line(escape_name(name) if new else "")
        before = lines[0][0] - 1
        for at, matches, text in lines:
            if self.context and at > before + 1:
                self._add_line("  --")
            before = at
            self._add_line(f"  {first + at}{':' if matches else '-'} {text}")
            self.shown += matches
            if self.shown >= MATCHES:
                return

    def _add_line(self, line: str) -> None:
        if line:
            self.lines.append(line)
            self.size += len(line) + 1

    def text(self, pattern: str, include_ignored: bool) -> str:
        return "\n".join([*self.lines, f"[{'; '.join(self._facts(pattern, include_ignored))}]"])

    def _facts(self, pattern: str, include_ignored: bool) -> Iterator[str]:
        if self.matches:
            shown_of = f", {self.shown} shown" if self.shown < self.matches else ""
            lines = "matching line" if self.matches == 1 else "matching lines"
            among = f"{self.files:,} files" if self.guided else f"{self.files:,} of {self.searched:,} files"
            yield f"{self.matches:,} {lines} in {among}{shown_of}"
        else:
            hint = (
                ""
                if include_ignored
                else " (what .gitignore names was left out; include_ignored=true searches it)"
            )
            yield f"no match for {pattern[:80]!r} in {self.searched:,} files{hint}"
        if self.binary:
            yield f"{self.binary:,} binary files skipped"
        if self.unread:
            yield f"{self.unread:,} files could not be read"
        if self.workspace.leaves_out:
            yield self.workspace.leaves_out
        if self.stopped:
            yield self.stopped


def _utf8_pieces(file: BinaryIO, head: bytes) -> Iterator[bytes]:
    """The file as UTF-8 in pieces that end with a line, unless a line is longer than a piece."""

    def blocks() -> Iterator[bytes]:
        while block := file.read(BLOCK):
            yield block

    rest = b""
    for block in as_utf8(blocks(), head):
        cut = block.rfind(b"\n") + 1
        if cut or len(rest) > BLOCK:
            yield rest + block[:cut]
            rest = block[cut:]
        else:
            rest += block
    if rest:
        yield rest


class MatcherProcess:
    """The matching process, with one deadline for all its work."""

    def __init__(self, ctx: ToolContext, seconds: float) -> None:
        self._cancelled = ctx.cancelled
        self._deadline = time.monotonic() + seconds
        self._process = start_python(matcher.__file__, "-S")
        assert self._process.stdin and self._process.stdout
        self._into, self._out = self._process.stdin.fileno(), self._process.stdout.fileno()
        for descriptor in (self._into, self._out):
            os.set_blocking(descriptor, False)

    def __enter__(self) -> MatcherProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                stream.close()
        self._process.wait()

    def ask(self, frame: bytes) -> dict[str, Any]:
        self._write_bytes(len(frame).to_bytes(4) + frame)
        size = int.from_bytes(self._read_bytes(4))
        return dict(plain.loads(self._read_bytes(size)))

    def _write_bytes(self, data: bytes) -> None:
        view = memoryview(data)
        while view:
            self._wait_until_ready(writing=True)
            try:
                view = view[os.write(self._into, view[: 1 << 16]) :]
            except BlockingIOError:
                continue
            except BrokenPipeError:
                raise RanAway from None

    def _read_bytes(self, size: int) -> bytes:
        parts: list[bytes] = []
        while size:
            self._wait_until_ready(writing=False)
            part = os.read(self._out, size)
            if not part:
                raise RanAway
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _wait_until_ready(self, writing: bool) -> None:
        """Wait until the pipe is ready; check now and then whether the call was cancelled."""
        poll = select.poll()  # not `select`, which fails for descriptors above 1023
        poll.register(self._into if writing else self._out, select.POLLOUT if writing else select.POLLIN)
        while True:
            left = self._deadline - time.monotonic()
            if left <= 0 or self._cancelled.is_set():
                raise RanAway
            if poll.poll(min(left, 0.05) * 1000):
                return
