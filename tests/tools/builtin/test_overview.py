"""codebase_overview: one page that tells what a project is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from turnout.model import Outcome
from turnout.tools.builtin import codebase_overview
from turnout.tools.builtin.manifests import manifest_summary

Call = Callable[..., Outcome]


@pytest.fixture
def project(root: Path) -> Path:
    (root / "src/app").mkdir(parents=True)
    (root / "tests").mkdir()
    (root / "node_modules/huge").mkdir(parents=True)
    (root / "node_modules/huge/index.js").write_text("x\n" * 1000)
    (root / "src/app/__main__.py").write_text("print(1)\n" * 10)
    (root / "src/app/core.py").write_text("x = 1\n" * 90)
    (root / "tests/test_core.py").write_text("y = 1\n" * 20)
    (root / "web.ts").write_text("let a\n" * 5)
    (root / "logo.svg").write_text("<svg/>")
    (root / "pyproject.toml").write_text(
        '[project]\nname = "app"\nversion = "1.2"\nrequires-python = ">=3.11"\n'
        'dependencies = ["click>=8"]\n[project.scripts]\napp = "app.cli:main"\n'
    )
    (root / "Makefile").write_text("CC := gcc\nall: build\n\ttrue\nbuild:\n\ttrue\n")
    (root / "README.md").write_text("# App\n\nDoes things.\n" + "more\n" * 100)
    return root


def test_the_page_tells_what_a_project_is(call: Call, project: Path) -> None:
    """Sizes, languages, folders, manifests with what they declare, entry points, the README's start."""
    text = call(codebase_overview).text
    assert text.startswith(".: 8 files, 240 lines")
    for line in (
        "  Python: 3 files, 120 lines",
        "  TypeScript: 1 file, 5 lines",
        "  other files: .svg 1",
        "  src/  2 files, 100 lines",
        "    app/  2 files, 100 lines",
        "  Makefile: targets: all, build",
        "  pyproject.toml: app 1.2; Python >=3.11; scripts: app = app.cli:main; depends on: click",
        "  src/app/__main__.py",
        "README.md begins:",
        "  # App",
    ):
        assert line in text.split("\n"), line
    assert "node_modules" not in text


def test_a_part_of_a_project_can_be_looked_at(call: Call, project: Path) -> None:
    """Folders are then counted from there, however the path is spelled."""
    for path in ("src", "./src/", str(project / "src")):
        text = call(codebase_overview, path=path).text
        assert text.startswith("src: 2 files, 100 lines")
        assert "  app/  2 files, 100 lines" in text


def test_the_page_is_bounded(call: Call, root: Path) -> None:
    """Hundreds of folders and files with long names make no long page."""
    for number in range(150):
        folder = root / f"package-{number:03d}-{'x' * 60}"
        folder.mkdir()
        for name in ("main.py", "package.json", "other.py"):
            (folder / name).write_text('{"name": "' + "n" * 1000 + '"}\n')
    text = call(codebase_overview).text
    assert len(text) < 20_000
    assert "110 smaller folders left out" in text
    assert "and 130 more" in text


def test_only_so_many_files_are_looked_at(call: Call, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the page says so."""
    monkeypatch.setattr("turnout.tools.builtin.overview.FILES", 3)
    assert "only the first 3 files were looked at" in call(codebase_overview).text


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        (
            "package.json",
            json.dumps({"name": "w", "main": "i.js", "scripts": {"test": "x"}}),
            "w; main: i.js; scripts: test",
        ),
        (
            "package.json",
            json.dumps({"bin": {"w": "cli.js"}, "workspaces": ["a"]}),
            "bin: w = cli.js; workspaces: a",
        ),
        ("Cargo.toml", '[package]\nname = "c"\n[[bin]]\nname = "b"\n', "c; binaries: b"),
        ("go.mod", "module example.com/m\n\ngo 1.22\n", "module example.com/m; go 1.22"),
        ("Dockerfile", "FROM a AS b\nFROM c\nCMD run\n", "from: a, c; CMD run"),
        ("package.json", "[1]", "cannot be read"),
        ("package.json", "{", "cannot be read"),
        ("pyproject.toml", "= broken", "cannot be read"),
        ("pyproject.toml", "project = 3", "cannot be read"),
        ("setup.py", "anything", ""),
    ],
)
def test_manifests_are_told_in_a_line(name: str, text: str, said: str) -> None:
    """Damaged ones too."""
    assert manifest_summary(name, text) == said


def test_an_empty_folder_a_file_and_the_outside(call: Call, root: Path) -> None:
    """Each has its own answer."""
    assert call(codebase_overview).text == ".: no files (what .gitignore names is left out)"
    (root / "file").touch()
    assert "treats a file as a folder" in call(codebase_overview, path="file").text
    assert "leads out" in call(codebase_overview, path="..").text
    assert "does not exist" in call(codebase_overview, path="none").text
