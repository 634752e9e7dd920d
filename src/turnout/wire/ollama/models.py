"""What an Ollama server says of its models: the list of `/api/tags`, and one model of `/api/show`."""

from __future__ import annotations

import re
from typing import Any

from msgspec.structs import replace

from ..request import ModelFacts

USUAL_WINDOW = 32_768
"""Tokens that are asked for where the model could read more: a window costs memory on the server."""
IMAGES = ("image/png", "image/jpeg", "image/webp", "image/gif")
_NUM_CTX = re.compile(r"^\s*num_ctx\s+(\d+)\s*$", re.MULTILINE)


def model_names(body: Any) -> tuple[str, ...]:
    """The models of a server, from the answer of `/api/tags`."""
    listed = body.get("models") if isinstance(body, dict) else None
    names = [each.get("model") or each.get("name") for each in listed or () if isinstance(each, dict)]
    return tuple(name for name in names if isinstance(name, str) and name)


def served_facts(body: Any, known: ModelFacts) -> ModelFacts:
    """The facts of a model, from the answer of `/api/show`; `known` where it says nothing."""
    if not isinstance(body, dict):
        return known
    if not (window := _window(body)):
        return known
    made = replace(known, context=window, window=window, output=min(known.output, window), known=True)
    able = body.get("capabilities")
    if not isinstance(able, list):
        return made
    thinking = (known.thinking or ("on", "off")) if "thinking" in able else ()
    media = IMAGES if "vision" in able else ()
    return replace(made, tools="tools" in able, thinking=thinking, media=media)


def _window(body: dict[str, Any]) -> int:
    """The window that the model was set up with, else what it was trained for, up to the usual one."""
    text = body.get("parameters")
    if isinstance(text, str) and (found := _NUM_CTX.search(text)):
        return int(found[1])
    info = body.get("model_info")
    lengths = [
        value
        for name, value in (info.items() if isinstance(info, dict) else ())
        if name.endswith(".context_length") and isinstance(value, int) and value > 0
    ]
    return min(lengths[0], USUAL_WINDOW) if lengths else 0
