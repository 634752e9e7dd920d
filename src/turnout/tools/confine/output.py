"""Output of any size, made into something a model can read.

A model reads the head and the tail, how much is missing between them and where the whole text is.
Memory is bounded however much is printed: `HeadTail` is fed and keeps the two ends. `shares` splits
one budget over the results of a batch, so that ten large results cost no more context than one, and
small ones are not cut because of large ones.

The whole text goes to `SavedOutput`: files that only the user can read (0600 in a 0700 folder, with
any umask), of bounded number and size.
"""

from __future__ import annotations

import os
import re
import secrets
import stat
from collections import deque
from collections.abc import Callable, Sequence
from threading import Lock
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from ...errors import UsageError
from ...model import Code, Content, Media, Outcome, Text, block_text

RESULT_LIMIT = 40_000  # characters of one result, about 10,000 tokens
BATCH_LIMIT = 160_000  # characters of all results of one turn
FEW = 32  # blocks of a result that are cut one by one
CAPTURE_LIMIT = 64 * 1024  # bytes of a command's output held in memory
SAVED_FILE_LIMIT = 32 * 1024 * 1024
SAVED_TOTAL_LIMIT = 512 * 1024 * 1024
SAVED_FILES = 500
HEAD_SHARE = 0.4  # errors stand at the end more often than at the start


# Budgets


def shares(sizes: Sequence[int], budget: int) -> list[int]:
    """How much of each result may stay: equal parts, and what small results leave goes to large ones."""
    given = [0] * len(sizes)
    left = max(budget, 0)
    for done, index in enumerate(sorted(range(len(sizes)), key=lambda index: sizes[index])):
        given[index] = min(sizes[index], left // (len(sizes) - done))
        left -= given[index]
    return given


def truncate_text(text: str, limit: int, whole: str = "") -> str:
    """The head and tail of a text that is longer than `limit` characters; `whole` names the full one.

    The note about what is missing is not counted in the limit.
    """
    if len(text) <= limit:
        return text
    kept_head = int(limit * HEAD_SHARE)
    head = _up_to_a_line(text[:kept_head])
    tail = _from_a_line(text[len(text) - (limit - kept_head) :]) if limit > kept_head else ""
    missing = text[len(head) : len(text) - len(tail)]
    count = f"{len(missing):,} characters ({missing.count(chr(10)):,} lines)"
    return _join_ends(head, tail, count, whole)


def _join_ends(head: str, tail: str, missing: str, whole: str) -> str:
    where = f"; the whole is in {whole}" if whole else ""
    before = "" if not head or head.endswith("\n") else "\n"
    return f"{head}{before}[… {missing} left out{where} …]\n{tail}"


def _up_to_a_line(head: str) -> str:
    """End at a line if that costs little; one very long line is cut inside."""
    end = head.rfind("\n") + 1
    return head[:end] if end > len(head) // 2 else head


def _from_a_line(tail: str) -> str:
    start = tail.find("\n") + 1
    return tail[start:] if 0 < start <= len(tail) // 2 else tail


def within_budget(
    outcomes: Sequence[Outcome],
    budget: int = BATCH_LIMIT,
    *,
    each: int = RESULT_LIMIT,
    save: Callable[[str], str] | None = None,
) -> list[Outcome]:
    """The outcomes of a batch, cut to share one budget of characters; `save` keeps what is cut."""
    sizes = [min(_size(outcome), each) for outcome in outcomes]
    pairs = zip(outcomes, shares(sizes, budget), strict=True)
    return [
        outcome if _size(outcome) <= limit else _cut_outcome(outcome, limit, save) for outcome, limit in pairs
    ]


def _size(outcome: Outcome) -> int:
    return sum(_length(block) for block in outcome.content)


def _length(block: Content) -> int:
    return 0 if isinstance(block, Media) else len(block_text(block))


def _cut_outcome(outcome: Outcome, limit: int, save: Callable[[str], str] | None) -> Outcome:
    content = outcome.content if len(outcome.content) <= FEW else _as_one(outcome.content)
    limits = shares([_length(block) for block in content], limit)
    blocks = zip(content, limits, strict=True)
    return replace(outcome, content=tuple(_cut_block(block, room, save) for block, room in blocks))


def _as_one(content: Sequence[Content]) -> tuple[Content, ...]:
    """One text, then the media: a thousand small blocks, each cut, would make a thousand notes and files."""
    texts = [block_text(block) for block in content if not isinstance(block, Media)]
    return (Text("\n".join(texts)), *(block for block in content if isinstance(block, Media)))


def _cut_block(block: Content, limit: int, save: Callable[[str], str] | None) -> Content:
    if _length(block) <= limit:
        return block
    text = block_text(block)
    residue = block.residue if isinstance(block, Text | Code) else None
    return Text(truncate_text(text, limit, save(text) if save else ""), residue)


# Streams


class HeadTail:
    """Feed bytes as they come; the first and the last of them are kept."""

    def __init__(self, limit: int = CAPTURE_LIMIT) -> None:
        self.size = 0
        self.limit = limit
        self._head_size = int(limit * HEAD_SHARE)
        self._tail_size = limit - self._head_size
        self._head = bytearray()
        self._tail = bytearray()

    def feed(self, chunk: bytes) -> None:
        self.size += len(chunk)
        room = self._head_size - len(self._head)
        if room > 0:
            self._head += chunk[:room]
            chunk = chunk[room:]
        self._tail += chunk[-self._tail_size :] if len(chunk) > self._tail_size else chunk
        if len(self._tail) > 2 * self._tail_size:
            del self._tail[: -self._tail_size]

    @property
    def left_out(self) -> int:
        return max(self.size - self.limit, 0)

    def both_ends(self) -> tuple[bytes, bytes]:
        """The two ends; joined they are the whole when nothing was left out."""
        return bytes(self._head), bytes(self._tail[-self._tail_size :])

    def text(self, whole: str = "") -> str:
        """Both ends as a model should read them, with a mark where something is missing."""
        head, tail = self.both_ends()
        if not self.left_out:
            return readable(head + tail)
        # A character cut in two would show as a replacement character on both sides of the gap.
        parts = _up_to_a_line(readable(whole_end(head))), _from_a_line(readable(_whole_start(tail)))
        return _join_ends(*parts, f"about {self.left_out:,} of {self.size:,} bytes", whole)


def whole_end(data: bytes) -> bytes:
    """UTF-8 bytes without a last character that was cut in two."""
    for back in range(1, min(4, len(data)) + 1):
        lead = data[-back]
        if lead & 0xC0 != 0x80:
            needed = 1 if lead < 0x80 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
            return data[:-back] if needed > back else data
    return data


def _whole_start(data: bytes) -> bytes:
    start = 0
    while start < min(3, len(data)) and data[start] & 0xC0 == 0x80:
        start += 1
    return data[start:]


# Escape sequences of terminals (CSI; OSC and its kin up to their end, or to the line's end
# when they have none; single characters), then every other control but tab and newline.
_ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b\n]*(?:\x07|\x1b\\)?|\x1b[ -/]*[0-~]?"
)
_CONTROLS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def readable(data: bytes) -> str:
    """Printed bytes as plain text: no colours, progress bars at their last state, no controls."""
    text = data.decode(errors="replace")
    if "\x1b" in text or "\x9b" in text:
        text = _ESCAPES.sub("", text)
    if "\r" in text:
        text = "\n".join(line.rstrip("\r").rpartition("\r")[2] for line in text.split("\n"))
    return _CONTROLS.sub("", text)


# Files


class SavedOutput:
    """A private folder for whole outputs; the oldest are deleted when it is full."""

    def __init__(
        self,
        folder: str | os.PathLike[str] | None = None,
        *,
        file_limit: int = SAVED_FILE_LIMIT,
        total_limit: int = SAVED_TOTAL_LIMIT,
        files: int = SAVED_FILES,
    ) -> None:
        self.folder = _private_folder(folder)
        self.file_limit = file_limit
        self.total_limit = total_limit
        self.files = files
        self._files: deque[str] = deque()
        self._count = 0
        self._lock = Lock()  # large results are cut and saved in threads

    def save(self, text: str) -> str:
        """Write a text to a new file; gives its path, or "" when the disk refuses."""
        try:
            file = self.create()
            with file:
                file.write(text.encode(errors="replace")[: self.file_limit])
        except OSError:
            return ""
        return str(file.name)

    def create(self) -> BinaryIO:
        """A new file, open for writing; its path is its `name`."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with self._lock:
            self._make_room()
            path = os.path.join(self.folder, f"output-{self._count:04d}-{secrets.token_hex(4)}.txt")
            self._count += 1
            self._files.append(path)
        return open(path, "wb", buffering=0, opener=lambda name, _: os.open(name, flags, 0o600))

    def _make_room(self) -> None:
        """Delete the oldest files until there is room for one more of the largest size."""
        sizes = deque(_file_size(path) for path in self._files)
        room = self.total_limit - self.file_limit - sum(sizes)
        while self._files and (room < 0 or len(self._files) >= self.files):
            room += sizes.popleft()
            _remove_file(self._files.popleft())

    def clear(self) -> None:
        """Remove every file that was saved here."""
        for path in self._files:
            _remove_file(path)


def _private_folder(folder: str | os.PathLike[str] | None) -> str:
    if folder is None:
        import tempfile  # with shutil and the archive formats behind it

        return tempfile.mkdtemp(prefix="turnout-output-")
    path = os.path.abspath(folder)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    try:
        os.mkdir(path, 0o700)
    except FileExistsError:
        found = os.lstat(path)
        if not stat.S_ISDIR(found.st_mode) or found.st_uid != _user() or found.st_mode & 0o022:
            raise UsageError(
                f"{path} is not a folder that only you can write; choose another for saved output"
            ) from None
        return path  # its owner may have chosen another mode: each file in it is private
    os.chmod(path, 0o700)
    return path


def _user() -> int:
    return os.geteuid() if hasattr(os, "geteuid") else 0  # Windows has no user ids


def _file_size(path: str) -> int:
    try:
        return os.lstat(path).st_size
    except OSError:
        return 0


def _remove_file(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


class Captured(Struct, frozen=True):
    """A finished stream: text for a model, how many bytes there were, where they were saved."""

    text: str
    size: int
    path: str = ""
    saved: int = 0


class Capture:
    """Feed bytes; the ends stay in memory and, once they overflow, the start goes to a file."""

    def __init__(self, saved: SavedOutput | None = None, limit: int = CAPTURE_LIMIT) -> None:
        self.ends = HeadTail(limit)
        self._saved = saved
        self._file: BinaryIO | None = None
        self._written = 0

    def feed(self, chunk: bytes) -> None:
        overflows = self.ends.size + len(chunk) > self.ends.limit
        if overflows and self._saved is not None:
            self._write_to_file(chunk, self._saved)
        self.ends.feed(chunk)

    def _write_to_file(self, chunk: bytes, saved: SavedOutput) -> None:
        try:
            if self._file is None:
                self._file = saved.create()
                self._written += self._file.write(b"".join(self.ends.both_ends())) or 0
            room = saved.file_limit - self._written
            if room > 0:
                self._written += self._file.write(chunk[:room]) or 0
        except OSError:
            self._saved = None  # the disk is full: only what is in memory is kept

    def close(self) -> Captured:
        if self._file is None:
            return Captured(self.ends.text(), self.ends.size)
        path = str(self._file.name)
        self._file.close()
        complete = self._written >= self.ends.size
        whole = path if complete else f"{path} (its first {self._written:,} bytes)"
        return Captured(self.ends.text(whole), self.ends.size, path, self._written)
