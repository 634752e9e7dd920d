"""Requests whose answers are short and read whole: lists of models, sign-in, tokens."""

from __future__ import annotations

import asyncio

from msgspec import Struct

from ..plain import loads
from .ports import Outgoing, Transport

PATIENCE = 30.0
"""Seconds until such an answer must be there."""
LARGEST = 4 * 1024 * 1024


class SmallAnswer(Struct, frozen=True):
    """A whole response, for requests whose answers are short."""

    status: int
    headers: dict[str, str]
    body: bytes


async def send_small(transport: Transport, request: Outgoing, patience: float = PATIENCE) -> SmallAnswer:
    """Send a request whose answer is short; `TimeoutError` if it does not come in time."""
    async with asyncio.timeout(patience), transport.send(request) as answer:
        parts, size = [], 0
        async for chunk in answer.chunks:
            parts.append(chunk)
            size += len(chunk)
            if size > LARGEST:
                break
        return SmallAnswer(answer.status, dict(answer.headers), b"".join(parts))


def read_object(answer: SmallAnswer) -> dict[str, object]:
    """The JSON object of an answer; empty where it is something else."""
    try:
        read = loads(answer.body)
    except ValueError:
        return {}
    return read if isinstance(read, dict) else {}
