"""A reply for a client of any API: events in, the bytes of its protocol out.

The encoder is fed as the events come, so it costs the same for every event. It draws nothing at random and
reads no clock: the same events give the same bytes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache
from hashlib import sha256
from importlib import import_module
from typing import Any

from ..errors import ProviderError, StreamError, UsageError
from ..model import ModelTurn
from ..streaming.events import StreamEvent
from .shared.reply_blocks import BlockStream, Carry, ReplyFacts, turn_of_events

WRITERS = {
    "chat": ("turnout.wire.chat.reply", "ChatReply", "chatcmpl-"),
    "responses": ("turnout.wire.responses.reply", "ResponsesReply", "resp_"),
    "anthropic": ("turnout.wire.anthropic.reply", "AnthropicReply", "msg_"),
    "gemini": ("turnout.wire.gemini.reply", "GeminiReply", ""),
}
"""For each protocol: the module and the class that write it, and how its ids begin."""


@cache
def _writer_class(protocol: str) -> type[BlockStream]:
    """Loaded when it is first asked for, so a program loads only the protocols that it speaks."""
    module, name, _ = WRITERS[protocol]
    return getattr(import_module(module), name)  # type: ignore[no-any-return]


def _derived_id(protocol: str, model: str, key: str) -> str:
    digest = sha256(f"{protocol}|{model}|{key}".encode("utf-8", "surrogatepass")).hexdigest()
    return WRITERS[protocol][2] + digest[:32]


class ReplyEncoder:
    """Write one reply as a client of `protocol` expects it.

    `id` is the id of the response; the ids of its items are derived from it. Without an id, it is derived
    from `key`. `carry(block)` gives the opaque string that the client is made to send back with a block
    (Anthropic `signature` and `redacted_thinking.data`, Responses `encrypted_content`, Gemini
    `thoughtSignature`). It is called for every thinking, for text with a residue, and for the first call of
    a Gemini reply; without it the provider's own string is passed on. `request` is the body that the
    client sent: a call of Responses goes back in the form in which its tool was declared there.
    `array` writes a Gemini stream as one JSON array, as without `alt=sse`. `upstream` is the protocol that
    the provider speaks: token counts are turned from its rules into those of the client.
    """

    def __init__(
        self,
        protocol: str,
        *,
        model: str,
        id: str = "",
        key: str = "",
        created: int = 0,
        include_usage: bool = True,
        carry: Carry | None = None,
        request: Mapping[str, Any] | None = None,
        array: bool = False,
        upstream: str = "",
    ) -> None:
        if protocol not in WRITERS:
            known = ", ".join(WRITERS)
            raise UsageError(f"no client speaks {protocol!r}; a reply is written as one of: {known}")
        asked = request if isinstance(request, Mapping) else {}
        facts = ReplyFacts(
            model=model,
            id=id or _derived_id(protocol, model, key),
            created=created,
            include_usage=include_usage,
            carry=carry,
            request=asked,
            as_array=array,
            protocol=protocol,
            counter=upstream,
        )
        self.protocol = protocol
        self.id = facts.id
        self._writer = _writer_class(protocol)(facts)
        self.feed = self._writer.feed  # called for every event, so it is not wrapped again

    def start(self) -> bytes:
        """The first bytes of the stream; b"" in protocols that begin with the first event."""
        return self._writer.start()

    def end(self) -> bytes:
        """After `Done`: the bytes that tell the client that the reply is whole."""
        return self._writer.end()

    def fail(self, error: ProviderError | StreamError) -> bytes:
        """The failure of a stream that has begun, in the form that makes this client ask again."""
        return self._writer.fail(error)

    def whole(self, reply: ModelTurn | Iterable[StreamEvent]) -> bytes:
        """The body of a reply that is not streamed: of a finished turn, or of all its events."""
        turn = reply if isinstance(reply, ModelTurn) else turn_of_events(reply)
        return self._writer.whole(turn)
