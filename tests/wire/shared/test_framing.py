"""Events as bytes in the framing of each protocol, read back by the decoder of frames."""

from __future__ import annotations

import pytest

from turnout.streaming.eventstream import FAILED
from turnout.streaming.frames import FrameDecoder
from turnout.wire.shared.framing import CONTENT_TYPES, Frame, Framing, Stream, encode_frames, pieces

FRAMES = (Frame(b'{"a":1}', "first"), Frame(b'{"b":2}', "second"))


@pytest.mark.parametrize("framing", CONTENT_TYPES)
def test_every_framing_is_read_back(framing: Framing) -> None:
    """Payloads in order; names where the framing has a place for them."""
    stream = Stream(FRAMES, (), framing)
    decoder = FrameDecoder()
    data = b"".join(encode_frames(FRAMES, stream))
    read = [*decoder.feed(data), *decoder.close()]
    assert [frame.data for frame in read] == [b'{"a":1}', b'{"b":2}']
    named = framing in ("sse", "eventstream")
    assert [frame.event for frame in read] == (["first", "second"] if named else ["", ""])


def test_an_exception_of_bedrock_has_a_header_of_its_own() -> None:
    """It is read back as an exception."""
    item = Frame(b'{"message":"no"}', f"{FAILED}throttlingException")
    [data] = encode_frames([item], Stream((item,), (), "eventstream"))
    [read] = FrameDecoder().feed(data)
    assert read.event == item.event


def test_a_text_is_cut_into_pieces_that_make_it_up() -> None:
    """A few letters each."""
    text = "a few words of a text that is streamed"
    assert "".join(pieces(text)) == text and len(pieces(text)) > 1
