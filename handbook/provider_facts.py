"""The facts of a provider as a table: what is looked at for its key, where it lives, what it speaks."""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace

from turnout.providers import PROVIDERS, Provider
from turnout.world.config import DEFAULT_MODELS

PAGES = {
    "openai-responses": "openai.md",
    "azure-responses": "azure.md",
}
"""Providers that share the page of another."""

APIS = {
    "chat": "Chat Completions",
    "responses": "Responses",
    "anthropic": "Anthropic's Messages",
    "gemini": "Gemini's generateContent",
    "ollama": "Ollama's own API",
    "cohere": "Cohere Chat 2",
    "converse": "Bedrock Converse",
    "invoke": "Bedrock InvokeModel, in Anthropic's format",
}
HEADERS = {
    "bearer": "`Authorization: Bearer`",
    "x-api-key": "`x-api-key`",
    "x-goog-api-key": "`x-goog-api-key`",
    "api-key": "`api-key`",
}
SOURCES = {
    "google": "else google-auth is asked (extra `vertex`)",
    "aws": "else requests are signed with AWS credentials",
}


def facts_table(name: str) -> str:
    """The facts of one provider, for its page."""
    rows = [f"| {left} | {right} |" for left, right in _rows(PROVIDERS[name]) if right]
    return "\n".join([f"| `{name}` | |", "|---|---|", *rows]) + "\n"


def _rows(provider: Provider) -> Iterator[tuple[str, str]]:
    yield "target", _target(provider)
    yield "also called", _quoted(provider.aliases)
    yield "speaks", _apis(provider)
    yield "key", _key(provider)
    yield "address", _address(provider)
    for blank in provider.blanks:
        yield _blank_row(blank.word, blank.setting, blank.variables, blank.usual)
    for endpoint in provider.variants:
        yield f"`{provider.name}@{endpoint}:MODEL`", _endpoint(provider, endpoint)
    yield "model without `-m`", _quoted((DEFAULT_MODELS.get(provider.name, ""),))
    yield "not spoken there", _quoted(provider.unspoken_models)


def _target(provider: Provider) -> str:
    alone = f", or `{provider.name}` for the model that is loaded" if provider.serves_one else ""
    return f"`{provider.name}:MODEL`{alone}"


def _apis(provider: Provider) -> str:
    served = [
        f"{_api(replace(provider, **changes))} for `{pattern}`"
        for pattern, changes in provider.serves
        if "dialect" in changes
    ]
    more = [f"{api} for {_quoted(patterns)}" for api, patterns in _other_apis(provider).items()]
    return "; ".join([_api(provider), *served, *more])


def _other_apis(provider: Provider) -> dict[str, tuple[str, ...]]:
    """The patterns of models that are spoken to through another API, by the API."""
    found: dict[str, tuple[str, ...]] = {}
    for pattern, dialect in provider.overrides:
        if dialect.api != provider.dialect.api:
            found[APIS[dialect.api]] = (*found.get(APIS[dialect.api], ()), pattern)
    return found


def _api(provider: Provider) -> str:
    return APIS[provider.dialect.api]


def _key(provider: Provider) -> str:
    if provider.auth == "none" or not provider.key_variables:
        return "none"
    optional = " (not needed on this machine)" if "127.0.0.1" in provider.base_url else ""
    source = f"; {SOURCES[provider.token_source]}" if provider.token_source else ""
    words = " or ".join(f"`{name}`" for name in provider.key_variables)
    return f"{words}, sent as {HEADERS[provider.auth]}{optional}{source}"


def _address(provider: Provider) -> str:
    variable = f"; `{provider.base_url_variable}` sets another" if provider.base_url_variable else ""
    return f"`{provider.base_url}`{variable}"


def _blank_row(word: str, setting: str, variables: tuple[str, ...], usual: str) -> tuple[str, str]:
    otherwise = f", else `{usual}`" if usual else ""
    return f"`{word}`", f"`{setting}` of a target, or {_quoted(variables)}{otherwise}"


def _endpoint(provider: Provider, endpoint: str) -> str:
    there = provider.at(endpoint)
    differences = [
        _apis(there) if _api(there) != _api(provider) else "",
        f"key: {_key(there)}" if _key(there) != _key(provider) else "",
        f"at `{there.base_url}`" if there.base_url != provider.base_url else "",
    ]
    return "; ".join(each for each in differences if each)


def _quoted(names: tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names if name)


def provider_table() -> str:
    """Every provider with its page, what it speaks and the variables of its key."""
    lines = ["| provider | speaks | key |", "|---|---|---|"]
    for name, provider in PROVIDERS.items():
        keys = " or ".join(f"`{variable}`" for variable in provider.key_variables)
        local = "not needed" if "127.0.0.1" in provider.base_url else keys
        lines.append(f"| [`{name}`]({page_of(name)}) | {_apis(provider)} | {local} |")
    return "\n".join(lines) + "\n"


def page_of(name: str) -> str:
    """The file in docs/providers that has the facts of a provider."""
    return PAGES.get(name, f"{name}.md")
