"""Thinking between tags, told from text however it is cut."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.streaming.thinktags import Piece, ThinkTags


def split(*chunks: str, opened: bool = False) -> list[Piece]:
    """The pieces, with neighbours of one kind joined."""
    tags = ThinkTags(opened=opened)
    joined: list[Piece] = []
    for kind, text in [*(piece for chunk in chunks for piece in tags.feed(chunk)), *tags.close()]:
        if joined and joined[-1][0] == kind:
            joined[-1] = (kind, joined[-1][1] + text)
        else:
            joined.append((kind, text))
    return joined


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("<think>hm</think>yes", [("thinking", "hm"), ("text", "yes")]),
        ("<think>\nhm</think>\n\nyes", [("thinking", "hm"), ("text", "yes")]),
        ("\n<think>hm", [("thinking", "hm")]),
        ("so <think>hm</think>yes", [("text", "so "), ("thinking", "hm"), ("text", "yes")]),
        (
            "<think>a</think>b<think>c</think>d",
            [("thinking", "a"), ("text", "b"), ("thinking", "c"), ("text", "d")],
        ),
        ("<think></think>yes", [("text", "yes")]),
        ("a < b <thin", [("text", "a < b <thin")]),
        ("", []),
    ],
)
def test_s_91_what_stands_between_the_tags_is_thinking(text: str, pieces: list[Piece]) -> None:
    """Line breaks next to a tag belong to the tag; what only looks like one is text."""
    assert split(text) == pieces


@pytest.mark.parametrize("text", ["hm</think>yes", "<think>hm</think>yes", "\n<think>\nhm</think>yes"])
def test_s_91_a_reply_may_begin_in_the_middle_of_thinking(text: str) -> None:
    """The template wrote the opening tag; a model that writes it again means the same."""
    assert split(text, opened=True) == [("thinking", "hm"), ("text", "yes")]


def test_s_91_a_closing_tag_without_an_opening_one_takes_back_what_was_said() -> None:
    """The template opened it unknown to us. Only the first tag of a reply can tell that."""
    assert split("hm</think>\nyes") == [("text", "hm"), ("taken_back", ""), ("text", "yes")]
    assert split("</think>yes") == [("taken_back", ""), ("text", "yes")]
    assert split("<think>a</think>b</think>c") == [("thinking", "a"), ("text", "b</think>c")]


@pytest.mark.parametrize(
    ("text", "shown"),
    [("Hello</think>", "Hello"), ("Hello</think>\n", "Hello"), ("Hello</think> \n ", "Hello \n ")],
)
def test_a_closing_tag_that_ends_the_reply_leaves_the_words_visible(text: str, shown: str) -> None:
    """Nothing follows that the words could have been the thinking for: they are the answer."""
    assert split(text) == [("text", shown)]


def test_a_closing_tag_counts_as_soon_as_something_follows() -> None:
    """Words, more thinking, or what the splitter is told of: a call."""
    assert split("hm</think> yes") == [("text", "hm"), ("taken_back", ""), ("text", " yes")]
    assert split("hm</think> <think>so") == [
        ("text", "hm"),
        ("taken_back", ""),
        ("text", " "),
        ("thinking", "so"),
    ]
    tags = ThinkTags()
    assert [*tags.feed("hm</think>\n"), *tags.settle(), *tags.settle(), *tags.close()] == [
        ("text", "hm"),
        ("taken_back", ""),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "write `<think>` first, then `</think>`",
        "```\n<think>a</think>\n```",
        "``<think>`` and ``a ` <think>``",
    ],
)
def test_tags_inside_code_are_text(text: str) -> None:
    """A model that explains the format does not think."""
    assert split(text) == [("text", text)]


def test_a_stray_backtick_ends_with_its_line() -> None:
    """It does not hide the thinking that follows."""
    assert split("it`s\n<think>hm") == [("text", "it`s\n"), ("thinking", "hm")]


TEXT = st.lists(
    st.sampled_from(["<think>", "</think>", "<", "<th", "ink>", "`", "```", "\n", "a", " "]), max_size=12
).map("".join)


@given(TEXT, st.booleans(), st.data())
def test_s_91_pieces_do_not_depend_on_where_the_text_was_cut(
    text: str, opened: bool, data: st.DataObject
) -> None:
    """In two, or letter by letter."""
    at = data.draw(st.integers(0, len(text)))

    assert split(text[:at], text[at:], opened=opened) == split(text, opened=opened)
    assert split(*text, opened=opened) == split(text, opened=opened)


def test_nothing_is_held_back_that_cannot_be_a_tag() -> None:
    """Text goes on its way as it comes."""
    assert ThinkTags().feed("a < b") == [("text", "a < b")]


def test_a_long_text_takes_linear_time() -> None:
    """A megabyte of lines in one piece, or in many small ones."""
    text = "a line with `code` in it\n" * 40_000
    started = time.process_time()
    tags = ThinkTags()
    assert sum(len(piece) for _, piece in tags.feed(text)) >= len(text) - 1
    for at in range(0, len(text), 10):
        tags.feed(text[at : at + 10])

    assert time.process_time() - started < 5
