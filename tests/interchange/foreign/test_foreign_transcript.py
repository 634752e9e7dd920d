"""Sessions of every program: their turns, what any provider reads of them, what is kept as notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.interchange.foreign.sample_sessions import FILES, read, refused, told

from turnout.errors import UsageError
from turnout.history.check import violations
from turnout.history.log import History
from turnout.interchange.foreign import READERS, read_file
from turnout.model import ModelTurn, Thinking


def outcomes(history: History) -> list[str]:
    return [item.outcome.text for item in history.ledger if item.outcome]


@pytest.mark.parametrize("program", FILES)
def test_a_session_is_told_as_it_was(program: str) -> None:
    """The prompt, the two calls with their ends, the answer; thinking kept; any provider can go on."""
    found = read(program)
    history = found.history
    assert told(history)[0].startswith("user: read both")
    assert told(history)[-1] == "model: Only A."
    (calls,) = [turn for turn in history.turns if isinstance(turn, ModelTurn) and turn.tool_calls]
    assert len(calls.tool_calls) == 2
    assert any(isinstance(block, Thinking) and block.text for block in calls.blocks)
    assert outcomes(history)[0] == "A"
    assert not violations(history)
    assert refused(history) == []


def test_what_is_no_turn_is_kept_and_counted() -> None:
    """Records that a program writes for itself are notes, named in the diagnostics."""
    kept = {program: read(program).kept for program in FILES}
    assert kept == {
        "claude-code": {"file-history-snapshot": 1},
        "codex": {"turn_aborted": 1},
        "gemini-cli": {"rewound message": 1, "error": 1},
        "opencode": {"agent": 1},
        "pi": {"other branch": 1, "custom": 1},
    }
    history = read("codex").history
    (note,) = [note for note in history.notes if note.kind == "codex:turn_aborted"]
    assert note.data["payload"]["reason"] == "interrupted"
    assert [item.detail for item in history.diagnostics if item.code == "foreign_record"] == [
        "1 of kind 'turn_aborted'"
    ]


def test_titles_ids_and_systems_come_along() -> None:
    """As far as the program keeps them."""
    found = {program: (read(program).id, read(program).title) for program in FILES}
    assert found == {
        "claude-code": ("cc-1", "Two files"),
        "codex": ("cx-1", "read both"),
        "gemini-cli": ("ge-1", "Two files"),
        "opencode": ("ses_1", "Two files"),
        "pi": ("pi-1", "Two files"),
    }
    assert read("codex").history.system == "Be brief."


def test_each_turn_says_who_wrote_it() -> None:
    """So that its private state goes back to its issuer and to nobody else."""
    origins = {program: str(read(program).history.turns[-1].origin) for program in FILES}  # type: ignore[union-attr]
    assert origins == {
        "claude-code": "anthropic:claude-sonnet-4-5",
        "codex": "openai-responses:gpt-5.1-codex",
        "gemini-cli": "gemini:gemini-3-pro",
        "opencode": "anthropic:claude-sonnet-4-5",
        "pi": "anthropic:claude-sonnet-4-5",
    }


@pytest.mark.parametrize("program", [name for name in FILES if name != "opencode"])
def test_a_file_that_was_cut_anywhere_can_be_read(program: str) -> None:
    """A torn last line is kept and said; what stood before it is a valid history."""
    whole = FILES[program]
    for cut in range(len(whole) // 20, len(whole), max(1, len(whole) // 23)):
        found = READERS[program](whole[:cut], "s")
        assert not violations(found.history)
        torn = not whole[:cut].endswith(b"\n")
        assert bool(found.kept.get("torn line")) == torn or _whole_by_chance(whole[:cut])
        assert refused(found.history) == []


def _whole_by_chance(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data.rpartition(b"\n")[2]), dict)
    except ValueError:
        return False


def test_what_is_no_session_is_said(tmp_path: Path) -> None:
    """With the names of what is known."""
    (tmp_path / "x").write_text("nothing")
    with pytest.raises(UsageError, match="no conversation was found"):
        read_file("claude-code", tmp_path / "x", "s")
    with pytest.raises(UsageError, match="not a log of llm"):
        read_file("llm", tmp_path / "x", "s")
    with pytest.raises(UsageError, match="use one of claude-code, codex"):
        read_file("emacs", tmp_path / "x", "s")
    with pytest.raises(UsageError, match="cannot be read"):
        read_file("pi", tmp_path / "missing", "s")
