"""The reply of a provider's own SDK, put into a history: for programs that keep their own loop.

An SDK gives a reply in one of three forms: one object, an iterator of chunk objects, or bytes. All of
them become the turn that `turnout.decode` would give, under the next free key of the history.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, Awaitable, Iterable, Iterator
from typing import Any, TypeAlias, overload

from msgspec.structs import replace

from ..errors import UsageError
from ..history.log import History
from ..model import ModelTurn, Origin, ToolCall, with_fields
from ..plain import dumps
from ..wire.request import WireRequest
from .reply import Piece, ReplyReader, chunks, wire_fields
from .request import view
from .target import Target, find_target

DERIVED_EVENTS = ("content.", "refusal.", "tool_calls.", "logprobs.")
"""Events that OpenAI's SDK derives from the chunks, such as `content.delta`: they would count twice."""
Asked: TypeAlias = str | Origin | Target | WireRequest


@overload
def receive(history: History, target: Asked, reply: AsyncIterable[Any]) -> Awaitable[ModelTurn]: ...


@overload
def receive(history: History, target: Asked, reply: Any) -> ModelTurn: ...


def receive(history: History, target: Asked, reply: Any) -> Any:
    """Append the reply of `target` to the history; get the turn.

    `target` is who was asked, or the request that `turnout.render` gave. `reply` is an SDK's object, its
    stream of chunks, a dict, bytes or text. For an asynchronous stream, await the result. A reply that
    failed raises `ProviderError` or `StreamError`, with the turn so far, and nothing is appended.
    """
    if not isinstance(history, History):
        raise UsageError(f"{type(history).__name__} is not a history; make one with turnout.ingest(messages)")
    place = find_target(target.target if isinstance(target, WireRequest) else target)
    names = target.names if isinstance(target, WireRequest) else _declared_names(history, place)
    receiver = _Receiver(history, place, names)
    if isinstance(reply, AsyncIterable):
        return receiver.take_stream(reply)
    return receiver.take(reply)


class _Receiver:
    """One reply on its way into a history."""

    def __init__(self, history: History, place: Target, names: dict[str, str]) -> None:
        self._history = history
        self._names = names
        self._reader = ReplyReader(place, history.next_key())

    def take(self, reply: Any) -> ModelTurn:
        for chunk in chunks(reply) if _is_body(reply) else reply:
            self._feed_chunk(chunk)
        return self._append_turn()

    async def take_stream(self, reply: AsyncIterable[Any]) -> ModelTurn:
        async for chunk in reply:
            self._feed_chunk(chunk)
        return self._append_turn()

    def _feed_chunk(self, chunk: Any) -> None:
        """Bytes as they came, or one object of an SDK in the framing that the server gave it."""
        if isinstance(chunk, str):
            chunk = chunk.encode("utf-8", "replace")
        if not isinstance(chunk, Piece):
            chunk = b"".join(f"data: {dumps(payload)}\n\n".encode() for payload in _payloads_of(chunk))
        for _ in self._reader.feed(bytes(chunk)):
            pass  # the reader holds what arrived

    def _append_turn(self) -> ModelTurn:
        for _ in self._reader.close():
            pass
        if (failure := self._reader.failure) is not None:
            raise failure
        turn = self._reader.reply.turn()
        blocks = tuple(map(self._with_own_name, turn.blocks))
        return self._history.append(replace(turn, blocks=blocks))

    def _with_own_name(self, block: Any) -> Any:
        """A call by the name that the tool has here: providers see some names in another form."""
        if isinstance(block, ToolCall) and block.name in self._names:
            return with_fields(block, name=self._names[block.name])
        return block


def _declared_names(history: History, place: Target) -> dict[str, str]:
    """Our names of the history's tools, by what the target knows them as."""
    if not history.tools:
        return {}
    projected = view(history, place).transcript.ids.tool_names(spec.name for spec in history.tools)
    return {sent: own for own, sent in projected.items()}


def _is_body(reply: Any) -> bool:
    """Whether this is a whole body, not an iterator of chunks: SDKs give streams as iterators."""
    return (
        isinstance(reply, Piece | dict | list | tuple)
        or hasattr(reply, "model_dump")
        or not isinstance(reply, Iterable)
    )


def _payloads_of(chunk: Any) -> Iterator[Any]:
    """What the server sent with a chunk: SDKs mix events of their own into their streams."""
    kind = getattr(chunk, "type", None)
    if kind == "chunk" and hasattr(chunk, "chunk"):  # chat.completions.stream() of OpenAI's SDK
        yield wire_fields(chunk.chunk)
    elif not (isinstance(kind, str) and kind.startswith(DERIVED_EVENTS)):
        yield wire_fields(chunk)
