"""What a call would change in a file, line by line."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from turnout.surfaces.terminal.changes import change_of, compare_texts

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=12)


@given(LINES, LINES)
def test_a_change_tells_both_texts(before: list[str], after: list[str]) -> None:
    """Every line that is gone and every line that is new is in it, with the number it has."""
    change = compare_texts("\n".join(before), "\n".join(after))

    old, new = "\n".join(before).splitlines(), "\n".join(after).splitlines()
    assert all(old[line.number - 1] == line.text for line in change if line.sign == "-")
    assert all(new[line.number - 1] == line.text for line in change if line.sign in "+ ")
    kept = len(old) - sum(line.sign == "-" for line in change)
    assert kept + sum(line.sign == "+" for line in change) == len(new)
    assert bool(change) == (old != new)


def test_changes_of_each_writing_tool() -> None:
    """Tools that write show the lines they change; other tools show none."""
    files = {"a": "one\ntwo\n"}
    signs = {
        name: "".join(line.sign for line in change_of(name, arguments, files.get))
        for name, arguments in {
            "write_file": {"path": "a", "content": "one\n2\n"},
            "edit_file": {"path": "a", "old_text": "two", "new_text": "2"},
            "apply_patch": {"patch": "--- a\n+++ b\n@@ -1 +1 @@\n-two\n+2"},
            "shell": {"command": "x", "path": "a"},
        }.items()
    }

    assert signs == {"write_file": " -+", "edit_file": " -+", "apply_patch": "   -+", "shell": ""}
