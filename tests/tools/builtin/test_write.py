"""write_file: the whole file or nothing, in the manner of the one it replaces."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from turnout.model import Outcome
from turnout.tools.builtin import write_file

Call = Callable[..., Outcome]


def test_a_new_file_is_made_with_its_folders(call: Call, root: Path) -> None:
    """And the answer says how much was written."""
    outcome = call(write_file, path="new/deep/a.txt", content="Grüße\nzwei\n")
    assert outcome.text == "Wrote new/deep/a.txt: 2 lines, 13 bytes (new file)"
    assert (root / "new/deep/a.txt").read_text() == "Grüße\nzwei\n"


def test_mode_is_kept(call: Call, root: Path) -> None:
    """A script stays executable."""
    (root / "run.sh").write_text("old")
    (root / "run.sh").chmod(0o750)
    assert "replaced" in call(write_file, path="run.sh", content="new").text
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o750


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        (b"a\r\nb\r\n", "c\r\nd\r\n", b"c\r\nd\r\n"),
        (b"a\nb\n", "c\nd\n", b"c\nd\n"),
        (b"\xef\xbb\xbfold", "new", b"\xef\xbb\xbfnew"),
        (b"\xef\xbb\xbfold", "\ufeffnew", b"\xef\xbb\xbfnew"),
        ("old".encode("utf-16"), "né", "né".encode("utf-16")),
        (b"caf\xe9", "thé", b"th\xe9"),
        (b"caf\xe9", "日本", "日本".encode()),
        (b"\0\1binary\r\n", "text\n", b"text\n"),
    ],
)
def test_encoding_and_line_endings_are_kept(
    call: Call, root: Path, before: bytes, content: str, after: bytes
) -> None:
    """A model writes plain text; the file stays what the other tools of the project expect."""
    (root / "f").write_bytes(before)
    call(write_file, path="f", content=content)
    assert (root / "f").read_bytes() == after


def test_what_cannot_be_written_says_why(call: Call, root: Path) -> None:
    """A folder, the outside, git's own files, a file used as a folder: nothing changes."""
    (root / "folder").mkdir()
    (root / "file").touch()
    (root / ".git").mkdir()
    os.symlink("../outside", root / "link")
    answers = {
        "folder": "is a folder",
        "folder/": "is a folder",
        "file/x": "treats a file as a folder",
        "../outside": "leads out",
        "link": "leads out",
        "/etc/outside": "leads out",
        ".git/hooks/post-checkout": "other programs run or obey",
        "": "is a folder",
    }
    for path, answer in answers.items():
        outcome = call(write_file, path=path, content="x")
        assert outcome.status == "error", path
        assert answer in outcome.text, path
    assert sorted(os.listdir(root)) == [".git", "file", "folder", "link"]
    assert not (root.parent / "outside").exists()


def test_lone_surrogates_do_not_stop_a_write(call: Call, root: Path) -> None:
    """They have no bytes; a question mark stands for them."""
    call(write_file, path="f", content="a\ud800b")
    assert (root / "f").read_bytes() == b"a?b"
