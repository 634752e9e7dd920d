"""Ollama's own API as a value: `PROTOCOL`. Only its replies are read; requests go through its Chat API."""

from __future__ import annotations

from ...model import Origin
from ..chat.decoder import chat_options
from ..chat.dialect import ChatDialect
from ..protocol import Protocol, ReadOptions
from .decoder import OllamaDecoder
from .reply import REPLY


def ollama_decoder(
    dialect: ChatDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> OllamaDecoder:
    return OllamaDecoder(origin, turn_key, chat_options(dialect, origin.model, options))


PROTOCOL = Protocol(
    name="ollama",
    path="/api/chat",
    encoder=None,
    decoder=ollama_decoder,
    reply=REPLY,
    checker=None,
    arguments_are_objects=True,
)
