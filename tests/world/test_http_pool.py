"""Connections are lent, kept while they are good, and closed when nothing uses them."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
from tests.world.over_sockets import no_proxies, with_server  # noqa: F401
from tests.world.raw_server import RawServer, Request, answering, raw_server, reply

from turnout.world import http_pool
from turnout.world.ports import Outgoing
from turnout.world.transport import HttpTransport


async def ask(transport: HttpTransport, url: str, body: bytes = b"{}") -> bytes:
    async with transport.send(Outgoing("POST", url, {}, body)) as answer:
        return b"".join([chunk async for chunk in answer.chunks])


def test_after_a_burst_one_connection_is_used_again() -> None:
    """The one that was used last; the others rest, and are closed when they are too old."""

    async def work(server: RawServer) -> tuple[int, int]:
        transport = HttpTransport()
        await asyncio.gather(*(ask(transport, server.url) for _ in range(20)))
        opened = server.connections
        for _ in range(10):
            await ask(transport, server.url)
        await transport.close()
        return opened, server.connections

    opened, afterwards = with_server(answering(reply()), work)
    assert 1 < opened <= 20 and afterwards == opened


def test_connections_without_work_are_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while, by themselves: a burst leaves nothing behind."""
    monkeypatch.setattr(http_pool, "KEEP_ALIVE", 0.05)

    async def work(server: RawServer) -> int:
        transport = HttpTransport()
        await asyncio.gather(*(ask(transport, server.url) for _ in range(5)))
        pool = transport._pools[asyncio.get_running_loop()]
        for _ in range(100):
            await asyncio.sleep(0.02)
            if not pool._idle:
                break
        return len(pool._idle)

    assert with_server(answering(reply()), work) == 0


def test_a_reply_that_is_left_costs_its_connection_only() -> None:
    """Who stops listening in the middle closes that one; the next request is answered by a new one."""

    async def work(server: RawServer) -> tuple[bytes, int]:
        transport = HttpTransport()
        async with transport.send(Outgoing("POST", server.url, {}, b"{}")) as answer:
            await anext(aiter(answer.chunks))
        found = await ask(transport, server.url)
        await transport.close()
        return found, server.connections

    long = b"HTTP/1.1 200 OK\r\ncontent-length: 900000\r\n\r\n" + b"x" * 900_000
    found, connections = with_server(answering(long), work)
    assert len(found) == 900_000 and connections == 2


def test_a_server_may_answer_before_it_has_read_everything() -> None:
    """A refusal of a large request is read, and its connection not used again."""

    async def refuse(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 413 Too large\r\ncontent-length: 2\r\n\r\nno")

    async def work(server: RawServer) -> int:
        transport = HttpTransport()
        async with transport.send(Outgoing("POST", server.url, {}, b"x" * 20_000_000)) as answer:
            assert answer.status == 413
        await transport.close()
        return answer.status

    assert with_server(refuse, work) == 413


def test_a_slow_reader_holds_the_server_back() -> None:
    """What was not read yet is bounded, however much the server has to say."""
    size = 40_000_000

    async def pour(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % size)
        for _ in range(size // 100_000):
            writer.write(b"x" * 100_000)
            await writer.drain()

    async def work(server: RawServer) -> tuple[int, int]:
        transport = HttpTransport()
        largest = total = 0
        async with transport.send(Outgoing("POST", server.url, {}, b"{}")) as answer:
            async for part in answer.chunks:
                largest, total = max(largest, len(part)), total + len(part)
                await asyncio.sleep(0.001)
        await transport.close()
        return largest, total

    largest, total = with_server(pour, work)
    assert total == size and largest < 4_000_000


def test_a_tunnel_through_a_proxy_carries_tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The proxy opens a way to the server; what goes through it is readable to the server alone."""
    pytest.importorskip("cryptography", reason="makes the certificates")
    from tests.world.certificates import authority

    made = authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    monkeypatch.setattr(http_pool.Surroundings, "proxy_for", lambda self, server: proxy)
    heard: list[bytes] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        heard.append(head)
        host, port = head.split()[1].rsplit(b":", 1)
        there_reader, there_writer = await asyncio.open_connection(host.decode(), int(port))
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")

        async def pump(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
            while data := await source.read(65536):
                heard.append(data)
                sink.write(data)
            sink.close()

        await asyncio.gather(pump(reader, there_writer), pump(there_reader, writer), return_exceptions=True)

    async def work(context: ssl.SSLContext) -> bytes:
        nonlocal proxy
        async with raw_server(answering(reply()), context) as server:
            relay = await asyncio.start_server(tunnel, "127.0.0.1", 0)
            port = relay.sockets[0].getsockname()[1]
            proxy = http_pool.Proxy(http_pool.Server("http", "127.0.0.1", port), "Basic eDp5")
            transport = HttpTransport()
            found = await ask(transport, server.url, b"the secret prompt")
            assert server.requests and b"the secret prompt" in server.requests[0].body
            await transport.close()
            relay.close()
        return found

    proxy: http_pool.Proxy | None = None
    assert b"Hello." in asyncio.run(work(made.server()))
    assert heard[0].startswith(b"CONNECT ") and b"proxy-authorization: Basic eDp5" in heard[0]
    assert b"the secret prompt" not in b"".join(heard)


def test_a_request_goes_out_on_uvloop_too() -> None:
    """Its connections know fewer options than those of asyncio; the gateway runs on it."""
    uvloop = pytest.importorskip("uvloop", reason="uvloop is not installed here")

    async def work() -> bytes:
        async with raw_server(answering(reply("hello"))) as server:
            transport = HttpTransport()
            try:
                return await ask(transport, server.url)
            finally:
                await transport.close()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        assert b"hello" in runner.run(work())
