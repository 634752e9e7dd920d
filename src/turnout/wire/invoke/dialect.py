"""How Claude behind InvokeModel differs from Anthropic's own API."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from msgspec import field

from ..anthropic.dialect import ON_ANTHROPIC_ONLY, AnthropicDialect

VERSION = "bedrock-2023-05-31"


class InvokeDialect(AnthropicDialect, frozen=True, kw_only=True):
    """Path and body say what Anthropic's own API has in headers: the model, the version, the betas."""

    api: ClassVar[str] = "invoke"

    opens_web: bool = False
    names_model: bool = False
    betas_in_body: bool = True
    streams_by_path: bool = True
    caching: Literal["automatic", "blocks", ""] = "blocks"
    lacks: tuple[str, ...] = ON_ANTHROPIC_ONLY
    extra_body: dict[str, Any] = field(default_factory=lambda: {"anthropic_version": VERSION})
