"""What a session keeps of a turn: little more than what was said."""

from __future__ import annotations

import asyncio
import gc
import tracemalloc
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from turnout import Session
from turnout.world.ports import Outgoing
from turnout.world.world import World

WARM, MEASURED = 60, 240
PROMISED = 1_000
"""Bytes a turn: 1 MB for 1,000 of them."""


def streamed(*deltas: dict[str, Any], finish: str) -> bytes:
    """A reply of Chat Completions, event by event."""
    choices = [*({"delta": delta} for delta in deltas), {"delta": {}, "finish_reason": finish}]
    usage = {"prompt_tokens": 1_000, "completion_tokens": 300, "total_tokens": 1_300}
    events = [{"id": "x", "choices": [{"index": 0, **choice}]} for choice in choices]
    payloads = map(msgspec.json.encode, [*events, {"id": "x", "choices": [], "usage": usage}])
    return b"".join(b"data: " + payload + b"\n\n" for payload in (*payloads, b"[DONE]"))


class Arrived:
    status = 200
    headers: Mapping[str, str] = {"content-type": "text/event-stream"}

    def __init__(self, body: bytes) -> None:
        self.chunks = self._in_one_piece(body)

    async def _in_one_piece(self, body: bytes) -> AsyncIterator[bytes]:
        yield body


class Forgetful:
    """A transport that answers and keeps nothing of it; every other answer is a call, if asked to."""

    asks_for_key = False

    def __init__(self, calls: bool) -> None:
        self.calls = calls
        self.count = 0

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Arrived]:
        self.count += 1
        if self.calls and self.count % 2:
            function = {"name": "look", "arguments": '{"path":"a.txt"}'}
            call = {"index": 0, "id": f"call_{self.count}", "type": "function", "function": function}
            yield Arrived(streamed({"tool_calls": [call]}, finish="tool_calls"))
        else:
            yield Arrived(streamed({"content": "Fine, that "}, {"content": "is done."}, finish="stop"))


def look(path: str) -> str:
    """Look at a file."""
    return "nothing is in there"


@pytest.mark.parametrize("calls", [False, True], ids=["words", "calls"])
def test_a_turn_takes_less_than_a_kilobyte(calls: bool) -> None:
    """What grows with a conversation is what was said, its bytes for the provider, and little beside."""

    async def grown() -> float:
        talk = Session(
            "openai:gpt-5.1",
            api_key="k",
            tools=[look],
            approval="full",
            world=World(transport=Forgetful(calls)),
        )
        for number in range(WARM):
            await said(talk, number)
        turns, before = len(talk.history.turns), held()
        for number in range(MEASURED):
            await said(talk, number)
        return (held() - before) / (len(talk.history.turns) - turns)

    async def said(talk: Session, number: int) -> None:
        async for _ in talk.run(f"Do the next thing, please: number {number}."):
            pass

    tracemalloc.start()
    try:
        assert asyncio.run(grown()) < PROMISED
    finally:
        tracemalloc.stop()


def held() -> int:
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
