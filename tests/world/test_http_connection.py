"""Connections: they belong to an event loop, and hold nothing but the response that was asked for."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.world.over_sockets import QUICKLY, no_proxies, talk, with_server  # noqa: F401
from tests.world.raw_server import Answer, RawServer, Request, answering, raw_server, reply, whole

from turnout.session.session import Session
from turnout.simulate import Call, ScriptedTransport, Stall
from turnout.streaming.events import TextDelta
from turnout.telemetry.otel import OpenTelemetry
from turnout.tools.declare.tool import tool
from turnout.world.transport import HttpTransport
from turnout.world.world import World

# What came with a response and is not part of it

PADDING = "x" * 60_000


def by_length(text: str) -> bytes:
    body = whole(text)
    head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: "
    return f"{head}{len(body)}\r\n\r\n".encode() + body


REFUSED = b'{"error": {"message": "slow down", "type": "rate_limit_error"}}'
REFUSAL = (
    b"HTTP/1.1 429 Too Many\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(REFUSED)
    + REFUSED
)
TOGETHER = {
    "two chunked responses": reply("one") + reply("stray"),
    "two with a length": by_length("one") + by_length("stray"),
    "a refusal and a response": REFUSAL + reply("stray"),
    "a long response and a long one": reply(PADDING) + reply("stray" + PADDING) * 4,
    "a response and half of another": reply("one") + reply("stray")[:60],
    "a response and an empty line": reply("one") + b"\r\n",
    "a response and one byte": reply("one") + b"H",
}


async def second_answer(server: RawServer) -> str:
    """What the second request of a session is answered; the first got whatever the case says."""
    async with talk(server.url, retries=QUICKLY) as session:
        await session.ask("first")
        return (await session.ask("second")).text


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
@pytest.mark.parametrize("pieces", [1, 2], ids=["at once", "in two writes"])
@pytest.mark.parametrize("case", TOGETHER)
def test_a_response_that_nobody_asked_for_answers_nothing(
    case: str, pieces: int, tls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection that it came by is closed, and the next request goes by a new one."""
    sent = TOGETHER[case]
    cut = sent.find(b"HTTP/1.1", 1) if pieces == 2 else len(sent)

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        if request.connection > 1:
            writer.write(reply("the true answer"))
            return
        writer.write(sent[:cut])
        writer.write(sent[cut:])

    context = None
    if tls:
        pytest.importorskip("cryptography", reason="makes the certificates")
        from tests.world.certificates import authority

        made = authority(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
        context = made.server()
    assert with_server(answer, second_answer, context) == "the true answer"


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_a_clean_connection_is_used_again(tls: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking for unread bytes costs no connection; it would, if the client were built in another way."""
    context = None
    if tls:
        pytest.importorskip("cryptography", reason="makes the certificates")
        from tests.world.certificates import authority

        made = authority(tmp_path)
        monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
        context = made.server()

    async def work(server: RawServer) -> int:
        async with talk(server.url) as session:
            for _ in range(5):
                await session.ask("go")
        return server.connections

    assert with_server(answering(reply()), work, context) == 1


# One loop after the other


@contextmanager
def server_elsewhere(answer: Answer | None = None) -> Iterator[RawServer]:
    """A server in a thread of its own, so that it outlives the loops of its clients."""
    ready, over = threading.Event(), threading.Event()
    made: list[RawServer] = []

    async def serve() -> None:
        async with raw_server(answer or answering(reply())) as server:
            made.append(server)
            ready.set()
            while not over.is_set():
                await asyncio.sleep(0.01)

    thread = threading.Thread(target=lambda: asyncio.run(serve()))
    thread.start()
    assert ready.wait(10)
    try:
        yield made[0]
    finally:
        over.set()
        thread.join(10)


def test_a_session_can_be_used_from_one_loop_after_the_other() -> None:
    """`asyncio.run(session.ask(…))` again and again; each loop closes its connections when it ends."""
    with server_elsewhere() as server, warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        session = talk(server.url)
        for _ in range(4):
            assert asyncio.run(session.ask("go")).text == "Hello."
            gc.collect()
        asyncio.run(session.close())
        assert server.connections == 4


def test_loops_in_threads_do_not_share_connections() -> None:
    """Sessions over one transport, each in a loop of its own, at the same time."""
    transport = HttpTransport()
    found: list[str] = []

    def ask(url: str) -> None:
        async def thrice() -> None:
            session = talk(url, transport=transport)
            for _ in range(3):
                found.append((await session.ask("go")).text)
                await asyncio.sleep(0.01)

        asyncio.run(thrice())

    with server_elsewhere() as server:
        threads = [threading.Thread(target=ask, args=[server.url]) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
        assert found == ["Hello."] * 12
        assert server.connections == 4


@tool
async def wait() -> str:
    """Wait for what never comes."""
    await asyncio.Event().wait()
    return ""


def closed_around(session: Session, moment: Callable[[Any], bool]) -> None:
    """Close the loop in the middle of a run, and collect what is left of both."""
    loop = asyncio.new_event_loop()
    events = session.run("go")

    async def until_then() -> None:
        async for event in events:
            if moment(event):
                return

    loop.run_until_complete(until_then())
    loop.close()


def test_a_run_that_is_collected_without_a_loop_is_silent(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is raised where nobody can catch it, by telemetry least of all; the session goes on."""
    said: list[Any] = []
    monkeypatch.setattr("sys.unraisablehook", said.append)
    transport = ScriptedTransport([["Once upon", Stall(100.0, after=2)], "Hello."])
    session = Session(
        "openai:gpt-5.1", api_key="k", telemetry=OpenTelemetry(), world=World(transport=transport)
    )
    closed_around(session, lambda event: isinstance(event, TextDelta))
    assert asyncio.run(session.ask("again")).text == "Hello."
    gc.collect()
    assert [each.exc_value for each in said] == []
    assert [
        each.message for each in caplog.records if "destroyed but it is pending" not in each.message
    ] == []


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_loop_that_was_closed_while_a_tool_ran_does_not_hold_the_session() -> None:
    """Nothing waits for a task that no loop will ever continue, neither a run nor a batch."""
    transport = ScriptedTransport([[Call("wait")], [Call("quick")], "Hello."])

    @tool
    async def quick() -> str:
        """Be quick."""
        return "done"

    session = Session("openai:gpt-5.1", tools=[wait, quick], api_key="k", world=World(transport=transport))
    closed_around(session, lambda event: getattr(event, "state", "") == "executing")
    assert asyncio.run(asyncio.wait_for(session.ask("again"), 10)).text == "Hello."
    assert [item.status for item in session.history.ledger] == ["interrupted", "complete"]
    del session
    gc.collect()


def test_bytes_that_the_loop_has_not_seen_yet_close_the_connection() -> None:
    """They came while the loop was busy; read as the next response, they would answer a later question."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(reply("the first answer" if request.connection == 1 else "the true answer"))
        if request.connection == 1:
            await writer.drain()
            await asyncio.sleep(0.05)
            writer.write(reply("stray"))

    async def ask_twice(url: str) -> str:
        async with talk(url, retries=QUICKLY) as session:
            await session.ask("first")
            time.sleep(0.3)  # the loop of the client is busy, and does not look at its sockets
            return (await session.ask("second")).text

    with server_elsewhere(answer) as server:
        assert asyncio.run(ask_twice(server.url)) == "the true answer"
