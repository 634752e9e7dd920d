"""A gateway for tests: in memory with simulated providers, or on a socket in a thread."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from msgspec import Struct

from turnout.simulate import ScriptedTransport
from turnout.surfaces.gateway.gateway import Gateway
from turnout.surfaces.gateway.memory import GatewayMemory
from turnout.surfaces.gateway.sealing import Sealer
from turnout.surfaces.gateway.start import ServeOptions, address_of, open_sockets, run_gateway
from turnout.surfaces.gateway.values import Request, Response
from turnout.world.config import load_config

TOKEN = "token-of-the-gateway"
SEALING = b"a sealing key of thirty-two bytes, or more"
UPSTREAMS = {
    "chat": "openai:gpt-4.1",
    "responses": "openai-responses:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-2.5-pro",
    "gemini-3": "gemini:gemini-3-pro-preview",
    "kimi": "kimi:kimi-k2.5",
    "deepseek": "deepseek:deepseek-chat",
    "mistral": "mistral:mistral-large-latest",
    "openrouter": "openrouter:anthropic/claude-sonnet-4.5",
}
"""One target of each family of upstreams."""
VARIABLES = [
    f"{name}_API_KEY"
    for name in (
        "OPENAI",
        "ANTHROPIC",
        "GEMINI",
        "MISTRAL",
        "MOONSHOT",
        "DEEPSEEK",
        "OPENROUTER",
        "XAI",
        "GROQ",
    )
]
HEADERS = {"host": "127.0.0.1:8484", "authorization": f"Bearer {TOKEN}", "content-type": "application/json"}


def environment_at(folder: Path, **more: str) -> dict[str, str]:
    keys = {name: f"upstream-key-{number}" for number, name in enumerate(VARIABLES)}
    return {"HOME": str(folder), **keys, **more}


def make_gateway(
    folder: Path,
    source: Any = (),
    *,
    settings: str = "",
    transport: Any = None,
    sealing: bytes = SEALING,
    environment: dict[str, str] | None = None,
    **options: Any,
) -> Gateway:
    """A gateway whose providers play a script, with its files in a folder."""
    env = environment_at(folder) if environment is None else environment
    config_folder = folder / ".config" / "turnout"
    config_folder.mkdir(parents=True, exist_ok=True)
    (config_folder / "config.toml").write_text(settings)
    return Gateway(
        load_config(env, folder),
        token=TOKEN,
        sealer=Sealer(sealing),
        memory=GatewayMemory(folder / "gateway.db"),
        transport=ScriptedTransport(source) if transport is None else transport,
        **options,
    )


class Answer(Struct):
    """An answer as a client sees it."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


async def ask(gateway: Gateway, method: str, url: str, body: Any = None, **headers: str) -> Answer:
    """One request through the checks and the handler, without a socket."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    request = Request.of(method, url, {**HEADERS, **named}, peer="127.0.0.1")
    request.body = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else b""
    answer = gateway.admit(request)
    if answer is None:
        answer = await gateway.answer(request)
    return Answer(answer.status, answer.headers, await _whole(answer))


async def _whole(answer: Response) -> bytes:
    if isinstance(answer.body, bytes):
        return answer.body
    return b"".join([piece async for piece in answer.body])


def ask_once(gateway: Gateway, method: str, url: str, body: Any = None, **headers: str) -> Answer:
    return asyncio.run(ask(gateway, method, url, body, **headers))


@contextmanager
def serving(gateway: Gateway, **options: Any) -> Iterator[str]:
    """The gateway on a free port, in a thread; gives its address."""
    sockets = open_sockets(ServeOptions(port=0, **options), False)
    loop = asyncio.new_event_loop()
    ended, ready = asyncio.Event(), threading.Event()
    work = run_gateway(gateway, sockets, until=ended, ready=ready.set)
    thread = threading.Thread(target=lambda: loop.run_until_complete(work), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield address_of(sockets[0], False)
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join(40)
        loop.close()
