"""What people's hands know, typed in a real pseudo-terminal at three widths and in four kinds of terminal."""

from __future__ import annotations

import os
import re
import time
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated
from tests.surfaces.program import IDLE, Program

from turnout.simulate import Call, Say, Think

PROMPT = r"^(❯|>) ?$"
LONG = "\n".join(f"line {number}" for number in range(400))
SIZES = ((40, "xterm-256color", ""), (80, "screen", ""), (120, "xterm-256color", "1"))
SOAK = bool(os.environ.get("TURNOUT_SOAK"))
if SOAK:
    SIZES = tuple(
        (columns, term, plain)
        for columns in (40, 80, 120)
        for term, plain in (("xterm-256color", ""), ("screen", ""), ("xterm-256color", "1"))
    )


def model(asked: object) -> object:
    text = asked.user  # type: ignore[attr-defined]
    if "write it" in text and not asked.results:  # type: ignore[attr-defined]
        return [Think("A file."), Call("write_file", {"path": "long.txt", "content": LONG})]
    return [Say(f"Heard {len(text)} letters.")]


@pytest.fixture(scope="module")
def somebody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[User]:
    with simulated(tmp_path_factory.mktemp("user"), model) as user:
        yield user


def start(user: User, *arguments: str, columns: int = 80, **more: str) -> Program:
    program = Program(arguments, {**user.environment, **more}, user.folder, columns, 40)
    program.wait(PROMPT)
    return program


@pytest.mark.parametrize(("columns", "term", "no_color"), SIZES)
def test_hands_know_the_terminal(somebody: User, columns: int, term: str, no_color: str) -> None:
    """Pastes, files, lists, folding, going back, copying and leaving, at this width and in this terminal."""
    (somebody.folder / "long.txt").unlink(missing_ok=True)
    options = ("-m", "gpt-4o", "--approval-mode", "auto-edit")
    with start(somebody, *options, columns=columns, TERM=term, NO_COLOR=no_color) as program:
        program.say("read @README.md and @gone.py")
        program.settled(r"attached README\.md.*@gone\.py: there is no.*Heard")
        program.type(f"\x1b[200~{LONG}\x1b[201~")
        program.wait(r"\[pasted 400 lines\]", scrolled=False)
        program.say("?")
        program.settled(r"Heard 3\d\d\d\s+letters|Heard 3\d\d\d letters")
        program.say("write it")
        program.settled(r"1 \+ line 0.*380 more lines.*ctrl\+o")
        assert "line 399" not in program.terminal.text
        program.key("ctrl+o")
        program.wait(r"400 \+ line 399")
        program.say("/model")
        program.wait(r"Models: type to search", scrolled=False)
        program.type("kimi k3")
        program.wait(r"❯ kimi:kimi-k3", scrolled=False)
        program.key("enter")
        program.wait(r"kimi:kimi-k3 answers\s+from\s+now on")
        program.key("esc")
        program.key("esc")
        program.wait(r"Go back before this prompt", scrolled=False)
        program.key("enter")
        program.wait(r"❯ write it$", scrolled=False)
        program.key("ctrl+c")
        program.say("/copy")
        program.wait(r"clipboard|Copied|answer is in")
        if program.terminal.copied:
            assert b64decode(program.terminal.copied[-1]).decode().startswith("Heard")
        program.say("/sessions")
        program.wait(r"Sessions, the latest|no other\s+session", scrolled=False)
        program.key("esc")
        program.wait(IDLE, scrolled=False)
        time.sleep(0.3)  # a letter right after Esc would be Alt and that letter
        program.say("/exit")
        assert program.ended() == 0
    for line in program.terminal.text.split("\n"):
        assert not re.search(r"\b(answer|conversatio|change|stay|folde)$", line), line
    shown = bytes(program.finish_arguments)
    assert not no_color or not re.search(rb"\x1b\[[0-9;]*3[0-7]m", shown), "colours in spite of NO_COLOR"


def test_resume_with_a_list_and_the_waiting_prompt(somebody: User) -> None:
    """`-r` without an id shows the sessions; the chosen one is opened."""
    run(somebody, "run", "remember the word tulip", "-m", "gpt-4o")
    with start(somebody, "-r") as program:
        program.wait(r"Sessions, the latest first", scrolled=False)
        program.type("tulip")
        program.wait(r"❯ remember the word tulip", scrolled=False)
        program.key("enter")
        program.wait(r"Resumed s")
        program.wait(IDLE, scrolled=False)
        assert "remember the word tulip" in program.terminal.text


def test_a_dumb_terminal_advertises_only_what_works(somebody: User) -> None:
    """No key, no list with arrows: lines in, lines out; a list is answered with a number."""
    with start(somebody, "-m", "gpt-4o", "--no-store", TERM="dumb") as program:
        program.say("/help")
        program.wait(r"Keys")
        assert "ctrl+o" not in program.terminal.text and "shift+tab" not in program.terminal.text
        program.say("/model")
        program.wait(r"number \(enter: none\)")
        program.say("2")
        program.wait(r"answers from now on")
        program.say("/exit")
        assert program.ended() == 0


def test_the_command_line_takes_the_usual_spellings(somebody: User) -> None:
    """`turnout -p`, `turnout run WORDS`, -m in three spellings, text on stdin."""
    for arguments in (
        ("-p", "hello", "-m", "gpt-4o"),
        ("-m", "openai/gpt-4o", "-p", "hello"),
        ("run", "hello", "-m", "openai:gpt-4o"),
        ("run", "-m", "gpt-4o", "hello"),
        ("-p", "--output-format", "text", "-m", "gpt-4o", "hello"),
    ):
        done = run(somebody, *arguments)
        assert (done.code, done.out) == (0, "Heard 5 letters.\n"), arguments
    assert run(somebody, "-p", "-m", "gpt-4o", stdin="piped").out == "Heard 5 letters.\n"
    told = run(somebody, "run", "read @nowhere.txt", "-m", "gpt-4o")
    assert "@nowhere.txt: there is no such file" in told.err
    assert "give -r ID" in run(somebody, "run", "-r", "-p", "x").err


def test_a_stream_opens_with_session_and_model(somebody: User) -> None:
    """The first line of stream-json names both, so that a caller can resume and bill."""
    done = run(somebody, "-p", "hello", "-m", "gpt-4o", "--output-format", "stream-json")
    first = done.out.splitlines()[0]
    assert '"type": "session"' in first and '"model": "openai:gpt-4o"' in first
    assert f'"session_id": "{done.result["session_id"]}"' in first


def test_queued_prompts_survive_a_kill(tmp_path: Path) -> None:
    """A prompt that waited for the tools is in the input line again after kill -9 and -c."""
    script = [[Call("shell", {"command": "sleep 30"})], ["Done."]]
    with simulated(tmp_path, script) as user:
        with start(user, "-m", "gpt-4o", "--approval-mode", "full") as program:
            program.say("go")
            program.wait(r"shell sleep 30")
            program.say("and then the tulips")
            program.wait(r"queued: and then the tulips", scrolled=False)
            program.signal(9)
            program.ended()
        with Program(("-c",), user.environment, user.folder) as program:
            program.wait(r"❯ and then the tulips", scrolled=False)
