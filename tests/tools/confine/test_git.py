"""A hostile folder runs nothing: not when we look at it, and not when a command does unasked."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from tests.tools.safety.another_user import needs_another_user, open_folder, run_as_nobody
from tests.tools.safety.boxes import needs_sandbox
from tests.tools.safety.git_ways import WAYS, Repository, Way

import turnout
from turnout.model import ToolCall
from turnout.tools.builtin import BUILTIN, codebase_overview, shell
from turnout.tools.confine import git, process
from turnout.tools.confine.process import Finished
from turnout.tools.confine.sandbox import sandbox_for
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.registry import Registry
from turnout.tools.declare.result import outcome_of
from turnout.tools.policy.rules import Policy
from turnout.tools.policy.situation import Situation
from turnout.tools.schedule.admission import Admitted, admit_call

__all__ = ["open_folder"]

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
LOOKS = (
    *("git status", "git status --short", "git diff", "git diff --stat", "git diff HEAD", "git log -p -1"),
    *(
        "git log -1 '--format=%G?'",
        "git show HEAD",
        "git show HEAD:a.txt",
        "git blame a.txt",
        "git ls-files -m",
    ),
    *("git grep -n one", "git branch -a", "git describe --always --dirty", "git cat-file -p HEAD:a.txt"),
    *(
        "git diff-files -p",
        "git diff-index -p HEAD",
        "git diff-tree -p HEAD",
        "git stash list",
        "git for-each-ref",
        "git remote -v",
    ),
)
READING: dict[str, dict[str, Any]] = {
    "codebase_overview": {},
    "list_directory": {"depth": 5},
    "glob": {"pattern": "**/*"},
    "grep": {"pattern": "one"},
    "read_file": {"path": "a.txt"},
    "read_files": {"paths": ["a.txt", "b.txt"]},
}


@pytest.fixture(params=WAYS, ids=lambda way: way.name)
def way(request: pytest.FixtureRequest) -> Way:
    return request.param  # type: ignore[no-any-return]


@pytest.fixture
def hostile(way: Way, tmp_path: Path) -> Repository:
    repository = Repository(tmp_path)
    way.make(repository)
    repository.canary.unlink(missing_ok=True)
    return repository


def test_there_are_many_ways() -> None:
    """Every kind of setting by which git starts a program, each by another name."""
    assert len({way.name for way in WAYS}) == len(WAYS) >= 40


@pytest.mark.parametrize("way", WAYS if SOAK else WAYS[::4], ids=lambda way: way.name)
def test_plain_git_would_have_run_it(way: Way, hostile: Repository) -> None:
    """The same folder, the usual way: so the tests below can fail. All of them in soak runs."""
    for call in way.calls if SOAK else way.calls[:1]:
        assert hostile.fires(call.split(), way.given, way.at), call


def test_no_tool_that_reads_runs_it(hostile: Repository) -> None:
    """Not in plan mode either: each of them counts as reading and starts nothing that the folder names."""
    tools = {tool.name: tool for tool in BUILTIN}
    with WorkspaceFiles(hostile.root) as workspace:
        for name, arguments in READING.items():
            admitted = admit_call(
                ToolCall("c", name, arguments), Registry(BUILTIN), Policy("plan"), Situation(workspace)
            )
            assert isinstance(admitted, Admitted) and admitted.verdict.effect == "allow"
            outcome = outcome_of(tools[name].invoke(ToolContext("c", workspace=workspace), arguments)).outcome
            assert outcome.status == "complete" or not outcome.text.startswith("EVIL")
            assert not hostile.canary.exists(), name


class Glass:
    """A sandbox as policy sees one, through which everything gets out: what was started leaves its trace."""

    confines, network, note = True, False, ""

    async def __call__(self, command: Any, **options: Any) -> Finished:
        return await process.run_command(command, **options)


def test_no_git_that_runs_unasked_runs_it(way: Way, hostile: Repository, tmp_path: Path) -> None:
    """Whatever would run it is asked for; all else starts nothing, even where no sandbox would hold it."""
    state = {} if way.at == "." else {"shell.folder": way.at}
    known = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    with WorkspaceFiles(hostile.root) as workspace:

        def runs_unasked(line: str) -> bool:
            situation = Situation(workspace, Glass(), known, dict(state))
            call = ToolCall("c", "shell", {"command": line})
            admitted = admit_call(call, Registry([shell]), Policy(), situation)
            assert isinstance(admitted, Admitted)
            return admitted.verdict.effect == "allow"

        lines = (*LOOKS, *(shlex.join(("git", *call.split())) for call in way.calls))
        unasked = [line for line in lines if runs_unasked(line)]
        context = ToolContext("c", workspace=workspace, spawn=Glass(), environment=known, state=dict(state))
        said = asyncio.run(shell.invoke(context, {"command": "; ".join(unasked) or "true"}))
    assert not hostile.canary.exists(), (unasked, said.text)


@needs_sandbox
def test_the_sandbox_holds_what_git_starts_all_the_same(tmp_path: Path) -> None:
    """When a user agrees to `git status` in such a folder, what it runs can still change nothing."""
    repository = Repository(tmp_path)
    next(way for way in WAYS if way.name == "filter clean").make(repository)
    with WorkspaceFiles(repository.root) as workspace:
        context = ToolContext("c", workspace=workspace, spawn=sandbox_for(workspace))
        said = asyncio.run(shell.invoke(context, {"command": "git status"}))
    assert "EVIL" in said.text
    assert not repository.canary.exists()


def test_every_place_that_starts_a_program_is_known() -> None:
    """Tools that read start our own matcher and checker, and ripgrep; nothing else."""
    source = Path(turnout.__file__).parent
    starts = re.compile(
        r"subprocess\.(?:run|Popen|check|call)|create_subprocess|os\.(?:system|popen|exec|spawn)"
    )
    starters = {
        str(path.relative_to(source)) for path in source.rglob("*.py") if starts.search(path.read_text())
    }
    assert starters == {
        "tools/builtin/ripgrep.py",
        *("tools/confine/process.py", "tools/confine/supervise.py"),  # commands, servers, our own programs
        *(
            "tools/confine/sandbox.py",
            "tools/confine/proof.py",
        ),  # bubblewrap, and a process for it to be kept from
        *(
            "world/keys.py",
            "surfaces/terminal/clipboard.py",
            "surfaces/cli/demo/stage.py",
            "surfaces/cli/launch.py",
        ),  # of the user's
    }


@pytest.mark.skipif(shutil.which("rg") is None, reason="ripgrep is not installed")
def test_no_setting_of_ripgrep_is_heard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of settings could name a program that looks at every file first."""
    evil = tmp_path / "evil"
    evil.write_text(f"#!/bin/sh\ntouch {tmp_path}/pwned\ncat\n")
    evil.chmod(0o755)
    (tmp_path / "settings").write_text(f"--pre={evil}\n")
    (tmp_path / "root").mkdir()
    (tmp_path / "root/a.txt").write_text("one\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "settings"))
    subprocess.run(["rg", "one", str(tmp_path / "root")], check=True, capture_output=True)
    assert (tmp_path / "pwned").exists()  # plain ripgrep hears it
    (tmp_path / "pwned").unlink()
    grep = next(tool for tool in BUILTIN if tool.name == "grep")
    with WorkspaceFiles(tmp_path / "root") as workspace:
        context = ToolContext("c", workspace=workspace, environment=dict(os.environ))
        assert "1:one" in grep.function(context, "one").replace(" ", "")
    assert not (tmp_path / "pwned").exists()


AS_NOBODY = """
import os
from pathlib import Path
from turnout.tools.builtin import codebase_overview
from turnout.tools.declare.context import ToolContext
from turnout.tools.confine.workspace import WorkspaceFiles
from tests.tools.safety.git_ways import WAYS, Repository

assert os.getuid() == 65534
for way in WAYS[::SHARE]:
    base = Path.cwd() / way.name.replace("/", " ")
    base.mkdir()
    repository = Repository(base)
    way.make(repository)
    repository.canary.unlink(missing_ok=True)
    with WorkspaceFiles(repository.root) as workspace:
        codebase_overview.function(ToolContext("c", workspace=workspace))
    assert not repository.canary.exists(), way.name
print("nothing ran")
"""


@needs_another_user
def test_no_folder_runs_anything_as_another_user(open_folder: Path) -> None:
    """Where tests run as the superuser, a share of the ways as nobody; all in soak runs."""
    assert run_as_nobody(AS_NOBODY.replace("SHARE", "1" if SOAK else "6"), open_folder) == "nothing ran\n"


# What is read without git


def test_an_overview_names_the_branch(tmp_path: Path) -> None:
    """Also at a commit without one, and where `.git` is a file; but not of a repository further up."""
    repository = Repository(tmp_path)

    def overview(folder: Path = repository.root) -> str:
        with WorkspaceFiles(folder) as workspace:
            return str(codebase_overview.function(ToolContext("c", workspace=workspace)))

    assert "\nGit: main\n" in overview()
    commit = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "-q", "--detach")
    assert f"\nGit: no branch, at {commit[:12]}\n" in overview()
    repository.write("inner/a", "a")
    assert "Git:" not in overview(repository.root / "inner")
    (repository.root / ".git").rename(repository.root / "elsewhere")
    repository.write(".git", "gitdir: elsewhere\n")
    assert f"\nGit: no branch, at {commit[:12]}\n" in overview()


@pytest.mark.parametrize("head", ["", "\0" * 9, "ref: ", "x" * 300_000, "gitdir: .git\n"])
def test_a_damaged_repository_is_passed_over(tmp_path: Path, head: str) -> None:
    """What HEAD holds is anybody's text, and so is a `.git` that is a file."""
    for name in (".git/HEAD", "inner/.git"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(head)
    with WorkspaceFiles(tmp_path) as workspace:
        assert git.branch(workspace) == ""
        assert git.program_setting(workspace, "inner") == ""


def test_an_ordinary_repository_is_looked_at_unasked(tmp_path: Path) -> None:
    """Remotes, branches, submodules and settings that name no program raise no question."""
    repository = Repository(tmp_path)
    repository.config(remote__origin__url="https://example.com/external/filter.git", diff__renames="true")
    repository.config(branch__main__remote="origin", core__autocrlf="input", alias__st="status")
    repository.write(".gitmodules", '[submodule "a"]\n\tpath = a\n\turl = https://example.com/ignore.git\n')
    with WorkspaceFiles(repository.root) as workspace:
        assert git.program_setting(workspace, ".") == ""
        assert git.program_setting(workspace, "nowhere/at/all") == ""
