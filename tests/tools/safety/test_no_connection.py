"""web_fetch with its real way of dialling: Python itself tells of every connection that is tried."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any

import pytest
from msgspec.structs import replace
from tests.tools.builtin.test_fetch import LITERALS, PRIVATE, PUBLIC

from turnout.model import Outcome
from turnout.tools.builtin.fetch import Web, WebReply, dial_address, fetch_tool
from turnout.tools.confine.addresses import WebTarget
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.result import outcome_of

_watching: list[list[Any]] = []


def _hear(event: str, arguments: tuple[Any, ...]) -> None:
    if _watching and event in ("socket.connect", "socket.sendto", "socket.getaddrinfo"):
        _watching[-1].append((event, arguments[1] if event == "socket.connect" else arguments[0]))


sys.addaudithook(_hear)  # it cannot be taken away again; without a test that watches it does nothing


@pytest.fixture
def tried() -> Iterator[list[Any]]:
    """Every connection and name lookup of this process, as it happens."""
    _watching.append([])
    yield _watching[-1]
    _watching.pop()


async def fetched(web: Web, url: str) -> Outcome:
    return outcome_of(await fetch_tool(web, 20.0).invoke(ToolContext("c"), {"url": url})).outcome


def leading_to(*addresses: str) -> Callable[[str, int], Awaitable[list[str]]]:
    async def resolve(host: str, port: int) -> list[str]:
        return list(addresses)

    return resolve


def test_no_spelling_makes_a_socket(tried: list[Any]) -> None:
    """Of 150 addresses that are private, local, odd or no address at all; names are not looked up."""

    async def all_of_them() -> None:
        for url in PRIVATE:
            assert (await fetched(Web(), url)).status == "error", url

    assert len(PRIVATE) >= 120
    asyncio.run(all_of_them())
    assert tried == []


def test_no_public_name_of_a_private_address_makes_a_socket(tried: list[Any]) -> None:
    """Whatever the name server says, also as one of several answers."""

    async def all_of_them() -> None:
        for address in LITERALS:
            for answers in ((address,), (PUBLIC, address), (address, PUBLIC)):
                assert (await fetched(Web(leading_to(*answers)), "http://example.com/")).status == "error"

    asyncio.run(all_of_them())
    assert tried == []


def test_no_redirect_makes_a_socket_to_a_private_address(tried: list[Any]) -> None:
    """A real server on loopback, in the place of a public one, sends its visitor everywhere."""

    async def all_of_them() -> int:
        onward = [""]

        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 302 Found\r\nlocation: {onward[0]}\r\ncontent-length: 0\r\n\r\n".encode())
            await writer.drain()
            writer.close()

        server = await asyncio.start_server(serve, "127.0.0.1", 0)
        port: int = server.sockets[0].getsockname()[1]

        def dial(place: WebTarget, address: str) -> AbstractAsyncContextManager[WebReply]:
            if address == PUBLIC:
                return dial_address(replace(place, scheme="http", port=port), "127.0.0.1")
            return dial_address(place, address)

        async with server:
            for onward[0] in PRIVATE:
                await fetched(Web(leading_to(PUBLIC), dial), "http://example.com/")
        return port

    port = asyncio.run(all_of_them())
    assert len(tried) >= len(PRIVATE)
    assert {place for _, place in tried} == {("127.0.0.1", port)}


def test_a_connection_would_be_heard(tried: list[Any]) -> None:
    """So that the tests above can fail: the same dialling, without the check before it."""

    async def dial() -> None:
        async with dial_address(WebTarget("http", "localhost", 9, "/"), "127.0.0.1"):
            pass

    with pytest.raises(OSError):
        asyncio.run(dial())
    assert ("socket.connect", ("127.0.0.1", 9)) in tried
