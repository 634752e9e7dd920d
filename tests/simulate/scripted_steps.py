"""Requests to a scripted transport."""

from __future__ import annotations

import asyncio

from tests.simulate.talk import key_headers

from turnout.history.log import History
from turnout.simulate import ScriptedTransport
from turnout.targets.request import render
from turnout.world.ports import Outgoing

NAME = "anthropic:claude-sonnet-4-5"


def hello(name: str = NAME, **options: object) -> Outgoing:
    history = History("h")
    history.user("hi")
    request = render(history, name, **{"stream": True, **options})
    return Outgoing("POST", request.url, {**request.headers, **key_headers(name)}, request.body)


async def arrivals(transport: ScriptedTransport, request: Outgoing) -> list[tuple[float, bytes]]:
    """When each chunk comes, by the clock of the loop."""
    loop = asyncio.get_running_loop()
    async with transport.send(request) as answer:
        return [(loop.time(), chunk) async for chunk in answer.chunks]
