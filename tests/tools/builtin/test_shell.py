"""shell: a command, its output and its end; the working folder is ours."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turnout.model import Outcome
from turnout.tools.builtin import read_file, shell
from turnout.tools.confine.process import Finished
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.events import ToolProgress

Call = Callable[..., Outcome]


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("echo out; echo err >&2", "out\nerr"),
        ("true", "[no output]"),
        ("echo no; exit 3", "no\n[Exit code 3.]"),
        ("kill -9 $$", "[no output]\n[Ended by SIGKILL.]"),
        ("printf '\\033[31mred\\033[0m\\n10%%\\r100%%\\n'", "red\n100%"),
        ("printf 'caf\\xe9'", "caf�"),
        ("cat <<EOF\nhere\nEOF", "here"),
        ("# only a comment", "[no output]"),
        ("echo $- | tr -d 'hBc'; shopt -q login_shell || echo no login", "\nno login"),
    ],
)
def test_what_a_command_says_and_how_it_ends(call: Call, command: str, said: str) -> None:
    """Plain text, both streams in order, and the exit code unless it is 0."""
    outcome = call(shell, command=command)
    assert (outcome.status, outcome.text) == ("complete", said)


def test_a_syntax_error_is_the_commands_answer(call: Call) -> None:
    """Bash explains it; nothing of ours breaks."""
    outcome = call(shell, command="echo 'unclosed")
    assert outcome.status == "complete"
    assert "unexpected EOF" in outcome.text
    assert "[Exit code " in outcome.text


def test_the_working_folder_carries_over(call: Call, root: Path) -> None:
    """Each call is a new bash, yet `cd` is remembered, and the exit code is not touched by that."""
    (root / "src/deep").mkdir(parents=True)
    assert call(shell, command="cd src && cd deep; false").text == (
        "[no output]\n[The working folder is now src/deep.]\n[Exit code 1.]"
    )
    assert call(shell, command="pwd").text == str(root / "src/deep")
    assert call(shell, command="exit 4").text == "[no output]\n[Exit code 4.]"
    assert "the workspace root" in call(shell, command="cd ../..").text


def test_variables_do_not_carry_over(call: Call) -> None:
    """No call can prepare the ground for the next."""
    call(shell, command="export PATH=/evil X=1; alias ls=evil; ls() { echo evil; }")
    assert call(shell, command="echo ${X-unset}; type -t ls").text == "unset\nfile"


@pytest.mark.parametrize("leave", ["cd /", "cd ..", "cd link", "cd /proc/self/root", "cd ../root-evil"])
def test_the_working_folder_never_leaves_the_workspace(call: Call, root: Path, leave: str) -> None:
    """The command may go anywhere; the next one starts inside, and the model is told."""
    (root.parent / "root-evil").mkdir()
    (root / "link").symlink_to("..")
    text = call(shell, command=leave).text
    assert "is outside the workspace; the next command starts in the workspace root." in text
    assert call(shell, command="pwd").text == str(root)


def test_what_bash_says_of_its_folder_is_only_a_claim(call: Call, root: Path, ctx: ToolContext) -> None:
    """Forged words on its descriptor choose among places inside, no more."""
    (root / "src").mkdir()
    forge = "for n in {3..99}; do echo /etc >&$n; done 2>/dev/null; exec true"
    assert "is outside the workspace" in call(shell, command=forge).text
    assert call(shell, command="pwd").text == str(root)


def test_a_link_swapped_for_the_working_folder_does_not_lead_out(call: Call, root: Path) -> None:
    """Between two calls the folder became a link to the outside."""
    (root / "src").mkdir()
    call(shell, command="cd src")
    call(shell, command="cd .. ; rmdir src; ln -s /etc src; cd src 2>/dev/null; exec true")
    assert str(root) in call(shell, command="pwd").text


def test_a_working_folder_that_is_gone_gives_way_to_the_root(call: Call, root: Path) -> None:
    """And the model is told where the command ran."""
    (root / "src").mkdir()
    call(shell, command="cd src")
    (root / "src").rmdir()
    assert call(shell, command="pwd").text == f"{root}\n[src is gone; this ran in the workspace root.]"


def test_folders_with_odd_names_are_remembered(call: Call, root: Path) -> None:
    """Spaces, quotes, line breaks and bytes that are no text."""
    for name in ("a b", "q'uote\"", "line\nbreak", "caf\udce9"):
        (root / name).mkdir()
        (root / name / "here").touch()
        quoted = "$'" + "".join(f"\\x{byte:02x}" for byte in os.fsencode(name)) + "'"
        call(shell, command=f"cd -- {quoted}")
        assert call(shell, command="ls").text == "here"
        call(shell, command="cd ..")


def test_a_command_that_takes_too_long_is_ended(call: Call, root: Path) -> None:
    """What it had said is kept, and the model knows that part of the work may be done."""
    started = time.monotonic()
    outcome = call(shell, command="echo begun; sleep 60 & setsid sleep 60; touch never", timeout=0.3)
    assert time.monotonic() - started < 30
    assert outcome.status == "error"
    assert outcome.text.startswith("begun\n")
    assert "Ended after 0.3 s" in outcome.text
    assert not (root / "never").exists()


def test_output_is_shown_while_the_command_runs(call: Call, events: list[ToolProgress]) -> None:
    """In order, as plain text, before the result is there."""
    call(shell, command="echo one; sleep 0.3; printf '\\033[1mtwo\\033[0m\\n'")
    assert [event.output for event in events] == ["one\n", "two\n"]


def test_a_flood_is_cut_saved_and_shown_in_few_pieces(call: Call, events: list[ToolProgress]) -> None:
    """The result has both ends and names the file; the live view does not drown."""
    outcome = call(shell, command="seq 1 200000")
    lines = outcome.text.split("\n")
    assert (lines[0], lines[-1]) == ("1", "200000")
    assert len(outcome.text) < 34_000
    path = outcome.text.partition("the whole is in ")[2].partition(" …]")[0]
    assert Path(path).read_bytes() == b"".join(b"%d\n" % number for number in range(1, 200001))
    assert call(read_file, path=path, offset=150_000, limit=1).text.split("\n")[1] == "150000\t150000"
    assert len(events) < 30


def test_the_environment_has_no_secrets(ctx: ToolContext, call: Call) -> None:
    """The command sees a short list, from the environment that the session gives."""
    ctx.environment = {"PATH": os.environ["PATH"], "HOME": "/home/me", "ANTHROPIC_API_KEY": "canary"}
    text = call(shell, command="env; echo $HOME").text
    assert "canary" not in text
    assert text.endswith("/home/me")


def test_cancelling_ends_the_command(ctx: ToolContext, root: Path) -> None:
    """The task is cancelled, the tree is gone, the folder is as it was."""

    async def cancelled() -> None:
        run = asyncio.ensure_future(shell.invoke(ctx, {"command": "echo $$ > pid; sleep 60"}))
        while not (root / "pid").exists() or not (root / "pid").read_text():
            await asyncio.sleep(0.01)
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run

    before = len(os.listdir("/proc/self/fd"))
    asyncio.run(cancelled())
    assert len(os.listdir("/proc/self/fd")) <= before


def test_a_session_may_bring_its_own_way_to_run_commands(ctx: ToolContext, call: Call) -> None:
    """A sandbox or a simulation: the tool asks the context first."""
    seen: list[Any] = []

    async def spawn(command: Any, **options: Any) -> Finished:
        seen.append((command[-1], sorted(options)))
        options["on_output"](b"simulated\n")
        return Finished(code=0)

    ctx.spawn = spawn
    assert call(shell, command="rm -rf /").text == "simulated"
    assert seen[0][0].endswith("rm -rf /")


def test_a_command_with_nul_is_refused(call: Call) -> None:
    """No program can be given one."""
    assert call(shell, command="echo a\0b").status == "error"
