"""`turnout rescue`: the list, going on in turnout, and repaired files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.interchange.agent_homes import furnish_home
from tests.interchange.foreign.sample_sessions import refused
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated
from tests.surfaces.program import Program

from turnout.interchange.foreign import READERS


@pytest.fixture
def somebody(tmp_path: Path) -> Iterator[User]:
    """A user with a session of each program in their folder; Claude Code was killed in a tool."""
    with simulated(tmp_path, lambda asked: f"{asked.provider} goes on") as user:
        furnish_home(user.home, user.folder)
        (path,) = (user.home / ".claude/projects").glob("*/*.jsonl")
        lines = path.read_bytes().split(b"\n")
        last = max(at for at, line in enumerate(lines) if b'"tool_use"' in line)
        path.write_bytes(b"\n".join(lines[: last + 1]) + b"\n")
        yield user


def test_the_list_shows_who_is_stuck_and_why(somebody: User) -> None:
    """Six programs, one of them stuck, with the words of Anthropic."""
    shown = run(somebody, "rescue")
    assert shown.code == 0
    for program in ("claude-code", "codex", "gemini-cli", "opencode", "pi", "qwen-code"):
        assert program in shown.out
    assert "stuck: anthropic answers 400" in shown.out and "without `tool_result`" in shown.out
    assert "6 found, 1 stuck" in shown.out
    listed = json.loads(run(somebody, "rescue", "--json").out)
    assert [each["program"] for each in listed if each["stuck"]] == ["claude-code"]
    assert "No session of another agent" in run(somebody, "rescue", "--cwd", str(somebody.home)).out


def test_a_terminal_breaks_the_verdict_between_words(somebody: User) -> None:
    """However wide it is, no word of the provider's answer is cut in two."""
    for columns in (40, 73):
        with Program(("rescue",), somebody.environment, somebody.folder, columns=columns) as program:
            words = " ".join(program.wait("Resume number", scrolled=False).split())
            program.say("")
        assert "stuck: anthropic answers 400 messages.1: `tool_use` ids were found without" in words
        assert "must have a corresponding `tool_result` block in the next message." in words


def test_every_session_goes_on_in_turnout(somebody: User) -> None:
    """Stored under an id of turnout, and answered by any provider; no request is refused."""
    for number in range(1, 7):
        done = run(somebody, "rescue", str(number), "--import")
        answer = run(somebody, "-p", "go on", "-r", done.out.strip(), "-m", "gpt-4o")
        assert answer.out == "openai goes on\n", answer.err
    assert 400 not in somebody.statuses


def test_one_command_opens_the_conversation(somebody: User) -> None:
    """`turnout rescue ID` is a chat with the whole conversation in view."""
    with Program(("rescue", "cc-1", "-m", "gpt-4o"), somebody.environment, somebody.folder) as program:
        program.wait(r"^❯ ?$")
        program.say("go on")
        program.settled("openai goes on")
        program.say("/exit")
        assert program.ended() == 0
    assert 400 not in somebody.statuses


def test_a_repaired_file_is_written_beside_the_others(somebody: User) -> None:
    """For its own program or another one; the original stays as it was; a format without writer is said."""
    (original,) = (somebody.home / ".claude/projects").glob("*/*.jsonl")
    before = original.read_bytes()
    done = run(somebody, "rescue", "cc-1", "--write")
    path = Path(done.out.strip())
    assert path.parent == original.parent and "claude --resume" in done.err
    assert refused(READERS["claude-code"](path.read_bytes(), "k").history) == []
    for program in ("codex", "pi"):
        path = Path(run(somebody, "rescue", "cc-1", "--write", program).out.strip())
        assert refused(READERS[program](path.read_bytes(), "k").history) == []
    assert original.read_bytes() == before
    assert "use --write with one of" in run(somebody, "rescue", "cc-1", "--write", "gemini-cli").err
    assert "give a number" in run(somebody, "rescue", "nothing-like-it").err
