"""Read replies of InvokeModel: each chunk holds one event of Anthropic, as base64."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error
from typing import Any

import msgspec
from msgspec import Struct

from ...model import Origin
from ...plain import dict_in, loads, text_in
from ...streaming.eventstream import FAILED
from ...streaming.reply import Events
from ..anthropic.decoder import AnthropicDecoder
from ..failure.read_failure import stream_failure, undecodable


class _WrappedEvent(Struct, gc=False):
    bytes: str


_decode_chunk = msgspec.json.Decoder(_WrappedEvent).decode


class InvokeDecoder(AnthropicDecoder):
    """Feed the chunks of one reply; get events, and the turn from `reply`."""

    def __init__(self, origin: Origin, turn_key: str) -> None:
        super().__init__(origin, turn_key)

    def feed(self, event: str, data: bytes) -> Events:
        """The events of one chunk. An exception of Bedrock is an event too."""
        if event.startswith(FAILED):
            return self._fail_with_exception(event.removeprefix(FAILED), data)
        if event != "chunk":
            return super().feed(event, data)
        try:
            inner = b64decode(_decode_chunk(data).bytes, validate=True)
        except (msgspec.DecodeError, UnicodeDecodeError, Error, ValueError):
            return self.reply.fail(*undecodable(data))
        return super().feed("", inner)

    def _fail_with_exception(self, name: str, data: bytes) -> Events:
        said = text_in(dict_in(_parsed_payload(data)).get("message")) or name
        cause = stream_failure({"error": {"type": name, "message": said}})
        return self.reply.fail(cause.kind, cause.message, cause)


def _parsed_payload(data: bytes) -> Any:
    try:
        return loads(data)
    except (ValueError, RecursionError):
        return None
