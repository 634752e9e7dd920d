"""Sessions that speak with a raw server over real sockets: what they are answered, or how they fail."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import pytest
from tests.session.settings import make_session
from tests.world.raw_server import Answer, RawServer, raw_server

from turnout import Session
from turnout.session.events import Failed
from turnout.session.retry import RetryPolicy

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
    settings = {"retries": ONCE, "environment": {}, "api_key": KEY, **settings}
    return make_session(MODEL, base_url=f"{url}/v1", **settings)


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
