"""Patches as values: both formats, and hunks applied to lines."""

from __future__ import annotations

import pytest

from turnout.tools.builtin.patch_format import Change, Hunk, PatchError, apply_hunks, parse_patch

MARKED = "*** Begin Patch\n*** Update File: a.py\n@@ def main():\n x\n-y\n+z\n*** End Patch\n"
UNIFIED = "--- a/a.py\n+++ b/a.py\n@@ -4,2 +4,2 @@\n x\n-y\n+z\n"


def test_both_formats_become_changes() -> None:
    """An anchor names a line above the hunk, a unified diff gives a line number."""
    assert parse_patch(MARKED) == [
        Change("update", "a.py", (Hunk(("x", "y"), ("x", "z"), anchor="def main():"),))
    ]
    assert parse_patch(UNIFIED) == [Change("update", "a.py", (Hunk(("x", "y"), ("x", "z"), line=4),))]


def test_dev_null_adds_or_deletes() -> None:
    """As git writes new and deleted files."""
    added, deleted = parse_patch("--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+x\n--- a/o\n+++ /dev/null\n")
    assert (added.kind, added.path, deleted.kind, deleted.path) == ("add", "n", "delete", "o")


def test_a_number_or_an_anchor_chooses_among_equal_places() -> None:
    """Without either, a hunk that fits twice is an error that names the lines."""
    lines = ["x", "y", "def main():", "x", "y"]
    assert apply_hunks(lines, [Hunk(("y",), ("z",), line=5)]) == ["x", "y", "def main():", "x", "z"]
    assert apply_hunks(lines, [Hunk(("y",), ("z",), anchor="def main():")])[4] == "z"
    with pytest.raises(PatchError, match=r"fits at 2 places \(lines 2, 5\)"):
        apply_hunks(lines, [Hunk(("y",), ("z",))])


def test_lines_that_stay_keep_their_ends_and_new_ones_get_the_files() -> None:
    """White space at the end of a line does not keep a hunk from fitting, and is not changed."""
    assert apply_hunks(["a\r", "b  \r"], [Hunk(("a", "b"), ("a", "b", "c"))], "\r") == ["a\r", "b  \r", "c\r"]


def test_a_hunk_that_does_not_fit_shows_its_lines() -> None:
    """So that the model can compare them with the file."""
    with pytest.raises(PatchError, match="not in the file:\nmissing"):
        apply_hunks(["a"], [Hunk(("missing",), ("b",))])
