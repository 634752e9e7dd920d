"""Converse as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...model import Origin
from ..protocol import Protocol, ReadOptions
from .decoder import ConverseDecoder
from .dialect import ConverseDialect
from .encoder import ConverseEncoder
from .scripted_reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def converse_decoder(
    dialect: ConverseDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> ConverseDecoder:
    return ConverseDecoder(origin, turn_key)


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What Bedrock refuses in this body."""
    from ..check.converse.rules import violations

    return violations(body, model=model)


PROTOCOL = Protocol(
    name="converse",
    path="/model/{model}/converse",
    stream_path="/model/{model}/converse-stream",
    encoder=ConverseEncoder,
    decoder=converse_decoder,
    reply=REPLY,
    checker=violations_in,
    arguments_are_objects=True,
    quotes_model=True,
)
