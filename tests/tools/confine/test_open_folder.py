"""An open folder: its names, entries and stamps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from turnout.tools.confine.beneath import PathRefused
from turnout.tools.confine.open_folder import (
    HeldFolder,
    Stamp,
    entry_of,
    link_target,
    make_directory,
    require_file,
    status_of,
)


def test_an_absolute_path_is_read_below_the_folder_by_each_of_its_names(tmp_path: Path) -> None:
    """As it was given, and without links; a longer name that only begins alike is not below."""
    (tmp_path / "real").mkdir()
    (tmp_path / "named").symlink_to("real")
    folder = HeldFolder(str(tmp_path / "named"))
    for name in ("named", "real"):
        assert folder.below(f"{tmp_path}/{name}/a/b") == "a/b"
    assert folder.below(f"{tmp_path}/realistic") is None
    folder.close()


def test_entries_tell_links_from_what_they_point_to(tmp_path: Path) -> None:
    """A link has its target, a file its size."""
    (tmp_path / "file").write_text("abc")
    (tmp_path / "link").symlink_to("file")
    descriptor = os.open(tmp_path, os.O_RDONLY)
    with os.scandir(descriptor) as found:
        entries = {entry.name: entry for entry in (entry_of(item, descriptor) for item in found)}
    assert (entries["file"].kind, entries["file"].size) == ("file", 3)
    assert (entries["link"].kind, entries["link"].target) == ("link", "file")
    assert (link_target("link", descriptor), link_target("file", descriptor)) == ("file", None)
    assert status_of("missing", descriptor) is None
    os.close(descriptor)


def test_a_stamp_changes_with_the_content(tmp_path: Path) -> None:
    """Another size, time or inode."""
    file = tmp_path / "a"
    file.write_text("one")
    before = Stamp.of(file.stat())
    assert before == Stamp.of(file.stat())
    file.write_text("other")
    assert before != Stamp.of(file.stat())


def test_only_regular_files_are_files(tmp_path: Path) -> None:
    """A folder and a pipe are refused, each with its own error."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(IsADirectoryError):
        require_file(tmp_path.stat(), "a")
    with pytest.raises(PathRefused, match="not a regular file"):
        require_file((tmp_path / "pipe").stat(), "pipe")


def test_a_folder_is_made_once_and_never_through_a_link(tmp_path: Path) -> None:
    """A link in its place is an error."""
    parent = os.open(tmp_path, os.O_RDONLY)
    for _ in range(2):
        os.close(make_directory(parent, "new"))
    (tmp_path / "link").symlink_to("new")
    with pytest.raises(OSError):
        make_directory(parent, "link")
    os.close(parent)
