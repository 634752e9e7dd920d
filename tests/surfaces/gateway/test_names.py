"""Which targets a model name means."""

from __future__ import annotations

import pytest

from turnout.errors import ProviderError
from turnout.model import Origin
from turnout.surfaces.gateway import names
from turnout.surfaces.gateway.routes import GatewayRoute, find_route
from turnout.world.gateway_settings import GatewaySettings

SETTINGS = GatewaySettings(
    default="anthropic:claude-sonnet-4-5",
    models={
        "claude-*": ("kimi:kimi-k2.5", "openai:gpt-5.1"),
        "claude-haiku-*": "gemini:gemini-2.5-flash",
        "claude-haiku-4-5": "mistral:mistral-small-latest",
        "*": "deepseek:deepseek-chat",
        "gpt-5.1": "gemini:gemini-3-pro",
    },
)


def found(
    asked: str, header: str = "", settings: GatewaySettings = SETTINGS, usual: str = ""
) -> tuple[str, ...]:
    return names.targets_of(asked, header, settings, {"work"}.__contains__, lambda _: usual)


@pytest.mark.parametrize(
    ("asked", "targets"),
    [
        ("claude-haiku-4-5", ("mistral:mistral-small-latest",)),
        ("claude-haiku-3", ("gemini:gemini-2.5-flash",)),
        ("claude-opus-4", ("kimi:kimi-k2.5", "openai:gpt-5.1")),
        ("gpt-5.1", ("gemini:gemini-3-pro",)),
        ("models/gpt-5.1", ("gemini:gemini-3-pro",)),
        ("xai:grok-4", ("xai:grok-4",)),
        ("work", ("work",)),
        ("something", ("deepseek:deepseek-chat",)),
    ],
)
def test_the_nearest_name_wins(asked: str, targets: tuple[str, ...]) -> None:
    """An exact name, then a target, then the longer pattern, then the shorter."""
    assert found(asked) == targets


def test_the_header_wins_over_all() -> None:
    """`x-turnout-target` names the target of one request."""
    assert found("gpt-5.1", "openai:gpt-5.1") == ("openai:gpt-5.1",)


def test_without_a_match_the_default_is_asked() -> None:
    """The configured one, else what there is a key for, else it is an error that says what to do."""
    bare = GatewaySettings(default="xai:grok-4")
    assert found("x", settings=bare) == ("xai:grok-4",)
    assert found("x", settings=GatewaySettings(), usual="openai:gpt-5.1") == ("openai:gpt-5.1",)
    with pytest.raises(ProviderError, match="default"):
        found("x", settings=GatewaySettings())


@pytest.mark.parametrize(
    ("asked", "protocol", "origin"),
    [
        ("claude-sonnet-4-5", "anthropic", Origin("anthropic", "", "claude-sonnet-4-5")),
        ("kimi:kimi-k2.5", "chat", Origin("kimi", "", "kimi-k2.5")),
        ("models/gemini-2.5-pro", "gemini", Origin("gemini", "", "gemini-2.5-pro")),
        ("llama:13b", "chat", Origin("openai", "", "llama:13b")),
    ],
)
def test_foreign_replies_are_taken_to_be_of_the_model_that_is_asked(
    asked: str, protocol: str, origin: Origin
) -> None:
    """So a session that began without the gateway keeps its signatures."""
    assert names.origin_of(asked, protocol) == origin


@pytest.mark.parametrize(
    ("path", "model", "action"),
    [
        ("/v1beta/models/kimi:kimi-k2:generateContent", "kimi:kimi-k2", "reply"),
        ("/v1beta/models/openrouter:a/b:c:streamGenerateContent", "openrouter:a/b:c", "reply"),
        ("/v1beta/models/gemini-2.5-pro:countTokens", "gemini-2.5-pro", "count"),
    ],
)
def test_geminis_method_follows_the_last_colon(path: str, model: str, action: str) -> None:
    """A model may hold colons and slashes."""
    route = find_route("POST", path)
    assert isinstance(route, GatewayRoute) and (route.model, route.action) == (model, action)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/messages", 405),
        ("DELETE", "/v1/models", 405),
        ("POST", "/v1/embeddings", 404),
        ("GET", "/v1beta/models/x:generateContent", 405),
        ("POST", "/v1beta/models/x:embedContent", 404),
    ],
)
def test_unknown_paths_and_methods_are_told_apart(method: str, path: str, status: int) -> None:
    """404 for a path that is not there, 405 for a method that it has not."""
    assert find_route(method, path) == status


@pytest.mark.parametrize("protocol", ["chat", "anthropic", "gemini"])
def test_a_list_names_what_can_be_asked_for(protocol: str) -> None:
    """Configured names and targets, in the caller's shape; patterns are not names."""
    listed = names.listed_names(SETTINGS, ["xai:grok-4"])
    assert "claude-*" not in listed and {"gpt-5.1", "kimi:kimi-k2.5", "xai:grok-4"} <= set(listed)
    shown = names.model_list(protocol, listed)
    entries = shown.get("data") or shown["models"]
    assert len(entries) == len(listed)
