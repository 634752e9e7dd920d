"""The gateway beside litellm's proxy: CPU and memory of the server process, in the same run.

Both have one process, the same model on loopback behind them, and the same client. CPU is what the kernel
counts for the server; an event is one word of a streamed reply. `TURNOUT_BENCH_REQUESTS` sets how many
requests come before memory is read (10,000); litellm gets a tenth of them, in its favour, since they would
take it minutes.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.gateway_client import ask_at_once, ask_in_turn, request_bytes
from bench.gateway_process import TOKEN, GatewayProcess, litellm_gateway, turnout_gateway
from bench.gateway_upstream import ChatUpstream
from bench.measure import print_table
from bench.session_server import serving

PLAIN = 300
STREAMS, LONG = 10, 200
AT_ONCE, SHORT = 200, 100
MESSAGES, NEXT = 1_000, 20
REQUESTS = int(os.environ.get("TURNOUT_BENCH_REQUESTS", "10000"))
NAMES = {
    "plain": "a plain request, ms of CPU",
    "event": "a streamed event alone, µs of CPU",
    "event_of_many": f"an event with {AT_ONCE} streams at once, µs of CPU",
    "next": f"the next request of a conversation of {MESSAGES:,} messages, ms of CPU",
    "burst": f"a plain request after a burst of {AT_ONCE} connections, in times of one before",
    "memory": f"memory after {REQUESTS:,} requests and {AT_ONCE} streams at once, MB",
    "growth": "growth of memory in the second half of these requests, MB",
}


def run() -> None:
    """Measure both and print the table."""
    found = {
        name: _measure(open_gateway)
        for name, open_gateway in (("turnout", turnout_gateway), ("litellm", litellm_gateway))
    }
    ours, theirs = found["turnout"], found["litellm"]
    rows = [
        (text, f"**{ours[key]:,.2f}**", f"{theirs[key]:,.2f}", _ratio(key, ours, theirs))
        for key, text in NAMES.items()
    ]
    print_table(("", "turnout", "litellm", "litellm in times of turnout"), rows)


def _ratio(key: str, ours: dict[str, float], theirs: dict[str, float]) -> str:
    return "" if key in ("burst", "growth") else f"{theirs[key] / max(ours[key], 1e-9):,.1f}"


def _measure(open_gateway: Callable[..., Any]) -> dict[str, float]:
    with (
        tempfile.TemporaryDirectory() as folder,
        serving(ChatUpstream) as upstream,
        open_gateway(upstream, Path(folder)) as gateway,
    ):
        return asyncio.run(_measure_gateway(gateway))


async def _measure_gateway(gateway: GatewayProcess) -> dict[str, float]:
    plain = _request(gateway, 10)
    await ask_in_turn(gateway.address, [plain] * 30)  # warm
    found = {"plain": await _plain_cost(gateway, plain)}
    stream = _request(gateway, LONG, stream=True)
    found["event"] = await _event_cost(gateway, ask_in_turn(gateway.address, [stream] * STREAMS))
    found["next"] = await _next_cost(gateway)
    before = await _plain_cost(gateway, plain)
    many = _request(gateway, SHORT, stream=True)
    found["event_of_many"] = await _event_cost(gateway, ask_at_once(gateway.address, many, AT_ONCE))
    found["burst"] = await _plain_cost(gateway, plain) / before
    found["growth"] = await _growth(gateway, plain)
    await ask_at_once(gateway.address, many, AT_ONCE)
    found["memory"] = gateway.megabytes
    return {**found, **_in_units(found)}


def _in_units(found: dict[str, float]) -> dict[str, float]:
    return {
        "plain": found["plain"] * 1e3,
        "event": found["event"] * 1e6,
        "event_of_many": found["event_of_many"] * 1e6,
        "next": found["next"] * 1e3,
    }


def _request(gateway: GatewayProcess, words: int, stream: bool = False, messages: Any = None) -> bytes:
    said = messages or [{"role": "user", "content": "Say a few words, one after the other."}]
    model = f"openai:words-{words}" if _is_turnout(gateway) else f"words-{words}"
    return request_bytes(gateway.address, {"model": model, "messages": said, "stream": stream}, TOKEN)


def _is_turnout(gateway: GatewayProcess) -> bool:
    command = Path(f"/proc/{gateway.pid}/cmdline").read_bytes().split(b"\0")
    return b"turnout" in command


async def _cost(gateway: GatewayProcess, work: Any) -> float:
    before = gateway.cpu
    await work
    return gateway.cpu - before


async def _event_cost(gateway: GatewayProcess, work: Any) -> float:
    """For each word that arrived; a gateway may put several into one event."""
    before = gateway.cpu
    words = sum(await work)
    return (gateway.cpu - before) / words


async def _plain_cost(gateway: GatewayProcess, plain: bytes) -> float:
    """The best of three rounds."""
    rounds = [await _cost(gateway, ask_in_turn(gateway.address, [plain] * (PLAIN // 3))) for _ in range(3)]
    return min(rounds) / (PLAIN // 3)


async def _next_cost(gateway: GatewayProcess) -> float:
    """Each request has two more messages than the one before; the first one is not counted."""
    messages = [_message(place) for place in range(MESSAGES)]
    await ask_in_turn(gateway.address, [_request(gateway, 10, messages=messages)])
    requests = []
    for _ in range(NEXT):
        messages = [*messages, _message(len(messages)), _message(len(messages) + 1)]
        requests.append(_request(gateway, 10, messages=messages))
    return await _cost(gateway, ask_in_turn(gateway.address, requests)) / NEXT


def _message(place: int) -> dict[str, Any]:
    """Users and assistants in turn. The last message is the user's."""
    return {"role": "assistant" if place % 2 == 0 else "user", "content": f"Message {place}. " + "word " * 40}


async def _growth(gateway: GatewayProcess, plain: bytes) -> float:
    requests = [plain] * (REQUESTS // (2 if _is_turnout(gateway) else 20))
    await ask_in_turn(gateway.address, requests)
    half = gateway.megabytes
    await ask_in_turn(gateway.address, requests)
    return gateway.megabytes - half
