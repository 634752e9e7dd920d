"""Questions in the terminal: whoever asks, whenever, and however the user leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.surfaces.places import simulated
from tests.surfaces.program import Program

from turnout.simulate import Call
from turnout.store import open_store

OPENAI = ("-m", "openai:gpt-4o")
HEARS = r"\[y\] yes, once"


def test_a_subagent_asks_the_same_user(tmp_path: Path) -> None:
    """Its question stands in the conversation that started it; what it does is told under its call."""
    script: list[Any] = [
        [Call("task", {"prompt": "make it"})],
        [Call("shell", {"command": "touch by_subagent"})],
        "It is made.",
        "All done.",
    ]
    with simulated(tmp_path, script) as user, Program(OPENAI, user.environment, user.folder) as program:
        program.wait(r"^❯ ?$")
        program.say("delegate")
        program.wait(rf"│   touch by_subagent.*task make it · running.*1 calls, now shell.*{HEARS}")
        assert not (user.folder / "by_subagent").exists()
        program.key("y")
        program.settled(r"● task make it.*All done\.")
        assert (user.folder / "by_subagent").exists()


def test_leaving_a_question_open_runs_nothing(tmp_path: Path) -> None:
    """Esc goes back from the reason to the question; Ctrl+D leaves, and the call has its outcome."""
    with simulated(tmp_path, [[Call("shell", {"command": "touch never"})]]) as user:
        with Program(OPENAI, user.environment, user.folder) as program:
            program.wait(r"^❯ ?$")
            program.say("go")
            program.wait(rf"touch never.*{HEARS}", scrolled=False)
            program.key("n")
            program.wait(r"why not", scrolled=False)
            program.key("esc")
            program.wait(HEARS, scrolled=False)
            program.key("ctrl+d")
            assert program.ended() == 0
        with open_store(user.environment) as store:
            (line,) = store.list()
            (interaction,) = store.read(line.id).ledger
    assert line.holder is None and interaction.status == "cancelled"
    assert not (user.folder / "never").exists()


def test_a_mode_that_changes_in_mid_work_holds_for_the_next_call(tmp_path: Path) -> None:
    """Shift+Tab to auto-edit while a tool runs: the edit that follows is not asked for."""
    script: list[Any] = [
        [Call("shell", {"command": "until [ -e gate ]; do sleep 0.05; done"})],
        [Call("write_file", {"path": "made.txt", "content": "x\n"})],
        "Done.",
    ]
    with simulated(tmp_path, script) as user, Program(OPENAI, user.environment, user.folder) as program:
        program.wait(r"^❯ ?$")
        program.say("go")
        program.wait(HEARS)
        program.key("y")
        program.wait(r"· running", scrolled=False)
        program.key("shift+tab")
        program.wait(r"· auto-edit", scrolled=False)
        (user.folder / "gate").touch()
        program.settled(r"● write_file made\.txt.*Done\.")
        assert program.terminal.text.count("wants to run") == 1
        assert (user.folder / "made.txt").read_text() == "x\n"
