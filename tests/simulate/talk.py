"""A conversation with simulated providers, the short way: render, send, decode, settle."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from turnout.errors import ProviderError
from turnout.history.log import History
from turnout.model import ModelTurn, Outcome
from turnout.simulate.scripted import ScriptedTransport
from turnout.targets.reply import decode
from turnout.targets.request import render
from turnout.targets.target import find_target as target
from turnout.wire.failure.read_failure import failure
from turnout.world.ports import Outgoing

TOOLS = [
    {"name": name, "description": f"About the {name}.", "parameters": {"type": "object", "properties": {}}}
    for name in ("weather", "time", "read_file")
]


def key_headers(name: str, key: str = "k") -> dict[str, str]:
    """The key as this provider wants it."""
    auth = target(name).provider.auth
    if auth == "bearer":
        return {"authorization": f"Bearer {key}"}
    return {} if auth == "none" else {auth: key}


def send(
    transport: ScriptedTransport, url: str, headers: Mapping[str, str], body: bytes
) -> tuple[int, Any, bytes]:
    """One request through the transport: status, headers, all bytes."""

    async def exchange() -> tuple[int, Any, bytes]:
        async with transport.send(Outgoing("POST", url, dict(headers), body)) as answer:
            return answer.status, answer.headers, b"".join([chunk async for chunk in answer.chunks])

    return asyncio.run(exchange())


def ask(history: History, name: str, transport: ScriptedTransport, **options: Any) -> ModelTurn:
    """One model turn of the conversation; raises what the provider answers if it refuses."""
    options = {"stream": True, "tools": TOOLS, **options}
    request = render(history, name, **options)
    headers = {**request.headers, **key_headers(name)}
    status, sent, body = send(transport, request.url, headers, request.body)
    if status != 200:
        raise failure(status, sent, body)
    return history.append(decode(name, body, turn_key=history.next_key()))


def settle_all(history: History, content: str = "done") -> None:
    """Every open call gets a result."""
    for interaction in history.open_calls:
        history.settle(interaction.call.id, Outcome("complete", content))  # type: ignore[arg-type]


def refused(transport: ScriptedTransport, url: str, headers: Mapping[str, str], body: bytes) -> ProviderError:
    """The refusal of a request that must be refused."""
    status, sent, told = send(transport, url, headers, body)
    assert status >= 400, told[:300]
    return failure(status, sent, told)
