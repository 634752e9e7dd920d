"""A program for a process of its own: the library at work while no package of an extra can be imported.

It stands in for an environment with `pip install turnout` and nothing else. The server is written
here with raw asyncio streams, since the simulator's server is an extra too.
"""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

from turnout.surfaces.shared.extras import EXTRA_OF


class RefuseExtras:
    """An import hook: every package of an extra is as if it was not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> None:
        if name.partition(".")[0] in EXTRA_OF:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


CALL = {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 2, "b": 3}'}}
CHUNKS: list[list[Any]] = [
    [{"tool_calls": [{"index": 0, **CALL}]}, "tool_calls"],
    [{"content": "It is 5."}, "stop"],
]


def reply_stream(delta: Any, finish: str) -> bytes:
    """A reply of the chat completions API, as server-sent events."""
    chunk = {"id": "r", "object": "chat.completion.chunk", "model": "gpt-5.1"}
    first = {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]}
    last = {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}
    return (
        b"".join(b"data: %s\n\n" % json.dumps(each).encode() for each in (first, last)) + b"data: [DONE]\n\n"
    )


class Server:
    """One reply after the other to whatever is posted on loopback; `bodies` is what was posted."""

    def __init__(self) -> None:
        self.bodies: list[Any] = []

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = int(head.partition("content-length:")[2].split()[0])
        self.bodies.append(json.loads(await reader.readexactly(length)))
        body = reply_stream(*CHUNKS[len(self.bodies) - 1])
        fields = "content-type: text/event-stream\r\nconnection: close"
        writer.write(f"HTTP/1.1 200 OK\r\n{fields}\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()


def check_pure_functions() -> None:
    """Ingest, render, check and decode."""
    import turnout

    messages = [
        {"role": "user", "content": "Add 2 and 3."},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "user", "content": "Never mind."},
    ]
    history = turnout.ingest(messages, format="openai-chat", origin="openai:gpt-5.1")
    for target in ("anthropic:claude-sonnet-4-5", "gemini:gemini-3-pro", "mistral:mistral-large-latest"):
        request = turnout.render(history, to=target)
        assert turnout.check(target, request.body) == [], target
    reply = turnout.decode("openai-chat", reply_stream({"content": "Hello."}, "stop"))
    assert reply.text == "Hello.", reply


async def check_session(folder: str) -> None:
    """A stored session with a tool, over a real connection."""
    from turnout import Session, tool

    @tool(risk="read")
    async def add(a: int, b: int) -> int:
        """Add two numbers."""
        return a + b

    server = Server()
    listening = await asyncio.start_server(server.answer, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    async with listening:
        session = Session(
            "openai:gpt-5.1",
            tools=[add],
            api_key="sk-of-nobody",
            base_url=f"http://127.0.0.1:{port}/v1",
            store=f"{folder}/sessions.db",
        )
        async with session:
            assert (await session.ask("Add 2 and 3.")).text == "It is 5."
    assert [message["role"] for message in server.bodies[1]["messages"]] == ["user", "assistant", "tool"]


def main(folder: str) -> None:
    sys.meta_path.insert(0, RefuseExtras())
    names: dict[str, Any] = {}
    exec("from turnout import *", names)
    assert {"Session", "ingest", "render", "check", "decode"} <= set(names)
    check_pure_functions()
    asyncio.run(check_session(folder))
    assert not {name.partition(".")[0] for name in sys.modules} & set(EXTRA_OF)
    print("all of it works")


if __name__ == "__main__":
    main(sys.argv[1])
