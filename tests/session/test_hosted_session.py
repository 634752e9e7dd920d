"""A conversation with tools that the provider runs: there, elsewhere, and back."""

from __future__ import annotations

import asyncio
import itertools

import pytest
from msgspec.structs import replace
from tests.corpus import needs_corpus, share
from tests.handoff import recorded
from tests.handoff.judges import complaints
from tests.handoff.places import PLACES
from tests.targets.test_reply import after

import turnout
from turnout import ModelTurn, Session, World
from turnout.hosted_tools import hosted
from turnout.providers.cost import cost_of_turn
from turnout.providers.hosted_uses import hosted_uses
from turnout.simulate import Hosted, Say, ScriptedTransport
from turnout.targets.request import render
from turnout.targets.target import find_target

SEARCHING = (
    *("anthropic:claude-sonnet-4-5", "openai-responses:gpt-5.1", "gemini:gemini-2.5-flash"),
    *("gemini:gemini-3-pro-preview", "openrouter:openai/gpt-5.1", "zai:glm-4.6"),
)
OTHERS = (
    *("mistral:mistral-large-latest", "deepseek:deepseek-chat", "kimi:kimi-k2.5", "ollama:llama3.2"),
    *("openai:gpt-4o", "xai:grok-4", *SEARCHING),
)
URL = "https://news.example/today"
KEYS = {
    f"{name}_API_KEY": "k"
    for name in (
        *("ANTHROPIC", "OPENAI", "GEMINI", "OPENROUTER", "ZAI", "MISTRAL"),
        *("DEEPSEEK", "MOONSHOT", "OLLAMA", "XAI"),
    )
}
MARKS = (
    b"server_tool_use",
    b"_search_call",
    b"code_interpreter_call",
    b"groundingMetadata",
    b"executableCode",
)
PAIRS = [(first, second) for first, second in itertools.product(SEARCHING, OTHERS) if first != second]


def open_session(target: str, transport: ScriptedTransport) -> Session:
    tools = [hosted("web_search", max_uses=2)]
    return Session(target, tools=tools, world=World(transport=transport, environment=KEYS))


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_search_there_elsewhere_and_back_is_accepted_and_keeps_its_sources(first: str, second: str) -> None:
    """Every request is accepted by the strict server, and each later one holds the address that was found."""

    async def talk() -> None:
        found = Hosted(arguments={"query": "news"}, result="Today", url=URL)
        transport = ScriptedTransport([[found, Say("It is sunny.")], [Say("Yes.")], [Say("Still.")]])
        async with open_session(first, transport) as session:
            await session.ask("What is new?")
            session.switch(second)
            await session.ask("Really?")
            session.switch(first)
            await session.ask("And now?")
        assert [exchange.status for exchange in transport.exchanges] == [200, 200, 200]
        for exchange in list(transport.exchanges)[1:]:
            assert URL.encode() in exchange.body, exchange.url

    asyncio.run(talk())


def test_a_search_is_an_event_and_is_counted_and_priced() -> None:
    """The event comes while the reply streams; its price is added to that of the tokens."""

    async def talk() -> None:
        found = Hosted(arguments={"query": "news"}, result="Today", url=URL)
        transport = ScriptedTransport([[found, Say("It is sunny.")]])
        async with open_session("anthropic:claude-sonnet-4-5", transport) as session:
            events = [event async for event in session.run("What is new?")]
            turn = session.turns[-1]
        kinds = [event.block.kind for event in events if isinstance(event, turnout.OpaqueBlock)]
        assert kinds == ["server_tool_use", "web_search_tool_result"]
        assert hosted_uses(turn) == {"web_search": 1}
        assert (cost_of_turn(turn) or 0) > 0.01

    asyncio.run(talk())


def test_plan_mode_goes_without_a_server_of_someone_else() -> None:
    """What a remote server does is not known; a search changes nothing."""

    async def talk() -> None:
        tools = [hosted("web_search"), hosted("mcp", url="https://mcp.example", label="wiki")]
        world = World(transport=ScriptedTransport([]), environment=KEYS)
        async with Session("anthropic:claude-sonnet-4-5", tools=tools, world=world) as session:
            assert [spec.name for spec in session.tool_specs()] == ["web_search", "wiki"]
            session.scheduler.policy = replace(session.scheduler.policy, mode="plan")
            assert [spec.name for spec in session.tool_specs()] == ["web_search"]

    asyncio.run(talk())


@needs_corpus
def test_recorded_replies_that_used_such_tools_go_everywhere() -> None:
    """Every recorded reply with such a use is accepted by its own API and by others, sources in it."""
    used = 0
    for at, exchange in enumerate(share([each for each in recorded.requests() if each.status == 200], 2)):
        if not any(mark in exchange.body for mark in MARKS) or (history := after(exchange)) is None:
            continue
        used += any(hosted_uses(turn) for turn in history.turns if isinstance(turn, ModelTurn))
        for place in (find_target(recorded.origin(exchange)), PLACES[at % len(PLACES)]):
            made = render(history, place, tools=[hosted("web_search"), hosted("code_execution")])
            assert complaints(made, place) == [], (exchange.id, str(place.origin))
    assert used
