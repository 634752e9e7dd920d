"""What policy saw is what bash would run, told by bash itself."""

from __future__ import annotations

import os
import random
from typing import Any

import pytest
from tests.fuzz.shell import agrees, line_of
from tests.tools.safety.bash import runs
from tests.tools.safety.commands import EVERYDAY

from turnout.tools.policy import shell_words
from turnout.tools.policy.shell_words import ShellCommand

SOAK = bool(os.environ.get("TURNOUT_SOAK"))


def test_bash_tells_what_it_would_run() -> None:
    """The oracle itself: expansions made, keywords and quotes gone, nothing really run."""
    line = "time ls 'a b' | wc -l; x=1 echo $(id) && eval y || never"
    assert sorted(runs(line)) == [("echo",), ("eval", "y"), ("id",), ("ls", "a b"), ("wc", "-l")]


def test_every_everyday_command_is_read_as_bash_reads_it() -> None:
    """A rotating share of them, all in soak runs."""
    for line in EVERYDAY if SOAK else EVERYDAY[::5]:
        assert agrees(line)


def test_no_line_of_the_grammar_runs_what_policy_did_not_see() -> None:
    """Seeded lines of tricks; a share of them is plain enough that bash is asked."""
    chance = random.Random(9)
    wanted = 20_000 if SOAK else 3_000
    asked = sum(
        agrees(line_of(bytes([1 + chance.randrange(3), *chance.randbytes(chance.randrange(3, 14))])))
        for _ in range(wanted)
    )
    assert asked > wanted // 100


def test_the_comparison_bites(monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that takes the first line for all of it is found out."""
    whole = shell_words.plain_commands

    def hasty(line: str) -> Any:
        return whole(line.split("\n")[0])

    monkeypatch.setattr("tests.fuzz.shell.plain_commands", hasty)
    with pytest.raises(AssertionError, match="policy saw"):
        agrees("ls\nrm a")


def test_one_reader_that_errs_is_caught_by_the_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both readings must give the same words, else the line is a doubt."""
    monkeypatch.setattr(shell_words, "_parsed_commands", lambda root: iter([ShellCommand(("ls",))]))
    assert shell_words.plain_commands("ls -la") == shell_words.Doubt("it can be read in two ways")
