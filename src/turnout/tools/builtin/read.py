"""read_file: some lines of a file, numbered; or the image that it is. read_files: several files at once.

A file is streamed: only the requested lines of it are held in memory.
"""

from __future__ import annotations

import base64
import os
from collections.abc import Iterator
from typing import BinaryIO

from msgspec import Struct

from ...model import Content, Media, Outcome, Text
from ..confine.file_names import escape_name
from ..confine.file_text import SNIFFED, DecodedText, as_utf8, decode_text, is_binary, mark_of
from ..confine.output import RESULT_LIMIT, shares, truncate_text, whole_end
from ..declare.context import ToolContext
from ..declare.result import error_outcome, outcome_of
from ..declare.tool import tool
from .explain import explain_error, workspace_of

LINES = 2_000
LINE_LIMIT = 2_000
MOST_FILES = 50  # in one call of read_files
BLOCK = 256 * 1024
IMAGE_LIMIT = 3_750_000  # in base64 these are 5 MB, the lowest limit among the providers

_IMAGES = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpeg"), (b"GIF87a", "gif"), (b"GIF89a", "gif"))
_BINARIES = (
    (b"%PDF", "a PDF; shell with pdftotext may read it"),
    (b"\x7fELF", "a compiled program"),
    (b"PK\x03\x04", "a ZIP archive; shell with unzip -l lists it"),
    (b"\x1f\x8b", "gzip-compressed; shell with zcat reads it"),
    (b"SQLite format 3", "an SQLite database; shell with sqlite3 reads it"),
)


@tool(risk="read", retry_safe=True, groups=("files",))
def read_file(
    ctx: ToolContext, path: str, offset: int = 1, limit: int = LINES
) -> Outcome | str | tuple[Content, ...]:
    """Read a text file with line numbers, or look at an image (PNG, JPEG, GIF, WebP).

    Args:
        path: File inside the workspace, relative to its root.
        offset: First line to read, counted from 1; negative counts from the end (-50: the last 50 lines).
        limit: How many lines to read.
    """
    workspace = workspace_of(ctx)
    try:
        with workspace.open(path) as file:
            head = file.read(SNIFFED)
            if mime := image_type(head):
                return _read_image(file, head, mime, path)
            if is_binary(head):
                return _refuse_binary(file, head, path)
            return _read_lines(ctx, file, head, path, offset, max(limit, 1))
    except OSError as error:
        return explain_error(error, path, workspace)


def image_type(head: bytes) -> str:
    """The image type that every provider accepts, by the first bytes; "" for anything else."""
    if head[:4] == b"RIFF" and head[8:12] == b"WEBP":
        return "image/webp"
    return next((f"image/{kind}" for magic, kind in _IMAGES if head.startswith(magic)), "")


def _read_image(file: BinaryIO, head: bytes, mime: str, path: str) -> Outcome | tuple[Content, ...]:
    size = os.fstat(file.fileno()).st_size
    if size > IMAGE_LIMIT:
        return error_outcome(
            f"{escape_name(path)} is an image of {size:,} bytes; at most {IMAGE_LIMIT:,} can be shown. "
            "Make a smaller copy with shell and read that."
        )
    data = base64.b64encode(head + file.read(IMAGE_LIMIT)).decode()
    name = escape_name(path.rpartition("/")[2])
    return Text(f"{escape_name(path)}: {mime}, {size:,} bytes"), Media(mime, data, name=name)


def _refuse_binary(file: BinaryIO, head: bytes, path: str) -> Outcome:
    kind = next((words for magic, words in _BINARIES if head.startswith(magic)), "not text")
    size = os.fstat(file.fileno()).st_size
    return error_outcome(
        f"{escape_name(path)} is binary ({size:,} bytes): {kind}. Inspect it with shell (file, xxd, strings)."
    )


def _read_lines(ctx: ToolContext, file: BinaryIO, head: bytes, path: str, offset: int, limit: int) -> str:
    start = max(offset, 1)
    if offset < 0:
        start = max(_count_lines(ctx, file, head) + offset + 1, 1)
    picked = LinePicker(start, limit, RESULT_LIMIT)
    for block in _utf8_blocks(ctx, file, head):
        picked.feed(block)
    picked.close()
    return _numbered_text(picked, head, path)


def _count_lines(ctx: ToolContext, file: BinaryIO, head: bytes) -> int:
    counter = LinePicker(start=1, count=0, room=0)
    for block in _utf8_blocks(ctx, file, head):
        counter.feed(block)
    counter.close()
    return counter.total


def _utf8_blocks(ctx: ToolContext, file: BinaryIO, head: bytes) -> Iterator[bytes]:
    """The file from its start as UTF-8, or as it is when it has no byte order mark."""
    file.seek(0)

    def raw() -> Iterator[bytes]:
        while (block := file.read(BLOCK)) and not ctx.cancelled.is_set():
            yield block

    return as_utf8(raw(), head)


class PickedLine(Struct, frozen=True):
    """A line of the result; `size` is its whole length in bytes, of which `data` may be only the start."""

    data: bytes
    size: int


class LinePicker:
    """Feed a file's bytes; get `count` lines from `start`, as many as there is room for."""

    def __init__(self, start: int, count: int, room: int) -> None:
        self.start, self.count, self.room = start, count, room
        self.lines: list[PickedLine] = []
        self.total = 0
        self._number = 1
        self._pending = bytearray()
        self._pending_size = 0
        self._unfinished = False

    def feed(self, block: bytes) -> None:
        at = 0
        while at < len(block):
            if not self._is_wanted:
                at = self._skip_lines(block, at)
                continue
            end = block.find(b"\n", at)
            stop = len(block) if end < 0 else end
            self._keep_piece(block[at:stop])
            if end >= 0:
                self._finish_line()
            at = stop + 1
        self._unfinished = not block.endswith(b"\n") if block else self._unfinished

    def close(self) -> None:
        if self._is_wanted and self._unfinished:
            self._finish_line()
            self._number -= 1
        self.total = self._number - 1 + self._unfinished

    @property
    def _is_wanted(self) -> bool:
        return self.start <= self._number < self.start + self.count and self.room > 0

    def _skip_lines(self, block: bytes, at: int) -> int:
        """Skip lines that are not wanted; returns where the next wanted one begins."""
        missing = self.start - self._number
        found = block.count(b"\n", at)
        if missing <= 0 or found < missing:
            self._number += found
            return len(block)
        for _ in range(missing):
            at = block.find(b"\n", at) + 1
        self._number += missing
        return at

    def _keep_piece(self, piece: bytes) -> None:
        self._pending_size += len(piece)
        room = 4 * LINE_LIMIT - len(self._pending)  # a character has at most four bytes
        if room > 0:
            self._pending += piece[:room]

    def _finish_line(self) -> None:
        data = bytes(self._pending)
        if len(data) < self._pending_size:
            data = whole_end(data)
        self.lines.append(PickedLine(data, self._pending_size))
        self.room -= min(len(self._pending), LINE_LIMIT) + 8
        self._pending.clear()
        self._pending_size = 0
        self._number += 1


def _numbered_text(picked: LinePicker, head: bytes, path: str) -> str:
    name = escape_name(path)
    if not picked.total:
        return f"[{name} is empty]"
    if not picked.lines:
        return f"[{name} has {picked.total:,} lines; there is none at offset {picked.start:,}]"
    text = decode_text(b"\n".join(line.data for line in picked.lines))
    shown_lines = zip(text.text.split("\n"), picked.lines, strict=True)
    width = len(str(picked.start + len(picked.lines) - 1))
    numbered = [
        f"{number:>{width}}\t{_cut_line(line, source.size - len(source.data))}"
        for number, (line, source) in enumerate(shown_lines, picked.start)
    ]
    return "\n".join([*_notes(picked, text, head, name), *numbered, *_rest(picked)])


def _cut_line(line: str, unread: int) -> str:
    line = line.removesuffix("\r")
    over = len(line) - LINE_LIMIT
    if over <= 0 and not unread:
        return line
    return f"{line[:LINE_LIMIT]} [… line continues for about {max(over, 0) + unread:,} more]"


def _notes(picked: LinePicker, text: DecodedText, head: bytes, name: str) -> Iterator[str]:
    """Facts that the numbered lines do not show."""
    last = picked.start + len(picked.lines) - 1
    facts = []
    if (picked.start, last) != (1, picked.total):
        facts.append(f"lines {picked.start:,}-{last:,} of {picked.total:,}")
    mark, encoding = mark_of(head)
    if mark:
        facts.append("UTF-8 with BOM" if encoding == "utf-8" else encoding.upper())
    elif text.encoding_note:
        facts.append(f"read as {text.encoding_note}")
    elif any("\udc80" <= character <= "\udcff" for character in text.text):
        facts.append("some bytes are not UTF-8")
    if text.newline == "\r\n":
        facts.append("CRLF line endings")
    if facts:
        yield f"[{name}: {'; '.join(facts)}]"


def _rest(picked: LinePicker) -> Iterator[str]:
    following = picked.start + len(picked.lines)
    if following <= picked.total:
        yield f"[{picked.total - following + 1:,} more lines; read on with offset={following}]"


@tool(risk="read", retry_safe=True, paths=("paths",), groups=("files",))
def read_files(ctx: ToolContext, paths: list[str], limit: int = LINES) -> Outcome | tuple[Content, ...]:
    """Read several files at once, each with line numbers under its name. Use it to save calls.

    Args:
        paths: Files inside the workspace, relative to its root (at most 50).
        limit: How many lines to read of each, from its start.
    """
    if not paths:
        return error_outcome("paths is empty. Name the files to read.")
    if len(paths) > MOST_FILES:
        return error_outcome(f"{len(paths)} files are too many for one call; name at most {MOST_FILES}.")
    read = [outcome_of(read_file.invoke(ctx, {"path": path, "limit": limit})).outcome for path in paths]
    if all(outcome.status == "error" for outcome in read):
        return error_outcome("\n".join(outcome.text for outcome in read))
    rooms = shares([len(outcome.text) for outcome in read], RESULT_LIMIT)
    blocks: list[Content] = []
    for path, outcome, room in zip(paths, read, rooms, strict=True):
        blocks.append(Text(f"==> {escape_name(path)} <==\n{truncate_text(outcome.text, room)}\n"))
        blocks += [block for block in outcome.content if isinstance(block, Media)]
    return tuple(blocks)
