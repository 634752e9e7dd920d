"""Servers on this machine that answer with models: Ollama, LM Studio, vLLM, llama.cpp.

Each is asked for its models at its usual address, or at the one that its variable names. All are
asked at once; a server that does not answer quickly is not there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from msgspec import Struct

from ..errors import TurnoutError
from ..plain import dict_in, list_in, text_in
from ..providers import PROVIDERS
from .ports import Outgoing, Transport
from .small_request import read_object, send_small

SERVERS = ("ollama", "lmstudio", "vllm", "llamacpp")
PATIENCE = 1.0
"""Seconds; a server on loopback answers in milliseconds."""


class LocalServer(Struct, frozen=True):
    """A server that answered: its provider, its address, and the models that it offers."""

    provider: str
    address: str
    models: tuple[str, ...] = ()


async def local_servers(
    environment: Mapping[str, str], transport: Transport | None = None
) -> list[LocalServer]:
    """The servers that answer now, in a fixed order."""
    if transport is None:
        from .transport import HttpTransport

        transport = HttpTransport()
        try:
            return await local_servers(environment, transport)
        finally:
            await transport.close()
    asked = (_ask_server(name, environment, transport) for name in SERVERS)
    return [found for found in await asyncio.gather(*asked) if found is not None]


async def _ask_server(name: str, environment: Mapping[str, str], transport: Transport) -> LocalServer | None:
    address = server_address(name, environment)
    url = f"{address}/api/tags" if name == "ollama" else f"{address}/models"
    try:
        answer = await send_small(transport, Outgoing("GET", url, {}, b""), PATIENCE)
    except (TurnoutError, OSError, TimeoutError):
        return None
    body = read_object(answer)
    listed = body.get("models") if name == "ollama" else body.get("data")
    if answer.status != 200 or not isinstance(listed, list):
        return None  # something else listens there
    names = (text_in(dict_in(each).get("name") or dict_in(each).get("id")) for each in list_in(listed))
    return LocalServer(name, address, tuple(model for model in names if model))


def server_address(name: str, environment: Mapping[str, str]) -> str:
    """The usual address of a server, or the one that its variable names."""
    known = PROVIDERS[name]
    return (environment.get(known.base_url_variable) or known.base_url).rstrip("/")
