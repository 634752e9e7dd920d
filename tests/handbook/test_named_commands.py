"""Every `turnout …` line of a page is a command that exists, with options that it has."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import click
import pytest
from handbook.site_pages import DOCS, ROOT

from turnout.surfaces.cli import COMMANDS
from turnout.surfaces.cli import main as MAIN

PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
PAGES = [page for page in PAGES if page.parent.name != "decisions"]  # they tell of earlier commands, too
LINE = re.compile(r"^(?: {4}|\$ |)((?:[\w| ]+\| )?turnout(?: [^\n]*)?)$", re.MULTILINE)
TICKED = re.compile(r"`(turnout(?: [^`\n]*)?)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_commands_of_a_page_exist(page: Path) -> None:
    """A command and each of its options is known; words of prose beside a command do not count."""
    wrong = [line for line in command_lines(page.read_text()) if not is_command(line)]
    assert not wrong, f"{page.name}: {wrong}"


def command_lines(text: str) -> Iterator[str]:
    """The commands of a page: in blocks, and in backticks."""
    blocks = re.findall(r"^```(?:sh|console|text)\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    indented = "\n".join(line for line in text.split("\n") if line.startswith("    "))
    for part in (indented, *blocks):
        for found in LINE.findall(part):
            yield re.split(r"\s{2,}|\s#", found[found.index("turnout") :])[0]
    prose = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    yield from TICKED.findall(prose)


def is_command(line: str) -> bool:
    """Whether the command and its options are known."""
    words = split_words(line)[1:]
    if words and re.fullmatch(r"[a-z]+", words[0]) and words[0] not in COMMANDS:
        return False
    name = words.pop(0) if words and words[0] in COMMANDS else "run" if "-p" in words else "chat"
    command = MAIN.get_command(click.Context(MAIN), name)
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command = command.commands[words.pop(0)]
    assert command is not None
    return all(is_option(command, word) for word in before_dashes(words) if word.startswith("-"))


def split_words(line: str) -> list[str]:
    line = re.split(r" [|&>]| `", line)[0].replace("…", "")
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def before_dashes(words: list[str]) -> list[str]:
    """The words before `--`: what follows is for another program."""
    return words[: words.index("--")] if "--" in words else words


def is_option(command: click.Command, word: str) -> bool:
    known = {option for each in command.params for option in (*each.opts, *each.secondary_opts)}
    return word.partition("=")[0] in known | {"-h", "--help", "--version", "-"}


@pytest.mark.parametrize(
    "line", ["turnout run --sandboxed", "turnout serve --with codex", "turnout sessions prune --all-of-it"]
)
def test_an_option_that_is_not_there_is_found(line: str) -> None:
    """The test above can fail."""
    assert not is_command(line)
