"""Sessions as files: read back as they were, cut off and survived, shown to people without harm."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.build import call, conversation, model, settled, started, user

from turnout.errors import CorruptHistory
from turnout.history.check import violations
from turnout.history.log import History
from turnout.interchange.exports import export, from_jsonl, to_jsonl, to_markdown
from turnout.model import Code, Media, Text, Thinking


def talk() -> History:
    return conversation(
        user("look", Media("image/png", data="aGk=", name="a.png")),
        model(Thinking("Hm."), "I look.", call("read", path="x"), call("list")),
        started("read"),
        settled("read", "the file"),
        settled("list", "no", "error"),
        model("Done.", Code("print(1)", "python")),
        user("thanks"),
    )


# JSON lines


def test_an_export_is_read_back_as_it_was() -> None:
    """With its title; under its own key or another."""
    history = talk()
    found = from_jsonl(to_jsonl(history, "My talk"))
    assert (found.title, found.history.key) == ("My talk", "h")
    assert found.history.entries == history.entries and not found.history.diagnostics
    assert from_jsonl(to_jsonl(history), key="other").history.key == "other"


def test_a_file_with_a_byte_order_mark_is_read() -> None:
    """As editors on some systems write it."""
    assert from_jsonl(b"\xef\xbb\xbf" + to_jsonl(talk())).history.entries == talk().entries


def test_a_torn_tail_is_tolerated_and_said() -> None:
    """Cut anywhere after the header: all whole lines stand, the rest is kept as a note."""
    whole = to_jsonl(talk())
    first = whole.index(b"\n") + 1
    for cut in range(first, len(whole)):
        history = from_jsonl(whole[:cut]).history
        torn = [item for item in history.diagnostics if item.code == "torn_tail"]
        whole_lines = whole[first:cut].count(b"\n") + (whole[cut : cut + 1] == b"\n")
        assert history.entries[:whole_lines] == talk().entries[:whole_lines]
        assert bool(torn) != (b"\n" in whole[cut - 1 : cut + 1])
        assert [note.kind for note in history.notes] == ["torn_tail"] * len(torn)
        assert not violations(history)


def test_a_line_in_the_middle_that_makes_no_sense_is_kept_and_said() -> None:
    """What comes after it stands."""
    lines = to_jsonl(talk()).split(b"\n")
    lines[2] = b"\xff garbage"
    history = from_jsonl(b"\n".join(lines)).history
    assert {item.code for item in history.diagnostics} == {"unreadable_entry"}
    assert history.turns[-1].blocks == (Text("thanks"),)
    assert not violations(history)


def test_another_file_is_no_export() -> None:
    """And the error says so."""
    for data in (b"", b"{}", b"[1]", b'{"turnout": 1}', b"\xff"):
        with pytest.raises(CorruptHistory, match="header"):
            from_jsonl(data)


# For people


def test_markdown_tells_the_whole_conversation() -> None:
    """Results right behind their calls, also what a compaction put aside."""
    history = talk()
    history.compact(history.turns[1].key, "We looked.")
    text = to_markdown(history, "My talk").decode()
    order = [
        "# My talk",
        "look",
        "> Hm.",
        "I look.",
        "**read**",
        "the file",
        "**list**",
        "*error*",
        "Done.",
        "We looked.",
    ]
    places = [text.index(part) for part in order]
    assert places == sorted(places)


def test_what_was_rewound_is_left_out() -> None:
    """The document is the conversation as it stands."""
    history = talk()
    history.rewind(history.turns[0].key)
    assert "I look." not in to_markdown(history).decode()


def test_a_fence_holds_whatever_is_inside() -> None:
    """A result that closes fences does not get out."""
    history = conversation(user("x"), model(call("a")), settled("a", "```\n# not a heading\n````\n"))
    text = to_markdown(history).decode()
    assert "`````\n```\n# not a heading\n````\n\n`````" in text


@given(st.text(), st.text())
def test_no_text_steers_a_terminal(text: str, title: str) -> None:
    """The document holds no control character but line feed and tab."""
    history = History("h")
    history.user(text)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", export(history, "markdown", title).decode())
