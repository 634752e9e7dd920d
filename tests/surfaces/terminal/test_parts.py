"""Changes, questions, mentions, completions: the small parts of a conversation, as values."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from turnout.model import Media, Text
from turnout.surfaces.shared.mentions import mentioned_words, with_files
from turnout.surfaces.terminal.approval_question import (
    CHOICES,
    EDIT,
    NO,
    ONCE,
    arguments_text,
    decision,
    question_of,
)
from turnout.surfaces.terminal.changes import change_of, compare_texts
from turnout.surfaces.terminal.completer import ChatCompleter
from turnout.surfaces.terminal.pacing import PacedAnswer
from turnout.surfaces.terminal.user_commands import UserCommand
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.policy.approval import ApprovalRequest

LINES = st.lists(st.sampled_from(["a", "b", "c", "", "  d"]), max_size=12)
PNG = b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@given(LINES, LINES)
def test_a_change_tells_both_texts(before: list[str], after: list[str]) -> None:
    """Every line that is gone and every line that is new is in it, with the number it has."""
    change = compare_texts("\n".join(before), "\n".join(after))

    old, new = "\n".join(before).splitlines(), "\n".join(after).splitlines()
    assert all(old[line.number - 1] == line.text for line in change if line.sign == "-")
    assert all(new[line.number - 1] == line.text for line in change if line.sign in "+ ")
    kept = len(old) - sum(line.sign == "-" for line in change)
    assert kept + sum(line.sign == "+" for line in change) == len(new)
    assert bool(change) == (old != new)


def test_changes_of_each_writing_tool() -> None:
    files = {"a": "one\ntwo\n"}
    signs = {
        name: "".join(line.sign for line in change_of(name, arguments, files.get))
        for name, arguments in {
            "write_file": {"path": "a", "content": "one\n2\n"},
            "edit_file": {"path": "a", "old_text": "two", "new_text": "2"},
            "apply_patch": {"patch": "--- a\n+++ b\n@@ -1 +1 @@\n-two\n+2"},
            "shell": {"command": "x", "path": "a"},
        }.items()
    }

    assert signs == {"write_file": " -+", "edit_file": " -+", "apply_patch": "   -+", "shell": ""}


def asked(tool: str = "shell", **arguments: object) -> ApprovalRequest:
    return ApprovalRequest("c1", tool, arguments, "risky", "ask mode asks")


def test_a_question_leaves_no_argument_out() -> None:
    """The command stands by itself; whatever else was given follows, line by line."""
    shown = question_of(asked(command="ls\nrm x", timeout=9, note="a\nb"), lambda path: None)

    assert shown.subject == "ls\nrm x"
    assert shown.details == ("timeout: 9", "note: a", "  b")
    outside = ApprovalRequest("c", "write_file", {"path": "/etc/x"}, "write", "why", ("/etc/x",), "outside")
    assert question_of(outside, lambda path: None).details == ("outside the workspace: /etc/x",)


def test_a_lasting_yes_says_what_it_covers() -> None:
    """As the policy has it: by what the tool can do, whatever this one call is judged to be."""
    mild = ApprovalRequest("c", "shell", {"command": "touch x"}, "write", "why")

    assert question_of(mild, lambda path: None, "risky").covers == "exactly this call"
    assert question_of(mild, lambda path: None, "write").covers == "every shell inside the workspace"


def test_answers_bind_to_their_question() -> None:
    request = asked(command="ls")

    for choice in CHOICES:
        text = '{"command": "ls -l"}' if choice is EDIT else ""
        assert request.binds(decision(request, choice, text))
    assert decision(request, NO, "not now").message == "not now"
    assert decision(request, ONCE).answer == "once"
    assert decision(request, EDIT, arguments_text(request.arguments)).arguments == {"command": "ls"}
    with pytest.raises(ValueError):
        decision(request, EDIT, "[1]")


def test_mentions_are_words_that_name_files(tmp_path: Path) -> None:
    (tmp_path / "a b.txt").write_text("spaced")
    (tmp_path / "x.py").write_text("code")
    (tmp_path / "dot.png").write_bytes(PNG)
    (tmp_path / "raw").write_bytes(b"\0\1\2")
    said = 'see @x.py, @"a b.txt", @dot.png and @raw; mail me@x.py, @nobody, @../secret @x.py'
    assert mentioned_words(said) == ["x.py,", "a b.txt", "dot.png", "raw;", "nobody,", "../secret", "x.py"]

    with WorkspaceFiles(tmp_path) as workspace:
        words, *files = with_files(said, workspace)

    assert words == Text(said)
    assert [block.text.partition(":")[0] for block in files if isinstance(block, Text)] == [
        "The file x.py",
        "The file a b.txt",
        "raw is binary (3 bytes) and is not included.",
    ]
    assert [block.mime for block in files if isinstance(block, Media)] == ["image/png"]


def test_completions(tmp_path: Path) -> None:
    """Commands by their beginning, what may follow them, and files by any part of their path."""
    (tmp_path / "src").mkdir()
    (tmp_path / "src/deep file.py").write_text("")
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git/config.py").write_text("")
    with WorkspaceFiles(tmp_path) as workspace:
        scheduler = SimpleNamespace(workspace=workspace)
        commands = {"mine": UserCommand("mine", "x")}
        talk = SimpleNamespace(session=SimpleNamespace(scheduler=scheduler), user_commands=commands)
        completer = ChatCompleter(talk)  # type: ignore[arg-type]

        def offered(text: str) -> list[str]:
            found = completer.get_completions(Document(text), CompleteEvent())
            return [completion.text for completion in found]

        assert offered("/m") == ["model", "mcp", "mine"]
        assert offered("/permissions a") == ["ask", "auto-edit", "plan"]
        assert offered("look at @deep") == ['@"src/deep file.py"']
        assert offered("me@deep") == [] and offered("hello") == []


def test_small_pieces_of_an_answer_are_gathered() -> None:
    """Hundreds of packets a second become a few reads; nothing is lost or reordered."""
    pieces = [b"a", b"b" * 5_000, b"c"]

    class Answer:
        status, headers = 200, None

        @property
        def chunks(self) -> object:
            return self._chunks()

        async def _chunks(self):  # type: ignore[no-untyped-def]
            for piece in pieces:
                await asyncio.sleep(0)  # it had to be waited for
                yield piece

    async def read() -> tuple[list[bytes], float]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        found = [chunk async for chunk in PacedAnswer(Answer()).chunks]  # type: ignore[arg-type]
        return found, loop.time() - began

    found, took = asyncio.run(read())
    assert found == pieces and took >= 0.04  # a pause after each small one, none after the large one
