"""Messages to people: what happened, which rule, what to do next, in plain English."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.message_exceptions import NO_NEXT_STEP

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "turnout"

ERRORS = {
    *(
        "TurnoutError",
        "UsageError",
        "ProviderError",
        "StoreError",
        "CorruptHistory",
        "HookError",
        "LimitReached",
    ),
    *("ClickException", "BadParameter"),
}

NEXT_STEP = re.compile(
    r"""
    `[^`]+`                                              # a command or a piece of code to use
  | \b(?:pip\ install|retry\ in|known\ are|one\ of|did\ you\ mean|or\ later|limit|at\ most)\b
  | (?:^|[;:.,(]\ |\bor\ |\band\ )(?:
        add|append|ask|call|change|check|choose|close|compact|continue|convert|copy|correct|create|define|delete
      | end|export|fork|give|hand|import|install|keep|leave|list|look|make|mount|move|name|open|pass|pin|put
      | read|remove|rename|render|restore|resume|retry|rewind|run|say|see|set|settle|shorten|split|start
      | switch|take|try|turn|unset|update|upgrade|use|wait|write
    )\b
    """,
    re.VERBOSE | re.IGNORECASE,
)

PHRASES = {
    r"(?<![Tt]here )\b(?:is|are|was|were) no (?!longer\b|more\b|other\b|matter\b)[a-z]": "is not a",
    r"\b(?:go|goes|gone|going|went) on with\b": "resume, continue",
    r"\bleft alone\b": "rate limited; unchanged",
    r"\bwithout a word\b": "silently; without a terminal event",
    r"\b[Ll]ets? go of\b": "release",
    r"\bnobody\b|\bNobody\b": "no one is rarely the subject: say what is unknown or missing",
    r"\b[Ww]hoever\b": "the one who; the caller",
    r"\bwho lived\b": "what was up this long",
}


class Message(NamedTuple):
    """The text of one `raise`, with `{…}` for what is filled in."""

    place: str
    error: str
    text: str


def raised_messages() -> Iterator[Message]:
    for path in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call)):
                continue
            called = node.exc.func
            error = called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")
            texts = [text for argument in node.exc.args if (text := _text_of(argument))]
            if error in ERRORS and texts:
                yield Message(f"{path.relative_to(SOURCE)}:{node.lineno}", error, texts[0])


def _text_of(node: ast.expr) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_text_of(part) if isinstance(part, ast.Constant) else "{…}" for part in parts)
        case ast.BinOp(left=left, right=right):
            return _text_of(left) + _text_of(right)
        case ast.IfExp(body=body):
            return _text_of(body)
        case _:
            return ""


def test_every_error_names_a_next_step() -> None:
    """An error that a user can meet says what to do; the few that cannot are listed with the reason."""
    messages = list(raised_messages())
    assert len(messages) > 100, "the messages are not found any more"
    silent = [
        f"{each.place} {each.error}: {each.text}"
        for each in messages
        if not NEXT_STEP.search(each.text) and each.text not in NO_NEXT_STEP
    ]
    assert not silent, f"{len(silent)} messages name no next step:\n" + "\n".join(silent)


def test_the_list_of_messages_without_a_next_step_is_needed() -> None:
    """A message that was improved leaves the list."""
    assert set(NO_NEXT_STEP) <= {each.text for each in raised_messages()}


def prose_of(path: Path) -> Iterator[tuple[int, str]]:
    """The lines of a file that people read: texts, docstrings and comments of code, and all of a page."""
    if path.suffix == ".md":
        yield from enumerate(path.read_text().splitlines(), 1)
        return
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type in (tokenize.STRING, tokenize.COMMENT):
            for offset, line in enumerate(token.string.splitlines()):
                yield token.start[0] + offset, line


PAGES = [
    *sorted(SOURCE.rglob("*.py")),
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")),
]


@pytest.mark.parametrize(("phrase", "instead"), PHRASES.items(), ids=lambda value: str(value)[:20])
def test_the_prose_is_plain(phrase: str, instead: str) -> None:
    """Turns of phrase that a reader in a hurry stumbles over stand nowhere."""
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in PAGES
        for number, line in prose_of(path)
        if re.search(phrase, line)
    ]
    assert not found, f"{len(found)} places; write {instead!r}:\n" + "\n".join(found)
