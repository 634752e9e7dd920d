"""list_directory: a short tree of what is there."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from turnout.model import Outcome
from turnout.tools.builtin import list_directory

Call = Callable[..., Outcome]


def test_folders_come_first_then_files_with_sizes_and_links_with_targets(call: Call, root: Path) -> None:
    """Enough to decide what to open next."""
    (root / "src").mkdir()
    (root / "b.txt").write_bytes(bytes(1234))
    (root / ".env").touch()
    (root / "link").symlink_to("src")
    os.mkfifo(root / "pipe")
    assert call(list_directory).text == (
        "./ (5 entries)\n  src/\n  .env  0\n  b.txt  1,234\n  link -> src\n  pipe  (device, pipe or socket)"
    )


def test_depth_opens_subfolders_but_not_noise_and_not_links(call: Call, root: Path) -> None:
    """A tree in one call; node_modules, .git and links stay closed."""
    (root / "a/b/c").mkdir(parents=True)
    (root / "a/b/f").touch()
    (root / "node_modules/x").mkdir(parents=True)
    (root / "loop").symlink_to(".")
    assert call(list_directory, depth=3).text == (
        "./ (3 entries)\n  a/\n    b/\n      c/\n      f  0\n  node_modules/\n  loop -> ."
    )


def test_a_large_folder_is_cut_and_counted(call: Call, root: Path) -> None:
    """Ten thousand names would fill the context."""
    for number in range(1_200):
        (root / f"file{number}").touch()
    text = call(list_directory).text
    assert text.startswith("./ (1,200 entries)\n")
    assert text.endswith("[700 more entries left out; list a subfolder to see them]")


def test_odd_names_stay_on_one_line(call: Call, root: Path) -> None:
    """A name with a line break or hidden marks cannot pretend to be two entries."""
    for name in ("a\nb.py  99", "‮evil", "\udcff"):
        (root / name).touch()
    assert call(list_directory).text == ("./ (3 entries)\n  a\\nb.py  99  0\n  \\u202eevil  0\n  \\xff  0")


def test_an_empty_folder_a_file_and_the_outside(call: Call, root: Path) -> None:
    """Each has its own answer."""
    (root / "empty").mkdir()
    (root / "file").touch()
    assert call(list_directory, path="empty").text == "empty/ is empty"
    assert call(list_directory, path="").text.startswith("./ (2 entries)")
    assert "treats a file as a folder" in call(list_directory, path="file").text
    outside = call(list_directory, path="..")
    assert outside.status == "error"
    assert "leads out of the workspace" in outside.text
