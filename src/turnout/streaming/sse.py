"""Server-sent events: bytes in at any cut, whole events out.

Two ideas make it fast and right. Line ends become LF where the bytes come in, so an event
ends only at LF LF (U+2028 and NEL are text). And everything up to the last such end is read
at once: one split gives the payloads of a whole chunk. Only blocks that do not look like
`data: …` or `event: …`, `data: …` are read field by field. The unfinished rest is kept in
pieces and joined once, so a long event costs its own length.

It follows the WHATWG rules, with three exceptions. Text that is not UTF-8 is an error, not
U+FFFD. The last event counts even if the connection closed before its blank line, because
real servers do that; `strict=True` drops it, as a browser does. A field named `error`, which
browsers skip, is an event of that name: gpustack reports there why it stopped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

from msgspec import Struct

from ..errors import FailureKind, StreamError

MAX_EVENT = 16 * 1024 * 1024
MAX_RESPONSE = 256 * 1024 * 1024
BOM = b"\xef\xbb\xbf"
LONE_CR = re.compile(rb"\r[^\n]")


class SseEvent(Struct, frozen=True, gc=False):
    """One event. `data` stays bytes (valid UTF-8), ready for the JSON decoder.

    `event` is "" where the server named none (a browser would say "message").
    """

    data: bytes
    event: str = ""
    id: str = ""


class Allowance:
    """How large a response and one event in it may be; after a failure, what went wrong.

    Events that were complete before the failure come first. Then it is raised, and again by
    every later call. So the result does not depend on how the bytes were cut.
    """

    def __init__(self, max_event: int, max_response: int) -> None:
        self.failure: StreamError | None = None
        self._max_event = max_event
        self._max_response = max_response
        self._room = max_response

    def grant(self, chunk: bytes) -> bytes:
        """The part of the chunk that may still be read."""
        if self.failure is not None:
            raise self.failure
        self._room -= len(chunk)
        return chunk if self._room >= 0 else chunk[: self._room]

    def fits(self, size: int) -> bool:
        """Whether an event may have this many bytes; if not, the stream has failed."""
        if size > self._max_event:
            self.fail(
                f"an event is longer than {self._max_event} bytes; allow more with max_event=", "too_large"
            )
        return size <= self._max_event

    def fail(self, message: str, kind: FailureKind) -> None:
        self.failure = self.failure or StreamError(message, kind=kind)

    def hand_out(self, events: Sequence[SseEvent]) -> Iterable[SseEvent]:
        if self._room < 0:
            self.fail(
                f"the response is longer than {self._max_response} bytes; allow more with max_response=",
                "too_large",
            )
        return events if self.failure is None else _then_raise(events, self.failure)


class SseDecoder:
    """Feed bytes as they come; get whole events as they complete.

    A fault in the bytes is raised as StreamError after the events before it. `retry` is the
    server's last value for how long to wait before reconnecting, in milliseconds.
    """

    def __init__(
        self, *, max_event: int = MAX_EVENT, max_response: int = MAX_RESPONSE, strict: bool = False
    ) -> None:
        self.retry: int | None = None
        self._strict = strict
        self._max_event = max_event
        self._allowance = Allowance(max_event, max_response)
        self._head: bytes | None = b""  # the first bytes, until we know whether they are a BOM
        self._after_cr = False  # the last byte was CR, so an LF now belongs to it
        self._pieces: list[bytes] = []  # the unfinished event; joined once, when its end arrives
        self._size = 0
        self._held_newline = False  # the LF after the pieces: with one more it is a blank line
        self._last_id = ""

    def feed(self, chunk: bytes) -> Iterable[SseEvent]:
        """The events that this chunk completes."""
        return self._allowance.hand_out(self._events_in(self._allowance.grant(chunk)))

    def close(self) -> Iterable[SseEvent]:
        """Some servers drop the connection without the last blank line."""
        rest = self._allowance.grant(self._head or b"") + b"".join(self._pieces)
        self._head, self._pieces, self._size, self._held_newline = None, [], 0, False
        if self._strict or not rest:
            return ()
        return self._allowance.hand_out(self._events(rest))

    def _events_in(self, chunk: bytes) -> Sequence[SseEvent]:
        text = self._with_unified_line_ends(chunk)
        if not self._pieces:
            text = text.lstrip(b"\n")  # blank lines between events
        elif self._held_newline and text:
            text = b"\n" + text
            self._held_newline = False
        end = text.rfind(b"\n\n")
        if end < 0:
            self._hold_rest(text)
            return ()
        body = text[:end]
        if self._pieces:
            self._pieces.append(body)
            body = b"".join(self._pieces)
            self._pieces, self._size = [], 0
        events = self._events(body)
        self._hold_rest(text[end + 2 :])
        return events

    def _with_unified_line_ends(self, chunk: bytes) -> bytes:
        """The chunk without BOM and with LF line ends. A CR at its very end is an end already."""
        if self._head is not None:
            chunk = self._without_bom(self._head + chunk)
        if self._after_cr and chunk:
            self._after_cr = False
            if chunk[0] == 10:
                chunk = chunk[1:]
        if b"\r" in chunk:
            self._after_cr = chunk[-1] == 13
            chunk = _with_lf(chunk)
        return chunk

    def _without_bom(self, head: bytes) -> bytes:
        if len(head) < len(BOM) and BOM.startswith(head):
            self._head = head
            return b""
        self._head = None
        return head.removeprefix(BOM)

    def _hold_rest(self, rest: bytes) -> None:
        if not rest:
            return
        if rest[-1] == 10:
            self._held_newline = True
            rest = rest[:-1]
        self._pieces.append(rest)
        self._size += len(rest)
        self._allowance.fits(self._size)

    def _events(self, body: bytes) -> Sequence[SseEvent]:
        """The events of whole blocks, separated by blank lines."""
        if len(body) <= self._max_event and (body.isascii() or _is_utf8(body)):
            if body.startswith(b"data: "):
                payloads = body.split(b"\n\ndata: ")
                if body.count(b"\n") == 2 * len(payloads) - 2:
                    payloads[0] = payloads[0][6:]
                    last_id = self._last_id
                    return [SseEvent(data, "", last_id) for data in payloads]
            elif body.startswith(b"event: ") and (events := self._named_events(body)):
                return events
        return list(self._blocks(body))

    def _named_events(self, body: bytes) -> list[SseEvent]:
        """The events, if every block is an `event: ` and a `data: ` line; else none."""
        blocks = body.split(b"\n\nevent: ")
        if body.count(b"\n") != 3 * len(blocks) - 2:
            return []
        blocks[0] = blocks[0][7:]
        last_id = self._last_id
        events = []
        for block in blocks:
            name, found, data = block.partition(b"\ndata: ")
            if not found:
                return []
            events.append(SseEvent(data, _event_name(name), last_id))
        return events

    def _blocks(self, body: bytes) -> Iterator[SseEvent]:
        """The same, block by block and field by field, up to the first that cannot be read."""
        for block in body.split(b"\n\n"):
            block = block.strip(b"\n")
            if not self._allowance.fits(len(block)):
                return
            if not (block.isascii() or _is_utf8(block)):
                self._allowance.fail(f"an event is not UTF-8: {block[:200]!r}", "malformed")
                return
            yield from self._read_block(block)

    def _read_block(self, block: bytes) -> Iterator[SseEvent]:
        if block.startswith(b"data: ") and b"\n" not in block:
            yield SseEvent(block[6:], "", self._last_id)
            return
        name = b""
        data: list[bytes] = []
        errors: list[bytes] = []
        for line in block.split(b"\n"):
            field, _, value = line.partition(b":")
            value = value.removeprefix(b" ")
            if field == b"data":
                data.append(value)
            elif field == b"event":
                name = value
            elif field == b"error":
                errors.append(value)
            elif field == b"id" and b"\0" not in value:
                self._last_id = value.decode()
            elif field == b"retry" and value.isdigit() and len(value) < 16:
                self.retry = int(value)
        if data:
            yield SseEvent(b"\n".join(data), _event_name(name), self._last_id)
        if any(errors):
            yield SseEvent(b"\n".join(errors), "error", self._last_id)


def _then_raise(events: Sequence[SseEvent], failure: StreamError) -> Iterator[SseEvent]:
    yield from events
    raise failure


def _with_lf(text: bytes) -> bytes:
    if LONE_CR.search(text):
        return text.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    ends_in_cr = text[-1] == 13  # dropping every CR is four times as fast as replacing CR LF
    return text.replace(b"\r", b"") + b"\n" * ends_in_cr


@lru_cache(maxsize=256)
def _event_name(name: bytes) -> str:
    return name.decode()


def _is_utf8(text: bytes) -> bool:
    try:
        text.decode()
    except UnicodeDecodeError:
        return False
    return True
