"""Ask an Ollama server: which models it has, and how much one of them reads.

Both are small requests with a short timeout. A server that does not answer is not an error here:
the next request says what is wrong.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ..plain import dumps, loads
from ..targets.target import Target
from ..wire.ollama.models import model_names, served_facts
from .ports import Outgoing, Transport

PATIENCE = 5.0
MOST_BYTES = 16 * 1024 * 1024
"""The answer about one model holds its licence and its template."""


async def list_models(base_url: str, transport: Transport, headers: Mapping[str, str]) -> tuple[str, ...]:
    """The names of the models at this address; () where nothing answers."""
    url = f"{base_url.rstrip('/').removesuffix('/v1')}/api/tags"
    return model_names(await _answer_to(Outgoing("GET", url, dict(headers), b""), transport))


async def with_served_facts(target: Target, transport: Transport, headers: Mapping[str, str]) -> Target:
    """The target with the facts that its server gives; the same target where it gives none."""
    url = f"{target.provider.base_url.removesuffix('/v1')}/api/show"
    body = dumps({"model": target.model}).encode()
    asked = Outgoing("POST", url, {"content-type": "application/json", **headers}, body)
    facts = served_facts(await _answer_to(asked, transport), target.facts)
    return target if facts == target.facts else replace(target, facts=facts)


async def _answer_to(request: Outgoing, transport: Transport) -> Any:
    try:
        async with asyncio.timeout(PATIENCE), transport.send(request) as answer:
            data = b""
            async for chunk in answer.chunks:
                data += chunk
                if len(data) > MOST_BYTES:
                    return None
            return loads(data) if answer.status == 200 else None
    except (OSError, ValueError, RecursionError):  # no server, or not Ollama; a timeout is an OSError too
        return None
