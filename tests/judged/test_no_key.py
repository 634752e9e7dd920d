"""A scripted model answers anybody: tests of one's own need no key."""

from __future__ import annotations

import asyncio

import pytest

import turnout
from turnout.simulate import ScriptedModel, ScriptedTransport
from turnout.world.world import World

TARGETS = [
    "anthropic:claude-sonnet-4-5",
    "openai:gpt-5.1",
    "gemini:gemini-3-pro",
    "mistral:mistral-large-latest",
]


def answer(target: str, transport: ScriptedTransport) -> str:
    async def asked() -> str:
        async with turnout.Session(target, world=World(transport=transport, environment={})) as session:
            return (await session.ask("Hello?")).text

    return asyncio.run(asked())


@pytest.mark.parametrize("target", TARGETS)
def test_a_scripted_model_is_asked_without_a_key(target: str) -> None:
    """Nothing in the environment, nothing given: the script answers all the same."""
    assert answer(target, ScriptedModel(["Hello."])) == "Hello."


def test_a_transport_that_plays_the_provider_wants_a_key() -> None:
    """Without a key the real provider would refuse, so the session says so first."""
    with pytest.raises(turnout.ProviderError, match="no key for anthropic"):
        answer(TARGETS[0], ScriptedTransport(["Hello."]))
