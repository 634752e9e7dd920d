"""Scenarios as requests: the hostile histories of the matrix, read from the body that each target gets."""

from __future__ import annotations

import json
from typing import Any

from tests.handoff.fidelity import losses
from tests.handoff.hearing import Heard, hear
from tests.handoff.histories import SCENARIOS
from tests.handoff.judges import complaints, inner

from turnout import render
from turnout.targets.target import find_target as target
from turnout.wire.request import WireRequest

OPENAI = "openai:gpt-4o"
RESPONSES = "openai-responses:gpt-5.1"
CLAUDE = "anthropic:claude-sonnet-4-5"
GEMINI = "gemini:gemini-2.5-flash"
GEMINI_3 = "gemini:gemini-3-pro-preview"
MISTRAL = "mistral:mistral-large-latest"
KIMI = "kimi:kimi-k2-0905-preview"
THINKING_KIMI = "kimi:kimi-k2-thinking"
DEEPSEEK = "deepseek:deepseek-reasoner"
FAMILIES = (
    OPENAI,
    RESPONSES,
    CLAUDE,
    GEMINI,
    GEMINI_3,
    MISTRAL,
    KIMI,
    DEEPSEEK,
    "xai:grok-4",
    "ollama@chat:llama3.2",
)


def request(scenario: str, to: str, **options: Any) -> WireRequest:
    """The request that a scenario becomes; everyone who judges requests takes it, and nothing is lost."""
    history, place = SCENARIOS[scenario](), target(to)
    made = render(history, place, **options)
    assert complaints(made, place) == []
    assert losses(history, made, place, options.get("thinking")) == []
    return made


def heard(scenario: str, to: str, **options: Any) -> Heard:
    made = request(scenario, to, **options)
    return hear(made.protocol, json.loads(inner(made, target(to))))


def ids(scenario: str, to: str) -> list[str]:
    """The ids of the calls as the target reads them, after checking that results go by the same ones."""
    found = heard(scenario, to)
    calls = [id for id, _, _ in found.calls]
    assert [id for id, _ in found.results] == calls
    assert len(set(calls)) == len(calls)
    return calls


def messages(scenario: str, to: str, **options: Any) -> list[dict[str, Any]]:
    body = request(scenario, to, **options).json
    return list(body.get("messages") or body.get("input") or body.get("contents"))
