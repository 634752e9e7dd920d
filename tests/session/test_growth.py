"""Work a turn, counted in calls of functions: it does not grow with the conversation."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from itertools import cycle
from typing import Any

import pytest
from tests.corpus import SOAK
from tests.world.raw_server import whole

from turnout import History, Limits, Outcome, Session, Text, ToolCall, World
from turnout.world.ports import Incoming, Outgoing

LONG = 10_000 if SOAK else 2_000


REPLIES = {
    "openai:gpt-5.1": whole("Mild."),
    "anthropic:claude-sonnet-4-5": b"".join(
        b"data: %s\n\n" % line
        for line in (
            b'{"type":"message_start","message":{"id":"m","role":"assistant","content":[],"model":"c"}}',
            b'{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"Mild."}}',
            b'{"type":"content_block_stop","index":0}',
            b'{"type":"message_delta","delta":{"stop_reason":"end_turn"}}',
            b'{"type":"message_stop"}',
        )
    ),
    "gemini:gemini-3-pro": b'data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Mild."}]},'
    b'"finishReason":"STOP"}]}\n\n',
}


class Canned:
    """A model that gives these replies in turn, and does not count tokens."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, *replies: bytes) -> None:
        self._replies = cycle(replies)

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Incoming]:
        yield self

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        return self._chunks()

    async def _chunks(self) -> AsyncIterator[bytes]:
        yield next(self._replies)


def calls_in_a_turn(target: str, turns: int, **more: Any) -> int:
    """Calls of functions in the third turn of a session that resumes so long a conversation."""
    history = History("long")
    world = World(transport=Canned(REPLIES[target]), environment={})
    for number in range(turns // 2):
        history.user(f"question {number}")
        history.reply(target, [Text(f"answer {number}")])
    return asyncio.run(_count_calls(Session(target, history=history, world=world, api_key="k", **more)))


async def _count_calls(session: Session) -> int:
    for _ in range(2):
        await session.ask("go")
    count = 0

    def counted(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        await session.ask("go")
    finally:
        sys.setprofile(None)
    await session.close()
    return count


@pytest.mark.parametrize("target", REPLIES)
@pytest.mark.parametrize("limits", [Limits(), Limits(cost=1_000.0, tokens=10**9)], ids=["free", "limited"])
def test_a_turn_takes_the_same_work_however_long_the_conversation(target: str, limits: Limits) -> None:
    """Also where the provider counts no tokens, and with limits on tokens and money."""
    short, long = calls_in_a_turn(target, 100, limits=limits), calls_in_a_turn(target, LONG, limits=limits)
    assert long < 1.2 * short, f"{short} calls at 100 turns became {long} at {LONG}"


CALL = (
    b'data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c","type":"function",'
    b'"function":{"name":"look_up","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}\n\ndata: [DONE]\n\n'
)


def look_up() -> str:
    """Look something up."""
    return "found"


def test_a_turn_with_a_tool_takes_the_same_work_however_long_the_conversation() -> None:
    """A call, its result and the answer: nothing looks through what was said before."""
    short, long = calls_with_a_tool(100), calls_with_a_tool(LONG)
    assert long < 1.2 * short, f"{short} calls at 100 turns became {long} at {LONG}"


def calls_with_a_tool(turns: int) -> int:
    """Calls of functions in the third turn, in which a tool runs, after so long a conversation with tools."""
    history = History("long")
    for number in range(turns // 4):
        history.user(f"question {number}")
        turn = history.reply("openai:gpt-5.1", [ToolCall(f"c{number}", "look_up", {})])
        history.settle(turn.tool_calls[0].id, Outcome("complete", "found"))
        history.reply("openai:gpt-5.1", [Text(f"answer {number}")])
    world = World(transport=Canned(CALL, REPLIES["openai:gpt-5.1"]), environment={})
    session = Session(
        "openai:gpt-5.1", history=history, world=world, api_key="k", tools=[look_up], approval="full"
    )
    return asyncio.run(_count_calls(session))
