"""Write a reply as InvokeModel does: Anthropic's message, each event of it in a chunk."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Collection

from ...streaming.eventstream import FAILED
from ..anthropic import scripted_reply as anthropic
from ..shared.framing import Frame, Stream, frame
from ..shared.growing_bytes import Wire
from ..shared.reply import ReplyAuthor, ReplyEncoder


def stream(message: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same message as chunks."""
    said = anthropic.stream(message, author, odd)
    return Stream(
        tuple(map(chunk_frame, said.body)), tuple(map(chunk_frame, said.ending)), framing="eventstream"
    )


def chunk_frame(item: Frame) -> Frame:
    """One event of Anthropic as Bedrock wraps it."""
    if not item.data or item.event.startswith(FAILED):
        return item
    return frame({"bytes": b64encode(item.data).decode()}, "chunk")


REPLY = ReplyEncoder(anthropic.whole, stream, anthropic.body)
