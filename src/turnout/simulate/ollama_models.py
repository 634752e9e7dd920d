"""What a simulated Ollama says of its models: any model is there, and reads 40,960 tokens."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from ..wire.shared.framing import encode
from .provider import SimulatedAnswer

CONTEXT = 40_960
TAGS: dict[str, Any] = {"models": [{"name": "demo:latest", "model": "demo:latest", "size": 0}]}


def models_answer(url: str) -> SimulatedAnswer | None:
    """The answer of `/api/show` and `/api/tags`; None for any other URL."""
    path = urlsplit(url).path
    if path.endswith("/api/tags"):
        return _json_answer(TAGS)
    if not path.endswith("/api/show"):
        return None
    info = {"general.architecture": "demo", "demo.context_length": CONTEXT}
    return _json_answer({"model_info": info, "capabilities": ["completion", "tools", "thinking", "vision"]})


def _json_answer(body: dict[str, Any]) -> SimulatedAnswer:
    return SimulatedAnswer(200, {"content-type": "application/json"}, (encode(body),))
