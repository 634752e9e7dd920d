"""Our own git calls run nothing that a repository names."""

from __future__ import annotations

import asyncio
import os
import subprocess
from pathlib import Path

import pytest
from tests.tools.safety.boxes import needs_sandbox

from turnout.tools import git
from turnout.tools.builtin import codebase_overview, shell
from turnout.tools.context import ToolContext
from turnout.tools.sandbox import confined
from turnout.tools.shell_safety import judge
from turnout.tools.workspace import Workspace

pytestmark = pytest.mark.skipif(not git.command("version"), reason="git is not installed")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A folder whose settings name a program in every place that git has for one."""
    plain = {**git.environment(os.environ), "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@b"}
    plain |= {"GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@b"}
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\ncat\n")
    evil.chmod(0o755)
    root = tmp_path / "root"
    root.mkdir()

    def run(*words: str) -> None:
        subprocess.run(["git", *words], cwd=root, env=plain, check=True, capture_output=True)

    run("init", "-q")
    (root / ".gitattributes").write_text("*.txt diff=evil\n")
    (root / "a.txt").write_text("one\n")
    run("add", ".")
    run("commit", "-qm", "first")
    for name in ("core.fsmonitor", "core.pager", "pager.log", "diff.external", "core.editor", "gpg.program"):
        run("config", name, str(evil))
    for name in ("diff.evil.textconv", "diff.evil.command", "core.sshCommand", "core.askPass"):
        run("config", name, str(evil))
    run("config", "log.showSignature", "true")
    run("config", "core.hooksPath", str(root / "hooks"))
    (root / "hooks").mkdir()
    (root / "hooks/post-index-change").symlink_to(evil)
    (root / "a.txt").write_text("two\n")
    return root


CALLS = [
    ("status", "--short"),
    ("diff",),
    ("log", "-p", "-1"),
    ("show", "HEAD"),
    ("rev-parse", "--show-toplevel"),
    ("branch", "--show-current"),
    ("ls-files",),
]


@pytest.mark.parametrize("words", CALLS, ids=" ".join)
def test_no_program_of_the_repository_is_run(repository: Path, words: tuple[str, ...]) -> None:
    """And the call still says what it should."""
    done = subprocess.run(
        git.command(*words), cwd=repository, env=git.environment(os.environ), capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()
    assert not (repository.parent / "pwned").exists()


def test_an_overview_says_how_a_repository_stands(repository: Path) -> None:
    """Through such a call; a repository further up is not looked at."""
    assert git.standing(str(repository), os.environ).endswith(", 2 changed")  # a.txt, and the hooks
    (repository / "inner").mkdir()
    assert git.standing(str(repository / "inner"), os.environ) == ""
    with Workspace(repository) as workspace:
        told = codebase_overview.function(ToolContext("c", workspace=workspace))
    assert "\nGit: " in told and not (repository.parent / "pwned").exists()


def test_plain_git_would_have_run_it(repository: Path) -> None:
    """The same repository, the usual way: so the test above can fail."""
    subprocess.run(["git", "status"], cwd=repository, capture_output=True, check=False)
    assert (repository.parent / "pwned").exists()


def test_git_of_the_workspace_is_not_used(tmp_path: Path) -> None:
    """Git is taken from fixed places, never from PATH; where it is missing there is no call to make."""
    assert git.command("status")[0] in git.PLACES
    assert git.command("status", places=(str(tmp_path / "git"),)) == []


def test_no_git_variable_of_ours_gets_through() -> None:
    """`GIT_DIR` and its kin would point a call elsewhere."""
    given = {"PATH": "/usr/bin", "GIT_DIR": "/evil", "GIT_EXTERNAL_DIFF": "/evil", "ANTHROPIC_API_KEY": "x"}
    assert not {"GIT_DIR", "GIT_EXTERNAL_DIFF", "ANTHROPIC_API_KEY"} & git.environment(given).keys()


@needs_sandbox
@pytest.mark.parametrize("line", ["git status", "git log -1", "git ls-files", "git branch"])
def test_git_that_runs_unasked_starts_nothing_either(repository: Path, line: str) -> None:
    """Not even in the sandbox: neither a watcher nor a signature checker of the repository."""
    evil = repository / "evil"
    evil.write_text("#!/bin/sh\necho EVIL >&2\n")
    evil.chmod(0o755)
    for name in ("core.fsmonitor", "gpg.program"):
        subprocess.run(["git", "config", name, str(evil)], cwd=repository, check=True)

    def said(command: str) -> str:
        with Workspace(repository) as workspace:
            context = ToolContext("c", workspace=workspace, spawn=confined(workspace))
            outcome = asyncio.run(shell.invoke(context, {"command": command}))
        assert outcome.status == "complete"
        return str(outcome.text)

    assert judge(line).only_reads and "EVIL" not in said(line)
    assert "EVIL" in said("git status > /dev/null; true")  # asked for, and so run as it is
