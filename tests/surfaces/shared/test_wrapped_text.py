"""Lines that end between two words."""

from __future__ import annotations

import pytest

from turnout.surfaces.shared.wrapped_text import wrap_for_terminal, wrap_lines

TEXT = "Keys: none of ANTHROPIC_API_KEY, OPENAI_API_KEY, OPENROUTER_API_KEY is set.\n\n  1  sign in-to it"


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_words_stay_whole_and_lines_fit(columns: int) -> None:
    """Every word of the text is a word of the wrapped one, and empty lines stay."""
    wrapped = wrap_lines(TEXT, columns)
    assert all(len(line) <= columns for line in wrapped.split("\n"))
    assert wrapped.split() == TEXT.split() and "\n\n" in wrapped


def test_the_rest_of_a_line_is_indented_like_its_beginning() -> None:
    """A verdict below its session stays below it."""
    assert wrap_lines("     one two three four five six", 24) == "     one two three four\n     five six"


def test_a_word_that_is_wider_than_the_terminal_is_not_cut() -> None:
    """It is copied with the mouse as one word."""
    assert wrap_lines("see /a/very/long/path/that/does/not/fit now", 20).split()[1].startswith("/a/very")


def test_text_for_a_pipe_stays_as_it_is() -> None:
    """Programs read it by lines."""
    assert wrap_for_terminal("word " * 100) == "word " * 100
