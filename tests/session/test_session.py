"""A session: one loop for every mode, and what it does when things go wrong."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import Struct
from tests.session.talk import KEYS, events, session, shown, statuses, virtually, weather

from turnout import UsageError
from turnout.model import ModelTurn
from turnout.session.events import Nested
from turnout.session.session import Session
from turnout.simulate import Call, Say, ScriptedTransport, Think
from turnout.tools.declare.events import ToolResult
from turnout.world.world import World

PARIS = Call("weather", {"city": "Paris"})


def test_a_prompt_runs_through_tools_to_an_answer() -> None:
    """Reply, tools as one batch, reply: the events tell it in order, the last is Complete."""
    talk, transport = session([[PARIS, Call("weather", {"city": "Oslo"})], "Take a coat."])
    seen = events(talk)
    assert shown(seen) == "Take a coat."
    assert [event.outcome.text for event in seen if isinstance(event, ToolResult)] == [
        "18 degrees in Paris",
        "18 degrees in Oslo",
    ]
    assert len(transport.exchanges) == 2 and transport.refusals == []


def test_a_switch_takes_effect_at_the_next_request() -> None:
    """The same history goes on with another provider, and neither refuses anything."""
    talk, transport = session([[Think("hm"), PARIS], "Fine.", "Also fine."], "anthropic:claude-sonnet-4-5")
    events(talk)
    talk.switch("gemini:gemini-3-pro")
    events(talk, "and now?")
    providers = [turn.origin.provider for turn in talk.history.turns if isinstance(turn, ModelTurn)]
    assert providers == ["anthropic", "anthropic", "gemini"]
    assert transport.refusals == []


class Coat(Struct):
    needed: bool
    colour: str = "blue"


def test_typed_answers() -> None:
    """A class or a JSON Schema in, a value out; the schema reaches the provider."""
    talk, transport = session(['{"needed": true}', '```json\n{"needed": false}\n```'])
    answer = virtually(talk.ask("coat?", output=Coat))
    assert answer.output == Coat(True)
    assert virtually(talk.ask("coat?", output={"type": "object"})).output == {"needed": False}
    assert b"json_schema" in transport.exchanges[0].body


def test_usage_and_cost_are_added_up() -> None:
    """An answer says what it cost; the session what everything did."""
    talk, _ = session([[PARIS], "ok", "more"])
    first = virtually(talk.ask("go"))
    second = virtually(talk.ask("on"))
    assert first.usage.input and first.cost
    assert talk.cost == pytest.approx(first.cost + second.cost)


def test_s_125_a_subagent_is_one_call_and_one_result() -> None:
    """The parent's history holds the task and its answer; the child's calls stay in the child."""
    talk, transport = session(
        [[Call("task", {"prompt": "look at the weather"})], [PARIS], "18 degrees.", "It is mild."],
        subagents=True,
    )
    seen = events(talk)
    assert shown([event for event in seen if not isinstance(event, Nested)]) == "It is mild."
    calls = [
        call.name for turn in talk.history.turns if isinstance(turn, ModelTurn) for call in turn.tool_calls
    ]
    assert calls == ["task"]
    assert any(isinstance(event, Nested) and isinstance(event.event, ToolResult) for event in seen)
    assert transport.refusals == []


def test_subagents_do_not_nest_without_end() -> None:
    """A model that always spawns is stopped by depth: the child has no task tool."""
    talk, _ = session(
        lambda asked: [Call("task", {"prompt": "deeper"})] if "task" in asked.tools else "bottom",
        subagents=True,
        rounds=2,
    )
    events(talk)
    assert talk.subagents is not None and talk.subagents.tree.total <= 2


def test_long_conversations_are_compressed_before_they_overflow() -> None:
    """Past the trigger, old turns give way to a summary; every request stays valid."""
    from turnout.model import Usage
    from turnout.session.compress import CompressPolicy
    from turnout.simulate import Reply

    def reply(asked: Any) -> Any:
        if "Summarise" in asked.user:
            return "The summary."
        return Reply((Say("ok"),), usage=Usage(input=390_000, output=10))

    talk, transport = session(reply, compress=CompressPolicy(keep_turns=4))
    for number in range(6):
        seen = events(talk, f"prompt {number}")
    assert "compressing" in statuses(seen)
    assert talk.history.summary == "The summary."
    assert transport.refusals == []


def test_a_session_can_be_tested_with_any_target() -> None:
    """A scripted model answers in the bytes of whatever provider is asked."""
    for target in (
        "openai:gpt-5.1",
        "anthropic:claude-sonnet-4-5",
        "gemini:gemini-2.5-pro",
        "ollama:llama3.1",
    ):
        talk = Session(
            target,
            tools=[weather],
            world=World(transport=ScriptedTransport([[PARIS], "Mild."]), environment=KEYS),
        )
        assert virtually(talk.ask("go")).text == "Mild."


def test_a_target_without_a_model_is_refused_at_once() -> None:
    """Unless the server answers with the one that it has loaded."""
    with pytest.raises(UsageError, match="'openai' names no model; say 'openai:MODEL'"):
        Session("openai")
    assert Session("lmstudio").target.model == ""
