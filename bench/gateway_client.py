"""A client of gateways that costs little itself: plain sockets, requests that are made once."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

import msgspec

LIMIT = 120.0  # seconds for one reply


def request_bytes(address: str, body: dict[str, Any], token: str) -> bytes:
    data = msgspec.json.encode(body)
    head = (
        "POST /v1/chat/completions HTTP/1.1\r\n"
        f"host: {urlsplit(address).netloc}\r\n"
        f"authorization: Bearer {token}\r\n"
        "content-type: application/json\r\n"
        f"content-length: {len(data)}\r\n\r\n"
    )
    return head.encode() + data


class GatewayClient:
    """One connection that is kept open."""

    def __init__(self, address: str) -> None:
        self._place = urlsplit(address)
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def ask(self, request: bytes) -> bytes:
        """The body of the reply; raises where the status is not 200."""
        return await asyncio.wait_for(self._exchange(request), LIMIT)

    async def _exchange(self, request: bytes) -> bytes:
        if self._streams is None:
            self._streams = await asyncio.open_connection(self._place.hostname, self._place.port, limit=2**24)
        reader, writer = self._streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = re.search(rb"(?i)\r\ncontent-length: *(\d+)", head)
        body = await reader.readexactly(int(length[1])) if length else await self._read_chunks(reader)
        if b" 200 " not in head.split(b"\r\n")[0] or b'"error"' in body[:200]:
            raise RuntimeError(f"the gateway refused: {head[:300]!r} {body[:300]!r}")
        if re.search(rb"(?i)\r\nconnection: *close", head):
            self.close()
        return body

    async def _read_chunks(self, reader: asyncio.StreamReader) -> bytes:
        found = bytearray()
        while size := int(await reader.readuntil(b"\r\n"), 16):
            found += (await reader.readexactly(size + 2))[:-2]
        await reader.readuntil(b"\r\n")
        return bytes(found)

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()
            self._streams = None


async def ask_in_turn(address: str, requests: Iterable[bytes]) -> list[int]:
    """One after the other over one connection; how many words each reply has."""
    client = GatewayClient(address)
    try:
        return [(await client.ask(request)).count(b"word ") for request in requests]
    finally:
        client.close()


async def ask_at_once(address: str, request: bytes, count: int) -> list[int]:
    """So many connections at once."""
    return [found for each in await asyncio.gather(*_each(address, request, count)) for found in each]


def _each(address: str, request: bytes, count: int) -> Iterable[Any]:
    return (ask_in_turn(address, [request]) for _ in range(count))
