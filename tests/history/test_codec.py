"""JSON both ways: what is written is read back, and what a newer version wrote is not lost."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.build import call, conversation, model, settled, started, user

from turnout.errors import CorruptHistory
from turnout.history.codec import decode_entry, dump_history, encode_entry, load_history
from turnout.history.log import History
from turnout.model import (
    Code,
    Compaction,
    Entry,
    Media,
    ModelTurn,
    Note,
    Opaque,
    Origin,
    Outcome,
    Residue,
    Rewind,
    Settled,
    Started,
    SystemTurn,
    Text,
    Thinking,
    ToolCall,
    ToolSpec,
    Usage,
    UserTurn,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
DATA = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=6,
)
OBJECTS = st.dictionaries(TEXTS, DATA, max_size=3)
ORIGINS = st.builds(Origin, TEXTS, TEXTS, TEXTS)
RESIDUES = st.none() | st.builds(Residue, ORIGINS, DATA)
CONTENT = (
    st.builds(Text, TEXTS, RESIDUES)
    | st.builds(Media, TEXTS, TEXTS, TEXTS, TEXTS, RESIDUES)
    | st.builds(Code, TEXTS, TEXTS, TEXTS, RESIDUES)
    | st.builds(Opaque, TEXTS, TEXTS, RESIDUES)
)
CALLS = st.builds(ToolCall, TEXTS, TEXTS, OBJECTS, TEXTS, st.none() | TEXTS, RESIDUES, TEXTS)
BLOCKS = CONTENT | st.builds(Thinking, TEXTS, RESIDUES) | CALLS
OUTCOMES = st.builds(
    Outcome,
    st.sampled_from(["complete", "error", "cancelled", "denied", "interrupted"]),
    st.lists(CONTENT, max_size=3).map(tuple),
    st.booleans(),
    TEXTS,
)
SAID = st.lists(BLOCKS, max_size=3).map(tuple)
ENTRIES = (
    st.builds(SystemTurn, TEXTS, SAID)
    | st.builds(UserTurn, TEXTS, SAID)
    | st.builds(
        ModelTurn,
        TEXTS,
        ORIGINS,
        SAID,
        RESIDUES,
        st.just("end"),
        TEXTS,
        st.none() | st.builds(Usage, st.integers()),
    )
    | st.builds(Started, TEXTS, st.none() | OBJECTS)
    | st.builds(Settled, TEXTS, OUTCOMES)
    | st.builds(
        Compaction, TEXTS, TEXTS, st.dictionaries(TEXTS, TEXTS, max_size=2), st.lists(TEXTS).map(tuple)
    )
    | st.builds(Rewind, TEXTS)
    | st.builds(Note, TEXTS, DATA)
)


@settings(deadline=None)
@given(ENTRIES)
def test_every_entry_is_read_as_it_was_written(entry: Entry) -> None:
    """Each type of entry survives a round trip."""
    assert decode_entry(encode_entry(entry)) == entry


@given(ENTRIES)
def test_an_entry_is_one_line(entry: Entry) -> None:
    """So that a log can be added to and read line by line."""
    assert b"\n" not in encode_entry(entry)


def a_history() -> History:
    history = conversation(
        user("go"),
        model("let me see", call("read", "a", path="x"), call("write", "b")),
        started("a"),
        settled("a", "42"),
        user("and?"),
        model("so"),
    )
    history.note("title", "Weather")
    history.compact(history.turns[0].key, "they asked")
    history.user("go on")
    history.reply("kimi:k2", [call("read", "c")])
    return history


def test_a_history_is_read_as_it_was_written() -> None:
    """Turns, ledger, summary, diagnostics, what is open, and the key that comes next."""
    history = a_history()
    again = load_history(dump_history(history))

    assert again.entries == history.entries
    assert (list(again.turns), again.ledger, again.summary) == (
        list(history.turns),
        history.ledger,
        history.summary,
    )
    assert again.diagnostics == history.diagnostics
    assert again.open_turn == history.open_turn
    assert again.next_key() == history.next_key()
    assert dump_history(load_history(dump_history(again))) == dump_history(again)


def test_system_text_and_tools_are_in_the_header() -> None:
    """They are read back with the history."""
    tool = ToolSpec("read", "reads", {"type": "object"})
    again = load_history(dump_history(History("k", system="be kind", tools=[tool])))

    assert (again.key, again.system, again.tools) == ("k", "be kind", (tool,))


def test_the_header_says_what_this_is() -> None:
    """It has the version of the format."""
    header = json.loads(dump_history(History("k")).splitlines()[0])

    assert header == {"turnout": 1, "key": "k", "system": "", "tools": [], "diagnostics": []}


def test_what_json_cannot_say_does_not_stop_a_log() -> None:
    """A caller's residue or tool name is written as the nearest thing that can be."""
    call_made = ToolCall("hist_tool_1", "bad \ud800 name", residue=Residue(Origin("x"), {"object": object}))
    entry = decode_entry(encode_entry(ModelTurn("k", Origin("x"), (call_made,))))

    assert isinstance(entry, ModelTurn)
    assert entry.tool_calls[0].name == "bad \ufffd name"


# Written by a newer version

HOLOGRAM = {"type": "hologram", "text": "shimmer", "depth": {"z": 3}}
SAY = {"type": "text", "text": "hi", "residue": None}


@pytest.mark.parametrize(
    "line",
    [
        {"type": "user_turn", "key": "k", "blocks": [SAY, HOLOGRAM]},
        {"type": "system_turn", "key": "k", "blocks": [HOLOGRAM, HOLOGRAM]},
        {
            "type": "settled",
            "call_id": "c",
            "outcome": {
                "status": "complete",
                "content": [HOLOGRAM],
                "synthetic": False,
                "reason": "",
                "source": "",
            },
        },
        {"type": "vote", "for": "tea", "blocks": [1]},
    ],
)
def test_unknown_kinds_are_written_back_as_they_were(line: dict[str, Any]) -> None:
    """A newer version finds them unchanged."""
    assert json.loads(encode_entry(decode_entry(json.dumps(line).encode()))) == line


def test_an_unknown_block_is_shown() -> None:
    """As an opaque block with its text."""
    line = json.dumps({"type": "user_turn", "key": "k", "blocks": [SAY, HOLOGRAM]}).encode()
    entry = decode_entry(line)

    assert isinstance(entry, UserTurn)
    assert entry.blocks[0] == Text("hi")
    assert entry.blocks[1] == Opaque("turnout:hologram", "shimmer", Residue(Origin("turnout"), HOLOGRAM))


def test_a_newer_history_is_read_kept_and_said_so() -> None:
    """Each unknown part is reported once."""
    written = b"\n".join(
        [
            b'{"turnout": 2, "key": "k", "mood": "good"}',
            json.dumps(
                {"type": "user_turn", "key": "k.1", "blocks": [SAY, HOLOGRAM], "mood": "good"}
            ).encode(),
            b'{"type": "vote", "for": "tea"}',
        ]
    )
    history = load_history(written)

    assert [diagnostic.code for diagnostic in history.diagnostics] == ["unknown_block", "unknown_entry"]
    assert history.notes == (Note("unknown_entry", {"type": "vote", "for": "tea"}),)
    again = load_history(dump_history(history))
    assert again.entries == history.entries
    assert again.diagnostics == history.diagnostics
    assert b'{"type":"vote","for":"tea"}' in dump_history(history)


def test_a_note_that_only_looks_unknown_stays_a_note() -> None:
    """A note of a user is not an entry of a newer version."""
    for data in (5, {"type": "note"}, {"type": 5}, None):
        note = Note("unknown_entry", data)
        assert decode_entry(encode_entry(note)) == note


# Damaged


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"\xff",
        b"7",
        b"[]",
        b'{"key": "k"}',
        b'{"type": 5}',
        b'{"type": "user_turn"}',
        b'{"type": "user_turn", "key": "k", "blocks": 7}',
        b'{"type": "user_turn", "key": 7, "blocks": [{"type": "hologram"}]}',
        b'{"type": "user_turn", "key": "k", "blocks": [7]}',
        b'{"type": "settled", "call_id": "c", "outcome": {"status": "lost"}}',
        b'{"type": "settled", "call_id": "c", "outcome": 7}',
    ],
)
def test_a_line_that_makes_no_sense_is_named(line: bytes) -> None:
    """The error carries the line."""
    with pytest.raises(CorruptHistory) as caught:
        decode_entry(line)

    assert caught.value.entry == line


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not a header",
        b'{"key": "k"}',
        b'{"turnout": "x", "key": "k"}',
        b'{"turnout": 1, "key": "a|b"}',
        b'{"turnout": 1, "key": "k"}\n{"type": "started", "call_id": "nobody"}',
        b'{"turnout": 1, "key": "k"}\n{"type": "settled", "call_id": "x", "outcome": {"status": "error"}}',
        b'{"turnout": 1, "key": "k"}\n{"type": "compaction", "through_key": "k.9", "summary": "s"}',
        b'{"turnout": 1, "key": "k"}\n{"type": "user_turn", "key": "k.1", "blo',
    ],
)
def test_a_damaged_history_is_refused_with_the_part_that_made_no_sense(data: bytes) -> None:
    """`load_history` raises `CorruptHistory`."""
    with pytest.raises(CorruptHistory):
        load_history(data)


@settings(deadline=None)
@given(st.binary(max_size=60) | OBJECTS.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_are_an_entry_or_corrupt(line: bytes) -> None:
    """No other exception is raised."""
    try:
        entry = decode_entry(line)
    except CorruptHistory:
        return
    assert decode_entry(encode_entry(entry)) == entry
