"""Ollama's own API as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...model import Origin
from ...streaming.texttools import syntax_of
from ..chat.decoder import ChatOptions
from ..chat.dialect import ChatDialect
from ..protocol import Protocol, ReadOptions
from .decoder import OllamaDecoder
from .dialect import OllamaDialect
from .encoder import OllamaEncoder
from .reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def ollama_decoder(
    dialect: OllamaDialect | ChatDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> OllamaDecoder:
    """Also for a Chat target whose server answers in Ollama's lines."""
    tags = dialect.think_tags if options.think_tags is None else options.think_tags
    syntax = syntax_of(origin.model) if options.text_tools else ""
    return OllamaDecoder(origin, turn_key, ChatOptions("think" if tags else "", text_tools=syntax))


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What Ollama refuses in this body."""
    from ..check.ollama.rules import violations

    return violations(body, model=model)


PROTOCOL = Protocol(
    name="ollama",
    path="/api/chat",
    encoder=OllamaEncoder,
    decoder=ollama_decoder,
    reply=REPLY,
    checker=violations_in,
    arguments_are_objects=True,
)
