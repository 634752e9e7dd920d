"""One limit on depth: what a tool may run with, the checkers, the store and the doctor accept."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from turnout import check, render
from turnout.history.check import violations
from turnout.interchange.doctor import TARGETS, examine_session
from turnout.interchange.exports import from_jsonl, to_jsonl
from turnout.plain import MAX_DEPTH
from turnout.session.session import Session
from turnout.simulate import Call, ScriptedModel
from turnout.store import Store
from turnout.tools.declare.tool import tool
from turnout.world.world import World


def nested(levels: int, kind: str) -> str:
    """The JSON of an object of so many levels."""
    inner = levels - 1
    if kind == "lists":
        return '{"x": ' + "[" * inner + "]" * inner + "}"
    return '{"x": ' + '{"x": ' * inner + "1" + "}" * inner + "}"


@tool
async def take(x: Any) -> str:
    """Take anything."""
    return "ran"


@pytest.mark.parametrize("kind", ["lists", "objects"])
@pytest.mark.parametrize("levels", [2, 49, 50, 64, 127, 128, 129, 200, 900, 5000])
@pytest.mark.parametrize("target", ["openai:gpt-5.1", "anthropic:claude-sonnet-4-5"])
def test_a_tool_runs_with_what_everyone_accepts(target: str, levels: int, kind: str, tmp_path: Path) -> None:
    """Up to 128 levels it runs; deeper it is told why not. Either way everyone can read the history."""
    raw = nested(levels, kind)
    model = ScriptedModel([[Call("take", raw=raw)], "done"])
    with Store(tmp_path / "s.db", heartbeat=False) as store:
        session = Session(target, tools=[take], store=store, id="s", world=World(transport=model))
        assert session.ask_sync("go").text == "done"
        assert model.refusals == []
        [call] = session.history.ledger
        assert call.outcome is not None
        if levels <= MAX_DEPTH:
            assert call.outcome.text == "ran" and call.call.arguments == json.loads(raw)
        else:
            assert f"at most {MAX_DEPTH} levels" in call.outcome.text
        assert not violations(session.history)
        again = store.read("s")
        assert again.turns == session.history.turns and not violations(again)
        assert from_jsonl(to_jsonl(again, "s")).history.turns == again.turns
        assert examine_session(store, "s").is_well
        for each in TARGETS:
            request = render(session.history, each, tools=[take])
            assert check(each, request) == []
