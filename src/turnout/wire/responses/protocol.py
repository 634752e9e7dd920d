"""The Responses API as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...model import Origin
from ..protocol import Protocol, ReadOptions
from .decoder import ResponsesDecoder
from .dialect import ResponsesDialect
from .encoder import ResponsesEncoder
from .scripted_reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def responses_decoder(
    dialect: ResponsesDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> ResponsesDecoder:
    return ResponsesDecoder(origin, turn_key)


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What OpenAI refuses in this body."""
    from ..check.responses.rules import violations

    return violations(body, model=model)


PROTOCOL = Protocol(
    name="responses",
    path="/responses",
    encoder=ResponsesEncoder,
    decoder=responses_decoder,
    reply=REPLY,
    checker=violations_in,
)
