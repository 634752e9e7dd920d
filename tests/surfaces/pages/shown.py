"""A store with conversations, a memory with requests, and the pages of both: for tests and shots."""

from __future__ import annotations

import asyncio
import base64
import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from turnout import History, Media, Outcome, Store, Text, Thinking, ToolCall, Usage
from turnout.surfaces.gateway.memory import GatewayMemory
from turnout.surfaces.gateway.values import Request, Response
from turnout.surfaces.pages.site import Pages
from turnout.surfaces.pages.view_server import ViewApplication
from turnout.world.config import load_config

TOKEN = "token-of-the-pages-1234"
KEY = "sk-secret-key-of-the-user-0123456789"
HOST = "127.0.0.1:8484"
SEALED = "S" * 400


def png(width: int = 40, height: int = 24) -> str:
    """A small picture, as base64."""
    rows = b"".join(b"\0" + bytes([80, 120 + x % 100, 200] * width)[: 3 * width] for x in range(height))

    def chunk(name: bytes, data: bytes) -> bytes:
        body = name + data
        return len(data).to_bytes(4, "big") + body + zlib.crc32(body).to_bytes(4, "big")

    head = width.to_bytes(4, "big") + height.to_bytes(4, "big") + b"\x08\x02\0\0\0"
    parts = (chunk(b"IHDR", head), chunk(b"IDAT", zlib.compress(rows)), chunk(b"IEND", b""))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + b"".join(parts)).decode()


DIFF = (
    "--- a/parse.py\n+++ b/parse.py\n@@ -1,3 +1,3 @@\n def parse(text):\n"
    "-    return text\n+    return text.strip()\n"
)


def sample_history(key: str = "sample") -> History:
    """Two providers, parallel calls, a diff, a picture, thinking, an outcome that never came, a summary."""
    history = History(key, system="You are careful.", tools=[{"name": "shell", "parameters": {}}])
    history.user(
        ["Why does **parse** keep blanks? See `parse.py`.", Media("image/png", data=png(), name="shot.png")]
    )
    first = history.reply(
        "anthropic:claude-sonnet-4-5",
        [
            Thinking("Look at the file first."),
            Text("I will read it, and run the tests.\n\n1. read\n2. test"),
            ToolCall("toolu_1", "read_file", {"path": "parse.py"}),
            ToolCall("toolu_2", "shell", {"command": "pytest -q\ngit status"}),
        ],
        usage=Usage(input=1200, output=80, cached_input=900),
    )
    for call in first.tool_calls:
        history.start(call.id)
    history.settle(first.tool_calls[0].id, Outcome("complete", "def parse(text):\n    return text\n"))
    history.settle(first.tool_calls[1].id, Outcome("error", "1 failed\nassert parse(' a ') == 'a'"))
    history.note("switch", {"target": "openai:gpt-5.1"})
    second = history.reply(
        "openai:gpt-5.1",
        [Text("The mend:"), ToolCall("call_9", "apply_patch", {"patch": DIFF})],
        usage=Usage(input=1500, output=60),
    )
    history.settle(second.tool_calls[0].id, Outcome("interrupted", synthetic=True, reason="stopped"))
    history.user("Go on.")
    history.reply(
        "openai:gpt-5.1",
        "Done.\n\n| test | result |\n|---|---|\n| strip | **passes** |\n\n```python\nprint('ok')\n```",
    )
    return history


def request_record(number: int, **more: Any) -> dict[str, Any]:
    """The record of a request, as the gateway writes it."""
    return {
        "id": f"req_{number:06}",
        "time": 1_790_000_000.0 + 60 * number,
        "client": "owner" if number % 3 else "ci",
        "agent": "claude-cli/2.1",
        "protocol": "chat",
        "conversation": f"conv-{number // 4}",
        "asked": "gpt-5.1",
        "target": "anthropic:claude-sonnet-4-5" if number % 2 else "kimi:kimi-k2.5",
        "status": 200 if number % 7 else 429,
        "stream": True,
        "repairs": number % 3,
        "repaired": ["missing_result a call never got a result"] * (number % 3),
        "dropped": [],
        "steps": ["switched: rate_limit at openai:gpt-5.1"] if number % 5 == 0 else [],
        "tokens": 1000 + number,
        "input": 900 + number,
        "output": 100,
        "cached": 0.5,
        "cost": 0.0123 + number / 7000,
        "first_byte": 0.31,
        "seconds": 2.4,
        "stop": "end",
        "error": "" if number % 7 else "rate limited",
        "reused": True,
        **more,
    }


BODY = {
    "model": "gpt-5.1",
    "messages": [
        {"role": "user", "content": "What is in this folder?"},
        {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {"id": "call_A", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                {"id": "call_B", "type": "function", "function": {"name": "cat", "arguments": '{"p":"x"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_A", "content": "a.txt"},
        {"role": "user", "content": "And now?"},
    ],
}
SENT = {
    "model": "claude-sonnet-4-5",
    "max_tokens": 1000,
    "messages": [
        {"role": "user", "content": "What is in this folder?"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "", "signature": SEALED}]},
    ],
}


class Shown:
    """The pages over a folder, asked without a socket."""

    def __init__(self, folder: Path, environment: dict[str, str] | None = None) -> None:
        self.folder = folder
        self.environment = {
            "HOME": str(folder),
            "TURNOUT_STORE": str(folder / "sessions.db"),
            "OPENAI_API_KEY": KEY,
            **(environment or {}),
        }
        self.config = load_config(self.environment, folder)
        self.store = Store(folder / "sessions.db", environment=self.environment)
        self.memory = GatewayMemory(folder / "gateway.db")
        self.pages = Pages(
            self.config,
            open_store=lambda: Store(folder / "sessions.db", environment=self.environment),
            memory=folder / "gateway.db",
            token=TOKEN,
        )
        self.application = ViewApplication(self.pages, self.config, TOKEN)
        self.cookie = ""

    def close(self) -> None:
        self.pages.close()
        self.memory.close()
        self.store.close()

    def add_requests(self, count: int, **more: Any) -> None:
        for number in range(1, count + 1):
            bodies = json.dumps({"received": json.dumps(BODY), "sent": json.dumps(SENT)}).encode()
            self.memory.add_request(request_record(number, **more), bodies if number % 2 else None)
        self.memory.flush()

    def sign_in(self) -> None:
        answer = self.ask(f"/?once={self.pages.sign_in.make_link()}", signed_in=False)
        assert answer.status == 303, answer
        self.cookie = answer.headers["set-cookie"].partition(";")[0]

    def ask(
        self,
        url: str,
        *,
        method: str = "GET",
        form: dict[str, str] | None = None,
        signed_in: bool = True,
        **headers: str,
    ) -> Response:
        named = {"host": HOST, "accept": "text/html", **{k.replace("_", "-"): v for k, v in headers.items()}}
        if signed_in:
            if not self.cookie:
                self.sign_in()
            named["cookie"] = self.cookie
        if form is not None:
            method, named["content-type"] = "POST", "application/x-www-form-urlencoded"
        request = Request.of(method, url, named, peer="127.0.0.1")
        request.body = urlencode(form or {}).encode()
        answer = self.application.admit(request)
        return answer if answer is not None else asyncio.run(self.application.answer(request))

    def text(self, url: str) -> str:
        answer = self.ask(url)
        assert answer.status == 200, (url, answer.status, answer.body)
        assert isinstance(answer.body, bytes)
        return answer.body.decode()


@contextmanager
def shown(folder: Path, **environment: str) -> Iterator[Shown]:
    made = Shown(folder, environment)
    try:
        yield made
    finally:
        made.close()
