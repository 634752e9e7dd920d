"""The lists of harmless flags, put to the test: each flag is really used, and nothing may change.

A list is only as good as what its author knew of a program. So every program that is here is
run with every flag of its list, in a sandbox that lets it write, and the folder is compared.
"""

from __future__ import annotations

import asyncio
import os
import random
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.tools.safety.boxes import needs_sandbox

from turnout.tools.confine.sandbox import sandbox_for
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.policy.programs import PROGRAMS, Program
from turnout.tools.policy.shell_safety import judge_line

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
VALUES = {"number": "1", "text": "a", "path": "a.txt", "script": "1p"}
OPERANDS = (("a.txt",), ("a.txt", "b.txt"), ())


def described(programs: dict[str, Program], prefix: str = "") -> Iterator[tuple[str, Program]]:
    for name, each in programs.items():
        yield prefix + name, each
        yield from described(each.commands, f"{prefix}{name} ")


ALL = [(name, each) for name, each in described(PROGRAMS) if each.risk == "read"]
SHARE = ALL if SOAK else ALL[::10]
BUILTINS = {"cd", "type", "command"}  # of bash


def lines_of(name: str, each: Program) -> Iterator[str]:
    """Commands that use each flag of a list, with no, one and two operands, if they count as reading."""
    uses = [[], *([flag] for flag in sorted(each.flags))]
    uses += [[flag, VALUES[kind]] for flag, kind in sorted(each.takes.items())]
    for use in uses:
        for operands in OPERANDS:
            line = f"{name} {shlex.join([*use, *operands])}".strip()
            if judge_line(line).only_reads:
                yield line


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / "src").mkdir(parents=True)
    for name in ("a.txt", "b.txt", "src/a.py", "1", "a"):
        (root / name).write_text("b 2\na 1\n")
    (root / "data.json").write_text('{"a": 1}')
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "first"], ["tag", "v1"]):
        subprocess.run([*git, *words], cwd=root, check=True, capture_output=True)
    (root / "a.txt").write_text("b 2\na 1\nc 3\n")
    return root


def snapshot(root: Path) -> dict[str, tuple[int, bytes]]:
    """Every file with its mode and bytes."""
    files = [path for path in sorted(root.rglob("*")) if path.is_file() or path.is_symlink()]
    return {
        str(path.relative_to(root)): (path.lstat().st_mode, path.read_bytes())
        for path in files
        if path.relative_to(root).parts[0] != ".git"  # which the box keeps as it is
    }


def tried(root: Path, script: str) -> str:
    output = bytearray()
    with WorkspaceFiles(root) as workspace:
        at = workspace.directory()
        run = sandbox_for(workspace)(
            ["bash", "--noprofile", "--norc", "-c", script],
            folder=at,
            environment={"PATH": "/usr/bin:/bin", "HOME": "/home/somebody", "LC_ALL": "C.UTF-8"},
            timeout=120,
            on_output=output.extend,
        )
        finished = asyncio.run(run)
        os.close(at)
    assert not finished.timed_out
    return output.decode(errors="replace")


@needs_sandbox
@pytest.mark.parametrize(("name", "each"), SHARE, ids=[name for name, _ in SHARE])
def test_no_flag_of_a_list_changes_anything(folder: Path, name: str, each: Program) -> None:
    """With every flag by itself; a tenth of the programs here, all of them in soak runs."""
    lines = list(lines_of(name, each))
    assert lines or each.commands, "a list that allows nothing"
    program = name.split()[0]
    if program not in BUILTINS and shutil.which(program, path="/usr/bin:/bin") is None:
        pytest.skip(f"{program} is not here")
    before = snapshot(folder)
    tried(folder, "\n".join(f"({line}) </dev/null >/dev/null 2>&1" for line in lines))
    assert snapshot(folder) == before


@needs_sandbox
def test_a_flag_that_writes_would_be_noticed(folder: Path) -> None:
    """The test above can fail."""
    before = snapshot(folder)
    tried(folder, "(sort -o b.txt a.txt) </dev/null")
    assert snapshot(folder) != before


SCRIPTS = ("1,5p", "$p", "/a/p", "/^b/,/a$/d", "2q", "1~2p", "1,+2=", "s/a/b/", "s/[a-z]*/<&>/gp", "/a/!d;1p")
TRICKS = (
    "w",
    "W",
    "e",
    "r",
    "R",
    "x",
    " ",
    "/",
    "[",
    "]",
    "\\",
    ";",
    "p",
    "1",
    "{",
    "}",
    "!",
    "g",
    "|",
    "#",
    "s",
)


def scripts_that_print(wanted: int) -> list[str]:
    """Scripts of sed that count as reading, among them such as someone tampered with."""
    chance, found = random.Random(11), []
    while len(found) < wanted:
        script = chance.choice(SCRIPTS)
        for _ in range(chance.randrange(4)):
            at = chance.randrange(len(script) + 1)
            script = script[:at] + chance.choice(TRICKS) + script[at:]
        if judge_line(shlex.join(["sed", "-n", script, "a.txt"])).only_reads:
            found.append(script)
    return found


@needs_sandbox
def test_no_script_of_sed_that_counts_as_reading_does_more(folder: Path) -> None:
    """Whatever sed makes of them: nothing is written, no other file is read, and nothing is run."""
    (folder / "x").write_text("canary\n")
    before = snapshot(folder)
    scripts = scripts_that_print(2_000 if SOAK else 300)
    assert len(set(scripts)) > 50
    said = tried(folder, "\n".join(f"sed {shlex.quote(script)} a.txt 2>/dev/null" for script in scripts))
    assert snapshot(folder) == before and "canary" not in said


@needs_sandbox
def test_a_script_of_sed_that_writes_would_be_noticed(folder: Path) -> None:
    """The test above can fail."""
    before = snapshot(folder)
    tried(folder, "sed -n '1w x' a.txt")
    assert snapshot(folder) != before
