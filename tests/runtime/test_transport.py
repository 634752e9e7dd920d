"""HTTP over real sockets: three clocks, lines that break, and where requests and keys may go."""

from __future__ import annotations

import asyncio
import gzip
import time
import zlib
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from tests.runtime.raw_server import (
    END,
    Answer,
    RawServer,
    Request,
    answering,
    chunk,
    hang_up,
    headers,
    raw_server,
    reply,
    reset,
    said,
    silence,
    whole,
)

from turnout import ProviderError, Session, UsageError, forbid_requests
from turnout.errors import StreamError, TurnoutError
from turnout.model import ModelTurn
from turnout.runtime import inflate, transport
from turnout.runtime.attempt import Timeouts
from turnout.runtime.events import Discarded, Failed
from turnout.runtime.ports import Outgoing
from turnout.runtime.retry import RetryPolicy
from turnout.runtime.transport import HttpTransport
from turnout.surfaces.cli.chat.pacing import PAUSE, Paced

T = TypeVar("T")
KEY = "sk-of-this-host-only"
ONCE = RetryPolicy(attempts=1)
QUICKLY = RetryPolicy(base=0.0)
MODEL = "openai:gpt-5.1"


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


def talk(url: str, **settings: Any) -> Session:
    settings = {"retry": ONCE, "environment": {}, "api_key": KEY, **settings}
    return Session(MODEL, base_url=f"{url}/v1", **settings)


def with_server(answer: Answer, work: Callable[[RawServer], Awaitable[T]], tls: Any = None) -> T:
    async def run() -> T:
        async with raw_server(answer, tls) as server:
            return await asyncio.wait_for(work(server), 20)

    return asyncio.run(run())


def asked(answer: Answer, **settings: Any) -> tuple[str, float]:
    """What a session is answered, and after how many seconds."""

    async def work(server: RawServer) -> tuple[str, float]:
        began = asyncio.get_running_loop().time()
        async with talk(server.url, **settings) as session:
            text = (await session.ask("go")).text
        return text, asyncio.get_running_loop().time() - began

    return with_server(answer, work)


def failed(answer: Answer, **settings: Any) -> tuple[Any, Session]:
    """The error in which it ends, and the session afterwards."""

    async def work(server: RawServer) -> tuple[Any, Session]:
        async with talk(server.url, **settings) as session:
            *_, last = [event async for event in session.run("go")]
        assert isinstance(last, Failed)
        return last.error, session

    return with_server(answer, work)


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
        async with talk(server.url, retry=QUICKLY) as session:
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
    assert asked(answer, retry=QUICKLY)[0] == "Hello." and tries == [1, 1, 1]


def test_connections_that_went_stale_are_not_noticed_by_users() -> None:
    """A server that closes without a word after each reply: every turn is answered."""

    async def work(server: RawServer) -> int:
        async with talk(server.url, retry=QUICKLY) as session:
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
        async with talk(server.url, transport=Paced()) as session:
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


# Where requests and keys may go


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    """Another host gets neither the request nor the key, and the error says where it was to go."""

    async def work(elsewhere: RawServer) -> tuple[Any, int]:
        head = f"HTTP/1.1 {status} Go\r\nlocation: {elsewhere.url}/v1/x\r\ncontent-length: 0\r\n\r\n"
        async with raw_server(answering(head.encode())) as server, talk(server.url, retry=QUICKLY) as session:
            *_, last = [event async for event in session.run("go")]
            return last.error, len(server.requests)

    async def outer() -> tuple[Any, int, RawServer]:
        async with raw_server(answering(reply())) as elsewhere:
            return (*await work(elsewhere), elsewhere)

    error, requests, elsewhere = asyncio.run(outer())
    assert elsewhere.connections == 0
    assert requests == 1  # the same answer would come again
    assert isinstance(error, ProviderError) and error.status == status
    assert f"127.0.0.1:{elsewhere.port}" in str(error)


def test_a_key_is_for_its_host() -> None:
    """Another address of the same provider is not sent the key that was given for the first."""

    async def outer() -> tuple[Any, list[Request]]:
        async with raw_server(answering(reply())) as first, raw_server(answering(reply())) as second:
            async with talk(first.url) as session:
                await session.ask("go")
                session.switch(MODEL, base_url=f"{second.url}/v1")
                [event async for event in session.run("go")]
            return first.requests, second.requests

    first, second = asyncio.run(outer())
    assert first[0].headers["authorization"] == f"Bearer {KEY}"
    assert not any(KEY in str(request.headers) for request in second)


def test_servers_leave_no_cookies() -> None:
    """What a server wants to be told again is not told."""
    answer = reply().replace(b"\r\n\r\n", b"\r\nset-cookie: who=you; Path=/\r\n\r\n", 1)

    async def work(server: RawServer) -> list[Request]:
        async with talk(server.url) as session:
            await session.ask("go")
            await session.ask("go")
        return server.requests

    assert all("cookie" not in request.headers for request in with_server(answering(answer), work))


@pytest.mark.parametrize("key", ["sk-sec\nret", "sk-sec\r\nhost: evil", "sk-secrét…", "sk-sec\0ret"])
def test_a_key_that_is_no_header_is_named_and_not_shown(key: str) -> None:
    """The error says which header, never its value; nothing is sent."""

    async def work(server: RawServer) -> tuple[Any, int]:
        async with talk(server.url, api_key=key) as session:
            *_, last = [event async for event in session.run("go")]
        return last.error, len(server.requests)

    error, requests = with_server(answering(reply()), work)
    assert isinstance(error, UsageError) and "authorization" in str(error)
    assert requests == 0
    assert "sk-sec" not in _everything_said(error)


def _everything_said(error: BaseException | None) -> str:
    if error is None:
        return ""
    return f"{error!r} {error} {_everything_said(error.__cause__ or error.__context__)}"


def test_keys_are_in_no_log_and_no_error() -> None:
    """Neither the debug log nor what a request looks like when shown holds the key."""
    log: list[str] = []
    answer = answering(b"HTTP/1.1 401 No\r\ncontent-length: 0\r\n\r\n")
    error, _ = failed(answer, debug=lambda *words, **facts: log.append(f"{words} {facts}"))
    shown = repr(Outgoing("POST", "http://x", {"authorization": f"Bearer {KEY}"}, b"{}"))
    assert log and KEY not in "".join(log) + _everything_said(error) + shown


@pytest.mark.parametrize(
    "url", ["localhost:1234/v1", "ftp://127.0.0.1/v1", "http://[::1/v1", "http://", "/v1"]
)
def test_an_address_that_is_none_is_the_callers_mistake(url: str) -> None:
    """It is not taken for a network that may come back."""

    async def work() -> None:
        made = HttpTransport()
        try:
            async with made.send(Outgoing("POST", url, {}, b"{}")):
                pass
        finally:
            await made.close()

    with pytest.raises(UsageError, match="no address"):
        asyncio.run(work())


# Proxies and certificates from the environment

ELSEWHERE = "http://model.example.test"


def test_a_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTP_PROXY carries requests to other hosts, in the form that proxies want."""

    async def work(proxy: RawServer) -> str:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        async with talk(ELSEWHERE) as session:
            assert (await session.ask("go")).text == "Hello."
        return proxy.requests[0].line

    assert with_server(answering(reply()), work) == f"POST {ELSEWHERE}/v1/chat/completions HTTP/1.1"


def test_a_proxy_sees_of_https_only_the_host(monkeypatch: pytest.MonkeyPatch) -> None:
    """HTTPS_PROXY is asked for a tunnel; the key does not go to it."""

    async def work(proxy: RawServer) -> RawServer:
        monkeypatch.setenv("HTTPS_PROXY", proxy.url)
        async with talk("https://model.example.test") as session:
            [event async for event in session.run("go")]
        return proxy

    refused = b"HTTP/1.1 403 No\r\ncontent-length: 0\r\n\r\n"
    proxy = with_server(answering(refused, then=hang_up), work)
    assert proxy.requests[0].line == "CONNECT model.example.test:443 HTTP/1.1"
    assert KEY not in str(proxy.requests)


def test_no_proxy_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    """What NO_PROXY names is asked directly; here that finds nobody, and the proxy hears nothing."""

    async def work(proxy: RawServer) -> int:
        monkeypatch.setenv("HTTP_PROXY", proxy.url)
        monkeypatch.setenv("NO_PROXY", "example.test")
        async with talk(ELSEWHERE) as session:
            *_, last = [event async for event in session.run("go")]
        assert last.error.kind == "network"
        return proxy.connections

    assert with_server(answering(reply()), work) == 0


def test_loopback_needs_no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    """A model on this machine is asked directly, whatever proxy the environment names."""
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert asked(answering(reply()))[0] == "Hello."


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HTTP_PROXY", "gopher://user:hidden@127.0.0.1:9"),
        ("ALL_PROXY", "socks5://127.0.0.1:9"),
        ("SSL_CERT_FILE", "/no/such/file.pem"),
    ],
)
def test_settings_that_cannot_work_are_named(name: str, value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A broken setting is told at once, as what it is, and not tried again and again."""
    monkeypatch.setenv(name, value)
    error, _ = failed(answering(reply()), retry=QUICKLY)
    assert isinstance(error, UsageError) and name.lower() in str(error).lower()
    assert "hidden" not in str(error)


def test_certificates_of_the_environment_are_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """An authority in SSL_CERT_FILE is believed; without it the server is refused, and sent nothing."""
    pytest.importorskip("cryptography", reason="makes the certificates")
    from tests.runtime.certificates import authority

    made = authority(tmp_path)

    async def trusting(server: RawServer) -> str:
        monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
        async with talk(server.url) as session:
            return (await session.ask("go")).text

    async def wary(server: RawServer) -> tuple[str, int]:
        monkeypatch.delenv("SSL_CERT_FILE")
        async with talk(server.url) as session:
            *_, last = [event async for event in session.run("go")]
        return str(last.error), len(server.requests)

    assert with_server(answering(reply()), trusting, made.server()) == "Hello."
    error, requests = with_server(answering(reply()), wary, made.server())
    assert "certificate" in error.lower() and requests == 0


# A process that must not reach anyone


def test_forbidden_requests_leave_loopback_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `forbid_requests` a test reaches its own server and nobody else, not even through a proxy."""

    async def work(server: RawServer) -> TurnoutError:
        monkeypatch.setenv("HTTP_PROXY", server.url)
        async with talk(ELSEWHERE, retry=QUICKLY) as session:
            *_, last = [event async for event in session.run("go")]
        async with talk(server.url) as session:
            assert (await session.ask("go")).text == "Hello."
        assert len(server.requests) == 1
        return last.error

    forbid_requests()
    try:
        error = with_server(answering(reply()), work)
    finally:
        forbid_requests(False)
    assert isinstance(error, UsageError) and "model.example.test" in str(error)
