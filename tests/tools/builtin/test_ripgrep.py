"""grep guided by ripgrep: the same answers, and no line from outside."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from turnout.model import Outcome
from turnout.tools.builtin import grep
from turnout.tools.builtin.ripgrep import find_program, means_the_same

Call = Callable[..., Outcome]

RG = shutil.which("rg")
needs_ripgrep = pytest.mark.skipif(RG is None, reason="ripgrep is not installed")


@pytest.fixture
def tree(root: Path) -> Path:
    for name, text in {
        "a.py": "import os\ndef find(x): return x\n",
        "windows.txt": "one find\r\ntwo\r\n",
        "src/deep/b.ts": "function find() {}\n",
        ".hidden": "find\n",
        ".gitignore": "build/\n*.log\n!keep.log\n",
        "build/out.py": "find\n",
        "x.log": "find\n",
        "keep.log": "find\n",
        "node_modules/m.js": "find\n",
        ".git/config": "find\n",
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(text.encode())
    (root / "data.bin").write_bytes(b"find\0")
    (root / "out").symlink_to("/etc")
    return root


QUESTIONS = [
    {"pattern": "find"},
    {"pattern": r"\bfind\b"},
    {"pattern": "find$"},
    {"pattern": "FIND", "ignore_case": True},
    {"pattern": "find()", "literal": True},
    {"pattern": "find", "include": "*.{py,ts}"},
    {"pattern": "find", "path": "src"},
    {"pattern": "find", "include_ignored": True},
    {"pattern": "nowhere"},
    {"pattern": r"(?<=def )find"},
    {"pattern": "f[a-j]nd|two"},
]


@needs_ripgrep
@pytest.mark.parametrize("question", QUESTIONS, ids=str)
def test_the_answer_is_the_same_with_and_without(
    call: Call, tree: Path, question: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every line, in the same order; only the count of files looked at is not told."""
    guided = call(grep, **question).text.split("\n")
    monkeypatch.setattr("turnout.tools.builtin.ripgrep.find_program", lambda environment, root: "")
    alone = call(grep, **question).text.split("\n")
    assert guided[:-1] == alone[:-1]


@needs_ripgrep
def test_a_name_that_ripgrep_gives_is_opened_beneath_the_workspace(
    call: Call, tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be deceived by a link that is swapped; what is shown is not."""
    (tmp_path / "secret").write_text("find the secret\n")
    (tree / "link").symlink_to("../secret")
    monkeypatch.setattr(
        "turnout.tools.builtin.ripgrep._names_in", lambda output: iter(["link", "a.py", "../secret"])
    )
    text = call(grep, pattern="find").text
    assert "secret" not in text.replace("could not be read", "")
    assert "a.py" in text


@pytest.mark.parametrize("pattern", [r"\bfind\b", "a.*b", "x|y", r"\d{3}", "[a-z]+", "def (a|b)", "$x"])
def test_plain_patterns_are_handed_on(pattern: str) -> None:
    """They mean the same in both languages."""
    assert means_the_same(pattern, literal=False)


@pytest.mark.parametrize(
    "pattern",
    [r"(?<=a)b", r"(?P<n>a)", r"\1", "[a&&b]", "[[:alpha:]]", r"\Z", r"\p{L}", "é", "(?i)a", "[a--b]\\"],
)
def test_patterns_that_may_differ_are_searched_by_ourselves(pattern: str) -> None:
    """Looking round, names, back references, set operations, other scripts."""
    assert not means_the_same(pattern, literal=False)


def test_ripgrep_of_the_workspace_is_not_used(root: Path) -> None:
    """A repository may bring a program of that name."""
    (root / "bin").mkdir()
    (root / "bin/rg").write_text("#!/bin/sh\n")
    (root / "bin/rg").chmod(0o755)
    assert find_program({"PATH": f"{root}/bin:.:bin"}, str(root)) == ""
    assert find_program({"PATH": f"{root}/bin"}, os.path.join(root, "src")) == f"{root}/bin/rg"
