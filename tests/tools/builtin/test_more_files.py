"""read_files, glob and delete_file."""

from __future__ import annotations

import base64
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from turnout.model import Media, Outcome
from turnout.tools.builtin import (
    apply_patch,
    delete_file,
    edit_file,
    glob,
    list_directory,
    read_files,
    write_file,
)
from turnout.tools.confine.output import RESULT_LIMIT

Call = Callable[..., Outcome]
SOAK = bool(os.environ.get("TURNOUT_SOAK"))
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def test_each_file_stands_under_its_name(call: Call, root: Path) -> None:
    """One that cannot be read says why, and the others are there."""
    (root / "a.txt").write_text("one\n")
    (root / "b.png").write_bytes(PNG)
    outcome = call(read_files, paths=["a.txt", "missing.txt", "b.png", "../x"])
    assert outcome.status == "complete"
    assert outcome.text.startswith("==> a.txt <==\n1\tone\n")
    assert "==> missing.txt <==\nmissing.txt does not exist." in outcome.text
    assert "==> ../x <==\n../x leads out" in outcome.text
    assert [block.mime for block in outcome.content if isinstance(block, Media)] == ["image/png"]


def test_large_files_share_one_budget(call: Call, root: Path) -> None:
    """A small one is shown whole beside them."""
    (root / "small").write_text("tiny\n")
    for name in ("big1", "big2"):
        (root / name).write_text("x" * 80 + "\n" + ("y" * 80 + "\n") * 2000)
    text = call(read_files, paths=["big1", "small", "big2"]).text
    assert "==> small <==\n1\ttiny\n" in text
    assert len(text) < RESULT_LIMIT + 1000


def test_nothing_to_read_is_an_error(call: Call) -> None:
    """No names, too many, or none that can be read."""
    assert call(read_files, paths=[]).status == "error"
    assert call(read_files, paths=["x"] * 51).status == "error"
    assert call(read_files, paths=["no", "nor"]).status == "error"


@pytest.fixture
def tree(root: Path) -> Path:
    for name in (
        "a.py",
        "src/b.py",
        "src/deep/c.ts",
        "src/deep/d.tsx",
        "build/e.py",
        "node_modules/f.py",
        ".git/g.py",
    ):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).touch()
    (root / ".gitignore").write_text("build/\n")
    (root / "out").symlink_to("/etc")
    return root


@pytest.mark.parametrize(
    ("arguments", "found"),
    [
        ({"pattern": "*.py"}, ["a.py", "src/b.py"]),
        ({"pattern": "src/**/*.{ts,tsx}"}, ["src/deep/c.ts", "src/deep/d.tsx"]),
        ({"pattern": "**/*.py", "path": "src"}, ["src/b.py"]),
        ({"pattern": "*.ts", "path": "src/deep"}, ["src/deep/c.ts"]),
        (
            {"pattern": "*.py", "include_ignored": True},
            ["a.py", "build/e.py", "node_modules/f.py", "src/b.py"],
        ),
        ({"pattern": "passwd"}, []),
    ],
)
def test_a_glob_finds_files_by_name_and_place(
    call: Call, tree: Path, arguments: dict[str, object], found: list[str]
) -> None:
    """What git ignores is left out unless asked for; links are not followed."""
    lines = call(glob, **arguments).text.split("\n")
    assert lines[:-1] == found
    assert lines[-1].startswith(f"[{len(found)} files" if found else "[no file fits")


def test_a_glob_outside_or_of_a_file_says_so(call: Call, tree: Path) -> None:
    """And an empty one, too."""
    assert "leads out" in call(glob, pattern="*", path="..").text
    assert "leads out" in call(glob, pattern="*", path="out").text
    assert "is a file" in call(glob, pattern="*", path="a.py").text
    assert call(glob, pattern="").status == "error"


def test_a_file_is_deleted_and_of_a_link_the_link(call: Call, root: Path, tmp_path: Path) -> None:
    """What it points to stays, inside or outside."""
    (tmp_path / "outside").write_text("kept")
    (root / "a").write_text("x")
    (root / "link").symlink_to("../outside")
    assert call(delete_file, path="a").text == "Deleted a"
    assert call(delete_file, path="link").text == "Deleted link"
    assert os.listdir(root) == []
    assert (tmp_path / "outside").read_text() == "kept"


@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("folder", "is a folder"),
        ("folder/", "is a folder"),
        (".", "is a folder"),
        ("", "is a folder"),
        ("missing", "does not exist"),
        ("../outside", "leads out"),
        ("out/passwd", "leads out"),
        (".git/config", "is protected"),
        ("folder/../.GIT/config", "is protected"),
        (".turnout/config.toml", "is protected"),
        (".mcp.json", "is protected"),
    ],
)
def test_what_cannot_be_deleted_says_why(
    call: Call, root: Path, tmp_path: Path, path: str, answer: str
) -> None:
    """And stays."""
    (tmp_path / "outside").touch()
    (root / "out").symlink_to("/etc")
    for name in ("folder/x", ".git/config", ".GIT/config", ".turnout/config.toml", ".mcp.json"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).touch()
    outcome = call(delete_file, path=path)
    assert outcome.status == "error"
    assert answer in outcome.text
    assert (
        (tmp_path / "outside").exists() and (root / "folder/x").exists() and (root / ".git/config").exists()
    )


@pytest.mark.parametrize("kind", ["read", "delete", "patch", "glob", "list", "write", "edit"])
def test_a_link_swapped_under_a_tool_never_leads_out(
    call: Call, root: Path, tmp_path: Path, kind: str
) -> None:
    """Every tool that opens, against a folder that is a link to the outside half of the time."""
    (tmp_path / "secret").write_text("canary")
    (tmp_path / "secret-canary").touch()
    (root / "real").mkdir()
    (root / "swapped").symlink_to("real")
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            for aim in ("real", ".."):
                os.symlink(aim, root / "next")
                os.rename(root / "next", root / "swapped")

    patch = "*** Begin Patch\n*** Update File: swapped/secret\n@@\n-{}\n+changed\n*** End Patch"
    asked = {
        "read": lambda: call(read_files, paths=["swapped/secret"]),
        "delete": lambda: call(delete_file, path="swapped/secret"),
        "patch": lambda: call(apply_patch, patch=patch.format("canary")),
        "glob": lambda: call(glob, pattern="secret*", path="swapped"),
        "list": lambda: call(list_directory, path="swapped"),
        "write": lambda: call(write_file, path="swapped/secret", content="changed"),
        "edit": lambda: call(edit_file, path="swapped/secret", old_text="canary", new_text="changed"),
    }[kind]
    thread = threading.Thread(target=swap)
    thread.start()
    try:
        for _ in range(2_500 if SOAK else 250):
            with suppress(OSError):
                (root / "real/secret").write_text("inside\n")
            assert "canary" not in asked().text.replace("-canary", "").replace("file:\ncanary", "")
            assert (tmp_path / "secret").read_text() == "canary"
    finally:
        stop.set()
        thread.join()
