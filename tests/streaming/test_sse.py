"""Server-sent events: the WHATWG rules, any cut of the bytes, limits, and what failure looks like."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout.errors import StreamError
from turnout.streaming.sse import SseDecoder, SseEvent

CORPUS = Path(os.environ.get("TURNOUT_CORPUS", "../shared/corpus"))
SOAK = bool(os.environ.get("TURNOUT_SOAK"))

LINES = [
    "data: a", "data: b", "data:c", "data:", "data", "data:  d", "data: {}", "event: e", "event:f", "event",
    "id: 7", "id", "id: \0", "retry: 10", ": ping", ":", "foo: bar", " data: g",
    "error: h", "error:i", "error",
    "data: é\u2028\u0085\x0b\x1c😀", "\ufeffdata: h",
]  # fmt: skip
ENDS = ["\n", "\r\n", "\r"]
NOT_UTF8 = [b"data: \xff", b"data: \xe2\x80", b": \xed\xa0\x80"]


@st.composite
def bodies(draw: st.DrawFn, broken: bool = False) -> bytes:
    """Events of a few lines each; line ends are of one kind or mixed; the last may be unfinished."""
    lines = [line.encode() for line in LINES] + (NOT_UTF8 if broken else [])
    ends = draw(st.sampled_from([ENDS[:1], ENDS[1:2], ENDS[2:], ENDS]))
    end = st.sampled_from(ends).map(str.encode)
    block = st.lists(st.sampled_from(lines), max_size=3)
    text = b"\xef\xbb\xbf" * draw(st.booleans())
    for block_lines in draw(st.lists(block, max_size=5)):
        text += b"".join(line + draw(end) for line in block_lines) + draw(end)
    return text + b"".join(draw(st.lists(st.sampled_from([*lines, b"\n", b"\r"]), max_size=2)))


def cuts(body: bytes) -> Iterator[list[bytes]]:
    """The body in one piece, in single bytes, and cut in two everywhere."""
    yield [body]
    yield [body[at : at + 1] for at in range(len(body))]
    for at in range(len(body)):
        yield [body[:at], body[at:]]


def events(chunks: Iterable[bytes], **options: object) -> list[SseEvent]:
    decoder = SseDecoder(**options)  # type: ignore[arg-type]
    return [event for chunk in chunks for event in decoder.feed(chunk)] + list(decoder.close())


def data(body: bytes, **options: object) -> list[bytes]:
    return [event.data for event in events([body], **options)]


def walked(chunks: Iterable[bytes], **options: object) -> tuple[list[SseEvent], str]:
    """The events, and the failure they ended in."""
    decoder = SseDecoder(**options)  # type: ignore[arg-type]
    seen: list[SseEvent] = []
    try:
        for chunk in chunks:
            for event in decoder.feed(chunk):
                seen.append(event)
        for event in decoder.close():
            seen.append(event)
    except StreamError as failure:
        return seen, f"{failure.kind}: {failure}"
    return seen, ""


def by_the_book(body: bytes, keep_last: bool) -> list[tuple[str, str, str]]:
    """The standard's algorithm, as it is written, over the whole text; and our one field more, `error`."""
    text = body.decode().removeprefix("\ufeff")
    *lines, rest = re.split("\r\n|\n|\r", text)
    if keep_last:
        lines += [rest, ""]
    found, buffer, kind, last_id = [], "", "", ""
    errors: list[str] = []
    for line in lines:
        if line == "":
            if buffer:
                found.append((kind, buffer[:-1], last_id))
            if any(errors):
                found.append(("error", "\n".join(errors), last_id))
            buffer = kind = ""
            errors = []
        elif not line.startswith(":"):
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if field == "data":
                buffer += value + "\n"
            elif field == "event":
                kind = value
            elif field == "error":
                errors.append(value)
            elif field == "id" and "\0" not in value:
                last_id = value
    return found


@settings(max_examples=3000 if SOAK else 300, deadline=None)
@given(bodies(), st.booleans())
def test_events_are_those_of_the_standard_however_the_bytes_are_cut(body: bytes, strict: bool) -> None:
    """Any cut gives what the WHATWG algorithm gives; only the unfinished last event is our choice."""
    expected = by_the_book(body, keep_last=not strict)

    for chunks in cuts(body):
        found = [(e.event, e.data.decode(), e.id) for e in events(chunks, strict=strict)]
        assert found == expected, chunks


@settings(max_examples=2000 if SOAK else 150, deadline=None)
@given(bodies(broken=True))
def test_failure_does_not_depend_on_the_cut(body: bytes) -> None:
    """Events before bytes that are not UTF-8 arrive; then the same failure, at any cut."""
    expected = walked([body])

    assert all(walked(chunks) == expected for chunks in cuts(body))


@settings(max_examples=2000 if SOAK else 150, deadline=None)
@given(bodies(broken=True), st.integers(0, 30), st.integers(0, 120))
def test_limits_do_not_depend_on_the_cut(body: bytes, event: int, response: int) -> None:
    """Whole events within the limits arrive, then the failure names the limit."""
    limits = {"max_event": event, "max_response": response}
    expected = walked([body], **limits)

    assert all(walked(chunks, **limits) == expected for chunks in cuts(body))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"data: a\n\ndata: b\n\n", [b"a", b"b"]),
        (b"data: a\r\n\r\ndata: b\r\n\r\n", [b"a", b"b"]),
        (b"data: a\r\rdata: b\r\r", [b"a", b"b"]),
        (b"data: a\n\r\ndata: b\r\n\n", [b"a", b"b"]),
        (b"\xef\xbb\xbfdata: a\n\n", [b"a"]),
        (b": ping\n\n: ping\ndata: a\n\n", [b"a"]),
        (b"data: a\ndata: b\n\n", [b"a\nb"]),
        (b"data:a\n\n", [b"a"]),
        (b"data:  a\n\n", [b" a"]),
        (b"data\n\n", [b""]),
        (b"data\ndata\n\n", [b"\n"]),
        (b"event: x\n\ndata: a\n\n", [b"a"]),
        (b"dat: a\n\n Data: b\n\n", []),
        (
            "data: a\u2028b\u2029c\u0085d\x0b\x0c\x1c\n\n".encode(),
            ["a\u2028b\u2029c\u0085d\x0b\x0c\x1c".encode()],
        ),
        (b"data: [DONE]\n\n", [b"[DONE]"]),
        (b"", []),
        (b"\n\n\r\n", []),
    ],
)
def test_the_fields_of_an_event(body: bytes, expected: list[bytes]) -> None:
    """Line ends, comments, several data lines, a missing space: what each means."""
    assert data(body) == expected


def test_names_belong_to_one_event_and_ids_to_all_that_follow() -> None:
    """An event's name ends with it; an id stays until another comes."""
    body = b"event: a\nid: 1\ndata: x\n\ndata: y\n\nid\ndata: z\n\n"

    assert events([body]) == [SseEvent(b"x", "a", "1"), SseEvent(b"y", "", "1"), SseEvent(b"z", "", "")]


def test_an_id_stays_on_the_fast_roads_too() -> None:
    """Runs of plain events after an id carry it, named or not."""
    decoder = SseDecoder()
    list(decoder.feed(b"id: 1\ndata: x\n\n"))

    assert list(decoder.feed(b"data: y\n\ndata: z\n\n")) == [SseEvent(b"y", "", "1"), SseEvent(b"z", "", "1")]
    assert list(decoder.feed(b"event: n\ndata: y\n\n")) == [SseEvent(b"y", "n", "1")]


def test_retry_is_digits_only() -> None:
    """The last retry field that is a number stands."""
    decoder = SseDecoder()
    list(decoder.feed(b"retry: 1500\n\nretry: soon\n\n"))

    assert decoder.retry == 1500


@pytest.mark.parametrize("body", [b"data: a", b"data: a\n", b"data: a\r", b"event: x\ndata: a\r\n"])
def test_the_last_event_counts_without_its_blank_line(body: bytes) -> None:
    """Some servers close right after the last line; a browser would drop the event."""
    assert data(body) == [b"a"]
    assert data(body, strict=True) == []


def test_a_chunk_may_be_empty() -> None:
    """Empty chunks change nothing, wherever they come."""
    assert [e.data for e in events([b"", b"data: a\r", b"", b"\n\r\n", b"", b"data: b\n\n"])] == [b"a", b"b"]


def test_a_cr_at_the_end_of_a_chunk_ends_its_line_at_once() -> None:
    """With CR line ends nobody waits for an LF that never comes."""
    assert [e.data for e in SseDecoder().feed(b"data: a\r\r")] == [b"a"]


def test_events_before_the_failure_are_walked_first() -> None:
    """What arrived whole is handed out; then the failure is raised, and again after."""
    decoder = SseDecoder()
    walk = iter(decoder.feed(b"data: a\n\ndata: \xff\n\ndata: b\n\n"))

    assert next(walk).data == b"a"
    with pytest.raises(StreamError, match="not UTF-8"):
        next(walk)
    with pytest.raises(StreamError, match="not UTF-8"):
        decoder.feed(b"data: c\n\n")
    with pytest.raises(StreamError, match="not UTF-8"):
        decoder.close()


def test_an_event_may_not_be_too_large() -> None:
    """The limit holds for an event that is whole and for one that never ends."""
    too_large = "too_large: an event is longer than 10 bytes; allow more with max_event="

    assert walked([b"data: 12345\n\n"], max_event=10) == ([], too_large)
    assert walked([b"data: 1234\n\n"], max_event=10) == ([SseEvent(b"1234")], "")
    with pytest.raises(StreamError, match="max_event"):
        list(SseDecoder(max_event=10).feed(b"data: 12345"))


def test_a_response_may_not_be_too_large() -> None:
    """Events within the allowance arrive before the failure."""
    too_large = "too_large: the response is longer than 9 bytes; allow more with max_response="

    assert walked([b"data: 1\n\ndata: 2\n\n"], max_response=9) == ([SseEvent(b"1")], too_large)


def test_recordings_come_out_the_same_byte_by_byte() -> None:
    """Recorded streams give the standard's events, in one piece and in single bytes."""
    paths = sorted((CORPUS / "exchanges").glob("*/*/response.sse"))
    if not paths:
        pytest.skip(f"no recordings under {CORPUS}; set TURNOUT_CORPUS")
    for path in paths if SOAK else paths[::10]:
        body = path.read_bytes()
        expected = by_the_book(body, keep_last=True)
        whole = events([body])

        assert [(e.event, e.data.decode(), e.id) for e in whole] == expected, path
        assert events(body[i : i + 1] for i in range(len(body))) == whole, path


def seconds(chunks: list[bytes]) -> float:
    start = time.process_time()
    events(chunks)
    return time.process_time() - start


def test_one_long_event_costs_its_length() -> None:
    """Twice the bytes in 4 KB chunks take about twice as long, not four times."""

    def chunks(size: int) -> list[bytes]:
        body = b"data: " + b"x" * size + b"\n\n"
        return [body[at : at + 4096] for at in range(0, len(body), 4096)]

    small, large = chunks(1_000_000), chunks(10_000_000)

    assert min(seconds(large) for _ in range(3)) < 40 * min(seconds(small) for _ in range(3))


def test_a_long_event_of_short_lines_costs_its_length() -> None:
    """Lines that arrive one by one without a blank line are gathered, not gone over again."""

    def chunks(count: int) -> list[bytes]:
        return [b"data: x\n"] * count

    assert min(seconds(chunks(100_000)) for _ in range(3)) < 40 * min(
        seconds(chunks(10_000)) for _ in range(3)
    )
