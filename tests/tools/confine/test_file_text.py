"""Bytes of a file as text and back."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.tools.confine.file_text import as_utf8, decode_text, is_binary, mark_of


@given(st.binary(max_size=200))
def test_every_decoding_can_be_undone(data: bytes) -> None:
    """The bytes of a file that is read and written without a change stay the same."""
    text = decode_text(data)
    assert text.encode(text.text) == data


@pytest.mark.parametrize(
    ("data", "encoding", "note"),
    [
        (b"plain", "utf-8", ""),
        (codecs.BOM_UTF8 + b"marked", "utf-8", "UTF-8 with BOM"),
        (codecs.BOM_UTF16_LE + "two".encode("utf-16-le"), "utf-16-le", "UTF-16-LE"),
        ("caf\u00e9".encode("cp1252"), "cp1252", "CP1252"),
        ("\u00e4\u00f6\u00fc ".encode() + b"\xff", "utf-8", ""),
    ],
)
def test_the_encoding_is_found(data: bytes, encoding: str, note: str) -> None:
    """By the mark; else UTF-8, with a few other bytes escaped; else one byte a character."""
    text = decode_text(data)
    assert (text.encoding, text.encoding_note) == (encoding, note)


def test_a_null_byte_makes_a_file_binary_unless_it_is_marked() -> None:
    """UTF-16 is full of them."""
    assert is_binary(b"a\0b") and not is_binary(codecs.BOM_UTF16_LE + b"a\0")
    assert mark_of(b"a") == (b"", "")


@given(st.text(alphabet="a\u00e4\U0001f600", max_size=30), st.integers(1, 7))
def test_blocks_become_utf8_wherever_they_were_cut(text: str, size: int) -> None:
    """Also inside a character."""
    data = codecs.BOM_UTF16_LE + text.encode("utf-16-le")
    blocks = [data[:2], *(data[at : at + size] for at in range(2, len(data), size))]
    assert b"".join(as_utf8(blocks, data)).decode() == text


def test_most_lines_decide_the_line_ending() -> None:
    """New lines of a file end as most of its lines do."""
    assert decode_text(b"a\r\nb\r\nc\n").newline == "\r\n"
    assert decode_text(b"a\nb").newline == "\n"
