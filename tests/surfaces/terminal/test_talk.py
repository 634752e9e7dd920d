"""What a conversation tells and shows, whatever shows it: `!commands`, sessions, sentences as prompts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated
from tests.surfaces.program import Program

from turnout.model import UserTurn, joined_text
from turnout.simulate import Call, SimulatedRequest
from turnout.simulate.model import demo
from turnout.store import open_store
from turnout.surfaces.terminal.calls import subject

OPENAI = ("-m", "openai:gpt-4o")


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    with simulated(tmp_path, demo) as user:
        yield user


def test_what_a_user_ran_is_told_beside_their_words(somebody: User) -> None:
    """Two commands and a file, then words: the words are what is shown again, and what /undo gives back."""
    lines = "!echo one\n!false\nread @README.md please\n/undo\n"
    talk = run(somebody, "chat", *OPENAI, stdin=lines)

    assert somebody.simulation is not None
    body = somebody.simulation.exchanges[0].body.decode()
    told = ["read @README.md please", "$ echo one", "$ false", "[exit code 1]", "The file README.md"]
    assert [body.index(words) for words in told] == sorted(body.index(words) for words in told)
    assert "not sent: read @README.md please" in talk.out
    with open_store(somebody.environment) as store:
        assert store.list()[0].title == "read @README.md please"


def test_undo_leaves_the_room_that_was_made(tmp_path: Path) -> None:
    """/compact, a question, /undo, twice: the summary stays, the question goes."""

    def said(asked: SimulatedRequest) -> str:
        return "In short: much." if "Summarise" in asked.user else "Much. " * 50

    with simulated(tmp_path, said) as user:
        lines = "".join(f"question {number}\n" for number in range(6))
        again = "and now?\n/undo\n"
        run(user, "chat", *OPENAI, stdin=f"{lines}/compact\n{again}{again}")
        with open_store(user.environment) as store:
            history = store.read(store.list()[0].id)

    assert history.summary == "In short: much."
    asked = [joined_text(turn.blocks) for turn in history.turns if isinstance(turn, UserTurn)]
    assert asked[-1] == "question 5"


def test_a_session_that_is_gone_on_with_shows_the_words(somebody: User) -> None:
    """A resumed session shows its last turns."""
    run(somebody, "chat", *OPENAI, stdin="!echo one\nhello there\n")
    with Program(("-c",), somebody.environment, somebody.folder) as program:
        text = program.settled(r"❯ hello there\n\nYou said: hello there")
    assert "I ran this command" not in text


def test_a_command_that_is_stopped_stays_on_the_screen_and_is_told(somebody: User) -> None:
    """Its output so far is shown, and the model sees it with the next prompt."""
    with Program((*OPENAI, "--no-store"), somebody.environment, somebody.folder) as program:
        program.wait(r"^❯ ?$")
        program.say("!echo begun; sleep 60")
        program.wait(r"· running.*begun", scrolled=False)
        program.key("esc")
        program.settled(r"✗ ! echo begun; sleep 60 cancelled\n  ⎿ begun\n    \[stopped\].*Interrupted")
        program.say("what was that?")
        program.settled(r"You said: what was that")
    assert somebody.simulation is not None
    assert "begun\\n[stopped]" in somebody.simulation.exchanges[-1].body.decode()


def test_a_folder_that_goes_away_is_said(somebody: User, tmp_path: Path) -> None:
    """The program goes on: a command cannot run, a file cannot be written, another model still answers."""
    gone = tmp_path / "gone"
    gone.mkdir()
    lines = f"!rmdir {gone}\n!echo here\nhello\n/export a.md\n"
    ran = run(somebody, "chat", *OPENAI, "--cwd", str(gone), stdin=lines)

    assert ran.code == 0 and "You said: hello" in ran.out
    assert "cannot be written: No such file or directory" in ran.out


def test_a_sentence_is_what_is_said_first(somebody: User) -> None:
    """`turnout "What …"` talks; a single word is a command, and a wrong one is told the nearest."""
    assert "You said: good morning to you" in run(somebody, "good morning to you", *OPENAI).out
    assert "Did you mean sessions?" in run(somebody, "session").err
    assert "turnout chat xylophone" in run(somebody, "xylophone").err


def test_a_patch_is_about_its_files() -> None:
    """The subject of a patch is the list of its files."""
    patch = "*** Begin Patch\n*** Update File: a.py\n@@\n-x\n+y\n*** Add File: b c.py\n+z\n*** End Patch"
    assert subject({"patch": patch}) == "a.py b c.py"
    assert subject({"patch": "--- a/x.py\n+++ b/x.py\n@@ -1 +1 @@\n-1\n+2"}) == "x.py"
    assert subject({"patch": "nothing that names a file"}).startswith('{"patch"')


def test_a_question_fits_a_very_small_terminal(tmp_path: Path) -> None:
    """What moves gives way: every choice is in view at twenty columns and ten rows."""
    calls = [Call("shell", {"command": f"touch {name}"}) for name in "abc"]
    with (
        simulated(tmp_path, [calls, "Done."]) as user,
        Program((*OPENAI, "--no-store"), user.environment, user.folder, 24, 12) as program,
    ):
        program.wait(r"^❯ ?$")
        program.say("go")
        screen = program.wait(r"\[y\].*\[n\].*esc", scrolled=False)
        assert len(re.findall(r"\[[ysane]", screen)) == 5
        program.key("esc")
        program.wait(r"Interrupted")
