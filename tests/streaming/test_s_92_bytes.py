"""S-92: server-sent events as servers really send them, down to the finished turn."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.world.raw_server import said

from turnout import decode
from turnout.model import ModelTurn

TEXT = "naïve 🙂 日本語 — done"
ENDING = said(finish="stop").decode()


def stream(*pieces: str) -> str:
    """Events of a Chat stream, one for each piece of the text."""
    return "".join(said(piece).decode() for piece in pieces) + ENDING + "data: [DONE]\n\n"


RAW = stream("naïve 🙂", " 日本語", " — done").encode()

WAYS = {
    "as it should be": RAW,
    "CRLF": RAW.replace(b"\n", b"\r\n"),
    "CR only": RAW.replace(b"\n", b"\r"),
    "a BOM first": b"\xef\xbb\xbf" + RAW,
    "comments": b": keep-alive\n\n" + RAW.replace(b"\n\n", b"\n\n: ping\n\n"),
    "a comment inside an event": RAW.replace(b"data: {", b": hm\ndata: {"),
    "data in several lines": RAW.replace(b'"choices"', b'\ndata: "choices"'),
    "no space after the colon": RAW.replace(b"data: ", b"data:"),
    "no blank line at the end": RAW.rstrip(b"\n"),
    "no newline and no [DONE]": RAW.partition(b"data: [DONE]")[0].rstrip(b"\n"),
    "nothing after the finish": RAW.replace(b"data: [DONE]\n\n", b""),
    "blank lines galore": b"\n\n\n" + RAW.replace(b"\n\n", b"\n\n\n\n"),
    "other fields": RAW.replace(b"data: {", b"id: 7\nretry: 10\nfoo: bar\nevent: message\ndata: {"),
}


def cuts(body: bytes) -> Iterator[list[bytes]]:
    """One piece; single bytes, which cuts every character and every delimiter; with empty chunks; in two."""
    yield [body]
    yield [body[at : at + 1] for at in range(len(body))]
    yield [part for at in range(0, len(body), 5) for part in (body[at : at + 5], b"")]
    for at in range(0, len(body), 3):
        yield [body[:at], b"", body[at:]]


@pytest.mark.parametrize("way", WAYS)
def test_s_92_a_stream_says_the_same_however_it_is_written_and_cut(way: str) -> None:
    """Characters and delimiters split over chunks, any line end, comments, a missing end: no byte is lost."""
    for chunks in cuts(WAYS[way]):
        turn = decode("openai:gpt-5.1", chunks)
        assert isinstance(turn, ModelTurn)
        assert (turn.text, turn.stop) == (TEXT, "end")
        assert "\ufffd" not in turn.text
