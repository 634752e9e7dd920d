"""Which calls clash: commands that may touch any path, and paths that no file can have."""

from __future__ import annotations

import pytest

from turnout.tools.declare.footprint import LONGEST_PATH, Footprint, TakenPlaces

READ = Footprint()


def writes(*paths: str) -> Footprint:
    return Footprint(paths, changes=True)


def reads(*paths: str) -> Footprint:
    return Footprint(paths)


@pytest.mark.parametrize(
    ("taken", "next_one", "clashes"),
    [
        (Footprint(everywhere=True, changes=True), reads("a"), True),
        (Footprint(everywhere=True, changes=True), READ, False),
        (Footprint(everywhere=True, changes=True), Footprint(everywhere=True), True),
        (Footprint(everywhere=True), reads("a"), False),
        (Footprint(everywhere=True), writes("a"), True),
        (reads("a"), Footprint(everywhere=True, changes=True), True),
        (READ, Footprint(everywhere=True, changes=True), False),
        (writes("a"), Footprint(everywhere=True), True),
    ],
)
def test_a_command_that_changes_things_clashes_with_every_path(
    taken: Footprint, next_one: Footprint, clashes: bool
) -> None:
    """It may touch any; a call that touches none does not mind."""
    assert TakenPlaces((taken,)).clash(next_one) is clashes


def test_a_path_of_the_greatest_length_has_folders_above_it() -> None:
    """Only a longer one, which no file can have, stands for itself."""
    longest = "a/" + "b" * (LONGEST_PATH - 2)
    assert TakenPlaces((writes(longest),)).clash(reads("a"))
    assert not TakenPlaces((writes(longest + "b"),)).clash(reads("a"))
