"""HTTP over real sockets: three clocks, lines that break, and where requests and keys may go."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from typing import Any

import pytest
from tests.world.over_sockets import QUICKLY, asked, failed, talk, with_server
from tests.world.raw_server import (
    END,
    RawServer,
    Request,
    answering,
    chunk,
    hang_up,
    headers,
    reply,
    reset,
    said,
    silence,
    whole,
)

from turnout import ProviderError
from turnout.errors import StreamError
from turnout.model import ModelTurn
from turnout.session.events import Discarded
from turnout.session.limits import Timeouts
from turnout.surfaces.terminal.pacing import PAUSE, PacedTransport
from turnout.world import inflate, transport
from turnout.world.ports import Outgoing
from turnout.world.transport import HttpTransport

# Three clocks


def test_no_first_byte_is_a_timeout() -> None:
    """A server that takes the request and says nothing is left after the time for the first byte."""
    error, _ = failed(answering(then=silence), timeouts=Timeouts(first_byte=0.2, idle=20, total=20))
    assert isinstance(error, ProviderError) and error.kind == "timeout"


def test_headers_alone_do_not_stop_the_clock_for_good() -> None:
    """After the headers the clock for silence runs, and a body that never begins is noticed."""
    error, _ = failed(answering(headers(), then=silence), timeouts=Timeouts(first_byte=20, idle=0.2))
    assert error.kind == "timeout"


@pytest.mark.parametrize("ping", [b": ping\n\n", b"event: ping\ndata: {}\n\n", b"\n"])
def test_pings_do_not_hide_silence(ping: bytes) -> None:
    """Comments, ping events and blank lines keep a line open, and are no events: the idle clock goes on."""

    async def pinging(writer: asyncio.StreamWriter) -> None:
        for _ in range(600):
            writer.write(chunk(ping))
            await writer.drain()
            await asyncio.sleep(0.02)

    limits, began = Timeouts(first_byte=20, idle=0.3, total=20), time.monotonic()
    error, session = failed(answering(headers(), chunk(said("Hel")), then=pinging), timeouts=limits)
    assert error.kind == "timeout" and time.monotonic() - began < 8
    last = session.history.turns[-1]
    assert isinstance(last, ModelTurn) and (last.text, last.stop) == ("Hel", "interrupted")


def test_a_slow_stream_is_no_silent_one() -> None:
    """Events that keep coming may take longer in all than the idle clock allows between two."""

    async def slowly(writer: asyncio.StreamWriter) -> None:
        for word in ["one", "two", "three", "four", "five", "six"]:
            writer.write(chunk(said(f"{word} ")))
            await writer.drain()
            await asyncio.sleep(0.1)
        writer.write(chunk(whole("end.")) + END)

    text, seconds = asked(answering(headers(), then=slowly), timeouts=Timeouts(idle=0.4))
    assert text == "one two three four five six end." and seconds > 0.5


def test_the_whole_has_a_clock_of_its_own() -> None:
    """A server that talks for ever is cut off at the total time, however lively it is."""

    async def endlessly(writer: asyncio.StreamWriter) -> None:
        while True:
            writer.write(chunk(said("word ")))
            await writer.drain()
            await asyncio.sleep(0.02)

    limits = Timeouts(first_byte=20, idle=20, total=0.4)
    error, session = failed(answering(headers(), then=endlessly), timeouts=limits)
    assert error.kind == "timeout" and session.history.turns[-1].blocks[0].text.startswith("word word")


def test_a_reply_that_ended_is_not_waited_for() -> None:
    """A server that says its last event and keeps the line open costs a moment, and no reply."""
    text, seconds = asked(answering(headers(), chunk(whole("Hello.")), then=silence))
    assert text == "Hello." and seconds < 5


# Lines that break


@pytest.mark.parametrize("end", [reset, hang_up])
@pytest.mark.parametrize(
    "before", [b"", headers(), headers() + chunk(said("Hel")), headers() + b"ff\r\n" + said("Hel")[:40]]
)
def test_a_broken_line_is_never_a_whole_reply(before: bytes, end: Any) -> None:
    """A reset, or a chunked body without its end, is a failure with what had arrived, not an answer."""
    error, session = failed(answering(before, then=end))
    assert isinstance(error, ProviderError | StreamError) and error.kind in ("network", "truncated")
    said_so_far = [turn.text for turn in session.history.turns if isinstance(turn, ModelTurn)]
    assert said_so_far == (["Hel"] if b"finish_reason" in before else [])


def test_a_body_that_ends_early_by_its_own_rules_is_truncated() -> None:
    """The HTTP is flawless, and the provider's last event is missing: no reply."""
    error, _ = failed(answering(headers(), chunk(said("Hel")), END))
    assert error.kind == "truncated"


def test_less_than_the_length_it_named_is_a_broken_line() -> None:
    """A content-length that is not kept is noticed."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 99999\r\n\r\n"
    error, _ = failed(answering(head, said("Hel"), then=hang_up))
    assert error.kind == "network"


def test_a_line_that_breaks_after_the_last_event_has_said_everything() -> None:
    """Whatever the line does after the reply has ended, the reply stands."""
    for end in (reset, hang_up):
        assert asked(answering(headers(), chunk(whole("Hello.")), then=end))[0] == "Hello."


def test_a_broken_reply_is_asked_for_again() -> None:
    """The next attempt takes a new connection, and what the first showed is taken back."""
    attempts: list[int] = []

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        attempts.append(request.connection)
        if len(attempts) == 1:
            writer.write(headers() + chunk(said("Hel")))
            await reset(writer)
        else:
            writer.write(reply("Hello."))

    async def work(server: RawServer) -> list[Any]:
        async with talk(server.url, retries=QUICKLY) as session:
            return [event async for event in session.run("go")]

    seen = with_server(answer, work)
    assert seen[-1].turn.text == "Hello." and attempts == [1, 2]
    assert sum(isinstance(event, Discarded) for event in seen) == 1


def test_no_server_is_a_network_failure() -> None:
    """Nobody listens: told as the network's fault, which is worth another try."""

    async def work(server: RawServer) -> Any:
        async with talk("http://127.0.0.1:9") as session:
            return [event async for event in session.run("go")][-1]

    assert with_server(answering(), work).error.kind == "network"


# Connections


def test_ten_turns_take_one_connection() -> None:
    """A connection is used again, whether its reply was chunked or had a length."""
    body = whole("Hi.")
    head = f"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {len(body)}\r\n\r\n"
    for answer in (reply("Hi."), head.encode() + body):

        async def work(server: RawServer) -> int:
            async with talk(server.url) as session:
                for _ in range(10):
                    await session.ask("go")
            assert len(server.requests) == 10
            return server.connections

        assert with_server(answering(answer), work) == 1


def test_an_error_does_not_cost_the_connection() -> None:
    """The body of a refusal is read to its end."""
    refusal = b'{"error": {"message": "slow down", "type": "rate_limit_error"}}'
    head = b"HTTP/1.1 429 Too Many\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        tries.append(request.connection)
        writer.write(head % len(refusal) + refusal if len(tries) < 3 else reply())

    tries: list[int] = []
    assert asked(answer, retries=QUICKLY)[0] == "Hello." and tries == [1, 1, 1]


def test_connections_that_went_stale_are_not_noticed_by_users() -> None:
    """A server that closes without a word after each reply: every turn is answered."""

    async def work(server: RawServer) -> int:
        async with talk(server.url, retries=QUICKLY) as session:
            for _ in range(4):
                assert (await session.ask("go")).text == "Hello."
                await asyncio.sleep(0.02)
        return len(server.requests)

    assert with_server(answering(reply(), then=hang_up), work) == 4


def test_a_session_leaves_no_connection_behind() -> None:
    """When a session is closed its connections are, and so they are when a stream is left early."""

    async def work(server: RawServer) -> int:
        async with talk(server.url) as session:
            async for event in session.run("go"):
                if getattr(event, "text", ""):
                    break
        await asyncio.sleep(0.1)
        return len(server._open)

    async def for_ever(_: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(headers())
        while not writer.is_closing():
            writer.write(chunk(said("word ")))
            await writer.drain()
            await asyncio.sleep(0.01)

    assert with_server(for_ever, work) == 0


def test_a_screen_takes_in_at_once_what_has_arrived() -> None:
    """The terminal rests between pieces that come one by one, never between those that came together."""
    pieces = b"".join(chunk(said("word ")) for _ in range(100))

    async def work(server: RawServer) -> float:
        async with talk(server.url, transport=PacedTransport()) as session:
            await session.ask("go")  # loads the client
            began = asyncio.get_running_loop().time()
            await session.ask("go")
            return asyncio.get_running_loop().time() - began

    assert with_server(answering(headers() + pieces + chunk(whole("end.")) + END), work) < 50 * PAUSE


# Compressed bodies


def test_streams_are_asked_for_as_they_are() -> None:
    """No compression is asked for."""

    async def work(server: RawServer) -> str:
        async with talk(server.url) as session:
            await session.ask("go")
        return server.requests[0].headers["accept-encoding"]

    assert with_server(answering(reply()), work) == "identity"


def raw_deflate(data: bytes) -> bytes:
    made = zlib.compressobj(wbits=-15)
    return made.compress(data) + made.flush()


@pytest.mark.parametrize(
    ("encoding", "compress"),
    [
        ("gzip", gzip.compress),
        ("x-gzip", gzip.compress),
        ("GZIP", lambda data: gzip.compress(data[:50]) + gzip.compress(data[50:])),
        ("deflate", zlib.compress),
        ("deflate", raw_deflate),
        ("identity", bytes),
    ],
)
@pytest.mark.parametrize("size", [1, 7, 10_000])
def test_compression_nobody_asked_for_is_undone(encoding: str, compress: Any, size: int) -> None:
    """Proxies that compress anyway are read, however the bytes are cut."""
    data = compress(whole("Hello."))
    pieces = [chunk(data[at : at + size]) for at in range(0, len(data), size)]
    assert asked(answering(headers(f"content-encoding: {encoding}"), b"".join(pieces), END))[0] == "Hello."


@pytest.mark.parametrize(
    ("encoding", "compress"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("deflate", raw_deflate)]
)
def test_the_last_bytes_of_a_long_reply_are_not_lost(
    encoding: str, compress: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However little is inflated at a time, all of it comes."""
    monkeypatch.setattr(inflate, "PIECE", 100)
    for size in (1, 99, 100, 101, 258, 5_000, *range(100, 2_000, 7)):
        pieces = [*inflate.Inflater(encoding).feed(compress(b"x" * size))]
        assert b"".join(pieces) == b"x" * size and max(map(len, pieces)) <= 100


def test_a_bomb_is_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A few kilobytes that would inflate without end are left at the cap, never held in memory."""
    monkeypatch.setattr(transport, "MAX_RESPONSE", 3_000_000)
    bomb = gzip.compress(b": \n" * 30_000_000)
    sizes: list[int] = []

    async def work(server: RawServer) -> None:
        made = HttpTransport()
        async with made.send(Outgoing("POST", server.url, {}, b"{}")) as answer:
            async for piece in answer.chunks:
                sizes.append(len(piece))

    with pytest.raises(StreamError) as caught:
        with_server(answering(headers("content-encoding: gzip"), chunk(bomb), END), work)
    assert caught.value.kind == "too_large"
    assert sum(sizes) <= 3_000_000 and max(sizes) <= inflate.PIECE


def test_a_refusal_that_is_a_bomb_is_stopped_too() -> None:
    """Only the beginning of an error's body is read."""
    head = b"HTTP/1.1 500 Oh\r\ncontent-encoding: gzip\r\ntransfer-encoding: chunked\r\n\r\n"
    error, _ = failed(answering(head, chunk(gzip.compress(b"no " * 10_000_000)), END))
    assert error.kind == "server" and len(str(error)) < 10_000


@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "zstd", "gzip, gzip"])
def test_bytes_that_cannot_be_inflated_are_a_broken_stream(encoding: str) -> None:
    """The session says so in its own words, as a failure that may pass."""
    answer = answering(headers(f"content-encoding: {encoding}"), chunk(b"not compressed at all"), END)
    error, _ = failed(answer)
    assert isinstance(error, StreamError) and error.kind == "malformed"
