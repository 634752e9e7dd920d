"""Sessions whose models refuse what real ones refuse, and what their requests said, read from outside."""

from __future__ import annotations

import json

from tests.handoff.hearing import Heard, hear

from turnout import History
from turnout.model import ModelTurn
from turnout.simulate import Call
from turnout.simulate.simulation import SimulatedExchange

PLACES = (
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-3-pro",
    "mistral:mistral-large-latest",
    "kimi:kimi-k2.5",
    "deepseek:deepseek-reasoner",
)
CLAUDE, GPT = PLACES[2], PLACES[0]
PARIS = Call("weather", {"city": "Paris"})
OSLO = Call("weather", {"city": "Oslo"})


def told(seen: SimulatedExchange) -> Heard:
    """What a request said, read from outside."""
    return hear(seen.protocol, json.loads(seen.body))


def paired(seen: SimulatedExchange) -> list[str]:
    """The results of a request, after checking that every call has exactly one, in order."""
    heard = told(seen)
    assert [id for id, _, _ in heard.calls] == [id for id, _ in heard.results]
    return [text for _, text in heard.results]


def may_call(seen: SimulatedExchange) -> bool:
    body = json.loads(seen.body)
    choice = body.get("tool_choice") or body.get("toolConfig", {}).get("functionCallingConfig", {}).get(
        "mode"
    )
    return choice not in ("none", "NONE", {"type": "none"})


def replies(history: History) -> list[ModelTurn]:
    return [turn for turn in history.turns if isinstance(turn, ModelTurn)]
