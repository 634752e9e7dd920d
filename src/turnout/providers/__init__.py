"""Every provider, and how a target's name becomes a place to send to."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from msgspec import Struct
from msgspec.structs import replace

from ..errors import UsageError
from ..history.ingest.formats import folded
from ..model import Origin
from ..wire.protocol import ModelFacts
from . import (
    anthropic,
    azure,
    copilot,
    deepseek,
    gemini,
    hosts,
    kimi,
    local,
    mistral,
    openai,
    openrouter,
    qwen,
    xai,
    zai,
)
from .models import facts
from .provider import Dialect, Provider

PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        openai.PROVIDER,
        openai.RESPONSES,
        anthropic.PROVIDER,
        gemini.PROVIDER,
        gemini.VERTEX,
        mistral.PROVIDER,
        kimi.PROVIDER,
        deepseek.PROVIDER,
        qwen.PROVIDER,
        xai.PROVIDER,
        hosts.GROQ,
        copilot.PROVIDER,
        openrouter.PROVIDER,
        hosts.TOGETHER,
        hosts.FIREWORKS,
        hosts.CEREBRAS,
        zai.PROVIDER,
        local.OLLAMA,
        local.VLLM,
        local.LLAMACPP,
        local.LMSTUDIO,
        azure.PROVIDER,
        local.COMPATIBLE,
    )
}


class Target(Struct, frozen=True):
    """A place to send to: a provider, its endpoint, a model."""

    origin: Origin
    provider: Provider
    dialect: Dialect
    facts: ModelFacts

    @property
    def model(self) -> str:
        return self.origin.model

    @property
    def api(self) -> str:
        """The protocol that is spoken there: chat, responses, anthropic, gemini."""
        return self.dialect.api


def provider(name: str) -> Provider:
    """The provider of that name, or of that other name."""
    if (found := _names().get(folded(name))) is not None:
        return found
    near = get_close_matches(folded(name), list(_names()), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(PROVIDERS)}."
    raise UsageError(f"unknown provider {name!r}; {hint} Any other server: 'compatible:MODEL' with base_url=")


@cache
def _names() -> dict[str, Provider]:
    names = dict(PROVIDERS)
    for known in PROVIDERS.values():
        names |= dict.fromkeys(map(folded, known.aliases), known)
    return names


def target(
    name: str | Origin | Target, *, base_url: str = "", endpoint: str = "", project: str = ""
) -> Target:
    """Read `provider:model` or `provider@endpoint:model`."""
    if isinstance(name, Target):
        return name
    origin = Origin.parse(name)
    found = provider(origin.provider).at(origin.endpoint)
    if not found.is_spoken(origin.model):
        raise UsageError(
            f"{found.name} serves {origin.model} through an API that turnout does not speak; name "
            "another provider of it, such as 'anthropic:MODEL' for Claude, or 'openrouter:MODEL'"
        )
    if base_url:
        found = replace(found, base_url=base_url.rstrip("/"))
    if project:
        found = replace(found, project=project)
    origin = Origin(found.name, endpoint or origin.endpoint, origin.model)
    return Target(origin, found, found.speaks(origin.model), facts(origin.model))


__all__ = ["PROVIDERS", "Dialect", "Provider", "Target", "provider", "target"]
