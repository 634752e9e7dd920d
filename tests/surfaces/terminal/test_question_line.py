"""People type while questions appear: nothing is granted by accident, and no letter is lost."""

from __future__ import annotations

import os
import random
import re
import time
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.places import User, simulated
from tests.surfaces.program import Program

from turnout.simulate import Call

OPENAI = ("-m", "openai:gpt-4o", "--no-store")
HEARS = r"\[y\] yes, once.*esc interrupts"
SECONDS_A_KEY = {"fast": 0.01, "usual": 0.08, "slow": 0.3}
SENTENCES = (
    "probably easy: say yes and always, see?",
    "yes, yesterday a sea eased as any essay",
    "no, stay and answer nay; every year ends",
    "assess any essay you see; nay, say so yes",
)
SOAK = bool(os.environ.get("TURNOUT_SOAK"))
COUNT = 200 if SOAK else 20


def plans() -> list[tuple[int, str, str]]:
    """Which sentence is typed at which speed: the same ones in every run."""
    chosen = random.Random(5)
    speeds = [speed for speed in SECONDS_A_KEY for _ in range({"fast": 9, "usual": 9, "slow": 2}[speed])]
    return [(number, chosen.choice(SENTENCES), speeds[number % len(speeds)]) for number in range(COUNT)]


def batches(size: int = 5) -> list[list[tuple[int, str, str]]]:
    """A few sentences for each program that is started."""
    every = plans()
    return [every[at : at + size] for at in range(0, len(every), size)]


def typed(program: Program, sentence: str, speed: str) -> None:
    for letter in sentence:
        program.type(letter)
        time.sleep(SECONDS_A_KEY[speed])


@pytest.mark.parametrize("batch", batches(), ids=lambda batch: f"from-{batch[0][0]}")
def test_a_sentence_typed_while_a_question_appears_grants_nothing(
    tmp_path: Path, batch: list[tuple[int, str, str]]
) -> None:
    """Every letter is in the input line afterwards, the call has not run, and no rule was made."""
    script: list[Any] = []
    for number, _, _ in batch:
        script += [[Call("shell", {"command": f"touch made-{number}"})], f"Left out {number}."]
    with simulated(tmp_path, script) as user, Program(OPENAI, user.environment, user.folder) as program:
        program.wait(r"^❯ ?$")
        for number, sentence, speed in batch:
            program.say(f"go {number}")
            typed(program, sentence, speed)
            program.wait(rf"touch made-{number}.*{HEARS}.*^❯ {re.escape(sentence)}$", scrolled=False)
            assert not (user.folder / f"made-{number}").exists()
            program.key("n")
            program.wait("why not", scrolled=False)
            program.key("enter")
            program.wait(rf"Left out {number}\.")
            program.wait(rf"^❯ {re.escape(sentence)}$", scrolled=False)
            program.key("ctrl+c")
        assert program.terminal.text.count("wants to run") == len(batch)
    assert not list(user.folder.glob("made-*"))
    assert not list(user.home.rglob("grants.json"))


@pytest.fixture
def asked(tmp_path: Path) -> Any:
    """A program with a question that hears."""
    script: list[Any] = [[Call("shell", {"command": "touch made"})], "Ended.", "Heard."] * 3
    with simulated(tmp_path, script) as user, Program(OPENAI, user.environment, user.folder) as program:
        program.wait(r"^❯ ?$")
        program.say("go")
        program.wait(HEARS, scrolled=False)
        yield user, program


def test_a_word_that_begins_with_an_answer_is_typing(asked: tuple[User, Program]) -> None:
    """The y of "yesterday" is not a yes, though the question was listening: another key followed it."""
    user, program = asked
    typed(program, "yesterday", "usual")
    program.wait(rf"{HEARS}.*^❯ yesterday$", scrolled=False)
    assert not (user.folder / "made").exists()


@pytest.mark.parametrize("letter", ["s", "a"])
def test_a_lasting_yes_takes_enter(asked: tuple[User, Program], letter: str) -> None:
    """The letter alone shows what would be granted; Esc takes it back; Enter grants it."""
    user, program = asked
    program.key(letter)
    program.wait(rf"\[{letter}\] .*exactly this call +enter confirms", scrolled=False)
    time.sleep(0.6)
    assert not (user.folder / "made").exists()
    program.key("esc")
    program.wait(HEARS, scrolled=False)
    program.key(letter, "enter")
    program.settled(r"exactly this call.*Ended\.")
    assert (user.folder / "made").exists()


def test_what_was_granted_is_listed_in_full_and_can_be_taken_back(asked: tuple[User, Program]) -> None:
    """/permissions shows the whole command that was granted, and revokes it, also in the file."""
    user, program = asked
    program.key("a", "enter")
    program.settled(r"Ended\.")
    program.say("/permissions")
    program.wait(r"1  saved rule: allow shell exactly .*touch made")
    assert "touch made" in next(user.home.rglob("grants.json")).read_text()
    program.say("/permissions revoke 1")
    program.wait(r"Revoked: saved rule: allow shell")
    assert "touch made" not in next(user.home.rglob("grants.json")).read_text()
    program.say("/permissions revoke 1")
    program.wait(r"'1' is not the number of a rule; give one that `/permissions` lists")


def test_a_lasting_yes_can_cover_commands_that_begin_alike(asked: tuple[User, Program]) -> None:
    """Tab turns the command into a pattern; one that does not cover the command is refused."""
    user, program = asked
    program.key("a", "tab")
    program.wait(r"commands to allow always here touch made$", scrolled=False)
    program.key("ctrl+a", "ctrl+k")
    program.type("npm test *")
    program.key("enter")
    program.wait(r"does not cover the command in question")
    program.key("ctrl+a", "ctrl+k")
    program.type("*")
    program.key("enter")
    program.wait(r"must start with the name of a program")
    program.key("ctrl+a", "ctrl+k")
    program.type("touch *")
    program.key("enter")
    program.settled(r"always here: shell command='touch \*'.*Ended\.")
    assert '"touch *"' in next(user.home.rglob("grants.json")).read_text()


def test_full_mode_is_not_reached_by_one_key_too_many(tmp_path: Path) -> None:
    """Shift+Tab goes round the other modes; `/permissions full` asks once."""
    with simulated(tmp_path, ["x"]) as user, Program(OPENAI, user.environment, user.folder) as program:
        program.wait(r"^❯ ?$")
        for mode in ("auto-edit", "plan", "ask", "auto-edit"):
            program.key("shift+tab")
            program.wait(rf"· {mode} ·", scrolled=False)
        program.say("/permissions full")
        program.wait(r"every call runs without a question.*yes to confirm", scrolled=False)
        program.key("esc")
        program.wait(r"The approval mode is still auto-edit")
        program.say("/permissions full")
        program.wait(r"still auto-edit.*yes to confirm", scrolled=False)
        program.say("yes")
        program.wait(r"The approval mode is full\.")
