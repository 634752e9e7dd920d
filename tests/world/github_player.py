"""A server on loopback that plays GitHub: sign-in by a code, and tokens for Copilot."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email.utils import formatdate
from typing import Any
from urllib.parse import parse_qs

from msgspec import Struct, field
from tests.world.raw_server import RawServer, Request, raw_server

GITHUB_TOKEN = "gho_loopback0123456789abcdef"


class GitHubScript(Struct):
    """What GitHub does: each poll gets the next of `polls`; the last one stays."""

    polls: list[Any] = field(default_factory=lambda: [{"access_token": GITHUB_TOKEN}])
    code: dict[str, Any] = field(default_factory=dict)
    seat: dict[str, Any] = field(default_factory=lambda: {"refresh_in": 1500})
    seat_status: int = 200
    clock: float | None = None  # seconds since 1970 in GitHub's opinion, for the date header
    delay: float = 0.0  # seconds before each Copilot token
    seats: list[str] = field(default_factory=list)  # the tokens given so far


@asynccontextmanager
async def playing_github(script: GitHubScript) -> AsyncIterator[RawServer]:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        path = request.line.split()[1]
        status, body = 200, {}
        if path == "/login/device/code":
            body = {"device_code": "dev1", "user_code": "ABCD-1234", "expires_in": 900, "interval": 5}
            body |= {"verification_uri": f"{made.url}/login/device", **script.code}
        elif path == "/login/oauth/access_token":
            asked = parse_qs(request.body.decode())
            assert asked["device_code"] == ["dev1"] and asked["client_id"]
            body = script.polls.pop(0) if len(script.polls) > 1 else script.polls[0]
            if isinstance(body, int):
                status, body = body, {}
        elif path == "/api/v3/copilot_internal/v2/token":
            assert request.headers["authorization"] == f"token {GITHUB_TOKEN}"
            await asyncio.sleep(script.delay)
            status = script.seat_status
            script.seats.append(f"seat-{len(script.seats) + 1}-0123456789")
            body = {"token": script.seats[-1], "endpoints": {"api": f"{made.url}/copilot"}, **script.seat}
        elif path == "/copilot/models":
            body = {"data": []}
        else:
            status, body = 404, {"message": path}
        write_json(writer, status, body, script.clock)

    async with raw_server(answer) as made:
        yield made


def write_json(writer: asyncio.StreamWriter, status: int, body: Any, clock: float | None = None) -> None:
    data = json.dumps(body).encode()
    date = f"date: {formatdate(clock, usegmt=True)}\r\n" if clock is not None else ""
    head = (
        f"HTTP/1.1 {status} X\r\ncontent-type: application/json\r\n{date}content-length: {len(data)}\r\n\r\n"
    )
    writer.write(head.encode() + data)
