"""Every provider, as data: one small file each, and the tables of models and prices.

Others import `PROVIDERS` and `find_provider`. Imports `wire` (protocols and dialects) and what is below it.
"""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache

from ..errors import UsageError
from ..history.api_names import fold_name, unspoken_name
from . import (
    anthropic,
    azure,
    bedrock,
    cohere,
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
    sambanova,
    vertex,
    xai,
    zai,
)
from .provider import Provider

PROVIDERS: dict[str, Provider] = {
    provider.name: provider
    for provider in (
        openai.PROVIDER,
        openai.RESPONSES,
        anthropic.PROVIDER,
        gemini.PROVIDER,
        vertex.PROVIDER,
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
        azure.RESPONSES,
        sambanova.PROVIDER,
        cohere.PROVIDER,
        bedrock.PROVIDER,
        local.COMPATIBLE,
    )
}


def find_provider(name: str) -> Provider:
    """The provider of that name or alias."""
    if (found := _providers_by_name().get(fold_name(name))) is not None:
        return found
    if why := unspoken_name(fold_name(name)):
        raise UsageError(f"no provider is called {name!r}: {why}; use that name")
    near = get_close_matches(fold_name(name), list(_providers_by_name()), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(PROVIDERS)}."
    raise UsageError(
        f"unknown provider {name!r}; {hint} For any other server, use 'compatible:MODEL' with its base URL"
    )


@cache
def _providers_by_name() -> dict[str, Provider]:
    names = dict(PROVIDERS)
    for known in PROVIDERS.values():
        names |= dict.fromkeys(map(fold_name, known.aliases), known)
    return names


__all__ = ["PROVIDERS", "Provider", "find_provider"]
