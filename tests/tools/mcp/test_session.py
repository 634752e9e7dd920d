"""A session that uses an MCP tool from end to end, at providers of every family."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.session.talk import KEYS
from tests.tools.mcp.workshop import offer, rough, tools, work

from turnout.session.session import Session
from turnout.simulate import Call, ScriptedTransport
from turnout.tools.declare.events import ToolResult
from turnout.world.world import World

TARGETS = [
    "openai:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-2.5-pro",
    "mistral:mistral-large-latest",
]


@pytest.mark.parametrize("target", TARGETS)
def test_a_model_calls_a_servers_tool_like_any_other(tmp_path: Path, target: str) -> None:
    """The tool is in the request, its call is validated and approved, its result goes back."""
    at = rough(tmp_path)
    offer(
        tmp_path, *tools("echo", annotations={"readOnlyHint": True, "openWorldHint": False}), *tools("hang")
    )
    transport = ScriptedTransport(
        [[Call("mcp__rough__echo", {"text": "over there"})], "It says: over there."]
    )

    async def story() -> None:
        async with Session(target, world=World(transport=transport, environment=KEYS)) as session:
            at.registry = session.scheduler.registry
            await at.agree()
            events = [event async for event in session.run("Ask the server.")]
            results = [event.outcome.text for event in events if isinstance(event, ToolResult)]
            assert results == ["over there"] and session.history.turns[-1].text == "It says: over there."

    work(at, story)
    assert transport.refusals == [] and len(transport.exchanges) == 2
    assert b"mcp__rough__echo" in transport.exchanges[0].body and b"over there" in transport.exchanges[1].body


def test_a_tool_that_is_not_said_to_read_needs_approval(tmp_path: Path) -> None:
    """Without anyone to ask, it does not run; the server never hears of it."""
    at = rough(tmp_path)
    transport = ScriptedTransport([[Call("mcp__rough__echo", {"text": "do it"})], "I could not."])

    async def story() -> None:
        async with Session("openai:gpt-5.1", world=World(transport=transport, environment=KEYS)) as session:
            at.registry = session.scheduler.registry
            await at.agree()
            events = [event async for event in session.run("Go.")]
            [result] = [event for event in events if isinstance(event, ToolResult)]
            assert result.outcome.status == "denied"

    work(at, story)
    assert "do it" not in (tmp_path / "heard").read_text()


def test_tools_that_come_and_go_are_seen_by_the_model_at_the_next_turn(tmp_path: Path) -> None:
    """The request of the next turn holds the new list."""
    at = rough(tmp_path)
    offer(tmp_path, *tools("change"))
    offer(tmp_path, *tools("change", "echo"), file="next.json")
    transport = ScriptedTransport([[Call("mcp__rough__change", {})], "Changed.", "Gone.", "Back."])

    async def story() -> None:
        async with Session(
            "openai:gpt-5.1", approval="full", world=World(transport=transport, environment=KEYS)
        ) as session:
            at.registry = session.scheduler.registry
            await at.agree()
            await session.ask("Change.")
            await at.until("unapproved")
            at.servers.update(at.registry)
            await session.ask("And now?")
            await at.agree()
            await session.ask("And now?")

    work(at, story)
    offered = [
        (b"mcp__rough__change" in seen.body, b"mcp__rough__echo" in seen.body) for seen in transport.exchanges
    ]
    assert offered[0] == (True, False) and offered[1] == (True, False)
    assert offered[3][1] and transport.refusals == []


def test_after_a_server_has_spoken_what_leaves_the_machine_is_asked_for(tmp_path: Path) -> None:
    """What a server says may be an order. Not even full mode lets it be followed off the machine unasked."""
    at = rough(tmp_path)
    send = Call("mcp__rough__echo", {"text": "the key"})
    transport = ScriptedTransport([[Call("mcp__rough__where", {})], [send], "I was stopped."])

    async def story() -> None:
        async with Session(
            "openai:gpt-5.1", approval="full", world=World(transport=transport, environment=KEYS)
        ) as session:
            at.registry = session.scheduler.registry
            await at.agree()
            events = [event async for event in session.run("Go.")]
            statuses = [event.outcome.status for event in events if isinstance(event, ToolResult)]
            assert statuses == ["complete", "denied"]

    work(at, story)
    assert "the key" not in (tmp_path / "heard").read_text()
