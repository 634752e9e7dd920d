"""From a target's bytes to events and a finished turn, streamed or not, in any framing."""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable, Iterator
from typing import Any

from msgspec.structs import replace

from ..errors import ProviderError, StreamError, UsageError
from ..history.api_names import fold_name, unspoken_body
from ..json_size import MOST_VALUES, has_more_values
from ..model import ModelTurn, Origin
from ..plain import dumps, loads, plain
from ..providers import PROVIDERS
from ..streaming.events import StreamEvent
from ..streaming.frames import Frame, FrameDecoder
from ..streaming.reply import ReplyBuilder
from ..wire.failure.read_failure import excerpt, undecodable
from ..wire.protocol import Decoder, Protocol, ReadOptions, find_protocol
from ..wire.shared.redaction import redact_keys
from .target import Target
from .target import find_target as target

TURN_KEY = "reply.1"
LARGE = 100_000
MOST_LISTED = 1_000_000
"""Values of one event where arguments are texts: log probabilities of a long answer are many."""
Piece = bytes | bytearray | memoryview | str


class ReplyReader:
    """Feed the bytes of one reply, cut anywhere; get events. `reply` holds what has arrived."""

    def __init__(
        self,
        place: str | Origin | Target,
        turn_key: str = TURN_KEY,
        *,
        think_tags: bool | None = None,
        text_tools: bool = False,
        **limits: Any,
    ) -> None:
        self._target = _spoken_by(place)
        self._turn_key = turn_key
        self._options = ReadOptions(think_tags, text_tools)
        self._frames = FrameDecoder(**limits)
        self._held: Frame | None = None  # one JSON document: a whole body, unless another follows
        self._lines = False  # several JSON documents: a stream of lines
        self._seen_first = False
        self._protocol = self._target.protocol
        self._decoder = self._decoder_of(self._protocol)

    def _decoder_of(self, protocol: Protocol) -> Decoder:
        return protocol.decoder(self._target.dialect, self._target.origin, self._turn_key, self._options)

    @property
    def reply(self) -> ReplyBuilder:
        return self._decoder.reply

    @property
    def failure(self) -> ProviderError | StreamError | None:
        """What to raise when the reply failed, with how its bytes began."""
        failed = self.reply.failure
        if isinstance(failed, StreamError) and not failed.body:
            failed.body = excerpt(self._frames.excerpt)
        return failed

    def feed(self, chunk: bytes) -> Iterable[StreamEvent]:
        return self._events(self._frames.feed, chunk)

    def close(self) -> Iterable[StreamEvent]:
        events = self._events(self._frames.close)
        return [*events, *self._final_events()]

    def _final_events(self) -> Iterable[StreamEvent]:
        if self._held is not None:
            return self._whole(self._held)
        if self._frames.kind in ("empty", "html", "text"):
            return self.reply.fail(*undecodable(self._frames.excerpt))
        return self._decoder.close()

    def _events(self, frames_of: Callable[..., Iterable[Frame]], *chunk: bytes) -> list[StreamEvent]:
        """Events as they come; those before a fault in the bytes are kept."""
        events: list[StreamEvent] = []
        try:
            frames = frames_of(*chunk)
            if self._frames.kind == "sse" and self._target.api == "ollama":
                self._read_as_chat()
            if self._frames.kind == "json" and not self._lines:
                frames = self._documents(frames)
            for frame in frames:
                if len(frame.data) > LARGE:
                    self._check_values(frame)
                if not self._seen_first:
                    self._seen_first = True
                    self._expect_spoken(frame)
                events += self._decoder.feed(frame.event, frame.data)
        except StreamError as error:
            events += self.reply.fail(error.kind, redact_keys(error.message))
        return events

    def _expect_spoken(self, frame: Frame) -> None:
        """Refuse a stream of an API that is not spoken, with the way on."""
        if b"event_type" in frame.data and (why := unspoken_body(_object_in(frame.data))):
            raise StreamError(f"the reply cannot be read: {why}", kind="malformed")

    def _check_values(self, frame: Frame) -> None:
        """Refuse an event that would take too long to read, and memory without end."""
        limit = 2 * MOST_VALUES if self._protocol.arguments_are_objects else MOST_LISTED
        if has_more_values(frame.data.decode("latin-1"), limit):
            raise StreamError(f"an event holds more than {limit:,} values", kind="too_large")

    def _documents(self, frames: Iterable[Frame]) -> Iterator[Frame]:
        """JSON documents: the first may be all there is, so it waits for a second."""
        for frame in frames:
            if not self._lines and self._held is None:
                self._held = frame
                continue
            if self._held is not None:
                self._choose_protocol(self._held)
                yield self._held
            self._held, self._lines = None, True
            yield frame

    def _choose_protocol(self, frame: Frame) -> None:
        """Ollama's own API answers in JSON lines that Chat does not know; its Chat in bodies with choices."""
        if self._target.api == "chat" and _is_ollama(frame.data):
            self._protocol = find_protocol("ollama")
            self._decoder = self._decoder_of(self._protocol)
        elif self._target.api == "ollama" and b'"choices"' in frame.data:
            self._read_as_chat()

    def _read_as_chat(self) -> None:
        """A caller who names Ollama may hold a reply of its OpenAI-compatible endpoint."""
        origin = self._target.origin
        self._target = replace(target(Origin(origin.provider, "chat", origin.model)), origin=origin)
        self._protocol = self._target.protocol
        self._decoder = self._decoder_of(self._protocol)

    def _whole(self, frame: Frame) -> Iterable[StreamEvent]:
        try:
            body = loads(frame.data)
        except (ValueError, RecursionError):
            return self.reply.fail(*undecodable(frame.data))
        if why := unspoken_body(body):
            return self.reply.fail("malformed", f"the reply cannot be read: {why}")
        self._choose_protocol(frame)
        return self._decoder.whole(body)


def _spoken_by(place: str | Origin | Target) -> Target:
    """The target of that name; for an unknown host, a target with the same format."""
    if isinstance(place, Target) or (origin := Origin.parse(place)).provider in PROVIDERS:
        return target(place)
    from ..history.ingest.formats import CHAT, NAMES  # with every reader, for a host that is not known

    form, provider = NAMES.get(fold_name(origin.provider), (None, ""))
    if form is not CHAT or provider in PROVIDERS:
        return target(place)
    return replace(target(Origin("compatible", origin.endpoint, origin.model)), origin=origin)


def _object_in(data: bytes) -> Any:
    try:
        return loads(data)
    except (ValueError, RecursionError):
        return None


def _is_ollama(data: bytes) -> bool:
    try:
        body = loads(data)
    except (ValueError, RecursionError):
        return False
    return isinstance(body, dict) and "done" in body and "choices" not in body


def decode(place: str | Origin | Target, body: Any, *, turn_key: str = TURN_KEY, **options: Any) -> ModelTurn:
    """The finished turn of a reply: bytes, text, chunks of bytes, or the body as a Python value.

    Raises `ProviderError` or `StreamError`, with the turn so far, where the reply is a failure.
    """
    reader = ReplyReader(place, turn_key, **options)
    for _ in events(reader, chunks(body)):
        pass
    if (failure := reader.failure) is not None:
        raise failure
    return reader.reply.turn()


async def stream(
    place: str | Origin | Target, source: Any, *, turn_key: str = TURN_KEY, **options: Any
) -> AsyncIterator[StreamEvent]:
    """The events of a reply as its bytes come; the last one is `Done` or `Error`."""
    reader = ReplyReader(place, turn_key, **options)
    if isinstance(source, AsyncIterable):
        async for chunk in source:
            for event in reader.feed(_bytes(chunk)):
                yield event
        for event in reader.close():
            yield event
        return
    for event in events(reader, chunks(source)):
        yield event


def events(reader: ReplyReader, source: Iterable[bytes]) -> Iterator[StreamEvent]:
    for chunk in source:
        yield from reader.feed(chunk)
    yield from reader.close()


def chunks(body: Any) -> Iterable[bytes]:
    """A body in any form as chunks of bytes."""
    if isinstance(body, Piece):
        return [_bytes(body)]
    if isinstance(body, dict) or hasattr(body, "model_dump") or hasattr(body, "to_dict"):
        return [dumps(wire_fields(body)).encode()]
    if isinstance(body, list) and not all(isinstance(item, Piece) for item in body):
        return [dumps([wire_fields(item) for item in body]).encode()]
    if not isinstance(body, Iterable):
        raise UsageError(f"{type(body).__name__} is not a reply; give bytes, text, chunks, or the body")
    return (_bytes(chunk) for chunk in body)


def wire_fields(value: Any) -> Any:
    """What the provider sent of an SDK's object: the fields by their names on the wire."""
    try:
        return plain(value.model_dump(mode="json", by_alias=True))
    except Exception:  # not every SDK has aliases for its fields
        return plain(value)


def _bytes(chunk: Any) -> bytes:
    """A chunk as bytes: clients that decode for their callers hand out text."""
    if isinstance(chunk, str):
        return chunk.encode("utf-8", "replace")
    if isinstance(chunk, bytes | bytearray | memoryview):
        return bytes(chunk)
    raise UsageError(f"{type(chunk).__name__} is not a chunk of a reply; give bytes or text")
