"""HTTP over real sockets: where requests and keys may go, and by which way."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.world.over_sockets import KEY, MODEL, QUICKLY, asked, failed, talk, with_server
from tests.world.raw_server import RawServer, Request, answering, hang_up, raw_server, reply

from turnout import ProviderError, UsageError, forbid_requests
from turnout.errors import TurnoutError
from turnout.world.ports import Outgoing
from turnout.world.transport import HttpTransport


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_redirects_are_not_followed(status: int) -> None:
    """Another host gets neither the request nor the key, and the error says where it was to go."""

    async def work(elsewhere: RawServer) -> tuple[Any, int]:
        head = f"HTTP/1.1 {status} Go\r\nlocation: {elsewhere.url}/v1/x\r\ncontent-length: 0\r\n\r\n"
        async with (
            raw_server(answering(head.encode())) as server,
            talk(server.url, retries=QUICKLY) as session,
        ):
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

    with pytest.raises(UsageError, match="not an address"):
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
    error, _ = failed(answering(reply()), retries=QUICKLY)
    assert isinstance(error, UsageError) and name.lower() in str(error).lower()
    assert "hidden" not in str(error)


def test_certificates_of_the_environment_are_trusted(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """An authority in SSL_CERT_FILE is believed; without it the server is refused, and sent nothing."""
    pytest.importorskip("cryptography", reason="makes the certificates")
    from tests.world.certificates import authority

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
        async with talk(ELSEWHERE, retries=QUICKLY) as session:
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
