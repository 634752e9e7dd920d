"""Bytes from anywhere into every decoder: typed errors only, and one end to every reply."""

from __future__ import annotations

from functools import partial

from turnout.errors import StreamError
from turnout.streaming.events import Done, Error
from turnout.streaming.frames import FrameDecoder
from turnout.streaming.partial import PartialArguments
from turnout.streaming.sse import SseDecoder
from turnout.targets.reply import ReplyReader, events
from turnout.wire.failure.read_failure import failure


def sse(data: bytes) -> None:
    """However the bytes are cut, the events are the same."""
    assert _read(SseDecoder(), [data]) == _read(SseDecoder(), _cut(data))


def frames(data: bytes) -> None:
    assert _read(FrameDecoder(), [data]) == _read(FrameDecoder(), _cut(data))


def _read(decoder: SseDecoder | FrameDecoder, chunks: list[bytes]) -> list[object]:
    seen: list[object] = []
    try:
        for chunk in chunks:
            seen += decoder.feed(chunk)
        seen += decoder.close()
    except StreamError as error:
        seen.append(error.kind)
    return seen


def _cut(data: bytes) -> list[bytes]:
    size = 1 + (data[0] if data else 0) % 7
    return [data[at : at + size] for at in range(0, len(data), size)]


def reply(target: str, data: bytes) -> None:
    """A reply ends once, and its turn can always be asked for."""
    reader = ReplyReader(target, text_tools=bool(data) and data[-1] % 2 == 0)
    ends = [event for event in events(reader, _cut(data)) if isinstance(event, Done | Error)]
    assert len(ends) == 1
    reader.reply.turn()


def partial_arguments(data: bytes) -> None:
    view = PartialArguments()
    for piece in _cut(data):
        view.feed(piece.decode(errors="replace"))
        assert view.view is not None


def refusal(data: bytes) -> None:
    status = 400 + (data[0] if data else 0)
    assert failure(status, {"retry-after": data[:20].decode("latin-1")}, data).kind


TARGETS = {
    "sse": sse,
    "frames": frames,
    "chat": partial(reply, "openai:gpt-5.1"),
    "responses": partial(reply, "openai-responses:gpt-5.1"),
    "anthropic": partial(reply, "anthropic:claude-sonnet-4-5"),
    "gemini": partial(reply, "gemini:gemini-3-pro"),
    "mistral": partial(reply, "mistral:mistral-large-latest"),
    "ollama": partial(reply, "ollama:llama3.1"),
    "partial_arguments": partial_arguments,
    "refusal": refusal,
}
