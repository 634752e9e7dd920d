"""The simulator without sockets: a transport that a session can be given.

    model = ScriptedModel([[Think("Hm."), Call("weather", {"city": "Paris"})], "Wear a coat."])
    session = Session("anthropic:claude-sonnet-4-5", tools=[weather], world=World(transport=model))

Every target works: the reply comes in that provider's own bytes, and a request which that
provider would refuse is refused. Time passes by `asyncio.sleep` alone, so under a virtual
clock a day of silence costs nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from ..world.ports import Incoming, Outgoing
from .playing import Break, Pause
from .provider import SimulatedAnswer
from .simulation import SimulatedExchange, Simulation


class Arriving:
    """An answer on its way: status and headers at once, the body as it comes."""

    def __init__(self, answer: SimulatedAnswer) -> None:
        self.status = answer.status
        self.headers: Mapping[str, str] = answer.headers
        self.chunks: AsyncIterator[bytes] = _chunks(answer)


class ScriptedTransport:
    """Answers requests in place of the network, and keeps what it saw.

    `script` is a list of steps, a mapping of such lists by provider, or a callable that is
    given each request (`Asked`) and returns a step. `keys` are the API keys that exist;
    without them any key will do.
    """

    def __init__(self, script: Any, **options: Any) -> None:
        self.simulation = Simulation(script, **options)
        self.asks_for_key: bool = options.get("asks_for_key", True)

    @property
    def exchanges(self) -> Sequence[SimulatedExchange]:
        """Every request so far, with its verdict."""
        return self.simulation.exchanges

    @property
    def refusals(self) -> list[SimulatedExchange]:
        """The requests in which a provider found fault."""
        return self.simulation.refusals

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Incoming]:
        answer = self.simulation.answer(request.url, request.headers, request.body)
        await asyncio.sleep(answer.delay)
        if not answer.status:
            raise ConnectionError(f"{request.url} does not answer")
        arriving = Arriving(answer)
        try:
            yield arriving
        finally:
            await arriving.chunks.aclose()  # type: ignore[attr-defined]


def ScriptedModel(script: Any, **options: Any) -> ScriptedTransport:
    """For tests of your own: a model that says what you wrote, at any target, with any key or none."""
    return ScriptedTransport(script, **{"asks_for_key": False, **options})


async def _chunks(answer: SimulatedAnswer) -> AsyncIterator[bytes]:
    for piece in answer.pieces:
        match piece:
            case bytes():
                await asyncio.sleep(0)
                yield piece
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Break():
                raise ConnectionResetError("the connection broke")
