"""File tools: each of them, by every spelling, and none leads out of the workspace."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tools.confine.test_workspace import SECRET, escapes

from turnout.model import Outcome
from turnout.tools.builtin import BUILTIN
from turnout.tools.confine import beneath
from turnout.tools.confine.beneath import by_kernel, step_by_step
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.result import outcome_of
from turnout.tools.declare.tool import Tool

PATCHES = {
    "add": "*** Begin Patch\n*** Add File: {}\n+x\n*** End Patch",
    "delete": "*** Begin Patch\n*** Delete File: {}\n*** End Patch",
    "update": "*** Begin Patch\n*** Update File: {}\n@@\n-outside\n+x\n*** End Patch",
    "move": "*** Begin Patch\n*** Update File: src/a.py\n*** Move to: {}\n@@\n-inside\n+x\n*** End Patch",
}
# How each tool is given a path; a tool that takes one and is not here fails the first test.
ASKED: dict[str, Any] = {
    "read_file": lambda path: {"path": path},
    "read_files": lambda path: {"paths": [path]},
    "list_directory": lambda path: {"path": path},
    "glob": lambda path: {"path": path, "pattern": "*"},
    "grep": lambda path: {"path": path, "pattern": "outside"},
    "codebase_overview": lambda path: {"path": path},
    "write_file": lambda path: {"path": path, "content": "x"},
    "edit_file": lambda path: {"path": path, "old_text": "outside", "new_text": "x"},
    "delete_file": lambda path: {"path": path},
}
BY_NAME = {tool.name: tool for tool in BUILTIN}


@pytest.fixture(params=[by_kernel, step_by_step], ids=lambda opener: opener.__name__)
def ctx(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ToolContext]:
    """A workspace beside secrets, opened both ways."""
    (tmp_path / "root/src").mkdir(parents=True)
    (tmp_path / "root/src/a.py").write_bytes(b"inside\n")
    (tmp_path / "root-evil").mkdir()
    (tmp_path / "root-evil/secret").write_bytes(SECRET)
    (tmp_path / "secret").write_bytes(SECRET)
    with WorkspaceFiles(tmp_path / "root", opener=request.param) as workspace:
        yield ToolContext("c", workspace=workspace)


def asked(tool: Tool, ctx: ToolContext, arguments: dict[str, Any]) -> Outcome:
    assert tool.fits(arguments), (tool.name, arguments)
    return outcome_of(tool.invoke(ctx, arguments)).outcome


def test_every_tool_that_takes_a_path_is_tried() -> None:
    """A new one has to say here how it is given a path."""
    takes = {tool.name for tool in BUILTIN if {"path", "paths"} & set(tool.spec.parameters["properties"])}
    assert takes == set(ASKED)


@pytest.mark.parametrize("name", [*ASKED, *PATCHES])
def test_no_tool_leads_out_by_any_spelling(ctx: ToolContext, tmp_path: Path, name: str) -> None:
    """More than two hundred of them: nothing outside is read, told, written or taken away."""
    spellings = [path for path in dict.fromkeys(escapes(tmp_path)) if "\n" not in path]
    assert len(spellings) >= 200
    for path in spellings:
        if name in ASKED:
            outcome = asked(BY_NAME[name], ctx, ASKED[name](path))
        else:
            outcome = asked(BY_NAME["apply_patch"], ctx, {"patch": PATCHES[name].format(path)})
        # Of a link, delete_file takes the link itself; what it pointed to is looked at below.
        assert outcome.status == "error" or name == "delete_file", (path, outcome.text)
        assert "nobody may read this" not in outcome.text, path
    assert (tmp_path / "secret").read_bytes() == (tmp_path / "root-evil/secret").read_bytes() == SECRET
    assert sorted(os.listdir(tmp_path)) == ["root", "root-evil", "secret"]
    assert (tmp_path / "root/src/a.py").read_bytes() == b"inside\n"


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EPERM])
def test_where_the_kernel_has_no_openat2_steps_do_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """An old kernel does not know it, a container may forbid it; the workspace says which way it opens."""

    def missing(root: int, path: str, flags: int, mode: int = 0) -> int:
        raise OSError(number, os.strerror(number), path)

    monkeypatch.setattr(beneath, "by_kernel", missing)
    (tmp_path / "a").write_bytes(b"inside")
    with WorkspaceFiles(tmp_path) as workspace:
        assert workspace.confinement == "step_by_step"
        assert workspace.read("a", 10)[0] == b"inside"
        with pytest.raises(OSError):
            workspace.read("../a", 10)
