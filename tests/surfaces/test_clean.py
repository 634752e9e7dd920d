"""Text for a terminal: nothing in it steers, nothing that matters is lost, nothing is hidden."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.surfaces.cli.clean import json_line, one_line, only_colour, printable, visible

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
NASTY = st.one_of(
    st.text(),
    st.text(st.sampled_from("\x1b\x9b\x9d\x07\x9c\\[]PX^_?0123456789;mHJKABhlq \n\t\r\b\x00abc\u202e\ud800")),
    st.binary().map(lambda data: data.decode("latin-1")),
)


@given(NASTY)
def test_no_control_byte_is_left_but_line_feed_and_tab(text: str) -> None:
    """Whatever a model or a tool writes, a terminal is never steered by it."""
    shown = printable(text)

    assert not CONTROLS.search(shown)
    assert printable(shown) == shown
    shown.encode()


HOLLOW = "\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0" + "".join(map(chr, range(0xE0100, 0xE01F0)))


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Cn"], exclude_characters=HOLLOW)))
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    """Whatever can be seen is shown as it was written."""
    assert printable(text) == text


@given(NASTY, NASTY)
def test_a_sequence_cut_in_two_steers_no_more_than_a_whole_one(first: str, second: str) -> None:
    """A stream may cut an escape sequence anywhere."""
    assert not CONTROLS.search(printable(first) + printable(second))


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]52;c;ZXZpbA==\x1b\\text", "text"),
        ("\x1bP+q544e\x1b\\text", "text"),
        ("\x9b2Jtext", "text"),
        ("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]never ended\nnext line", "\nnext line"),
        ("over\rwritten", "over\nwritten"),
        ("back\b\bspace", "backspace"),
    ],
)
def test_escape_sequences_go_as_a_whole(text: str, left: str) -> None:
    """Not only their first byte: `]52;c;…` on the screen would be noise."""
    assert printable(text) == left


@given(NASTY)
def test_what_one_decides_on_hides_nothing(text: str) -> None:
    """Every letter of a command is seen, as itself or spelled out."""
    shown = visible(text)

    assert not CONTROLS.search(shown)
    assert "\u202e" not in shown and "\u200b" not in shown


def test_what_cannot_be_seen_is_spelled_out() -> None:
    assert visible("rm\u202e -rf\u200b \x1b[8m~\u00a0") == "rm<U+202E> -rf<U+200B> <U+001B>[8m~<U+00A0>"
    assert visible("naïve 日本語 🙂 ok") == "naïve 日本語 🙂 ok"


@given(st.recursive(NASTY, lambda inner: st.lists(inner) | st.dictionaries(NASTY, inner), max_leaves=5))
def test_json_lines_steer_nothing_and_mean_the_same(value: object) -> None:
    """Programs get the very text; the bytes that carry it are harmless in a terminal, too."""
    line = json_line(json.dumps(value, ensure_ascii=False))

    assert not CONTROLS.search(line) and "\n" not in line
    assert json.loads(line) == value
    line.encode()


@given(NASTY)
def test_drawn_text_keeps_colours_and_nothing_else(text: str) -> None:
    assert not CONTROLS.search(re.sub(r"\x1b\[[0-9;]*m", "", only_colour(text)))


@given(NASTY)
def test_one_line_is_one_line(text: str) -> None:
    line = one_line(text, 40)

    assert "\n" not in line and len(line) <= 40


HIDDEN = (
    "\u200b\u200e\u200f\u202a\u202b\u202d\u202e\u2066\u2067\u2069\u2060\ufeff\u061c\u00ad"
    "\u034f\u3164\U000e0041\U000e0101"
)


@pytest.mark.parametrize("letter", HIDDEN, ids=lambda letter: f"U+{ord(letter):04X}")
def test_what_has_no_width_or_turns_the_text_is_spelled_out(letter: str) -> None:
    """In answers and errors as in approvals: what a reader cannot see cannot mislead them."""
    assert printable(f"pay{letter}load") == f"pay<U+{ord(letter):04X}>load"
    assert one_line(f"pay{letter}load") == f"pay<U+{ord(letter):04X}>load"


@pytest.mark.parametrize(
    "text", ["👩\u200d👩\u200d👧", "❤\ufe0f\u200d🔥", "می\u200cخواهم", "क्\u200dष", "葛\U000e0100"]
)
def test_joiners_stay_where_writing_needs_them(text: str) -> None:
    """Emoji of several parts, Persian and Hindi are not torn apart."""
    assert printable(text) == text


def test_joiners_between_latin_letters_are_spelled_out() -> None:
    """There they only hide a difference between two names."""
    assert printable("pay\u200dload \u200c") == "pay<U+200D>load <U+200C>"
