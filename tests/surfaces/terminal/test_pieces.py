"""The values that a conversation is shown with: finished pieces and the live view."""

from __future__ import annotations

from typing import get_args

import pytest
from msgspec.structs import replace

from turnout.surfaces.terminal.drawing import Drawing
from turnout.surfaces.terminal.pieces import (
    ApprovalQuestion,
    ChangedLine,
    FinishedCall,
    FoldedThought,
    Listing,
    LiveView,
    Notice,
    Piece,
    Prose,
    Rows,
    RunningCall,
    UserWords,
)
from turnout.surfaces.terminal.theme import Theme

CHANGE = (ChangedLine("-", 1, "old"), ChangedLine("+", 1, "new"), ChangedLine("~", 0, ""))
PIECES: tuple[Piece, ...] = (
    UserWords("word"),
    Prose("word"),
    Listing("word"),
    FoldedThought("word"),
    FinishedCall("word", "a.py", "complete", change=CHANGE),
    Notice("word"),
    Rows((("name", "word"),)),
    ApprovalQuestion("word", "risky", "ask mode asks", "ls"),
)


def test_this_file_knows_every_piece() -> None:
    """A piece that is added to the union is added to the tests below."""
    assert {type(piece) for piece in PIECES} == set(get_args(Piece))


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: type(piece).__name__)
def test_a_finished_piece_never_changes(piece: Piece) -> None:
    """It is printed once and belongs to the scrollback, so its fields cannot be set."""
    (name, *_) = piece.__struct_fields__
    with pytest.raises(AttributeError):
        setattr(piece, name, "other")


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: type(piece).__name__)
def test_a_piece_with_only_its_required_fields_can_be_drawn(piece: Piece) -> None:
    """Its text is shown, except that a thought is folded."""
    text = Drawing(Theme(colour=False)).piece(piece)
    assert ("word" in text) is not isinstance(piece, FoldedThought)


def test_a_thought_is_folded_unless_it_is_open() -> None:
    """Folded, one line says how long it took; open, the text follows."""
    drawing, thought = Drawing(Theme(colour=False)), FoldedThought("because", 3.0)
    assert drawing.piece(thought).split() == [
        "✻",
        "thought",
        "for",
        "3",
        "s",
        "(ctrl+o",
        "opens)",
    ]
    assert drawing.piece(replace(thought, open=True)).endswith("  because\n")


@pytest.mark.parametrize("piece", [Prose("word"), Listing("word")], ids=["prose", "listing"])
def test_a_part_that_follows_has_no_empty_line_before_it(piece: Prose | Listing) -> None:
    """An answer that is printed in parts has no gap where it was cut."""
    drawing = Drawing(Theme(colour=False))
    assert drawing.piece(piece) == "\n" + drawing.piece(replace(piece, follows=True))


def test_an_idle_live_view_draws_nothing() -> None:
    """The default values are those of a session that waits for the user."""
    assert Drawing(Theme(colour=False)).live(LiveView(), 10) == ""


def test_equal_live_views_are_equal_values() -> None:
    """Two views of the same state are equal, calls included; a second more is another view."""
    view = LiveView(True, "running", calls=(RunningCall("shell", "ls", "running"),))
    assert view == LiveView(True, "running", calls=(RunningCall("shell", "ls", "running"),))
    assert view != replace(view, seconds=1.0)
