"""What a request to Ollama's own API asks for. Bodies for its Chat API are read too."""

from __future__ import annotations

from typing import Any

from .chat import ollama_options
from .chat import read_options as chat_options
from .fields import Fields


def read_options(fields: Fields) -> dict[str, Any]:
    native = ollama_options(fields)
    return {**chat_options_of_the_rest(fields), **native}


def chat_options_of_the_rest(fields: Fields) -> dict[str, Any]:
    """Options in the words of Chat. What only Ollama's own API has is put back afterwards."""
    held = {
        name: fields.leftover.pop(name) for name in ("options", "keep_alive", "think") if fields.has(name)
    }
    found = chat_options(fields)
    fields.leftover.update(held)
    return found
