"""The assessment of a command: its risk, its paths, and the files that it may touch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from turnout.tools.builtin.shell_assessment import assess_command, files_fitting
from turnout.tools.confine.sandbox import OPEN, Unconfined
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.policy.situation import Assessment, Situation


class Boxed:
    """A sandbox by its word only: assessments run nothing."""

    confines, network, note = True, False, ""


@pytest.fixture
def workspace(tmp_path: Path) -> WorkspaceFiles:
    for name in ("a.py", "b.py", ".hidden.py", "sub/c.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    return WorkspaceFiles(tmp_path)


def assess(workspace: WorkspaceFiles, command: str, spawn: Any = None, **more: Any) -> Assessment:
    situation = Situation(workspace, spawn or Boxed(), {"PATH": "/usr/bin:/bin"})
    return assess_command({"command": command, **more}, situation)


def test_a_command_that_only_reads_is_no_risk_in_a_sandbox(workspace: WorkspaceFiles) -> None:
    """Without a sandbox the same command is risky, and the reason names that."""
    assert assess(workspace, "cat a.py").risk == "read"
    open_air = assess(workspace, "cat a.py", Unconfined("bubblewrap is not installed"))
    assert (open_air.risk, open_air.why) == ("risky", f"{OPEN} (bubblewrap is not installed)")


def test_paths_are_those_that_the_command_names_and_its_globs_match(workspace: WorkspaceFiles) -> None:
    """The glob itself is among them, since bash keeps it where nothing matches."""
    assert set(assess(workspace, "cat a.py sub/*.py").paths) == {"./a.py", "./sub/*.py", "./sub/c.py"}


def test_a_glob_leaves_out_hidden_files_as_bash_does(workspace: WorkspaceFiles) -> None:
    """Unless the pattern begins with a dot."""
    assert files_fitting(workspace, "*.py") == ["*.py", "a.py", "b.py"]
    assert files_fitting(workspace, ".*.py") == [".*.py", ".hidden.py"]


def test_a_command_in_the_background_is_never_one_that_only_reads(workspace: WorkspaceFiles) -> None:
    """It continues after its call, so other calls do not run beside it."""
    found = assess(workspace, "cat a.py", background=True)
    assert (found.risk, found.only_reads) == ("risky", False)
    assert "continues in the background" in found.why


def test_denying_rules_see_every_word_of_an_unknown_program(workspace: WorkspaceFiles) -> None:
    """Pieces too: `if=a.py` may name a file."""
    assert {"a.py", "if=a.py"} <= {Path(each).as_posix() for each in assess(workspace, "dd if=a.py").mentions}
