"""Which targets a model name means, and the lists of models in each caller's shape. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from fnmatch import fnmatchcase
from typing import Any

from ...errors import ProviderError, UsageError
from ...model import Origin
from ...providers import PROVIDERS, find_provider
from ...world.gateway_settings import GatewaySettings

WILD = "*?["


def targets_of(
    asked: str,
    header: str,
    settings: GatewaySettings,
    own: Callable[[str], bool],
    usual: Callable[[str], str],
) -> tuple[str, ...]:
    """The targets for a model name, in the order of failover.

    `own` says whether a name is a target of the configuration; `usual` gives one where nothing matches.
    """
    if header:
        return (header,)
    name = asked.removeprefix("models/")
    if (exact := settings.models.get(name)) is not None:
        return _target_names(exact)
    if own(name) or is_target(name):
        return (name,)
    patterns = [each for each in settings.models if any(mark in each for mark in WILD)]
    for pattern in sorted(patterns, key=len, reverse=True):
        if fnmatchcase(name, pattern):
            return _target_names(settings.models[pattern])
    found = settings.default or usual(name)
    if not found:
        raise ProviderError(
            f"no target for the model {name!r}: name it provider:model, or set [gateway] default",
            kind="not_found",
            status=404,
        )
    return _target_names(found)


FAMILIES = (
    ("claude", "anthropic"),
    ("gpt", "openai"),
    ("chatgpt", "openai"),
    ("o1", "openai"),
    ("o3", "openai"),
    ("o4", "openai"),
    ("gemini", "gemini"),
    ("mistral", "mistral"),
    ("codestral", "mistral"),
    ("kimi", "kimi"),
    ("deepseek", "deepseek"),
    ("grok", "xai"),
    ("glm", "zai"),
    ("qwen", "qwen"),
)
"""How names of models begin, and who makes them."""


def maker_of(name: str) -> str:
    """The provider whose model a name is, as far as the name tells; "" where it does not."""
    return next((provider for start, provider in FAMILIES if name.startswith(start)), "")


def is_target(name: str) -> bool:
    """Whether a name is `provider:model` of a provider that we know."""
    provider, colon, model = name.partition(":")
    if not colon or not model or "/" in provider:
        return False
    try:
        find_provider(provider.partition("@")[0])
    except UsageError:
        return False
    return True


def origin_of(asked: str, protocol: str) -> Origin:
    """Who is taken to have written the replies that do not carry our state: the model that is asked for."""
    name = asked.removeprefix("models/")
    if is_target(name):
        return Origin.parse(name)
    return Origin(HOMES[protocol], "", name)


HOMES = {"chat": "openai", "responses": "openai-responses", "anthropic": "anthropic", "gemini": "gemini"}


def _target_names(value: str | Iterable[str]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else tuple(value)


# Lists


def model_list(protocol: str, names: Iterable[str]) -> dict[str, Any]:
    """All models, in the shape that a caller of this protocol reads."""
    listed = [model_entry(protocol, name) for name in names]
    if protocol == "gemini":
        return {"models": listed}
    if protocol == "anthropic":
        ends = {"first_id": listed[0]["id"], "last_id": listed[-1]["id"]} if listed else {}
        return {"data": listed, "has_more": False, "first_id": None, "last_id": None, **ends}
    return {"object": "list", "data": listed}


def model_entry(protocol: str, name: str) -> dict[str, Any]:
    if protocol == "gemini":
        methods = ["generateContent", "countTokens"]
        return {
            "name": f"models/{name}",
            "baseModelId": name,
            "version": "1",
            "displayName": name,
            "description": name,
            "inputTokenLimit": 1_000_000,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": methods,
        }
    if protocol == "anthropic":
        return {"type": "model", "id": name, "display_name": name, "created_at": "1970-01-01T00:00:00Z"}
    return {"id": name, "object": "model", "created": 0, "owned_by": "turnout"}


def listed_names(settings: GatewaySettings, targets: Iterable[str]) -> list[str]:
    """Configured names that a client can ask for, then targets that there is a key for."""
    exact = [name for name in settings.models if not any(mark in name for mark in WILD)]
    mapped = [each for value in settings.models.values() for each in _target_names(value)]
    default = _target_names(settings.default) if settings.default else ()
    return list(dict.fromkeys([*exact, *default, *mapped, *targets]))


def is_allowed(name: str, patterns: tuple[str, ...]) -> bool:
    """Whether a key may ask for a model; without patterns it may ask for all."""
    return not patterns or any(fnmatchcase(name, pattern) for pattern in patterns)


def key_variables(origin: Origin) -> str:
    """The variable of a provider's key, for a message."""
    known = PROVIDERS.get(origin.provider)
    return " or ".join(known.key_variables) if known is not None and known.key_variables else "its key"
