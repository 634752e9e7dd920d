"""The simulator without sockets: a transport for a session.

    model = ScriptedModel([[Think("Hm."), Call("weather", {"city": "Paris"})], "Wear a coat."])
    session = Session("anthropic:claude-sonnet-5", tools=[weather], world=model.world)

Every target works: the reply has the bytes of that provider, and a request that it would refuse
is refused. Time passes only in `asyncio.sleep`, so under a virtual clock a pause of a day costs
nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager
from typing import Any

from ..world.ports import Incoming, Outgoing
from ..world.shared_http import use_transport
from ..world.world import World
from .provider import SimulatedAnswer
from .sent_request import SentRequests, sent_request
from .simulation import SimulatedExchange, Simulation
from .stream_arrival import Break, Pause


class Arriving:
    """An answer that arrives: status and headers at once, the body in chunks."""

    def __init__(self, answer: SimulatedAnswer) -> None:
        self.status = answer.status
        self.headers: Mapping[str, str] = answer.headers
        self.chunks: AsyncIterator[bytes] = _chunks(answer)


class ScriptedTransport:
    """Answers requests in place of the network, and keeps every exchange.

    `script` is a list of steps, a mapping of such lists by provider, or a callable that is
    given each request (`SimulatedRequest`) and returns a step. `keys` are the API keys that exist;
    without them every key is accepted.
    """

    def __init__(self, script: Any, **options: Any) -> None:
        self.simulation = Simulation(script, **options)
        self.asks_for_key: bool = options.get("asks_for_key", True)

    @property
    def exchanges(self) -> Sequence[SimulatedExchange]:
        """Every request so far, with its answer."""
        return self.simulation.exchanges

    @property
    def refusals(self) -> list[SimulatedExchange]:
        """The requests that a provider refused."""
        return self.simulation.refusals

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Incoming]:
        """Answer a request by the script, as a provider would."""
        answer = self.simulation.answer(request.url, request.headers, request.body)
        await asyncio.sleep(answer.delay)
        if not answer.status:
            raise ConnectionError(f"{request.url} does not answer")
        arriving = Arriving(answer)
        try:
            yield arriving
        finally:
            await arriving.chunks.aclose()  # type: ignore[attr-defined]


class ScriptedModel(ScriptedTransport):
    """For your tests: a model that answers as scripted, at any target, with any key or none.

    Give it to a session (`world=model.world`), or use it with `with`: in that block every session of the
    process that was given no transport asks this model, so the code under test runs unchanged.
    """

    def __init__(self, script: Any, **options: Any) -> None:
        super().__init__(script, **{"asks_for_key": False, **options})
        self._blocks = ExitStack()

    @property
    def world(self) -> World:
        """A world whose transport is this model: `Session("anthropic:…", world=model.world)`."""
        return World(transport=self)

    @property
    def requests(self) -> SentRequests:
        """Every request so far, as values that can be compared, and `check`ed with words on a difference."""
        return SentRequests(
            sent_request(each.url, each.headers, each.body, provider=each.provider) for each in self.exchanges
        )

    def check_finished(self) -> None:
        """Raise `AssertionError` where steps of the script were not asked for."""
        left = self.simulation.steps_left
        if left:
            raise AssertionError(
                f"{left} steps of the script were not asked for; asked was {self.requests!r}"
            )

    @contextmanager
    def serve(self) -> Iterator[str]:
        """Serve this model on loopback; gives the address. For code that asks by another SDK.

        Needs the extra `simulate`.
        """
        from .server import running_server  # Starlette and uvicorn

        with running_server(self.simulation) as place:
            yield place

    def __enter__(self) -> ScriptedModel:
        self._blocks.enter_context(use_transport(self))
        return self

    def __exit__(self, *_: object) -> None:
        self._blocks.pop_all().close()


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
