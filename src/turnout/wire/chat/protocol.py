"""Chat Completions as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...model import Origin
from ..protocol import Protocol, ReadOptions
from .decoder import ChatDecoder, chat_options
from .dialect import ChatDialect
from .encoder import ChatEncoder
from .scripted_reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def chat_decoder(dialect: ChatDialect, origin: Origin, turn_key: str, options: ReadOptions) -> ChatDecoder:
    return ChatDecoder(origin, turn_key, chat_options(dialect, origin.model, options))


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What OpenAI refuses in this body."""
    from ..check.chat.hosts import openai

    return openai(body, model=model)


PROTOCOL = Protocol(
    name="chat",
    path="/chat/completions",
    encoder=ChatEncoder,
    decoder=chat_decoder,
    reply=REPLY,
    checker=violations_in,
)
