"""InvokeModel for Claude as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ...model import Origin
from ..anthropic.encoder import AnthropicEncoder
from ..protocol import Protocol, ReadOptions
from .decoder import InvokeDecoder
from .dialect import InvokeDialect
from .scripted_reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def invoke_decoder(
    dialect: InvokeDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> InvokeDecoder:
    return InvokeDecoder(origin, turn_key)


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What Bedrock refuses in this body."""
    from ..check.converse.invoke import violations

    return violations(body, model=model)


PROTOCOL = Protocol(
    name="invoke",
    path="/model/{model}/invoke",
    stream_path="/model/{model}/invoke-with-response-stream",
    encoder=AnthropicEncoder,
    decoder=invoke_decoder,
    reply=REPLY,
    checker=violations_in,
    quotes_model=True,
)
