"""read_file: lines with their numbers, whatever the file is."""

from __future__ import annotations

import base64
import os
import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.model import Media, Outcome
from turnout.tools.builtin import BUILTIN, read_file
from turnout.tools.builtin.read import LinePicker
from turnout.tools.declare.context import ToolContext

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
Call = Callable[..., Outcome]
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_every_built_in_tool_declares_its_risk_and_explains_its_arguments() -> None:
    """A model and a policy know what they deal with."""
    assert {tool.name: tool.risk for tool in BUILTIN} == {
        "read_file": "read",
        "read_files": "read",
        "list_directory": "read",
        "glob": "read",
        "grep": "read",
        "codebase_overview": "read",
        "write_file": "write",
        "edit_file": "write",
        "apply_patch": "write",
        "delete_file": "dangerous",
        "shell": "risky",
        "list_background": "read",
        "read_background": "read",
        "stop_background": "read",
        "web_fetch": "risky",
        "todo": "read",
        "ask_user": "read",
    }
    for tool in BUILTIN:
        assert tool.description
        assert all(
            fields.get("description") for fields in tool.spec.parameters.get("properties", {}).values()
        ), tool.name


def test_lines_are_numbered(call: Call, root: Path) -> None:
    """A whole small file comes without ceremony."""
    (root / "a.txt").write_text("one\ntwo\n")
    assert call(read_file, path="a.txt").text == "1\tone\n2\ttwo"


def test_a_range_says_what_it_is_of_and_how_to_read_on(call: Call, root: Path) -> None:
    """The model never takes a part for the whole."""
    (root / "a.txt").write_text("".join(f"line {number}\n" for number in range(1, 101)))
    assert call(read_file, path="a.txt", offset=10, limit=2).text == (
        "[a.txt: lines 10-11 of 100]\n10\tline 10\n11\tline 11\n[89 more lines; read on with offset=12]"
    )
    assert (
        call(read_file, path="a.txt", offset=-2).text
        == "[a.txt: lines 99-100 of 100]\n 99\tline 99\n100\tline 100"
    )
    assert "has 100 lines" in call(read_file, path="a.txt", offset=101).text


def test_a_file_without_lines_says_that_it_is_empty(call: Call, root: Path) -> None:
    """Nothing is not an answer."""
    (root / "empty").touch()
    assert call(read_file, path="empty").text == "[empty is empty]"


@given(
    st.lists(st.sampled_from([b"", b"a", b"bc", b"\xff", b"x" * 9000]), max_size=12),
    st.booleans(),
    st.integers(1, 14),
    st.integers(1, 14),
    st.lists(st.integers(1, 4000), max_size=20),
)
def test_picked_lines_do_not_depend_on_how_the_bytes_were_cut(
    lines: list[bytes], ends: bool, start: int, count: int, cuts: list[int]
) -> None:
    """Fed in any pieces, the same lines and the same total come out as Python would split them."""
    data = b"\n".join(lines) + (b"\n" if ends and lines else b"")
    expected = data.split(b"\n")
    if not expected[-1]:
        expected.pop()
    picker, at = LinePicker(start, count, room=10**6), 0
    for cut in (*cuts, len(data)):
        picker.feed(data[at : at + cut])
        at += cut
    picker.close()
    wanted = expected[start - 1 : start - 1 + count]
    assert picker.total == len(expected)
    assert [line.size for line in picker.lines] == [len(line) for line in wanted]
    assert [line.data for line in picker.lines] == [line[:8000] for line in wanted]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("Grüße 日本\n".encode(), "1\tGrüße 日本"),
        ("Grüße\n".encode("utf-8-sig"), "[f: UTF-8 with BOM]\n1\tGrüße"),
        ("Grüße 日本\n".encode("utf-16"), "[f: UTF-16-LE]\n1\tGrüße 日本"),
        (b"\xfe\xff" + "Grüße\n".encode("utf-16-be"), "[f: UTF-16-BE]\n1\tGrüße"),
        ("Grüße\n".encode("utf-32"), "[f: UTF-32-LE]\n1\tGrüße"),
        ("Grüße “”\n".encode("cp1252"), "[f: read as CP1252]\n1\tGrüße “”"),
        (b"caf\xe9 \x81\n", "[f: read as LATIN-1]\n1\tcafé \x81"),
        ("日本 ".encode() + b"\xff\n", "[f: some bytes are not UTF-8]\n1\t日本 �"),
        (b"a\r\nb\r\n", "[f: CRLF line endings]\n1\ta\n2\tb"),
    ],
)
def test_encodings_and_line_endings_are_read_and_named(
    call: Call, root: Path, data: bytes, said: str
) -> None:
    """The text is plain; what the model must know to write it back is said."""
    (root / "f").write_bytes(data)
    assert call(read_file, path="f").text == said


def test_only_line_feeds_end_lines(call: Call, root: Path) -> None:
    """Form feeds and Unicode separators are part of a line, as every editor counts."""
    (root / "f").write_text("a\x0cb\u2028c\x85d\ne\n")
    assert call(read_file, path="f").text == "1\ta\x0cb\u2028c\x85d\n2\te"


def test_a_very_long_line_is_cut_and_says_so(call: Call, root: Path) -> None:
    """One line of a megabyte does not fill the context, and no character is cut in two."""
    (root / "f").write_text("€" * 400_000 + "\nnext\n")
    text = call(read_file, path="f").text
    assert len(text) < 2_200
    assert text.startswith("1\t€€€")
    assert "line continues" in text
    assert text.endswith("2\tnext")


def test_a_long_file_stops_at_the_budget(call: Call, root: Path) -> None:
    """More lines than a result may hold are left for the next call, which is named."""
    (root / "f").write_text(("x" * 500 + "\n") * 2_000)
    text = call(read_file, path="f", limit=2_000).text
    assert len(text) < 45_000
    assert "read on with offset=" in text


@pytest.mark.soak
def test_a_huge_file_is_streamed(call: Call, root: Path) -> None:
    """A line near the end of a file is found without holding the file."""
    size = (1024 if SOAK else 96) * 1024 * 1024
    line = b"0123456789abcdef" * 4 + b"\n"
    with open(root / "huge", "wb") as file:
        for _ in range(size // (len(line) * 4096)):
            file.write(line * 4096)
        file.write(b"needle\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    assert call(read_file, path="huge", offset=-1).text.endswith("\tneedle")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 16 * 1024


def test_an_image_is_shown(call: Call, root: Path) -> None:
    """Told by its bytes, not by its name; the model gets to see it."""
    (root / "picture.txt").write_bytes(PNG)
    _, media = call(read_file, path="picture.txt").content
    assert isinstance(media, Media)
    assert (media.mime, base64.b64decode(media.data)) == ("image/png", PNG)


def test_an_image_too_large_to_send_is_refused(call: Call, root: Path) -> None:
    """With the limit and the way on."""
    (root / "big.png").write_bytes(PNG + bytes(4_000_000))
    outcome = call(read_file, path="big.png")
    assert outcome.status == "error"
    assert "3,750,000" in outcome.text


@pytest.mark.parametrize(
    ("data", "word"), [(b"\x7fELF\0\0", "program"), (b"PK\x03\x04\0", "ZIP"), (b"a\0b", "not text")]
)
def test_binary_files_are_named_not_shown(call: Call, root: Path, data: bytes, word: str) -> None:
    """Bytes that are no text would only confuse."""
    (root / "f").write_bytes(data)
    outcome = call(read_file, path="f")
    assert outcome.status == "error"
    assert word in outcome.text


def test_failures_name_the_thing_and_the_way_on(call: Call, root: Path) -> None:
    """A wrong name, a folder, a place outside, an impossible path: each has its own answer."""
    (root / "src").mkdir()
    (root / "src/Main.py").touch()
    (root / "out").symlink_to("/etc")
    answers = {
        "src/main.py": "Did you mean src/Main.py?",
        "nowhere/x": "list_directory",
        "src": "is a folder",
        "src/Main.py/x": "treats a file as a folder",
        "../x": "leads out of the workspace",
        "out/passwd": "leads out of the workspace",
        "/etc/passwd": "leads out of the workspace",
        "~/x": "~ is not expanded",
        "a\0b": "NUL",
        "x" * 300: "too long",
    }
    for path, answer in answers.items():
        outcome = call(read_file, path=path)
        assert outcome.status == "error", path
        assert answer in outcome.text


def test_a_file_we_may_not_read_says_so(call: Call, root: Path) -> None:
    """Permission is the system's word; the model is told to ask."""
    (root / "private").write_text("secret")
    (root / "private").chmod(0)
    root.chmod(0o755)
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    try:
        outcome = call(read_file, path="private")
    finally:
        os.seteuid(before)
    assert outcome.status == "error"
    assert "permission denied" in outcome.text


def test_saved_output_can_be_read(call: Call, ctx: ToolContext) -> None:
    """What a cut result named is readable by the path it named."""
    path = ctx.workspace.saved.save("the whole")
    assert call(read_file, path=path).text == "1\tthe whole"


def test_reading_stops_when_cancelled(root: Path, ctx: ToolContext) -> None:
    """A tool in a thread looks up between two blocks."""
    (root / "f").write_bytes(b"x\n" * 1_000_000)
    asked: list[Any] = []

    class Soon:
        def is_set(self) -> bool:
            asked.append(1)
            return len(asked) > 2

        def wait(self, timeout: float | None = None) -> bool:
            return True

    ctx.cancelled = Soon()
    read_file.invoke(ctx, {"path": "f"})
    assert len(asked) == 3
