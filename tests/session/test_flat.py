"""A long session costs per turn what a short one does, in time and in what it keeps."""

from __future__ import annotations

import asyncio
import gc
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from time import process_time

from tests.corpus import SOAK
from tests.session.talk import KEYS, weather
from tests.world.raw_server import whole

from turnout import Session
from turnout.world.ports import Incoming, Outgoing
from turnout.world.world import World

BLOCK = 25
BLOCKS = 100 if SOAK else 16
CALL = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{"tool_calls":[{"index":%d,"id":"call_NUMBER_%d",'
    b'"type":"function","function":{"name":"weather","arguments":"{\\"city\\": \\"Paris\\"}"}}]},'
    b'"finish_reason":null}]}\n\n'
)
CALLING = b"".join(CALL % (n, n) for n in range(3))
FINISH = (
    b'data: {"id":"c","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}],'
    b'"usage":{"prompt_tokens":9,"completion_tokens":9,"total_tokens":18}}\n\ndata: [DONE]\n\n'
)


class Canned:
    """A model that costs nothing: three calls, then words, in turn."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self) -> None:
        self.asked = 0

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Incoming]:
        self.asked += 1
        yield self

    @property
    def chunks(self) -> AsyncIterator[bytes]:
        return self._said()

    async def _said(self) -> AsyncIterator[bytes]:
        yield CALLING.replace(b"NUMBER", b"%d" % self.asked) + FINISH if self.asked % 2 else whole("Mild.")


def test_the_last_turns_of_a_long_session_cost_what_the_first_did() -> None:
    """Time and objects a turn do not grow: what is kept is the conversation, and nothing is walked again."""
    times, kept = asyncio.run(_converse())
    early, late = min(times[1:6]), min(times[-5:])
    assert late < 2 * early, f"{early * 1e3:.2f} ms a turn became {late * 1e3:.2f}"
    assert max(kept[-5:]) < 1.5 * max(kept[1:6]), kept


async def _converse() -> tuple[list[float], list[float]]:
    """CPU seconds a turn and objects a turn, block by block."""
    times, kept = [], []
    session = Session("openai:gpt-5.1", tools=[weather], world=World(transport=Canned(), environment=KEYS))
    for _ in range(BLOCKS):
        gc.collect()
        objects, start = sys.getallocatedblocks(), process_time()
        for _ in range(BLOCK):
            assert (await session.ask("What should I wear?")).text == "Mild."
        times.append((process_time() - start) / BLOCK)
        gc.collect()
        kept.append((sys.getallocatedblocks() - objects) / BLOCK)
    await session.close()
    return times, kept
