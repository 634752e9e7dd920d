"""A list from which the user picks one row."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnout.surfaces.terminal.picker import SHOWN, Picker, PickRow

ROWS = [PickRow(f"model-{number}", "cheap" if number % 2 else "dear") for number in range(30)]


def test_typing_narrows_the_list() -> None:
    """Every word must stand somewhere in a row: in its name, or in what is said of it."""
    picker = Picker("Models", ROWS)
    picker.narrow("cheap 2")
    assert [ROWS[at].name for at in picker.fitting_rows][:2] == ["model-21", "model-23"]
    picker.narrow("nothing like this")
    assert picker.chosen_row is None
    picker.narrow("")
    assert picker.chosen_row == 0


@given(st.lists(st.one_of(st.integers(-40, 40), st.sampled_from(["", "1", "cheap", "x"])), max_size=12))
def test_the_chosen_row_is_always_in_view_and_fits(steps: list[int | str]) -> None:
    """However one moves and types, the window holds the chosen row and never more rows than it shows."""
    picker = Picker("Models", ROWS)
    for step in steps:
        if isinstance(step, int):
            picker.move(step)
        else:
            picker.narrow(step)
        places, count = picker.window()
        assert len(places) <= SHOWN and count == len(picker.fitting_rows)
        assert (picker.chosen_row in places) if count else (picker.chosen_row is None)
