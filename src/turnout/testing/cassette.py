"""Recording and replay of real exchanges: a transport that writes what it hears, or plays what it wrote.

    with Cassette("tests/cassettes/coat.json") as cassette:
        run_my_code()
    cassette.requests.check(tools=["weather"])

The first run asks the real provider and writes the file; every later run needs neither network nor key.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Collection, Iterable, Mapping
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, get_args

from ..errors import UsageError
from ..plain import loads
from ..simulate.sent_request import SentRequests, sent_request
from ..world.ports import Incoming, Outgoing, Transport
from ..world.redacted_request import headers_without_keys, secrets_in, url_without_keys
from ..world.secrets import secrets_of
from ..world.shared_http import shared_transport, use_transport
from ..world.world import World
from .cassette_file import (
    RecordedExchange,
    RecordedRequest,
    RecordedResponse,
    body_of,
    read_cassette,
    write_cassette,
)
from .cassette_redaction import KEPT_HEADERS, CassetteRedactor
from .request_match import CassetteMismatch, describe_mismatch, find_match

RecordMode = Literal["once", "none", "all"]
LEFT_EARLY = "left early"
NOT_SENT = ("content-length", "host", "x-amz-date", "connection", "accept-encoding")
"""Headers that say nothing about the request, or differ each time."""


class Cassette:
    """Exchanges with real providers, recorded in a file and played from it.

    `record` is "once": record where there is no file yet, else play; "none": only play; "all": record anew.
    A request that was not recorded is a `CassetteMismatch` that says what differs; `ignore` are names of
    body fields that are not compared. `redact` are secrets of yours, besides the keys of the requests and
    of the environment. Use it with `with`: every session of the process that was given no transport uses
    it, and the file is written at the end if the block did not fail. Or give a session `cassette.world`,
    and call `save()`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        record: RecordMode = "once",
        redact: Iterable[str] = (),
        ignore: Collection[str] = (),
        transport: Transport | None = None,
    ) -> None:
        if record not in get_args(RecordMode):
            raise UsageError(f"record={record!r} is not one of {', '.join(get_args(RecordMode))}")
        self.path = Path(path)
        self.is_recording = record == "all" or (record == "once" and not self.path.exists())
        if not self.is_recording and not self.path.exists():
            raise UsageError(f"there is no cassette {self.path}; run once with record='once' to record it")
        self._ignore = ignore
        self._secrets = {*redact, *secrets_of(os.environ)}
        self._transport = transport
        self._heard: list[_Recording] = []
        self._recorded = [] if self.is_recording else read_cassette(self.path)
        self._played: set[int] = set()
        self._sent: list[Outgoing] = []
        self._blocks = ExitStack()

    # For the test

    @property
    def world(self) -> World:
        """A world whose transport is this cassette."""
        return World(transport=self)

    @property
    def requests(self) -> SentRequests:
        """Every request of this run, as values that can be compared and checked."""
        return SentRequests(sent_request(each.url, each.headers, each.body) for each in self._sent)

    def check_finished(self) -> None:
        """Raise `AssertionError` where recorded exchanges were not asked for."""
        if left := [str(at + 1) for at, _ in self._unplayed_requests()]:
            raise AssertionError(f"{self.path}: exchange {', '.join(left)} was not asked for")

    def save(self) -> None:
        """Write what was recorded; nothing where the cassette only plays."""
        if self.is_recording:
            write_cassette(self.path, [each.exchange(self._secrets) for each in self._heard])

    def __enter__(self) -> Cassette:
        if self._transport is None and self.is_recording:
            self._transport = shared_transport()  # before this cassette takes its place
        self._blocks.enter_context(use_transport(self))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._blocks.pop_all().close()
        if kind is None:  # half a recording would be played as if it were whole
            self.save()

    # For the session

    @property
    def asks_for_key(self) -> bool:
        """Whether requests need a key: to play needs none."""
        return self.is_recording and bool(getattr(self._inner, "asks_for_key", True))

    @property
    def _inner(self) -> Transport:
        if self._transport is None:
            self._transport = shared_transport()
        return self._transport

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Incoming]:
        """Answer a request from the recording, or send it on and record the answer."""
        self._sent.append(request)
        if not self.is_recording:
            yield _PlayedAnswer(self._take_exchange(request), self.path)
            return
        recording = _Recording(request)
        self._heard.append(recording)
        try:
            async with self._inner.send(request) as answer:
                recording.begin(answer)
                yield _HeardAnswer(answer, recording)
        except OSError as error:
            if not recording.status:
                recording.ends = _failure_words(error)
            raise

    def _take_exchange(self, request: Outgoing) -> RecordedResponse:
        """What was recorded for this request; each exchange is played once, the first that fits."""
        wanted = _recorded_request(request, self._secrets)
        left = self._unplayed_requests()
        at = find_match(wanted, left, self._ignore)
        if at is None:
            raise CassetteMismatch(self._mismatch_words(wanted, left))
        self._played.add(at)
        return self._recorded[at].response

    def _unplayed_requests(self) -> list[tuple[int, RecordedRequest]]:
        return [(at, each.request) for at, each in enumerate(self._recorded) if at not in self._played]

    def _mismatch_words(self, wanted: RecordedRequest, left: list[tuple[int, RecordedRequest]]) -> str:
        lines = [
            f"{self.path} has no exchange for request {len(self._sent)} of this run, to {wanted.url}",
            *describe_mismatch(wanted, left, self._ignore),
            "record again with record='all' (pytest --turnout-record=all), or name fields in ignore=",
        ]
        return "\n".join(lines)


class _Recording:
    """One exchange while it is heard."""

    def __init__(self, request: Outgoing) -> None:
        self.request = request
        self.status = 0
        self.headers: Mapping[str, str] = {}
        self.chunks: list[bytes] = []
        self.ends = LEFT_EARLY

    def begin(self, answer: Incoming) -> None:
        self.status, self.headers = answer.status, answer.headers

    def exchange(self, secrets: Collection[str]) -> RecordedExchange:
        """The exchange as it is written, without the key that it was made with."""
        known = {*secrets, *secrets_in(self.request.url, self.request.headers)}
        redactor = CassetteRedactor(known)
        kept = {name: self.headers[name] for name in KEPT_HEADERS if name in self.headers}
        chunks = redactor.redact_chunks(self.chunks)
        redactor.check_pieces(chunks, url_without_keys(self.request.url))
        body = body_of(chunks, kept.get("content-type", "")) if self.status else {}
        response = RecordedResponse(self.status, kept, ends=self.ends, **body)
        return RecordedExchange(_recorded_request(self.request, known), response)


class _HeardAnswer:
    """An answer that is passed on while it is recorded."""

    def __init__(self, answer: Incoming, recording: _Recording) -> None:
        self.status = answer.status
        # The chunks are inflated already, and are played as they are.
        self.headers: Mapping[str, str] = answer.headers
        self.chunks: AsyncIterator[bytes] = _heard_chunks(answer, recording)


async def _heard_chunks(answer: Incoming, recording: _Recording) -> AsyncIterator[bytes]:
    try:
        async for chunk in answer.chunks:
            recording.chunks.append(bytes(chunk))
            yield chunk
    except OSError as error:
        recording.ends = _failure_words(error)
        raise
    recording.ends = ""


class _PlayedAnswer:
    """An answer from the file, in the chunks in which it came."""

    def __init__(self, recorded: RecordedResponse, path: Path) -> None:
        if not recorded.status:
            raise _failure_of(recorded.ends, path)
        self.status = recorded.status
        self.headers: Mapping[str, str] = recorded.headers
        self.chunks: AsyncIterator[bytes] = _played_chunks(recorded, path)


async def _played_chunks(recorded: RecordedResponse, path: Path) -> AsyncIterator[bytes]:
    for chunk in recorded.bytes_in_chunks:
        await asyncio.sleep(0)
        yield chunk
    if recorded.ends:
        raise _failure_of(recorded.ends, path)


def _failure_words(error: OSError) -> str:
    return f"{'timeout' if isinstance(error, TimeoutError) else 'connection'}: {type(error).__name__}"


def _failure_of(ends: str, path: Path) -> Exception:
    """What happened at the end of a recording, as it happened."""
    if ends == LEFT_EARLY:
        return UsageError(f"{path}: the reply was left here when it was recorded; record again to hear more")
    kind, _, name = ends.partition(": ")
    return TimeoutError(name) if kind == "timeout" else ConnectionError(name)


def _recorded_request(request: Outgoing, secrets: Collection[str]) -> RecordedRequest:
    known = {*secrets, *secrets_in(request.url, request.headers)}
    body = CassetteRedactor(known).redact(request.body)
    headers = headers_without_keys(request.headers)
    shown = {name: value for name, value in headers.items() if name not in NOT_SENT}
    return RecordedRequest(request.method, url_without_keys(request.url), shown, _json_of(body))


def _json_of(body: bytes) -> Any:
    try:
        return loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
