"""The Messages API as a value: `PROTOCOL`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ...model import Origin, ToolSpec
from ..options import Options
from ..protocol import Protocol, ReadOptions
from ..shared.added_fields import private_fields
from .betas import betas
from .decoder import AnthropicDecoder
from .dialect import AnthropicDialect
from .encoder import AnthropicEncoder
from .scripted_reply import REPLY

if TYPE_CHECKING:
    from ..check.problem import Problem


def anthropic_decoder(
    dialect: AnthropicDialect, origin: Origin, turn_key: str, options: ReadOptions
) -> AnthropicDecoder:
    return AnthropicDecoder(origin, turn_key)


def violations_in(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """What Anthropic refuses in this body."""
    from ..check.anthropic.rules import violations

    return violations(body, model=model)


def beta_headers(tools: Sequence[ToolSpec], options: Options) -> Mapping[str, str]:
    """The betas that Anthropic's own tools and fields belong to."""
    wanted = betas(tools, private_fields(options))
    return {"anthropic-beta": ",".join(wanted)} if wanted else {}


PROTOCOL = Protocol(
    name="anthropic",
    path="/v1/messages",
    encoder=AnthropicEncoder,
    decoder=anthropic_decoder,
    reply=REPLY,
    checker=violations_in,
    headers=beta_headers,
)
