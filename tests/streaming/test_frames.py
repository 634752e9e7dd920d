"""Framings are told apart by their bytes, and every payload comes out once it is whole."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout.errors import StreamError
from turnout.streaming.frames import Frame, FrameDecoder, loads, reader

CORPUS = Path(os.environ.get("TURNOUT_CORPUS", "../shared/corpus"))
SOAK = bool(os.environ.get("TURNOUT_SOAK"))

texts = st.text(st.sampled_from('ab"\\{}[],:\n é\u2028😀\x7f'), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.floats(-1, 1) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
objects = st.dictionaries(texts, values, max_size=3)


def written(value: Any, style: int) -> bytes:
    """JSON as different servers print it."""
    indent = 2 if style == 2 else None
    return json.dumps(value, ensure_ascii=style == 1, indent=indent).encode()


def cuts(body: bytes) -> Iterator[list[bytes]]:
    """The body in one piece, in single bytes, and cut in two at up to forty places."""
    yield [body]
    yield [body[at : at + 1] for at in range(len(body))]
    for at in range(0, len(body), len(body) // 40 + 1):
        yield [body[:at], body[at:]]


def walked(chunks: Iterable[bytes], **options: Any) -> tuple[str, list[Frame], str]:
    """The kind of body, its frames, and the failure they ended in."""
    decoder = FrameDecoder(**options)
    seen: list[Frame] = []
    try:
        for chunk in chunks:
            for frame in decoder.feed(chunk):
                seen.append(frame)
        for frame in decoder.close():
            seen.append(frame)
    except StreamError as failure:
        return decoder.kind, seen, failure.kind
    return decoder.kind, seen, ""


def payloads(*chunks: bytes, **options: Any) -> list[bytes]:
    return [frame.data for frame in walked(chunks, **options)[1]]


@settings(max_examples=1500 if SOAK else 150, deadline=None)
@given(st.lists(values, max_size=4), st.integers(0, 2), st.sampled_from([b"", b" \n", b"\r\n\r\n"]))
def test_an_array_gives_its_elements_at_any_cut(items: list[Any], style: int, around: bytes) -> None:
    """Each element of an array body is one payload, whatever it holds and however it is printed."""
    body = around + written(items, style) + around

    for chunks in cuts(body):
        kind, frames, failure = walked(chunks)
        assert (kind, failure) == ("array", "")
        assert [json.loads(frame.data) for frame in frames] == items


@settings(max_examples=1500 if SOAK else 150, deadline=None)
@given(
    st.lists(objects, min_size=1, max_size=4), st.integers(0, 1), st.sampled_from([b"\n", b"\r\n", b"\n\n"])
)
def test_json_lines_give_their_lines_at_any_cut(items: list[Any], style: int, end: bytes) -> None:
    """Each line of JSON lines is one payload, with or without a line end after the last."""
    body = end.join(written(item, style) for item in items)

    for whole in (body, body + end):
        for chunks in cuts(whole):
            kind, frames, failure = walked(chunks)
            assert (kind, failure) == ("json", "")
            assert [json.loads(frame.data) for frame in frames] == items


@settings(max_examples=500 if SOAK else 100, deadline=None)
@given(objects, st.integers(0, 2), st.sampled_from([b"", b"\n\n\n", b"\xef\xbb\xbf", b" \r\n\t"]))
def test_an_object_is_one_payload_at_any_cut(item: dict[str, Any], style: int, before: bytes) -> None:
    """A body of one object is one payload, printed on one line or many, after blank lines too."""
    for chunks in cuts(before + written(item, style)):
        kind, frames, failure = walked(chunks)
        assert (kind, failure) == ("json", "")
        assert [json.loads(frame.data) for frame in frames] == [item]


ANYTHING = [
    b"{", b"}", b"[", b"]", b",", b'"', b"\\", b"\n", b" ", b"1", b"<", b"\xff", b"data: 1", b"\n\n",
    b"\xef\xbb\xbf", b'{"a":1}', b'["', b"\xef", b"x",
]  # fmt: skip


@settings(max_examples=3000 if SOAK else 300, deadline=None)
@given(st.lists(st.sampled_from(ANYTHING), max_size=12).map(b"".join), st.sampled_from([3, 8, 1000]))
def test_the_frames_of_any_bytes_do_not_depend_on_the_cut(body: bytes, limit: int) -> None:
    """Damaged bodies too: the same kind, the same frames, the same failure."""
    limits = {"max_event": limit, "max_response": 20 if limit == 8 else 1000}
    expected = walked([body], **limits)

    for chunks in cuts(body):
        assert walked(chunks, **limits) == expected, chunks


def test_elements_arrive_before_the_array_ends() -> None:
    """An object in an array is handed out with its last bracket, a number with the comma after it."""
    decoder = FrameDecoder()

    assert [frame.data for frame in decoder.feed(b'[{"a": "]"}')] == [b'{"a": "]"}']
    assert [frame.data for frame in decoder.feed(b",\n1")] == []
    assert [frame.data for frame in decoder.feed(b"2,")] == [b"12"]
    assert [frame.data for frame in decoder.feed(b"[]]")] == [b"[]"]


def test_lines_arrive_one_by_one() -> None:
    """A line of JSON lines is handed out with its line end."""
    decoder = FrameDecoder()

    assert [frame.data for frame in decoder.feed(b'{"a":1}\n{"b"')] == [b'{"a":1}']
    assert [frame.data for frame in decoder.feed(b":2}\n")] == [b'{"b":2}']


def test_event_streams_keep_their_names() -> None:
    """Server-sent events come through as they are, after blank lines and comments too."""
    kind, frames, _ = walked([b"\n\n: wait\n\nevent: ping\ndata: {}\n\ndata: [DONE]"])

    assert kind == "sse"
    assert frames == [Frame(b"{}", "ping"), Frame(b"[DONE]")]


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"", "empty"),
        (b" \r\n\n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (b"\n<!DOCTYPE html><html>", "html"),
        (b"upstream connect error", "text"),
        (b"Bad gateway: try again\n", "text"),
        (b": keep-alive\n\n", "sse"),
        (b"foo: bar\rdata: 1\r\r", "sse"),
        (b"[]", "array"),
    ],
)
def test_bodies_without_payloads_are_recognised(body: bytes, kind: str) -> None:
    """An empty body, a web page and plain text hold no payloads; the caller learns which it was."""
    decoder = FrameDecoder()
    frames = [*decoder.feed(body), *decoder.close()]

    assert decoder.kind == kind
    assert decoder.excerpt == body
    assert all(frame.data == b"1" for frame in frames)


def test_what_a_cut_leaves_of_a_body_is_a_payload_that_does_not_decode() -> None:
    """Nothing is dropped silently: a truncated object or element is handed out, and fails as JSON."""
    for body in (b'{"a": ', b'[{"a": 1}, {"b"', b'data: {"a', b'{"a":1}\n{"b"'):
        *_, last = payloads(body)
        with pytest.raises(StreamError, match="not valid JSON"):
            loads(last)


def test_text_after_an_array_is_not_lost() -> None:
    """What follows the closing bracket is handed out, so that it fails as JSON."""
    assert payloads(b'[{}] {"error": [') == [b"{}", b'{"error": [']


def test_half_a_byte_order_mark_is_not_text() -> None:
    """A body that ends within its first character fails like any other that is not UTF-8."""
    assert walked([b"\xef", b"\xbb"])[2] == "malformed"


@pytest.mark.parametrize("body", [b"data: 1", b'{"a": 1}', b"{}\n{}", b"[1"])
def test_a_second_close_adds_nothing(body: bytes) -> None:
    """What the end completed is handed out once."""
    decoder = FrameDecoder()

    assert [*decoder.feed(body), *decoder.close()]
    assert not list(decoder.close())


def test_limits_hold_in_every_framing() -> None:
    """An element or line may have max_event bytes, any body max_response."""
    for body in (b'[{}, {"a": "xxxxxxxxxx"}]', b'{}\n{"a": "xxxxxxxxxx"}\n'):
        assert walked([body], max_event=10) == (walked([body])[0], [Frame(b"{}")], "too_large")
    assert walked([b'{"a":\n"xxxxxxxxxx"}'], max_event=10)[2] == ""
    assert walked([b'{"a":\n"xxxxxxxxxx"}'], max_response=10) == ("json", [], "too_large")


def test_recordings_in_every_framing() -> None:
    """Every recorded body gives JSON payloads (or [DONE]), and the same ones in small chunks."""
    paths = sorted(p for p in (CORPUS / "exchanges").glob("*/*/response.*") if p.suffix in KINDS)
    if not paths:
        pytest.skip(f"no recordings under {CORPUS}; set TURNOUT_CORPUS")
    for path in paths if SOAK else paths[::10]:
        body = path.read_bytes()
        kind, frames, failure = walked([body])
        assert failure == "", path
        assert kind in KINDS[path.suffix], path
        assert walked(body[at : at + 7] for at in range(0, len(body), 7)) == (kind, frames, failure), path
        for frame in frames:
            assert frame.data.strip() == b"[DONE]" or loads(frame.data) is not None, path


KINDS = {".sse": {"sse", "array"}, ".json": {"json", "array"}, ".ndjson": {"json"}}


def test_lone_surrogates_become_replacement_characters() -> None:
    """Half a pair passes `json.loads` and fails at the provider; whole pairs stay."""
    assert loads(b'{"a": "x\\ud800y \\ud83d\\ude00 \\\\ud800"}') == {"a": "x\ufffdy \U0001f600 \\ud800"}


@pytest.mark.parametrize(
    "payload", [b"", b"[DONE]", b'{"a"', b"\xff", b'"\xff"', b"{} {}", b"[" * 100_000, b"nul"]
)
def test_what_is_not_json_is_a_stream_error(payload: bytes) -> None:
    """Whatever the bytes, the failure has a type and shows how they began."""
    with pytest.raises(StreamError) as failure:
        loads(payload)

    assert failure.value.kind == "malformed"
    assert failure.value.body == payload[:2048].decode(errors="replace")


class Chunk(msgspec.Struct):
    text: str = ""


def test_a_reader_reads_one_shape() -> None:
    """A typed reader skips other fields, mends surrogates, and fails with a type."""
    read = reader(Chunk)

    assert read(b'{"text": "a", "more": [1]}') == Chunk("a")
    assert read(b'{"text": "\\udc00"}') == Chunk("\ufffd")
    with pytest.raises(StreamError):
        read(b'{"text": 1}')


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(lambda n: b'[{"text": "' + b"\\n" * (n // 2) + b'"}]', id="an element full of escapes"),
        pytest.param(lambda n: b"[" + b"{}," * (n // 3) + b"{}]", id="many elements"),
        pytest.param(lambda n: b'[["' + b'","' * (n // 3) + b'"]]', id="many strings"),
        pytest.param(lambda n: b'{"a":"' + b"x" * n + b'"}', id="one line"),
        pytest.param(lambda n: b"{}\n" * (n // 3), id="many lines"),
        pytest.param(lambda n: b"[" * n, id="many brackets"),
    ],
)
def test_a_body_costs_its_length(body: Any) -> None:
    """Ten times the bytes take about ten times as long, in small chunks."""

    def seconds(size: int) -> float:
        text = body(size)
        chunks = [text[at : at + 1000] for at in range(0, len(text), 1000)]
        start = time.process_time()
        walked(chunks)
        return time.process_time() - start

    assert min(seconds(300_000) for _ in range(2)) < 40 * min(seconds(30_000) for _ in range(3)) + 0.05


@pytest.mark.parametrize("before", [b"\xef\xbb\xbf", b"  ", b"\n" * 5000, b"\xef\xbb\xbf\n\n"])
def test_what_comes_before_a_single_event_does_not_hide_it(before: bytes) -> None:
    """A byte order mark or blank lines, however many, are no reason to call an event stream text."""
    decoder = FrameDecoder()
    frames = [*decoder.feed(before + b'data: {"a":1}\n\n'), *decoder.close()]

    assert (decoder.kind, frames) == ("sse", [Frame(b'{"a":1}')])
