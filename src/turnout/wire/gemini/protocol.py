"""generateContent as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...model import Origin
from ..protocol import Protocol, ReadOptions
from .decoder import GeminiDecoder
from .dialect import GeminiDialect
from .encoder import GeminiEncoder
from .scripted_reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def gemini_decoder(
    dialect: GeminiDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> GeminiDecoder:
    return GeminiDecoder(origin, turn_key)


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What Google refuses in this body."""
    from ..check.gemini.rules import violations

    return violations(body, model=model)


PROTOCOL = Protocol(
    name="gemini",
    path="/models/{model}:generateContent",
    stream_path="/models/{model}:streamGenerateContent?alt=sse",
    encoder=GeminiEncoder,
    decoder=gemini_decoder,
    reply=REPLY,
    checker=violations_in,
    arguments_are_objects=True,
)
