"""Detect the framing of a body by its bytes, and cut it into JSON payloads.

Servers answer in five framings: server-sent events, one JSON object, a JSON array whose
elements arrive one by one (Gemini without alt=sse), JSON lines (Ollama), AWS event streams
(Bedrock). Content types are often wrong, so the first byte decides: `{`, `[`, `<`, NUL, or else
the field of an event. One machine per framing does the work. All of them give the same frames.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from itertools import takewhile
from typing import Any, Literal, Protocol, TypeAlias, TypeVar

import msgspec

from .. import plain
from ..errors import StreamError
from .eventstream import FIRST_BYTE, EventStreamDecoder
from .sse import BOM, MAX_EVENT, MAX_RESPONSE, Allowance, SseDecoder, SseEvent

Frame: TypeAlias = SseEvent
"""One JSON payload: `data` is its bytes; `event` is "" in JSON framings, `id` outside server-sent events."""

Kind = Literal["empty", "sse", "json", "array", "eventstream", "html", "text"]
"""`json` is one object or JSON lines; `empty`, `html` and `text` hold nothing to decode."""

EXCERPT = 2048
WHITESPACE = b" \t\r\n"
SSE_LINE = re.compile(rb"(?:^|[\r\n])(?:data|event|id|retry|):")

T = TypeVar("T")


class FrameDecoder:
    """Feed a body in any framing; get its JSON payloads as they complete.

    A body without payloads raises nothing. After `close()`, `kind` says what it was and
    `excerpt` how it began, so that the caller can report what went wrong.
    """

    def __init__(
        self, *, max_event: int = MAX_EVENT, max_response: int = MAX_RESPONSE, strict: bool = False
    ) -> None:
        self.kind: Kind = "empty"
        self.excerpt = b""
        self._limits = (max_event, max_response, strict)
        self._head = b""
        self._opening = b""  # from the first byte that says something
        self._bom_may_come = True
        self._machine: _Machine | None = None

    def feed(self, chunk: bytes) -> Iterable[Frame]:
        """The frames that this chunk completes."""
        if len(self.excerpt) < EXCERPT:
            self.excerpt += chunk[: EXCERPT - len(self.excerpt)]
        if self._machine is None:
            return self._detect_framing(self._head + chunk)
        if len(self._opening) < EXCERPT:
            self._opening += chunk[: EXCERPT - len(self._opening)]
        return self._machine.feed(chunk)

    def close(self) -> Iterable[Frame]:
        """What the end of the body completes: the last event or line, or the whole object."""
        if self._machine is None and self._head:
            self._start_machine(self._head)  # less than a BOM
        if self._machine is None:
            return ()
        if self.kind == "sse" and not SSE_LINE.search(self._opening):
            self.kind = "text"
        return self._machine.close()

    def _detect_framing(self, head: bytes) -> Iterable[Frame]:
        head = head.lstrip(WHITESPACE)  # DeepSeek sends blank lines while a request waits
        if self._bom_may_come and head.startswith(BOM):
            self._bom_may_come = False
            head = head.removeprefix(BOM).lstrip(WHITESPACE)
        undecided = BOM.startswith(head) if self._bom_may_come else not head
        if not undecided:
            return self._start_machine(head)
        self._head = head
        return ()

    def _start_machine(self, head: bytes) -> Iterable[Frame]:
        max_event, max_response, strict = self._limits
        self._opening = head[:EXCERPT]
        match head[:1]:
            case b"{":
                self.kind = "json"
                self._machine = _Documents(max_event, max_response)
            case b"[":
                self.kind = "array"
                self._machine = _Elements(max_event, max_response)
            case b"<":
                self.kind = "html"
                self._machine = _Nothing()
            case _ if head.startswith(FIRST_BYTE):
                self.kind = "eventstream"
                self._machine = EventStreamDecoder(max_event, max_response)
            case _:
                self.kind = "sse"
                self._machine = SseDecoder(max_event=max_event, max_response=max_response, strict=strict)
        return self._machine.feed(head)


class _Machine(Protocol):
    def feed(self, chunk: bytes) -> Iterable[Frame]: ...

    def close(self) -> Iterable[Frame]: ...


class _Nothing:
    """A web page in place of an answer."""

    def feed(self, chunk: bytes) -> Iterable[Frame]:
        return ()

    def close(self) -> Iterable[Frame]:
        return ()


class _Documents:
    """One JSON object over any number of lines, or one on each line.

    The first line decides. If it is whole JSON, every line is. If not, the body is one
    object that ends with the body.
    """

    def __init__(self, max_line: int, max_response: int) -> None:
        self._allowance = Allowance(max_line, max_response)
        self._in_lines: bool | None = None
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterable[Frame]:
        return self._allowance.hand_out(self._frames_in(self._allowance.grant(chunk)))

    def close(self) -> Iterable[Frame]:
        return self._allowance.hand_out(self._frames(self._allowance.grant(b"")))

    def _frames_in(self, chunk: bytes) -> list[Frame]:
        end = chunk.rfind(b"\n")
        if self._in_lines is None and end >= 0:
            self._in_lines = _is_json(b"".join(self._pieces) + chunk[: chunk.find(b"\n")])
        if not self._in_lines or end < 0:
            self._hold_piece(chunk)
            return []
        frames = self._frames(chunk[:end])
        self._hold_piece(chunk[end + 1 :])
        return frames

    def _frames(self, text: bytes) -> list[Frame]:
        body = b"".join(self._pieces) + text
        self._pieces, self._size = [], 0
        if not self._in_lines:
            return [Frame(body)] if body.strip() else []
        lines = takewhile(self._fits, map(bytes.strip, body.split(b"\n")))
        return [Frame(line) for line in lines if line]

    def _fits(self, line: bytes) -> bool:
        return self._allowance.fits(len(line))

    def _hold_piece(self, rest: bytes) -> None:
        self._pieces.append(rest)
        self._size += len(rest)
        if self._in_lines:
            self._allowance.fits(self._size)


class _Elements:
    """The elements of one JSON array, each as soon as it closes.

    Every byte is read once or twice. One match skips strings and everything else between
    brackets. What a chunk leaves open (a string, an escape) is remembered.
    """

    def __init__(self, max_element: int, max_response: int) -> None:
        self._allowance = Allowance(max_element, max_response)
        self._depth = 0
        self._in_string = False
        self._after_backslash = False
        self._ended = False
        self._pieces: list[bytes] = []
        self._size = 0

    def feed(self, chunk: bytes) -> Iterable[Frame]:
        return self._allowance.hand_out(self._frames_in(self._allowance.grant(chunk)))

    def close(self) -> Iterable[Frame]:
        self._hold_piece(self._allowance.grant(b""))
        return self._allowance.hand_out(self._element())

    def _frames_in(self, chunk: bytes) -> list[Frame]:
        frames: list[Frame] = []
        start = 0
        for at in self._marks(chunk):
            mark = chunk[at]
            if mark in OPENING:
                self._depth += 1
                start = at + 1 if self._depth == 1 else start
                continue
            self._depth -= mark in CLOSING
            if self._depth > 1:
                continue
            self._ended = self._depth == 0
            closed = mark in CLOSING and not self._ended  # the bracket belongs to the element
            self._hold_piece(chunk[start : at + closed])
            frames += self._element()
            start = at + 1
        self._hold_piece(chunk[start:])
        return frames

    def _marks(self, chunk: bytes) -> Iterator[int]:
        """Where the brackets are, and the commas between elements."""
        at = 1 if self._after_backslash and chunk else 0
        self._after_backslash = self._after_backslash and not chunk
        while at < len(chunk) and not self._ended and self._allowance.failure is None:
            if self._in_string:
                at = self._end_of_string(chunk, at)
                continue
            at = _end_of_match(INSIDE if self._depth > 1 else BETWEEN, chunk, at)
            if at == len(chunk):
                return
            if chunk[at] == QUOTE:  # this chunk does not finish the string
                self._in_string = True
            else:
                yield at
            at += 1

    def _end_of_string(self, chunk: bytes, at: int) -> int:
        at = _end_of_match(STRING, chunk, at)
        if at < len(chunk):
            self._in_string = chunk[at] != QUOTE
            self._after_backslash = self._in_string  # the chunk ends within an escape
        return at + 1

    def _hold_piece(self, text: bytes) -> None:
        self._pieces.append(text)
        self._size += len(text)
        self._allowance.fits(self._size)

    def _element(self) -> list[Frame]:
        element = b"".join(self._pieces).strip()
        self._pieces, self._size = [], 0
        return [Frame(element)] if element and self._allowance.failure is None else []


QUOTE = ord('"')
OPENING = b"{["
CLOSING = b"}]"
STRING = re.compile(rb'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
INSIDE = re.compile(rb'(?:[^"{}\[\]]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)
BETWEEN = re.compile(rb'(?:[^"{}\[\],]++|"[^"\\]*+(?:\\.[^"\\]*+)*+")*+', re.DOTALL)


def _end_of_match(pattern: re.Pattern[bytes], text: bytes, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _is_json(text: bytes) -> bool:
    try:
        plain.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def loads(data: bytes) -> Any:
    """The JSON of a frame, as real servers write it (`plain.loads`); StreamError if it is not JSON."""
    try:
        return _decode(data)
    except (ValueError, RecursionError):
        return _read_again(data, None)


def reader(kind: type[T]) -> Callable[[bytes], T]:
    """`loads` for one shape: the fields it has are read, everything else is skipped."""
    decode = msgspec.json.Decoder(kind).decode

    def read_payload(data: bytes) -> T:
        try:
            return decode(data)
        except (ValueError, RecursionError):
            again: T = _read_again(data, kind)
            return again

    return read_payload


def _read_again(data: bytes, kind: Any) -> Any:
    try:
        value = plain.loads(data)
        return value if kind is None else msgspec.convert(value, kind)
    except (ValueError, RecursionError) as error:
        excerpt = data[:EXCERPT].decode(errors="replace")
        raise StreamError(
            f"the server sent a payload that is not valid JSON: {error}. Try again; if it fails again, "
            "check that base_url points to an API",
            body=excerpt,
        ) from error


_decode = msgspec.json.Decoder().decode
