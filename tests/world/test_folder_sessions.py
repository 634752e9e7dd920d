"""Sessions by folder."""

from __future__ import annotations

from pathlib import Path

from turnout.world.folder_sessions import MOST_FOLDERS, MOST_SESSIONS, FolderSessions


def test_the_sessions_of_a_folder_are_remembered_the_last_opened_first(tmp_path: Path) -> None:
    """By folder, each once, also by another process."""
    known = FolderSessions(tmp_path / "folders.json")
    for folder, id in (("/a", "s1"), ("/a", "s2"), ("/b", "s3"), ("/a", "s1")):
        known.note(Path(folder), id)
    again = FolderSessions(tmp_path / "folders.json")
    assert again.ids_of(Path("/a")) == ["s1", "s2"] and again.ids_of(Path("/b")) == ["s3"]
    assert again.ids_of(Path("/c")) == []


def test_the_file_is_bounded_and_private(tmp_path: Path) -> None:
    """The oldest folders and sessions make room."""
    path = tmp_path / "folders.json"
    known = FolderSessions(path)
    for number in range(MOST_SESSIONS + 5):
        known.note(Path("/a"), f"s{number}")
    assert len(known.ids_of(Path("/a"))) == MOST_SESSIONS
    path.write_text("{" + ",".join(f'"/f{n}":["s"]' for n in range(MOST_FOLDERS)) + "}")
    known.note(Path("/new"), "s")
    assert known.ids_of(Path("/f0")) == [] and known.ids_of(Path("/new")) == ["s"]
    assert path.stat().st_mode & 0o777 == 0o600


def test_a_damaged_file_counts_as_empty(tmp_path: Path) -> None:
    """It is written anew with the next session."""
    path = tmp_path / "folders.json"
    path.write_text("{torn")
    known = FolderSessions(path)
    assert known.ids_of(Path("/a")) == []
    known.note(Path("/a"), "s1")
    assert known.ids_of(Path("/a")) == ["s1"]
