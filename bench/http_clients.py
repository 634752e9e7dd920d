"""Which HTTP client: what a streamed reply costs on each, what loading it costs, and how each bears faults.

All are asked alike: one POST, no redirects, no decompression, the body chunk by chunk.
CPU time of the whole process counts, so a client with threads of its own hides nothing.
"""

from __future__ import annotations

import asyncio
import gc
import gzip
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from time import perf_counter, process_time
from typing import Any

from msgspec import Struct
from tests.world import raw_server as raw

from bench.measure import milliseconds, print_table
from bench.starting import starts

Post = Callable[[str, dict[str, str], bytes], AsyncIterator[bytes]]

BARE = "a bare asyncio.Protocol, without HTTP"
ROUNDS = 5
EXITS = 20
REQUESTS = 200
CHUNKS = 2_000
PIECE = b"data: " + b"x" * 190 + b"\n\n"


class Client(Struct, frozen=True):
    """One HTTP client: `post` gives the chunks of an answer as they come."""

    post: Post
    close: Callable[[], Awaitable[None]]


def httpx2_client() -> Client:
    import httpx2

    client = httpx2.AsyncClient(timeout=None, limits=httpx2.Limits(max_connections=None))

    async def post(url: str, headers: dict[str, str], body: bytes) -> AsyncIterator[bytes]:
        headers = {"accept-encoding": "identity", **headers}
        async with client.stream("POST", url, headers=headers, content=body) as answer:
            async for chunk in answer.aiter_raw():
                yield chunk

    return Client(post, client.aclose)


def aiohttp_client() -> Client:
    import aiohttp

    session = aiohttp.ClientSession(
        timeout=aiohttp.ClientTimeout(total=None),
        auto_decompress=False,
        trust_env=True,
        cookie_jar=aiohttp.DummyCookieJar(),
    )

    async def post(url: str, headers: dict[str, str], body: bytes) -> AsyncIterator[bytes]:
        headers = {"accept-encoding": "identity", **headers}
        async with session.post(url, headers=headers, data=body, allow_redirects=False) as answer:
            async for chunk in answer.content.iter_any():
                yield chunk

    return Client(post, session.close)


def pyreqwest_client() -> Client:
    from pyreqwest.client import ClientBuilder

    builder = ClientBuilder().follow_redirects(False)
    client = builder.gzip(False).deflate(False).brotli(False).zstd(False).build()

    async def post(url: str, headers: dict[str, str], body: bytes) -> AsyncIterator[bytes]:
        request = client.post(url).headers({"accept-encoding": "identity", **headers}).body_bytes(body)
        async with request.build_streamed() as answer:
            while (chunk := await answer.body_reader.read_chunk()) is not None:
                yield bytes(chunk)

    return Client(post, client.close)


class BareProtocol(asyncio.Protocol):
    """The least that asyncio can do with a socket: bytes go out, bytes come in, and no HTTP is read."""

    def __init__(self) -> None:
        self._arrived: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self._arrived.append(data)
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)

    async def read(self) -> bytes:
        if not self._arrived:
            self._waiter = asyncio.get_running_loop().create_future()
            await self._waiter
        data, self._arrived = b"".join(self._arrived), []
        return data


def bare_client() -> Client:
    kept: list[BareProtocol] = []

    async def post(url: str, headers: dict[str, str], body: bytes) -> AsyncIterator[bytes]:
        host, _, path = url.removeprefix("http://").partition("/")
        if not kept:
            name, _, port = host.partition(":")
            _, made = await asyncio.get_running_loop().create_connection(BareProtocol, name, int(port))
            kept.append(made)
        line = f"POST /{path} HTTP/1.1\r\nhost: {host}\r\ncontent-length: {len(body)}\r\n\r\n"
        kept[0].transport.write(line.encode() + body)
        last = b""
        while not last.endswith(raw.END):
            data = await kept[0].read()
            last = (last + data)[-len(raw.END) :]
            yield data

    async def close() -> None:
        for each in kept:
            each.transport.close()

    return Client(post, close)


def turnout_client() -> Client:
    from turnout.world.ports import Outgoing
    from turnout.world.transport import HttpTransport

    transport = HttpTransport()

    async def post(url: str, headers: dict[str, str], body: bytes) -> AsyncIterator[bytes]:
        async with transport.send(Outgoing("POST", url, headers, body)) as answer:
            async for chunk in answer.chunks:
                yield chunk

    return Client(post, transport.close)


CLIENTS: dict[str, Callable[[], Client]] = {
    "turnout": turnout_client,
    "httpx2": httpx2_client,
    "aiohttp": aiohttp_client,
    "pyreqwest": pyreqwest_client,
}


def run() -> None:
    print(f"### A reply, streamed: µs of CPU, best of {ROUNDS}\n")
    with raw_replies() as address:
        asyncio.run(_costs(address))
    print("\n### The conversation of the session bench in a bare loop, ms of CPU a turn\n")
    _conversations()
    print("\n### Loading it\n")
    _loading()
    print("\n### What they do when things go wrong\n")
    asyncio.run(_faults())


# What it costs


def raw_replies() -> Any:
    from bench.session_server import serving

    return serving(Replies)


class Replies(asyncio.Protocol):
    """Answers by the path: with one chunk, with many at once, or with many one after the other."""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._said = b""

    def data_received(self, data: bytes) -> None:
        self._said += data
        head, mark, body = self._said.partition(b"\r\n\r\n")
        if not mark or len(body) < int(head.lower().partition(b"content-length:")[2].split()[0]):
            return
        self._said = b""
        match head.split(b" ", 2)[1]:
            case b"/one":
                self._transport.write(raw.headers() + raw.chunk(PIECE) + raw.END)
            case b"/many":
                self._transport.write(raw.headers() + raw.chunk(PIECE) * CHUNKS + raw.END)
            case _:
                self._transport.write(raw.headers())
                self._one_by_one(CHUNKS)

    def _one_by_one(self, left: int) -> None:
        if not left:
            self._transport.write(raw.END)
            return
        self._transport.write(raw.chunk(PIECE))
        asyncio.get_running_loop().call_later(0.0003, self._one_by_one, left - 1)


async def _costs(address: str) -> None:
    best: dict[tuple[str, str], float] = {}
    made = {name: make() for name, make in (CLIENTS | {BARE: bare_client}).items()}
    for _ in range(ROUNDS):
        for name, client in made.items():
            for what, spent in await _spent(client, address, reads_http=name != BARE):
                best[name, what] = min(best.get((name, what), float("inf")), spent)
    for client in made.values():
        await client.close()
    what = ("a request of one chunk", "a chunk of many that came at once", "a chunk that came alone")
    rows = [(name, *(f"{best[name, each] * 1e6:.1f}" for each in what)) for name in made]
    print_table(("client", *what), rows)


async def _spent(client: Client, address: str, *, reads_http: bool = True) -> list[tuple[str, float]]:
    await _walk(client, f"{address}/one")
    gc.collect()
    start = process_time()
    for _ in range(REQUESTS):
        await _walk(client, f"{address}/one")
    single = (process_time() - start) / REQUESTS
    found = [("a request of one chunk", single)]
    for path, what in (("many", "a chunk of many that came at once"), ("alone", "a chunk that came alone")):
        start = process_time()
        size = await _walk(client, f"{address}/{path}")
        found.append((what, (process_time() - start - single) / CHUNKS))
        assert size == len(PIECE) * CHUNKS or not reads_http
    return found


async def _walk(client: Client, url: str) -> int:
    size = 0
    async for chunk in client.post(url, {}, b'{"model": "gpt-5.1"}'):
        size += len(chunk)
    return size


def _conversations() -> None:
    from bench.session import measured
    from bench.session_server import model

    best: dict[str, float] = {}
    with model() as address:
        for _ in range(ROUNDS):
            for name in CLIENTS:
                found = measured(f"bare loop on {name}", address, 50, 50)
                assert not isinstance(found, str), found
                best[name] = min(best.get(name, float("inf")), found["times"][0])
    print_table(("client", "ms of CPU a turn"), [(name, milliseconds(best[name])) for name in CLIENTS])


def _loading() -> None:
    lines = {name: f"import {'turnout.world.transport' if name == 'turnout' else name}" for name in CLIENTS}
    found = starts(list(lines.values()))
    rows = [(name, *found[line].cells(found[""])) for name, line in lines.items()]
    print_table(("client", "ms of CPU over a bare start", "modules over a bare start"), rows)


# What they do when things go wrong

BEGUN = raw.headers() + raw.chunk(PIECE)
SHORT = b"HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n" + PIECE
PACKED = raw.headers("content-encoding: gzip") + raw.chunk(gzip.compress(PIECE * 9)) + raw.END
MOVED = b"HTTP/1.1 307 Moved\r\nlocation: /elsewhere\r\ncontent-length: 0\r\n\r\n"
FAULTS: dict[str, raw.Answer] = {
    "reset before the answer": raw.answering(then=raw.reset),
    "closed before the answer": raw.answering(then=raw.hang_up),
    "reset within the body": raw.answering(BEGUN, then=raw.reset),
    "chunked body without its end": raw.answering(BEGUN, then=raw.hang_up),
    "less than the length it named": raw.answering(SHORT, then=raw.hang_up),
    "no HTTP at all": raw.answering(b"220 mail.example ESMTP\r\n\r\n", then=raw.hang_up),
    "gzip without being asked": raw.answering(PACKED),
    "a redirect": raw.answering(MOVED),
}


async def _faults() -> None:
    rows = []
    for what, answer in FAULTS.items():
        rows.append((what, *[await _told(make, answer) for make in CLIENTS.values()]))
    rows.append(
        ("silence, cancelled after 0.2 s: seconds", *[await _cancelled(make) for make in CLIENTS.values()])
    )
    rows.append(("connections for 10 requests", *[await _connections(make) for make in CLIENTS.values()]))
    rows.append(
        (f"of {EXITS} programs that used it, crashed at exit", *[await _crashes(name) for name in CLIENTS])
    )
    print_table(("fault", *CLIENTS), rows)


async def _told(make: Callable[[], Client], answer: raw.Answer) -> str:
    """What the caller learns of a fault."""
    async with raw.raw_server(answer) as server:
        client = make()
        try:
            size = await asyncio.wait_for(_walk(client, server.url), 5)
        except Exception as error:  # whatever a client raises is what we want to know
            return f"{type(error).__module__.partition('.')[0]}.{type(error).__name__}"
        finally:
            await client.close()
        return f"{len(server.requests)} request, {size} bytes"


async def _cancelled(make: Callable[[], Client]) -> str:
    """How soon the caller has control again, and whether the client still works."""
    silent = iter([True])

    async def answer(_: raw.Request, writer: asyncio.StreamWriter) -> None:
        writer.write(BEGUN)
        await (raw.silence(writer) if next(silent, False) else asyncio.sleep(0))
        writer.write(raw.END)

    async with raw.raw_server(answer) as server:
        client = make()
        start = perf_counter()
        try:
            async with asyncio.timeout(0.2), aclosing(client.post(server.url, {}, b"{}")) as chunks:  # type: ignore[type-var]
                async for _ in chunks:
                    pass
        except TimeoutError:
            pass
        took = perf_counter() - start
        await asyncio.wait_for(_walk(client, server.url), 5)
        await client.close()
        return f"{took:.2f}"


async def _crashes(name: str) -> int:
    """Programs that ask, close the client, and end: how many the operating system had to stop."""
    async with raw.raw_server(raw.answering(raw.reply())) as server:
        command = [sys.executable, "-m", "bench.http_clients", name, server.url]
        ends = []
        for _ in range(EXITS):
            program = await asyncio.create_subprocess_exec(*command, stderr=subprocess.DEVNULL)
            ends.append(await program.wait())
        return sum(end < 0 for end in ends)


async def ask(name: str, url: str) -> None:
    client = CLIENTS[name]()
    for _ in range(20):
        await _walk(client, url)
    await client.close()


async def _connections(make: Callable[[], Client]) -> int:
    async with raw.raw_server(raw.answering(raw.reply())) as server:
        client = make()
        for _ in range(10):
            await _walk(client, server.url)
        await client.close()
        return server.connections


if __name__ == "__main__":
    asyncio.run(ask(*sys.argv[1:]))
