"""edit_file: exact, counted, in one step, and helpful when the text is not quite there."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from turnout.model import Outcome
from turnout.tools.builtin import edit_file
from turnout.tools.builtin.edit import EditedText
from turnout.tools.confine.file_text import DecodedText, decode_text
from turnout.tools.declare.context import ToolContext

Call = Callable[..., Outcome]

SOURCE = """\
def greet(name):
    print("hello", name)


def leave(name):
    print("bye", name)
"""


def edit(call: Call, old: str, new: str, **more: int) -> Outcome:
    return call(edit_file, path="a.py", old_text=old, new_text=new, **more)


@pytest.fixture
def source(root: Path) -> Path:
    (root / "a.py").write_text(SOURCE)
    return root / "a.py"


def test_an_exact_piece_is_replaced_and_shown(call: Call, source: Path) -> None:
    """The answer shows how the place reads now, so no second read is needed."""
    outcome = edit(call, '"hello"', '"good day"')
    assert outcome.text == (
        "Edited a.py: 1 replacement. Now it reads:\n"
        '1\tdef greet(name):\n2\t    print("good day", name)\n3\t\n4\t'
    )
    assert source.read_text() == SOURCE.replace("hello", "good day")


def test_nothing_is_written_unless_the_count_is_right(call: Call, source: Path) -> None:
    """Two places and one meant: the model is told the lines and how to go on."""
    outcome = edit(call, "name", "who")
    assert outcome.status == "error"
    assert "occurs 4 times, not 1 (at lines 1, 2, 5, 6)" in outcome.text
    assert "count=4" in outcome.text
    assert source.read_text() == SOURCE
    assert "4 replacements" in edit(call, "name", "who", count=4).text
    assert source.read_text() == SOURCE.replace("name", "who")


@pytest.mark.parametrize(
    ("old", "hint"),
    [
        ('def greet(name):\n\tprint("hello", name)', "tabs and spaces"),
        ('def greet(name):\n  print("hello", name)', "indentation"),
        ('def greet(name):  \n    print("hello", name)', "ends of lines"),
        (
            'def greet(name):\n    print("hallo", name)',
            "differ first at line 2 of old_text: 'print(\"hallo\", name)'",
        ),
        ('    print("by", nam)', "closest lines are:\n6\t"),
        ("1\tdef greet(name):", "line numbers"),
        ("import numpy as np\nimport torch", "Nothing in it looks similar"),
    ],
)
def test_a_near_miss_shows_the_closest_lines(call: Call, source: Path, old: str, hint: str) -> None:
    """What differs, and what the file really says."""
    outcome = edit(call, old, "x")
    assert outcome.status == "error"
    assert hint in outcome.text
    assert source.read_text() == SOURCE


def test_mode_and_links_are_kept(call: Call, root: Path, source: Path) -> None:
    """The file behind a link is edited, in place of the link's own name."""
    source.chmod(0o751)
    os.symlink("a.py", root / "link.py")
    assert call(edit_file, path="link.py", old_text="hello", new_text="hi").status == "complete"
    assert stat.S_IMODE(source.stat().st_mode) == 0o751
    assert (root / "link.py").is_symlink()
    assert "hi" in source.read_text()


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"a\r\nb\r\nc\r\n", "a\nb", "x\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\r\nc\r\n", "a\r\nb", "x\r\ny", b"x\r\ny\r\nc\r\n"),
        (b"a\r\nb\nc\r\nd\r\n", "c", "x\ny", b"a\r\nb\nx\r\ny\r\nd\r\n"),
        (b"a\nb\r\nc\n", "b\nc", "x\ny", b"a\nx\ny\n"),
        (b"\xef\xbb\xbfa\n", "a", "\u00e9", b"\xef\xbb\xbf\xc3\xa9\n"),
        ("aé\n".encode("utf-16"), "é", "ü日", "aü日\n".encode("utf-16")),
        (b"caf\xe9 au lait", "café", "thé", b"th\xe9 au lait"),
        ("日本 ".encode() + b"\xff x", "x", "y", "日本 ".encode() + b"\xff y"),
        (b"no newline at end", "end", "END", b"no newline at END"),
    ],
)
def test_what_is_not_replaced_keeps_its_bytes(
    call: Call, root: Path, before: bytes, old: str, new: str, after: bytes
) -> None:
    """Line endings (mixed ones too), byte order marks, other encodings and stray bytes."""
    (root / "a.py").write_bytes(before)
    outcome = edit(call, old, new)
    assert outcome.status == "complete", outcome.text
    assert (root / "a.py").read_bytes() == after


pieces = st.sampled_from(["a", "b", "ab", "\n", "\r\n", "\r", "é", " "])


@given(st.lists(pieces, max_size=30).map("".join), st.lists(pieces, min_size=1, max_size=3).map("".join))
def test_replacing_a_text_by_itself_changes_only_line_endings_inside(text: str, old: str) -> None:
    """Places found in the plain text lead back to the very same places of the file."""
    assume("\r\r\n" not in text)  # a lone return would join the line feed that replaces the pair after it
    page = EditedText(DecodedText(text))
    places = page.places(old)
    same = page.replace_places(places, old, old)
    assert same.replace("\r\n", "\n") == text.replace("\r\n", "\n")
    if "\n" not in old:
        assert same == text


@given(st.binary(max_size=60))
def test_every_file_can_be_decoded_and_written_back(data: bytes) -> None:
    """Whatever the bytes are, decoding them is undone exactly."""
    file = decode_text(data)
    assert file.encode(file.text) == data


def test_a_character_that_the_encoding_lacks_is_named(call: Call, root: Path) -> None:
    """Nothing is written."""
    (root / "a.py").write_bytes(b"caf\xe9")
    outcome = edit(call, "caf", "日")
    assert outcome.status == "error"
    assert "'日'" in outcome.text
    assert (root / "a.py").read_bytes() == b"caf\xe9"


@pytest.mark.parametrize(
    ("old", "new", "count", "answer"),
    [("", "x", 1, "old_text is empty"), ("a", "a", 1, "are the same"), ("a", "b", 0, "at least 1")],
)
def test_misuse_is_explained(call: Call, source: Path, old: str, new: str, count: int, answer: str) -> None:
    """Before anything is opened."""
    assert answer in edit(call, old, new, count=count).text


def test_failures_name_the_thing_and_the_way_on(call: Call, root: Path) -> None:
    """Missing, binary, outside, a folder, git's own."""
    (root / "bin").write_bytes(b"\0\1")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("a")
    answers = {
        "none": "does not exist",
        "bin": "binary",
        "../x": "leads out",
        ".": "folder",
        ".git/config": ".git",
    }
    for path, answer in answers.items():
        outcome = call(edit_file, path=path, old_text="a", new_text="b")
        assert outcome.status == "error", path
        assert answer in outcome.text, path


def test_a_file_that_changes_under_the_edit_is_left_alone(
    root: Path, source: Path, ctx: ToolContext, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Someone saved it between our reading and our writing."""
    read = ctx.workspace.read

    def read_then_saved_by_someone(path: str, limit: int) -> object:
        result = read(path, limit)
        source.write_text("their work, hello")
        return result

    monkeypatch.setattr(ctx.workspace, "read", read_then_saved_by_someone)
    outcome = edit(call, "hello", "hi")
    assert outcome.status == "error"
    assert "changed by another program" in outcome.text
    assert source.read_text() == "their work, hello"


def test_a_near_miss_in_a_large_file_is_found_in_time(call: Call, root: Path) -> None:
    """The help is bounded: a second for a file of twenty thousand lines."""
    (root / "a.py").write_text("".join(f"value_{number} = compute({number})\n" for number in range(19_000)))
    started = time.process_time()
    outcome = edit(call, "value_1999 = compute(199)\nvalue_x = nothing_like_it()", "x")
    assert outcome.status == "error"
    assert time.process_time() - started < 3
