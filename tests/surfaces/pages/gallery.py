"""A store and a memory as a user has them after a week, and a server that shows them to a real browser."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
from tests.surfaces.pages.shown import BODY, DIFF, Shown, png, request_record

from turnout import Media, Outcome, Store, Text, Thinking, ToolCall, Usage
from turnout.history.waiting import WaitingCall
from turnout.model import Code, Opaque, Origin
from turnout.surfaces.gateway.http_connection import HttpServer
from turnout.surfaces.gateway.start import ServeOptions, address_of, open_sockets
from turnout.tools.policy.approval import ApprovalRequest

BEGIN = 1_790_000_000.0
LONG_ID = "nightly-import-of-the-customer-archive-7f3e2a9c4b1d4e0f9a8b7c6d5e4f3a2b1c0d9e8f"
TABLE = "| test | result | seconds | file |\n|---|---:|---:|---|\n" + "".join(
    f"| strip_{at} | **passes** | 0.{at:02} | tests/very/long/path/to/test_parse_{at}.py |\n"
    for at in range(5)
)
COMMAND = "rm -rf build dist\nfind . -name '*.pyc' -delete\ngit clean -fdx --exclude=.venv\n"
TRAFFIC = (
    ("claude-cli/2.1.40", "anthropic", "claude-sonnet-4-5", "kimi:kimi-k2.5"),
    ("codex_cli_rs/0.9", "responses", "gpt-5.1", "openai:gpt-5.1"),
    ("GeminiCLI/0.30", "gemini", "gemini-2.5-pro", "anthropic:claude-sonnet-4-5"),
    ("opencode/1.2", "chat", "fast", "openrouter:anthropic/claude-sonnet-4.5"),
)


COUNTED = {
    "replies": 40,
    "tokens_input": 90_000,
    "tokens_prompt": 120_000,
    "tokens_cached": 80_000,
    "tokens_output": 8000,
    "cost_microdollars": 300_000,
    "tool_calls_total": 95,
    "tool_calls_invalid_args": 3,
    "tool_calls_repaired": 5,
    "took_over_rate_limit": 2,
}


class SteppedClock:
    """A wall clock that a test moves."""

    def __init__(self, now: float = BEGIN) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


def fill_gallery(made: Shown) -> None:
    """Everything that the pages can show, each at least once."""
    clock = SteppedClock()
    with Store(made.folder / "sessions.db", environment=made.environment, wall_clock=clock) as store:
        _add_repair(store, clock)
        _add_plain(store, clock)
        _add_waiting(store, clock)
        for by, target in enumerate(("anthropic:claude-sonnet-4-5", "openai:gpt-5.1"), 1):
            for name, number in COUNTED.items():
                store.counters(name, Origin.parse(target), number * by)
        store.counters.flush()
    _add_requests(made)


def _add_repair(store: Store, clock: SteppedClock) -> None:
    """Three providers, parallel calls, a denied call, a diff, a picture, a summary, a failover."""
    clock.now = BEGIN + 6 * 86_400
    tools = [{"name": name, "parameters": {}} for name in ("read_file", "shell", "apply_patch", "web_fetch")]
    history = store.open("repair", system="You are careful. Answer in short sentences.", tools=tools)
    history.user(
        [
            "Why does **parse** keep blanks? See `parse.py`.",
            Media("image/png", data=png(320, 120), name="shot.png"),
        ]
    )
    clock.now += 3
    turn = history.reply(
        "anthropic:claude-sonnet-4-5",
        [
            Thinking("Look at the file first, then run the tests beside it."),
            Text("I will read it, and test.\n\n1. read\n2. test\n\n> a quoted line\n\n- *done*\n- `code`"),
            ToolCall("toolu_1", "read_file", {"path": "src/parse.py", "limit": 200}),
            ToolCall("toolu_2", "shell", {"command": "pytest -q\ngit status"}),
            ToolCall("toolu_3", "web_fetch", {"url": "https://example.org/" + "path/" * 30}),
            ToolCall("toolu_4", "shell", {"command": "rm -rf /"}),
        ],
        usage=Usage(input=1200, output=80, cached_input=900),
    )
    read, test, fetch, remove = (call.id for call in turn.tool_calls)
    for call in (read, test, fetch):
        history.start(call)
        clock.now += 0.1
    clock.now += 0.4
    history.settle(read, Outcome("complete", "def parse(text):\n    return text\n"))
    clock.now += 1.7
    history.settle(test, Outcome("error", "1 failed\nE   assert parse(' a ') == 'a'"))
    clock.now += 1.1
    history.settle(fetch, Outcome("complete", "A line of the page. " * 200))
    history.settle(remove, Outcome("denied", "The user refused: not in this folder"))
    history.note("switch", {"target": "openai:gpt-5.1"})
    clock.now += 4
    turn = history.reply(
        "openai:gpt-5.1",
        [
            Text("The mend:"),
            ToolCall("call_9", "apply_patch", {"patch": DIFF}),
            Code("print(1)", "python", "1"),
            Opaque("web_search_call", "searched: how to strip"),
        ],
        usage=Usage(input=1500, output=60),
    )
    history.settle(turn.tool_calls[0].id, Outcome("interrupted", synthetic=True, reason="stopped"))
    history.note("recovery", {"target": "openai:gpt-5.1", "step": "shortened"})
    history.compact(turn.key, "The user asked why `parse` keeps blanks. **It does not strip.**")
    clock.now += 60
    history.user("Go on, in German please.")
    clock.now += 2
    history.reply(
        "kimi:kimi-k2.5",
        f"## Fertig\n\n{TABLE}\n```python\n{'print(1, 2, 3); ' * 12}\n```\n\n[Mehr](https://example.org/)",
        usage=Usage(input=9000, output=700),
    )
    store.release("repair")
    store.rename("repair", "Why does parse keep blanks at both ends of a line?")


def _add_plain(store: Store, clock: SteppedClock) -> None:
    for at, target in enumerate(
        ("gemini:gemini-2.5-pro", "mistral:mistral-large-latest", "deepseek:deepseek-chat")
    ):
        clock.now = BEGIN + at * 86_400
        id = (LONG_ID, "4f2a91c0", "clients/ci-nightly")[at]
        history = store.open(id)
        history.user("Say hello, and then nothing more.")
        clock.now += 1
        history.reply(target, "Hello.", usage=Usage(input=30, output=3))
        store.release(id)


def _add_waiting(store: Store, clock: SteppedClock) -> None:
    clock.now = BEGIN + 5 * 86_400
    history = store.open("cleanup")
    history.user("Clean up, and ask the weather service.")
    blocks = [
        ToolCall("c1", "shell", {"command": COMMAND}),
        ToolCall("c2", "weather", {"city": "Bern", "days": [1, 2]}),
    ]
    first, second = history.reply("anthropic:claude-sonnet-4-5", blocks).tool_calls
    asked = ApprovalRequest(
        first.id, "shell", {"command": COMMAND}, "risky", "it deletes files", paths=("build", "dist")
    )
    question = {**msgspec.to_builtins(asked), "fingerprint": asked.bound_to}
    for call, kind, given in ((first, "approval", question), (second, "external", {})):
        waiting = WaitingCall("cleanup", call.id, call.name, dict(call.arguments), kind, given, clock.now)  # type: ignore[arg-type]
        history.note("waiting_call", msgspec.to_builtins(waiting))
    store.release("cleanup")


def _add_requests(made: Shown) -> None:
    grown: list[dict[str, Any]] = list(BODY["messages"])  # type: ignore[arg-type]
    for number in range(1, 71):
        agent, protocol, asked, target = TRAFFIC[number % len(TRAFFIC)]
        body = {**BODY, "messages": grown}
        sent = {"model": target.partition(":")[2], "max_tokens": 1000 + number % 2, "messages": grown[:1]}
        record = request_record(
            number, agent=agent, protocol=protocol, asked=asked, target=target, time=BEGIN + number * 7000
        )
        bodies = {"received": json.dumps(body), "sent": json.dumps(sent)} if protocol == "chat" else None
        made.memory.add_request(record, json.dumps(bodies).encode() if bodies else None)
    made.memory.flush()


@contextmanager
def viewing(made: Shown) -> Iterator[str]:
    """The pages on a free port of loopback, in a thread; gives their address."""
    sockets = open_sockets(ServeOptions(port=0), False)
    loop, ended, ready = asyncio.new_event_loop(), asyncio.Event(), threading.Event()

    async def serve() -> None:
        server = HttpServer(made.application, grace=1.0)
        await server.start(sockets)
        ready.set()
        await ended.wait()
        await server.close()

    thread = threading.Thread(target=lambda: loop.run_until_complete(serve()), daemon=True)
    thread.start()
    assert ready.wait(20)
    try:
        yield address_of(sockets[0], False)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(20)
        loop.close()
