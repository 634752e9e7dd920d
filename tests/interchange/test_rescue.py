"""Sessions of other agents, damaged in twenty ways: nothing said is lost, the next request is accepted."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.interchange.agent_homes import furnish_home, program_files
from tests.interchange.foreign.sample_sessions import refused, told

from turnout import check, render
from turnout.interchange.foreign import READERS
from turnout.interchange.rescue import examine_found, rescue_cases
from turnout.interchange.rescue_exports import WRITERS, NewFile
from turnout.interchange.rescue_places import FoundSession
from turnout.model import Text

Lines = list[bytes]
Damage = Callable[[Lines, random.Random], Lines]
SEEDS = range(40 if os.environ.get("TURNOUT_SOAK") else 2)


def _without(lines: Lines, at: int) -> Lines:
    return [*lines[:at], *lines[at + 1 :]]


def _has(*words: bytes) -> Callable[[bytes], bool]:
    return lambda line: any(word in line for word in words)


RESULT = _has(b"tool_result", b"function_call_output", b"toolResult", b"functionResponse", b'"result"')
CALL = _has(b'"tool_use"', b'"function_call"', b"toolCall", b"functionCall")


def _places(lines: Lines, fits: Callable[[bytes], bool]) -> list[int]:
    return [at for at, line in enumerate(lines) if fits(line)] or [len(lines) - 1]


DAMAGES: dict[str, Damage] = {
    "nothing": lambda lines, chance: lines,
    "last line deleted": lambda lines, chance: lines[:-1],
    "any line deleted": lambda lines, chance: _without(lines, chance.randrange(1, len(lines))),
    "first line deleted": lambda lines, chance: lines[1:],
    "last line torn": lambda lines, chance: [*lines[:-1], lines[-1][: len(lines[-1]) // 2]],
    "any line torn": lambda lines, chance: [
        line[: len(line) // 2] if at == torn else line
        for torn in [chance.randrange(len(lines))]
        for at, line in enumerate(lines)
    ],
    "torn line with the next after it": lambda lines, chance: [
        *lines[:-2],
        lines[-2][: len(lines[-2]) // 3] + lines[-1],
    ],
    "last line doubled": lambda lines, chance: [*lines, lines[-1]],
    "any line doubled": lambda lines, chance: [
        line
        for twice in [chance.randrange(len(lines))]
        for at, line in enumerate(lines)
        for _ in range(2 if at == twice else 1)
    ],
    "every line doubled": lambda lines, chance: [line for line in lines for _ in range(2)],
    "first result missing": lambda lines, chance: _without(lines, _places(lines, RESULT)[0]),
    "last result missing": lambda lines, chance: _without(lines, _places(lines, RESULT)[-1]),
    "every result missing": lambda lines, chance: [line for line in lines if not RESULT(line) or CALL(line)],
    "call missing": lambda lines, chance: _without(lines, _places(lines, CALL)[0]),
    "crash in a tool": lambda lines, chance: lines[: _places(lines, CALL)[0] + 1],
    "crash after one result": lambda lines, chance: lines[: _places(lines, RESULT)[0] + 1],
    "results moved to the end": lambda lines, chance: [
        *(line for line in lines if not RESULT(line)),
        *filter(RESULT, lines),
    ],
    "empty lines between": lambda lines, chance: [part for line in lines for part in (line, b"", b"  ")],
    "zeros at the end": lambda lines, chance: [*lines, b"\0" * 64],
    "not UTF-8": lambda lines, chance: [*lines[:-1], b"\xff\xfe" + lines[-1]],
    "another program's line": lambda lines, chance: [*lines, b'{"hello": "world"}'],
    "Windows line ends": lambda lines, chance: [line + b"\r" for line in lines],
}
NEW_ID = "12345678-1234-5678-1234-567812345678"
PROGRAMS = ("claude-code", "codex", "gemini-cli", "pi", "qwen-code")


def damaged(program: str, damage: str, seed: int) -> bytes:
    data = program_files(Path("/srv/project"))[program][1]
    lines = [line for line in data.split(b"\n") if line]
    return b"\n".join(DAMAGES[damage](lines, random.Random(seed))) + b"\n"


def _said_in(data: bytes) -> set[str]:
    """Every text of the records that are still whole in a file."""
    found: set[str] = set()

    def walk(value: object) -> None:
        if isinstance(value, dict):
            for name, each in value.items():
                if name in ("text", "content", "output") and isinstance(each, str) and len(each) > 2:
                    found.add(each)
                walk(each)
        elif isinstance(value, list):
            for each in value:
                walk(each)

    for line in data.split(b"\n"):
        try:
            walk(json.loads(line))
        except ValueError:
            continue
    return found


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_session_goes_on(program: str, damage: str, tmp_path: Path) -> None:
    """Whatever was whole in the file is in the history, and every provider accepts the next request."""
    for seed in SEEDS:
        data = damaged(program, damage, seed)
        path = tmp_path / f"{seed}.jsonl"
        path.write_bytes(data)
        case = examine_found(FoundSession(program, path, 0.0))
        if case.problem:
            assert "no conversation" in case.problem or len(data) < 400, case.problem
            continue
        entries = json.dumps([_plain(entry) for entry in case.history.entries], ensure_ascii=False)
        for text in _said_in(data):
            assert json.dumps(text, ensure_ascii=False)[1:-1] in entries, (text, told(case.history))
        assert refused(case.history) == []


def _plain(entry: object) -> object:
    from turnout.plain import plain

    return plain(entry)


@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("writer", WRITERS)
def test_a_repaired_file_holds_the_conversation(program: str, writer: str, tmp_path: Path) -> None:
    """Read back, it says the same as the rescued history, needs no repair, and is accepted."""
    for damage in ("nothing", "crash in a tool", "every result missing", "any line torn"):
        path = tmp_path / f"{damage}.jsonl"
        path.write_bytes(damaged(program, damage, 3))
        case = examine_found(FoundSession(program, path, 0.0))
        if case.problem:
            continue
        new = NewFile(
            "12345678-1234-5678-1234-567812345678", Path("/srv/project"), "2026-01-02T03:04:05.000Z"
        )
        made = WRITERS[writer](case.history, new)
        again = READERS[writer](made.data, "again")
        texts = [
            t.text
            for turn in case.history.turns
            for t in turn.blocks
            if isinstance(t, Text) and t.text.strip()
        ]
        whole = json.dumps(told(again.history), ensure_ascii=False)
        assert all(json.dumps(text.strip(), ensure_ascii=False)[1:-1] in whole for text in texts)
        codes = {note.code for note in again.history.diagnostics} - {"passed_over"}
        assert not codes & {
            "missing_result",
            "orphan_result",
            "torn_tail",
            "unreadable_entry",
            "missing_record",
        }
        assert refused(again.history) == []
        assert new.id in made.place and new.id in made.command


def test_every_program_is_found_in_its_usual_place(tmp_path: Path) -> None:
    """One session of each of the six, by the variables and the home folder; other folders have none."""
    home, folder = tmp_path / "home", tmp_path / "work"
    folder.mkdir()
    furnish_home(home, folder)
    cases = rescue_cases(folder, {"HOME": str(home)})
    assert sorted(case.found.program for case in cases) == sorted((*PROGRAMS, "opencode"))
    assert all(case.history.turns and not case.problem for case in cases)
    assert rescue_cases(tmp_path, {"HOME": str(home)}) == []
    moved = {"HOME": str(tmp_path / "empty"), "CLAUDE_CONFIG_DIR": str(home / ".claude")}
    assert [case.found.program for case in rescue_cases(folder, moved)] == ["claude-code"]


def test_a_stuck_session_is_told_in_the_words_of_its_provider(tmp_path: Path) -> None:
    """A crash in a tool leaves a call without a result, which each provider refuses in its own words."""
    words = {}
    for program in ("claude-code", "codex"):
        path = tmp_path / f"{program}.jsonl"
        path.write_bytes(damaged(program, "crash in a tool", 0))
        case = examine_found(FoundSession(program, path, 0.0))
        assert case.is_stuck and "answers 400" in case.verdict
        assert case.refusal is not None
        words[program] = case.refusal.answer
    assert "`tool_use` ids were found without `tool_result` blocks" in words["claude-code"]
    assert "No tool output found for function call" in words["codex"]
    well = tmp_path / "well.jsonl"
    well.write_bytes(damaged("claude-code", "nothing", 0))
    assert not examine_found(FoundSession("claude-code", well, 0.0)).is_stuck


def test_the_checker_disagrees_with_an_unrepaired_request(tmp_path: Path) -> None:
    """The test itself is tested: what the other program would send is refused, what we send is not."""
    path = tmp_path / "x.jsonl"
    path.write_bytes(damaged("claude-code", "every result missing", 0))
    case = examine_found(FoundSession("claude-code", path, 0.0))
    assert case.is_stuck
    case.history.user("go on")
    assert check("anthropic", render(case.history, case.target).body) == []
