"""The simulator on a socket: every protocol at its usual path, on loopback.

    /v1/chat/completions   /v1/responses   /v1/messages   /v1beta/models/NAME:generateContent   /api/chat

With the name of a provider before the path (`/mistral/v1/chat/completions`) it is that provider,
so one server simulates all dialects. `GET /simulator` lists the result of every request so far.
"""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

import uvicorn
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from ..errors import UsageError
from .ollama_models import TAGS
from .provider import SimulatedAnswer
from .simulation import SimulatedExchange, Simulation
from .stream_arrival import Break, Pause

ReportExchange = Callable[[SimulatedExchange], None]


def app(simulation: Simulation, report: ReportExchange | None = None) -> Any:
    """The simulation as an ASGI application. `report` is called with every exchange."""

    async def simulator(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope, receive)
        if request.method != "POST":
            await _answer_get(request, simulation)(scope, receive, send)
            return
        try:
            answer = await _answer_request(request, simulation)
        except UsageError as error:  # the script is at its end: this is not an error of the provider
            await JSONResponse({"error": {"message": str(error)}}, 400)(scope, receive, send)
            return
        if report is not None and answer.asked is not None:
            report(simulation.exchanges[-1])
        await asyncio.sleep(answer.delay)
        if not answer.status:
            _hang_up(send)
            return
        body = _chunks(answer, lambda: _hang_up(send))
        with suppress(_HungUp):
            await StreamingResponse(body, answer.status, answer.headers)(scope, receive, send)

    return simulator


async def _answer_request(request: Request, simulation: Simulation) -> SimulatedAnswer:
    query = f"?{request.url.query}" if request.url.query else ""
    # The address of this server does not name a provider, so the host is left out.
    return simulation.answer(f"//simulator{request.url.path}{query}", request.headers, await request.body())


class _HungUp(Exception):
    """The connection was cut on purpose."""


async def _chunks(answer: SimulatedAnswer, hang_up: Callable[[], None]) -> AsyncIterator[bytes]:
    for piece in answer.pieces:
        match piece:
            case bytes():
                yield piece
            case Pause(seconds):
                await asyncio.sleep(seconds)
            case Break():
                hang_up()
                raise _HungUp


def _hang_up(send: Send) -> None:
    """Cut the connection below the server, as a network would."""
    cycle = getattr(send, "__self__", None)
    transport = getattr(cycle, "transport", None)
    if transport is not None:
        transport.abort()
        cycle.disconnected = True  # type: ignore[union-attr]  # so that uvicorn does not report an incomplete response


def _answer_get(request: Request, simulation: Simulation) -> Response:
    path = request.url.path.rstrip("/")
    if path == "/simulator":
        return JSONResponse([_verdict(seen) for seen in simulation.exchanges])
    if path.endswith("/api/tags"):
        return JSONResponse(TAGS)
    if path.endswith("/v1beta/models"):
        return JSONResponse({"models": [{"name": "models/demo", "displayName": "demo"}]})
    if path.endswith("/models"):
        model = {"id": "demo", "object": "model", "type": "model", "created": 0, "owned_by": "turnout"}
        return JSONResponse({"object": "list", "data": [model], "has_more": False})
    return JSONResponse(
        {"error": {"message": f"Nothing is at {path or '/'}; POST to the path of a protocol"}}, 404
    )


def _verdict(seen: SimulatedExchange) -> dict[str, Any]:
    return {
        "provider": seen.provider,
        "protocol": seen.protocol,
        "model": seen.model,
        "status": seen.status,
        "refused": [{"rule": problem.rule, "answer": problem.answer} for problem in seen.problems],
    }


def open_socket(host: str = "127.0.0.1", port: int = 0) -> socket.socket:
    """A socket to serve on; port 0 is any free port."""
    return socket.create_server((host, port))


def address(listening: socket.socket) -> str:
    host, port = listening.getsockname()[:2]
    return f"http://{host}:{port}"


def server(simulation: Simulation, report: ReportExchange | None = None) -> uvicorn.Server:
    config = uvicorn.Config(
        app(simulation, report), log_level="critical", lifespan="off", timeout_graceful_shutdown=1
    )
    return uvicorn.Server(config)


def serve_forever(
    simulation: Simulation, listening: socket.socket, report: ReportExchange | None = None
) -> None:
    """Serve until the process is stopped."""
    server(simulation, report).run(sockets=[listening])


@contextmanager
def running_server(simulation: Simulation) -> Iterator[str]:
    """Run a server in a thread for the duration of the block; gives its address."""
    listening = open_socket()
    running = server(simulation)
    thread = threading.Thread(target=running.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield address(listening)
    finally:
        running.should_exit = True
        thread.join(5)
        listening.close()
