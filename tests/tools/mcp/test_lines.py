"""Messages cut from bytes: the same however the bytes were cut, and never more than may be kept."""

from __future__ import annotations

import tracemalloc
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from turnout.tools.mcp.lines import Lines, TooLong


def cut(data: bytes, *places: int, longest: int = 20) -> list[bytes | TooLong]:
    lines = Lines(longest)
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    chunks = [data[start:end] for start, end in pairwise(edges)]
    return [line for chunk in chunks for line in lines.feed(chunk)]


@given(st.lists(st.binary(max_size=100)), st.lists(st.integers(0, 10_000), max_size=8))
def test_lines_do_not_depend_on_how_the_bytes_were_cut(pieces: list[bytes], places: list[int]) -> None:
    """Any cut gives the same lines."""
    data = b"\n".join(pieces)
    assert cut(data, *places) == cut(data)


def test_a_line_that_is_too_long_is_told_once_and_the_next_is_read() -> None:
    """Its head comes once, the rest is dropped."""
    assert cut(b'{"id": 7, ' + b"x" * 100 + b"}\n{}\n", 30, 60, 90) == [
        TooLong(b'{"id": 7, xxxxxxxxxx'),
        b"{}",
    ]


def test_who_waits_for_an_answer_that_is_too_long_can_be_told() -> None:
    """The number of the request is found in the head."""
    assert TooLong(b'{"jsonrpc":"2.0","id":7,"result":{"content":[{"id":9,').request == 7
    assert TooLong(b'{"jsonrpc":"2.0","result":{"id":9,').request is None
    assert TooLong(b"noise").request is None


def test_memory_stays_flat_however_long_a_line_is() -> None:
    """No more than the limit of a line is held."""
    lines = Lines(64 * 1024)
    tracemalloc.start()
    for _ in range(500):
        assert all(isinstance(line, TooLong) for line in lines.feed(b"x" * 64 * 1024))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1024 * 1024
