"""`turnout doctor`: what is wrong with a session, and the command that resumes it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.interchange.foreign.sample_sessions import FILES
from tests.surfaces.cli.test_sessions import home, imported, turnout

from turnout.model import ToolCall
from turnout.store import Store

__all__ = ["home"]  # the fixture: a store of its own for each test


def test_the_doctor_looks_at_sessions_and_files(home: Path) -> None:
    """0 when all is well, 1 when not; the copy can be imported."""
    imported(home)
    assert "No problem found" in turnout("doctor", "abc").stdout
    turnout("sessions", "export", "abc", "--to", home / "a.jsonl")
    (home / "torn.jsonl").write_bytes((home / "a.jsonl").read_bytes()[:-20])
    result = turnout("doctor", home / "torn.jsonl", "--copy", home / "copy.jsonl", code=1)
    assert "The fault is in the history." in result.stdout and "torn_tail" in result.stdout
    assert json.loads(turnout("doctor", home / "torn.jsonl", "--json", code=1).stdout)["layer"] == "history"
    turnout("import", "turnout", home / "copy.jsonl", "--id", "whole")
    assert "No problem found" in turnout("doctor", "whole").stdout


def test_the_doctor_does_not_call_an_unanswered_call_well(home: Path) -> None:
    """It names the call, what providers answer, what turnout does, and the command that resumes."""
    with Store(home / "s.db", heartbeat=False) as store:
        history = store.open("abc")
        history.user("go")
        history.reply("openai:gpt-5.1", [ToolCall("call_1", "read_file", {"path": "a"})])
        history.start(id := history.open_calls[0].call.id)

    told = turnout("doctor", "abc").stdout

    assert "No problem found" not in told
    assert f"there is no result for read_file ({id})" in told
    assert "400 OAC-01: An assistant message with 'tool_calls' must be followed by tool messages" in told
    assert "400 ANT-01: messages.1: `tool_use` ids were found without `tool_result` blocks" in told
    assert f"read_file ({id}) was running: answered as interrupted, not run again" in told
    assert told.endswith("To resume it: turnout -r abc\n")
    found = json.loads(turnout("doctor", "abc", "--json").stdout)
    assert [call["name"] for call in found["unanswered"]] == ["read_file"]
    assert found["command"] == "turnout -r abc"


def test_what_the_doctor_names_resumes_a_file(home: Path) -> None:
    """The import inside it stores the session and prints the id."""
    (path := home / "x.jsonl").write_bytes(FILES["codex"])
    told = turnout("doctor", path).stdout
    command = told.rpartition("To resume it: ")[2].strip()
    assert command == f"turnout -r $(turnout import codex {path})"
