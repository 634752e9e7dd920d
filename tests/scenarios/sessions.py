"""Sessions whose models refuse what real ones refuse, and what their requests said, read from outside."""

from __future__ import annotations

import json

from tests.handoff.hearing import Heard, hear

from turnout import History
from turnout.model import ModelTurn
from turnout.simulate import Call
from turnout.simulate.simulation import SimulatedExchange
from turnout.wire.converse.encoder import NO_CALLS
from turnout.wire.shared.offered_tools import STUB_DESCRIPTION

PLACES = (
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-3-pro",
    "mistral:mistral-large-latest",
    "kimi:kimi-k2.5",
    "deepseek:deepseek-reasoner",
    "bedrock:us.anthropic.claude-sonnet-5",
    "bedrock:us.amazon.nova-2-lite-v1:0",
    "bedrock@invoke:us.anthropic.claude-sonnet-5",
    "cohere:command-a-03-2025",
    "ollama:qwen3",
    "azure:gpt-5.1",
    "vertex:claude-sonnet-5",
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
    """Whether the request leaves the model free to call. Converse can say no only in words."""
    body = json.loads(seen.body)
    if seen.protocol == "converse":
        tools = [tool["toolSpec"] for tool in body["toolConfig"]["tools"] if "toolSpec" in tool]
        stubs = all(tool.get("description") == STUB_DESCRIPTION for tool in tools)
        return not stubs and NO_CALLS not in json.dumps(body["messages"][-1])
    if seen.protocol == "ollama":
        return bool(body.get("tools"))
    choice = body.get("tool_choice") or body.get("toolConfig", {}).get("functionCallingConfig", {}).get(
        "mode"
    )
    return choice not in ("none", "NONE", {"type": "none"})


def declares(seen: SimulatedExchange, *names: str) -> bool:
    """Whether the request declares these tools. Ollama can forbid calls only by declaring none."""
    return set(told(seen).tools) == (set() if seen.protocol == "ollama" else set(names))


def replies(history: History) -> list[ModelTurn]:
    return [turn for turn in history.turns if isinstance(turn, ModelTurn)]
