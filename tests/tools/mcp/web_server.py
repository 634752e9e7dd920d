"""A server of the official package at an address on this machine, in a thread of its own.

What it offers is a list that a test may change; what it does when a tool is called is up to
the tool's name, as with the server that was written by hand.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from typing import Any

import mcp_types as types
import uvicorn
from mcp.server.lowlevel.server import Server
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler
from mcp.shared.subscriptions import ToolsListChanged
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}}


class WebServer:
    """One server, what it offers now, and what it was sent."""

    def __init__(self, *tools: dict[str, Any], legacy: bool = False) -> None:
        self.legacy = legacy
        self.tools = [{"inputSchema": SCHEMA, "description": f"Do {tool['name']}.", **tool} for tool in tools]
        self.headers: list[dict[str, str]] = []
        self.calls: list[str] = []
        self.cancelled = 0
        self.deep = 0  # levels that the next answer is nested
        self.bus = InMemorySubscriptionBus()
        self.loop: asyncio.AbstractEventLoop | None = None
        self.server: Server[Any] = Server(
            "web",
            version="1",
            on_list_tools=self._list,
            on_call_tool=self._call,
            on_subscriptions_listen=ListenHandler(self.bus),
        )

    async def _list(self, context: Any, params: Any) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[types.Tool.model_validate(tool) for tool in self.tools])

    async def _call(self, context: Any, params: types.CallToolRequestParams) -> types.CallToolResult:
        arguments = params.arguments or {}
        self.calls.append(params.name)
        if params.name == "hang":
            try:
                await asyncio.sleep(1000)
            finally:
                self.cancelled += 1
        if params.name == "lists":
            return types.CallToolResult(content=[], structured_content={"n": [[]] * int(arguments["text"])})
        if params.name == "huge":
            return _said("x" * int(arguments["text"]))
        if params.name == "deep":
            self.deep = int(arguments["text"])
            return _said("DEEP")
        if params.name == "image":
            return types.CallToolResult(content=[types.ImageContent(data="aWk=", mime_type="image/png")])
        return _said(json.dumps([params.name, arguments]))

    def changed(self, *tools: dict[str, Any]) -> None:
        """Offer something else, and say so."""
        self.tools = [{"inputSchema": SCHEMA, **tool} for tool in tools]
        assert self.loop is not None
        asyncio.run_coroutine_threadsafe(self.bus.publish(ToolsListChanged()), self.loop).result(5)

    def _watched(self, app: ASGIApp) -> ASGIApp:
        async def watch(scope: Scope, receive: Receive, send: Send) -> None:
            self.loop = asyncio.get_running_loop()
            if scope["type"] == "http":
                headers = {name.decode(): value.decode() for name, value in scope["headers"]}
                self.headers.append(headers)
                if self.legacy and headers.get("mcp-method"):  # only newer clients send it
                    await Response("not found", 404)(scope, receive, send)
                    return
            await app(scope, receive, self._nest_deeply(send))

        return watch

    def _nest_deeply(self, send: Send) -> Send:
        """Writes an answer with more levels than the package itself could write."""

        async def send_deep(message: Any) -> None:
            if b'"DEEP"' in (body := message.get("body", b"")):
                nested = b'"DEEP", "annotations": {"x": ' + b"[" * self.deep + b"]" * self.deep + b"}"
                message = {**message, "body": body.replace(b'"DEEP"', nested)}
            elif message["type"] == "http.response.start":
                kept = [each for each in message["headers"] if each[0].lower() != b"content-length"]
                message = {**message, "headers": kept}
            await send(message)

        return send_deep

    @contextmanager
    def at_address(self, port: int = 0) -> Iterator[str]:
        """The server at work; gives its address."""
        with listening(self._watched(self.server.streamable_http_app()), port) as address:
            yield f"{address}/mcp"


@contextmanager
def listening(app: ASGIApp, port: int = 0) -> Iterator[str]:
    """Any web application at an address on this machine."""
    with socket.socket() as door:
        door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        door.bind(("127.0.0.1", port))
        door.listen()
        config = uvicorn.Config(app, log_level="critical", timeout_graceful_shutdown=1)
        web = uvicorn.Server(config)
        thread = Thread(target=web.run, kwargs={"sockets": [door]}, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{door.getsockname()[1]}"
        finally:
            web.should_exit = web.force_exit = True
            thread.join(10)


def _said(text: str) -> types.CallToolResult:
    return types.CallToolResult(content=[types.TextContent(text=text)])
