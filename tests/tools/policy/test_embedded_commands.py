"""Commands that may be in the words of another command."""

from __future__ import annotations

import pytest

from turnout.tools.policy.embedded_commands import embedded_commands


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("tar", ["-x", "--to-command=rm x"]),
        ("vim", ["-c", "!rm x"]),
        ("npm", ["exec", "rm", "x"]),
        ("docker", ["run", "image", "/bin/rm x"]),
    ],
)
def test_a_command_is_found_wherever_it_begins(name: str, words: list[str]) -> None:
    """By its name and without its path, with the words after it."""
    assert "rm x" in list(embedded_commands(name, words))


def test_programs_that_start_nothing_have_no_commands_in_their_words() -> None:
    """A word is just a word to `cat`, and to `npm` with another command."""
    assert list(embedded_commands("cat", ["rm", "x"])) == []
    assert list(embedded_commands("npm", ["install", "exec"])) == []


def test_find_that_deletes_is_rm() -> None:
    """`find -delete` starts no program and does the same."""
    assert list(embedded_commands("find", [".", "-delete"])) == ["rm {}"]
