"""A rule that denies a path denies its content, and one that denies a program the program: by every way."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.tools.safety.another_user import needs_another_user, open_folder, run_as_nobody
from tests.tools.safety.boxes import needs_sandbox
from tests.tools.safety.denied_calls import CANARY, RULES, Call, calls, furnish, history_calls

from turnout.model import Outcome
from turnout.tools.approval import ApprovalRequest, Decision
from turnout.tools.builtin import BUILTIN
from turnout.tools.denied import Denied
from turnout.tools.execute import execute_tool_call
from turnout.tools.policy import Policy, Rule
from turnout.tools.sandbox import Unconfined, confined
from turnout.tools.workspace import Workspace

__all__ = ["open_folder"]

RULED = tuple(Rule("deny", path=path) for path in RULES)
SOAK = bool(os.environ.get("TURNOUT_SOAK"))
AS_NOBODY = """
import os
from pathlib import Path
from turnout.tools.policy import Policy
from turnout.tools.sandbox import confined
from turnout.tools.workspace import Workspace
from tests.tools.safety.test_denied import RULED, agree, calls, furnish, history_calls, leaks

assert os.getuid() == 65534


def leaked(name, of, *rules):
    # In a folder of its own each: without the rules, calls change it.
    root = Path.cwd() / name
    root.mkdir()
    furnish(root)
    with Workspace(root) as workspace:
        spawn = confined(workspace)
        assert spawn.confines
        approver = agree if of is calls else None
        wanted = (calls(root) if of is calls else history_calls())[::SHARE]
        return leaks(wanted, workspace, Policy("full", rules), spawn=spawn, approver=approver)


print(bool(leaked("open", calls)), leaked("denied", calls, *RULED), leaked("past", history_calls, *RULED))
"""
KNOWN = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "root").mkdir()
    furnish(tmp_path / "root")
    return tmp_path / "root"


@pytest.fixture
def workspace(root: Path) -> Iterator[Workspace]:
    with Workspace(root) as place:
        yield place


async def agree(request: ApprovalRequest) -> Decision:
    """Someone who says yes to everything."""
    return request.once()


def run(call: Call, workspace: Workspace, policy: Policy, **ports: Any) -> Outcome:
    name, arguments = call
    return asyncio.run(
        execute_tool_call(
            BUILTIN, name, arguments, policy=policy, workspace=workspace, environment=KNOWN, **ports
        )
    )


def leaks(wanted: list[Call], workspace: Workspace, policy: Policy, **ports: Any) -> list[Call]:
    """The calls whose outcome holds the secret."""
    return [call for call in wanted if CANARY in run(call, workspace, policy, **ports).text]


def test_there_are_many_ways(root: Path) -> None:
    """At least sixty calls, each another."""
    assert len({str(call) for call in (*calls(root), *history_calls())}) >= 150


@needs_sandbox
def test_without_the_rule_most_of_them_show_it(workspace: Workspace, root: Path) -> None:
    """The same calls under no rule: so the tests below can fail."""
    shown = leaks(calls(root)[::5], workspace, Policy("full"), spawn=confined(workspace), approver=agree)
    assert len(shown) > len(calls(root)[::5]) // 2


@needs_sandbox
@pytest.mark.parametrize("mode", ["ask", "full"])
def test_no_call_shows_what_is_denied(workspace: Workspace, root: Path, mode: Any) -> None:
    """Not even if someone agrees to each: what the rule denies is covered."""
    policy, before = Policy(mode, RULED), (root / ".env").read_text()
    wanted = calls(root) if SOAK or mode == "full" else calls(root)[::4]
    assert leaks(wanted, workspace, policy, spawn=confined(workspace), approver=agree) == []
    assert (root / ".env").read_text() == before and (root / "secrets/key").exists()


@needs_sandbox
@needs_another_user
def test_no_call_of_another_user_shows_it(open_folder: Path) -> None:
    """Where tests run as the superuser, a share of them as nobody; all in soak runs."""
    said = run_as_nobody(AS_NOBODY.replace("SHARE", "1" if SOAK else "12"), open_folder)
    assert said == "True [] []\n"


@needs_sandbox
@pytest.mark.parametrize("mode", ["ask", "auto-edit", "plan", "full"])
def test_no_history_shows_it_unasked(workspace: Workspace, mode: Any) -> None:
    """The sandbox cannot cover what a repository remembers: what may look there is asked for."""
    wanted = history_calls() if SOAK or mode in ("ask", "full") else history_calls()[::4]
    assert leaks(wanted, workspace, Policy(mode, RULED), spawn=confined(workspace)) == []


@pytest.mark.parametrize("mode", ["ask", "full"])
def test_without_a_sandbox_what_may_show_it_is_asked_for(workspace: Workspace, root: Path, mode: Any) -> None:
    """Nothing covers a file then, so no command runs unasked that may read files it does not name."""
    wanted = [*calls(root), *history_calls()]
    assert leaks(wanted, workspace, Policy(mode, RULED), spawn=Unconfined("on purpose")) == []


@needs_sandbox
def test_what_is_not_denied_is_shown_as_ever(workspace: Workspace, root: Path) -> None:
    """Around the secrets all works unasked: reading, searching, listing, git for names and single files."""
    policy, spawn = Policy("ask", RULED), confined(workspace)
    wanted: list[tuple[Call, str]] = [
        (("read_file", {"path": "src/main.py"}), "harmless"),
        (("grep", {"pattern": "harmless"}), "5 matching lines"),
        (("grep", {"pattern": "harmless", "path": "config"}), "app.toml"),
        (("glob", {"pattern": "*.toml"}), "config/app.toml"),
        (("list_directory", {"path": "config"}), ".env"),
        (("codebase_overview", {}), "package.json"),
        (("shell", {"command": "cat src/main.py"}), "harmless"),
        (("shell", {"command": "grep -rn harmless src config"}), "app.toml"),
        (("shell", {"command": "rg -l harmless"}), "src/main.py"),
        (("shell", {"command": "ls -la config"}), ".env"),
        (("shell", {"command": "find . -name .env"}), "config/.env"),
        (("shell", {"command": "grep -rl harmless --exclude=.env . | sort"}), "src/main.py"),
        (("shell", {"command": "git log --oneline"}), "first"),
        (("shell", {"command": "git diff --stat"}), ".env"),
        (("shell", {"command": "git show HEAD:src/main.py"}), "harmless"),
        (("shell", {"command": "git diff HEAD -- src/main.py; echo same"}), "same"),
        (("shell", {"command": "git blame src/main.py"}), "harmless"),
        (("shell", {"command": "git status --short"}), ".env"),
    ]
    for call, expected in wanted:
        outcome = run(call, workspace, policy, spawn=spawn)
        assert expected in outcome.text and CANARY not in outcome.text, (call, outcome)


@needs_sandbox
def test_commands_that_may_write_do_their_work(workspace: Workspace, root: Path) -> None:
    """Building, testing and editing go on around what is covered, and leave no trace of the covers."""
    before = sorted(path.relative_to(root) for path in root.rglob("*") if ".git/" not in str(path))
    line = "echo new > src/new.py && mkdir -p out && cp src/*.py out/ && ls out && rm -r out src/new.py"
    outcome = run(("shell", {"command": line}), workspace, Policy("full", RULED), spawn=confined(workspace))
    assert "new.py" in outcome.text and outcome.status == "complete"
    after = sorted(path.relative_to(root) for path in root.rglob("*") if ".git/" not in str(path))
    assert after == before and CANARY in (root / ".env").read_text()


# Which files a rule comes to


def covered(root: Path, *patterns: str) -> set[str]:
    places, whole = Denied(patterns, str(root)).places()
    assert whole
    return {os.path.relpath(place, root) for place in places}


def test_a_rule_comes_to_every_name_of_a_file(root: Path) -> None:
    """By name in any case, by hard link, and by where a denied link leads; folders with what is in them."""
    assert covered(root, "**/.env") == {
        *(".env", ".Env", "config/.env", "a/.env", "linked", "deploy/.env", "vault/real"),
    } - {"deploy/.env"}  # a link has no content of its own
    assert covered(root, "secrets/**") == {"secrets", "secrets/key", "src/linked.txt"}
    assert covered(root, "secrets") == covered(root, "secrets/") == covered(root, f"{root}/secrets/**")
    assert covered(root, "*.pem") == covered(root, "./*.PEM") == {"tls.pem"}
    assert covered(root, "config/*.toml", "nowhere/**") == {"config/app.toml"}


def test_a_link_does_not_deny_the_folders_around_it(root: Path) -> None:
    """A folder may bring links that lead upwards: they must not take everything away."""
    (root / "config/deep").mkdir()
    for place, target in (
        ("config/deep/.env", "../.."),
        ("b/.env", "."),
        ("src/.env", "/etc"),
        ("a/.ENV", ".."),
    ):
        (root / place).symlink_to(target)
    (root / "secrets/up").symlink_to("../src")
    assert covered(root, "**/.env", "secrets/**") == {
        *(".env", ".Env", "config/.env", "a/.env", "linked", "vault/real"),
        *("secrets", "secrets/key", "src/linked.txt"),
    }


def test_a_denied_file_is_denied_by_its_whole_path(workspace: Workspace, root: Path) -> None:
    """Rules may name a file of the workspace absolutely, or with a dot before it."""
    for pattern in (str(root / ".env"), f"{root}/**/.env", "./.env", "/**/.env"):
        policy = Policy("full", (Rule("deny", path=pattern),))
        assert run(("read_file", {"path": ".env"}), workspace, policy).status == "denied", pattern
        assert run(("read_file", {"path": "README.md"}), workspace, policy).status == "complete"


def test_a_rule_against_reading_counts_for_every_tool_that_reads(workspace: Workspace) -> None:
    """What `read_file` may not read, `grep` may not show; a rule about another tool is about that tool."""
    found = ("grep", {"pattern": "canary", "path": "config"})
    for tool, shown in (("read_file", False), ("read_*", False), ("grep", False), ("write_file", True)):
        policy = Policy("full", (Rule("deny", tool, path="**/.env"),))
        assert (CANARY in run(found, workspace, policy).text) is shown, tool


def test_a_search_does_not_tell_whether_a_denied_file_matches(workspace: Workspace) -> None:
    """Not by a count either: guessing a secret letter by letter gives the same answer each time."""
    policy = Policy("full", RULED)

    def answer(pattern: str) -> str:
        return run(("grep", {"pattern": pattern}), workspace, policy).text.replace(pattern, "")

    assert answer(f"KEY={CANARY}") == answer("KEY=canary-0000")


def test_tools_say_that_something_was_left_out(workspace: Workspace) -> None:
    """And only where a rule denies a path."""
    for call in (("grep", {"pattern": "x"}), ("glob", {"pattern": "*"}), ("codebase_overview", {})):
        assert "what rules deny is left out" in run(call, workspace, Policy("full", RULED)).text
        assert "what rules deny" not in run(call, workspace, Policy("full")).text


@needs_sandbox
def test_a_secret_that_has_just_appeared_is_covered(workspace: Workspace, root: Path) -> None:
    """Every command looks anew."""
    spawn, policy = confined(workspace), Policy("full", RULED)
    for number in range(3):
        (root / f"new{number}").mkdir()
        (root / f"new{number}/.env").write_text(CANARY)
        outcome = run(("shell", {"command": "grep -rn canary ."}), workspace, policy, spawn=spawn)
        assert CANARY not in outcome.text


@needs_sandbox
@pytest.mark.parametrize(
    "pattern", ["deep/in/*.txt", "deep/in/key.txt", "**/in/key.txt", "{root}/deep/in/key.txt"]
)
def test_a_folder_around_a_denied_file_cannot_be_given_another_name(
    workspace: Workspace, root: Path, pattern: str
) -> None:
    """Else the rule would not know the file by its new path. What else is in the folder can be changed."""
    (root / "deep/in").mkdir(parents=True)
    (root / "deep/in/key.txt").write_text(CANARY)
    policy = Policy("full", (Rule("deny", path=pattern.format(root=root)),))
    for line in ("mv deep moved", "mv deep/in deep/out", "echo new > deep/in/new.md"):
        run(("shell", {"command": line}), workspace, policy, spawn=confined(workspace))
    assert (root / "deep/in/key.txt").read_text() == CANARY and (root / "deep/in/new.md").exists()


@needs_sandbox
def test_a_folder_may_be_moved_where_a_rule_is_about_names(workspace: Workspace, root: Path) -> None:
    """`**/.env` is denied wherever it is."""
    (root / "deep").mkdir()
    (root / "deep/.env").write_text(CANARY)
    policy, spawn = Policy("full", (Rule("deny", path="**/.env"),)), confined(workspace)
    run(("shell", {"command": "mv deep moved"}), workspace, policy, spawn=spawn)
    assert (root / "moved/.env").exists()
    assert (
        CANARY not in run(("shell", {"command": "grep -r canary moved"}), workspace, policy, spawn=spawn).text
    )
