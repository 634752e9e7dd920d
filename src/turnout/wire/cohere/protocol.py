"""Cohere's Chat, version 2, as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...model import Origin
from ..protocol import Protocol, ReadOptions
from .decoder import CohereDecoder
from .dialect import CohereDialect
from .encoder import CohereEncoder
from .reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def cohere_decoder(
    dialect: CohereDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> CohereDecoder:
    return CohereDecoder(origin, turn_key)


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What Cohere refuses in this body."""
    from ..check.cohere.rules import violations

    return violations(body, model=model)


PROTOCOL = Protocol(
    name="cohere",
    path="/v2/chat",
    encoder=CohereEncoder,
    decoder=cohere_decoder,
    reply=REPLY,
    checker=violations_in,
)
