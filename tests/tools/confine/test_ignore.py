"""Which files git leaves out: the same ones that git would."""

from __future__ import annotations

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.tools.confine.ignore import Ignored, glob

FILES = [
    *("a.py", "a.pyc", "b.log", "keep.log", "src/a.py", "src/b.log", "src/build/x", "src/deep/er/b.log"),
    *("build/x", "build/y/z", "docs/build", "docs/a.html", "docs/x/a.html", "foo/bar/baz", "foo/baz"),
    *("foobar", "#hash", "!bang", "a[1].txt", "a1.txt", "trail.txt", "sub/only/x"),
]

RULES = [
    "*.log\n!keep.log",
    "build/",
    "/build",
    "docs/*.html",
    "docs/**/a.html",
    "**/build",
    "foo/**",
    "foo/**\n!foo/baz",
    "foo/**/baz",
    "a/**/b\nsrc/**/b.log",
    "\\#hash\n\\!bang",
    "# comment\n\n   \n*.py[co]",
    "a[[]1].txt\na[0-9].txt",
    "a[!1].*",
    "?.py",
    "trail.txt   ",
    "sub/\n!sub/only",
    "*\n!*/\n!*.py",
    "foo*",
    "/*\n!/src",
    "src/build/",
    "**",
    "b*r*z",
]


@pytest.mark.parametrize("rules", RULES)
def test_the_same_files_are_left_out_as_by_git(tmp_path: Path, rules: str) -> None:
    """Git itself is asked about every file and the answers agree."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    for name in FILES:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / ".gitignore").write_text(rules)
    listed = subprocess.run(
        ["git", "-C", tmp_path, "ls-files", "-z", "--others", "--exclude-standard"],
        check=True,
        capture_output=True,
    ).stdout.decode()
    ignored = Ignored(lambda name: rules if name == ".gitignore" else "")

    def visible(name: str) -> bool:
        parts = name.split("/")
        above = ["/".join(parts[:depth]) for depth in range(1, len(parts))]
        return not any(ignored(folder, True) for folder in above) and not ignored(name, False)

    assert {name for name in FILES if visible(name)} == set(listed.split("\0")) - {"", ".gitignore"}


def test_a_deeper_file_has_the_last_word() -> None:
    """Rules of a subfolder apply below it, after those above."""
    texts = {".gitignore": "*.log", "keep/.gitignore": "!*.log"}
    ignored = Ignored(lambda name: texts.get(name, ""))
    assert ignored("a.log", False)
    assert not ignored("keep/a.log", False)


@pytest.mark.parametrize(
    ("pattern", "path", "fits"),
    [
        ("*.py", "deep/er/a.py", True),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/a.py", True),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("**/test_*.py", "tests/x/test_a.py", True),
        ("*.{ts,tsx}", "a.tsx", True),
        ("*.{ts,tsx}", "a.js", False),
        ("{src,lib}/**", "lib/x/y", True),
        ("/src/a.py", "src/a.py", True),
        ("", "a", False),
    ],
)
def test_globs_mean_what_they_look_like(pattern: str, path: str, fits: bool) -> None:
    """By name anywhere, by place with a slash."""
    assert glob(pattern)(path) is fits


@pytest.mark.parametrize("pattern", ["*a" * 60 + "b", "**/" * 60 + "b", "[a-" * 50, "{" * 100, "{a,b}" * 40])
def test_hostile_patterns_cost_little(pattern: str) -> None:
    """A pattern may come from the project itself."""
    started = time.process_time()
    glob(pattern)("/".join(["a" * 200] * 20))
    Ignored(lambda name: pattern)("a" * 250, False)
    assert time.process_time() - started < 1


@given(st.text("ab*?[]!^-\\/{},.#", max_size=20), st.text("ab/.", min_size=1, max_size=20))
def test_no_pattern_breaks_the_matcher(pattern: str, path: str) -> None:
    """Whatever the characters."""
    glob(pattern)(path)
    Ignored(lambda name: pattern)(path, True)
