"""Sessions share one pool of connections and one TLS context in each event loop."""

from __future__ import annotations

import asyncio
import gc
import ssl
import tracemalloc
from pathlib import Path
from typing import Any

import pytest
from tests.world.over_sockets import no_proxies, with_server  # noqa: F401
from tests.world.raw_server import RawServer, answering, reply

from turnout import HttpTransport, Session, World
from turnout.world.shared_http import shared_transport


def session_at(url: str, **more: Any) -> Session:
    return Session("openai:gpt-5.1", base_url=f"{url}/v1", api_key="k", **more)


def test_sessions_one_after_the_other_use_one_connection() -> None:
    """A web application that makes a session for each request pays for the connection once."""

    async def work(server: RawServer) -> int:
        for _ in range(10):
            async with session_at(server.url) as session:
                assert (await session.ask("go")).text == "Hello."
        return server.connections

    assert with_server(answering(reply()), work) == 1


def test_certificates_are_read_once_for_all_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Fifty sessions over TLS make one context."""
    pytest.importorskip("cryptography", reason="makes the certificates")
    from tests.world.certificates import authority

    made = authority(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    contexts = 0
    create = ssl.create_default_context

    def counted(*arguments: Any, **named: Any) -> ssl.SSLContext:
        nonlocal contexts
        contexts += 1
        return create(*arguments, **named)

    async def work(server: RawServer) -> None:
        monkeypatch.setattr(ssl, "create_default_context", counted)
        sessions = [session_at(server.url) for _ in range(50)]
        await asyncio.gather(*(session.ask("go") for session in sessions))
        await asyncio.gather(*(session.close() for session in sessions))

    with_server(answering(reply()), work, made.server())
    assert contexts == 1


def test_a_session_can_have_a_transport_of_its_own() -> None:
    """It is not closed with the session: the caller closes it."""

    async def work(server: RawServer) -> int:
        own = HttpTransport()
        for _ in range(2):
            async with session_at(server.url, world=World(transport=own)) as session:
                await session.ask("go")
        await own.close()
        return server.connections

    assert with_server(answering(reply()), work) == 1


def test_loops_one_after_the_other_leave_nothing_behind() -> None:
    """The connections of a loop are closed when it ends, also when no session was closed."""

    async def work(server: RawServer) -> int:
        def in_another_loop() -> str:
            return session_at(server.url).ask_sync("go").text

        assert await asyncio.to_thread(in_another_loop) == "Hello."
        for _ in range(100):
            if not server._open:
                break
            await asyncio.sleep(0.02)
        return len(server._open)

    assert with_server(answering(reply()), work) == 0
    gc.collect()
    assert [loop for loop in shared_transport()._pools if not loop.is_closed()] == []


def test_a_session_takes_little_memory() -> None:
    """A hundred of them at once, with a connection each, take less than 250 KB each."""

    async def work(server: RawServer) -> float:
        async def one(session: Session) -> None:
            await session.ask("go")

        await one(session_at(server.url))  # what is loaded and read once is not theirs
        gc.collect()
        tracemalloc.start()
        sessions = [session_at(server.url) for _ in range(100)]
        await asyncio.gather(*map(one, sessions))
        gc.collect()
        used, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        await asyncio.gather(*(session.close() for session in sessions))
        return used / len(sessions)

    assert with_server(answering(reply()), work) < 250_000
