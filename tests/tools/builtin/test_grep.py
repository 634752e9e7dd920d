"""grep: matching lines by file, bounded whatever the pattern is."""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

import pytest

from turnout.model import Outcome
from turnout.tools.builtin import grep
from turnout.tools.declare.context import ToolContext

Call = Callable[..., Outcome]


@pytest.fixture(autouse=True)
def own_search(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here we search ourselves, whether or not ripgrep is installed."""
    monkeypatch.setattr("turnout.tools.builtin.ripgrep.find_program", lambda environment, root: "")


@pytest.fixture
def project(root: Path) -> Path:
    (root / "src").mkdir()
    (root / "src/a.py").write_text("import os\n\ndef find(x):\n    return x\n")
    (root / "src/b.ts").write_text("function find() {}\n")
    (root / "notes.md").write_text("Find it.\n")
    (root / ".gitignore").write_text("build/\n*.log\n!keep.log\n")
    (root / "build").mkdir()
    (root / "build/out.py").write_text("def find(): pass\n")
    (root / "x.log").write_text("find\n")
    (root / "keep.log").write_text("find\n")
    (root / ".git").mkdir()
    (root / ".git/config").write_text("find\n")
    (root / "data.bin").write_bytes(b"find\0\1")
    return root


def test_matches_are_grouped_by_file_with_line_numbers(call: Call, project: Path) -> None:
    """What git ignores, git's own files and binary files are left out."""
    assert call(grep, pattern=r"\bfind\b").text == (
        "keep.log\n  1: find\nsrc/a.py\n  3: def find(x):\nsrc/b.ts\n  1: function find() {}\n"
        "[3 matching lines in 3 of 5 files; 1 binary files skipped]"
    )


def test_options_narrow_and_widen(call: Call, project: Path) -> None:
    """By glob, by folder, by case, as plain text, and into what is ignored."""

    def files(**options: object) -> list[str]:
        text = call(grep, **{"pattern": "find", **options}).text
        return [line for line in text.split("\n") if not line.startswith((" ", "["))]

    assert files(include="*.py") == ["src/a.py"]
    assert files(include="src/**/*.{ts,js}") == ["src/b.ts"]
    assert files(path="src/a.py") == files(path="./src/../src", include="*.py") == ["src/a.py"]
    assert files(path=str(project / "src"), include="a.*") == ["src/a.py"]
    assert files(ignore_case=True) == ["keep.log", "notes.md", "src/a.py", "src/b.ts"]
    assert files(pattern="find(x)", literal=True) == ["src/a.py"]
    assert files(include_ignored=True) == ["keep.log", "x.log", "build/out.py", "src/a.py", "src/b.ts"]


def test_context_shows_lines_around(call: Call, project: Path) -> None:
    """Marked as context, with a rule between two places."""
    (project / "src/a.py").write_text("one\nhit\nthree\n4\n5\n6\nhit\n8\n")
    assert call(grep, pattern="hit", context=1).text == (
        "src/a.py\n  1- one\n  2: hit\n  3- three\n  --\n  6- 6\n  7: hit\n  8- 8\n"
        "[2 matching lines in 1 of 5 files; 1 binary files skipped]"
    )


def test_no_match_says_where_was_looked(call: Call, project: Path) -> None:
    """And that ignored files were left out."""
    text = call(grep, pattern="nowhere").text
    assert "no match for 'nowhere' in 5 files" in text
    assert "include_ignored=true" in text


def test_a_pattern_that_runs_away_is_stopped(call: Call, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exponential time would block a thread for ever; a process can be ended, and what was found stays."""
    (root / "a.txt").write_text("aaaaaaaaaaaaaaaaaaaaaaaac\n")
    (root / "b.txt").write_text("a" * 60 + "b\n")
    monkeypatch.setattr(import_module("turnout.tools.builtin.grep"), "SECONDS", 0.5)
    started = time.monotonic()
    text = call(grep, pattern=r"^(a+)+c?$|ac$").text
    assert time.monotonic() - started < 15
    assert "a.txt\n  1: aaa" in text
    assert "stopped after 0.5 s in b.txt" in text


def test_a_cancelled_search_ends_at_once(root: Path, ctx: ToolContext) -> None:
    """Also while a pattern runs away."""
    (root / "a.txt").write_text("a" * 60 + "b\n")
    timer = threading.Timer(0.3, ctx.cancelled.set)  # type: ignore[attr-defined]
    timer.start()
    started = time.monotonic()
    grep.invoke(ctx, {"pattern": r"^(a+)+$"})
    assert time.monotonic() - started < 15


def test_an_invalid_pattern_is_explained(call: Call, root: Path) -> None:
    """With the position, and the way to search for it literally."""
    outcome = call(grep, pattern="f(")
    assert outcome.status == "error"
    assert "position 1" in outcome.text
    assert "literal=true" in outcome.text
    assert call(grep, pattern="").status == "error"


def test_results_are_bounded(call: Call, root: Path) -> None:
    """Ten thousand matches give two hundred lines and the true count; a long line shows its match."""
    (root / "many.txt").write_text("hit\n" * 10_000)
    for number in range(30):
        (root / f"more{number}.txt").write_text("hit\n" * 30)
    (root / "long.txt").write_text("x" * 100_000 + "needle" + "y" * 100_000)
    text = call(grep, pattern="hit").text
    assert len(re.findall(r"^  \d+: hit$", text, re.MULTILINE)) == 200
    assert "200 shown" in text
    assert "narrow path" in text
    text = call(grep, pattern="needle").text
    assert "needle" in text
    assert len(text) < 400


def test_every_encoding_is_searched(call: Call, root: Path) -> None:
    """UTF-16 is text too; bytes that are not UTF-8 do not stop a search."""
    (root / "utf16.txt").write_text("é needle\n", encoding="utf-16")
    (root / "latin.txt").write_bytes(b"\xe9 needle\r\n")
    text = call(grep, pattern="needle$").text
    assert "utf16.txt\n  1: é needle" in text
    assert "latin.txt\n  1: � needle\n" in text


def test_line_numbers_hold_across_blocks(call: Call, root: Path) -> None:
    """A file larger than what is matched at once."""
    with open(root / "large.txt", "w") as file:
        for number in range(1, 300_001):
            file.write(f"line {number} {'x' * (number % 7)}\n")
    text = call(grep, pattern="^line 2999(98|99) ").text
    assert "  299998: line 299998" in text
    assert "  299999: line 299999" in text
    assert "2 matching lines" in text


def test_failures_name_the_thing_and_the_way_on(call: Call, root: Path) -> None:
    """Missing and outside; what cannot be read inside a folder is only counted."""
    assert "does not exist" in call(grep, pattern="x", path="none").text
    assert "leads out" in call(grep, pattern="x", path="..").text
    (root / "link").symlink_to("/etc")
    assert "in 0 files" in call(grep, pattern="root").text
    assert "leads out" in call(grep, pattern="root", path="link/passwd").text


def test_nothing_is_left_open(call: Call, project: Path) -> None:
    """No descriptor and no process survives a search."""
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(3):
        call(grep, pattern="find")
        call(grep, pattern="f(")
    assert len(os.listdir("/proc/self/fd")) == before
