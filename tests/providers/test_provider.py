"""Addresses that every customer fills in, and models with another API at the same provider."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from turnout import History
from turnout.errors import UsageError
from turnout.targets.request import render, url
from turnout.targets.target import find_target
from turnout.world.config import load_config
from turnout.world.keys import Keys

VERTEX = {"GOOGLE_CLOUD_PROJECT": "p", "VERTEX_ACCESS_TOKEN": "t"}
AZURE = {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/"}
JWT = "eyJhbGciOiJSUzI1NiJ9.eyJhdWQiOiJ4In0.c2lnbmF0dXJl"


@pytest.mark.parametrize(
    ("location", "host"),
    [
        ("", "aiplatform.googleapis.com"),
        ("global", "aiplatform.googleapis.com"),
        ("europe-west4", "europe-west4-aiplatform.googleapis.com"),
        ("eu", "aiplatform.eu.rep.googleapis.com"),
    ],
)
@pytest.mark.parametrize(
    ("model", "publisher"), [("gemini-2.5-pro", "google"), ("claude-sonnet-4-5@20250929", "anthropic")]
)
def test_vertex_has_a_host_for_each_location(location: str, host: str, model: str, publisher: str) -> None:
    """Without a location it is `global`, which has no region in its host."""
    place = find_target(f"vertex:{model}", environment={**VERTEX, "GOOGLE_CLOUD_LOCATION": location})
    at = location or "global"
    assert place.provider.base_url == (f"https://{host}/v1/projects/p/locations/{at}/publishers/{publisher}")


@pytest.mark.parametrize(
    ("to", "environment", "expected"),
    [
        ("azure:gpt-4o", AZURE, "https://mine.openai.azure.com/openai/v1/chat/completions"),
        ("azure-responses:gpt-5.1", AZURE, "https://mine.openai.azure.com/openai/v1/responses"),
        (
            "azure:gpt-4o",
            {"AZURE_OPENAI_ENDPOINT": "https://mine.openai.azure.com/openai/v1/"},
            "https://mine.openai.azure.com/openai/v1/chat/completions",
        ),
        (
            "azure@deployments:d",
            AZURE,
            "https://mine.openai.azure.com/openai/deployments/d/chat/completions?api-version=2024-10-21",
        ),
        (
            "azure@deployments:d",
            {"AZURE_RESOURCE_NAME": "ours", "OPENAI_API_VERSION": "2025-01-01-preview"},
            "https://ours.openai.azure.com/openai/deployments/d/chat/completions?api-version=2025-01-01-preview",
        ),
    ],
)
def test_azure_is_at_the_address_that_its_variables_give(
    to: str, environment: dict[str, str], expected: str
) -> None:
    """By endpoint or by the name of the resource, on both of its paths."""
    assert url(find_target(to, environment=environment)) == expected


@pytest.mark.parametrize("to", ["vertex:gemini-2.5-pro", "azure:gpt-4o"])
def test_an_address_with_a_blank_is_not_asked(to: str) -> None:
    """The error names the variables, before anything is sent."""
    place = find_target(to, environment={})
    with pytest.raises(UsageError, match=r"GOOGLE_CLOUD_PROJECT|AZURE_OPENAI_ENDPOINT"):
        asyncio.run(Keys({"VERTEX_ACCESS_TOKEN": "t", "AZURE_OPENAI_API_KEY": "k"}).headers(place))


@pytest.mark.parametrize(
    ("key", "headers"), [("a1b2", {"api-key": "a1b2"}), (JWT, {"authorization": f"Bearer {JWT}"})]
)
def test_azure_takes_a_key_or_a_token_of_entra(key: str, headers: dict[str, str]) -> None:
    """Whichever variable or command it comes from: a token is known by its form."""
    place = find_target("azure:gpt-4o", environment=AZURE)
    assert asyncio.run(Keys({"AZURE_OPENAI_API_KEY": key}).headers(place)) == headers
    assert asyncio.run(Keys({}, {"azure": lambda: key}).headers(place)) == headers


def test_a_target_of_the_configuration_fills_its_own_address(tmp_path: Path) -> None:
    """Two projects, two places: the settings of a target come before the environment."""
    home = tmp_path / "home"
    (home / "turnout").mkdir(parents=True)
    (home / "turnout" / "config.toml").write_text(
        """
[targets.work]
target = "vertex:claude-sonnet-4-5"
project = "work-1"
location = "us-east5"
[targets.old]
target = "azure@deployments:mine"
resource = "ours"
api_version = "2024-06-01"
"""
    )
    environment = {"XDG_CONFIG_HOME": str(home), "HOME": str(home), **VERTEX}
    config = load_config(environment, tmp_path)
    assert url(config.target("work")) == (
        "https://us-east5-aiplatform.googleapis.com/v1/projects/work-1/locations/us-east5/publishers/anthropic"
        "/models/claude-sonnet-4-5:rawPredict"
    )
    assert url(config.target("old")).startswith("https://ours.openai.azure.com/openai/deployments/mine/")
    assert url(config.target("old")).endswith("api-version=2024-06-01")
    assert config.target("vertex:gemini-2.5-pro").provider.base_url.startswith("https://aiplatform.")


def test_claude_on_vertex_is_the_messages_api_without_a_model() -> None:
    """The body has the version, and the path has the model."""
    place = find_target("vertex:claude-sonnet-4-5@20250929")
    history = History("h")
    history.user("hi")
    body = render(history, place, stream=True).json
    assert body["anthropic_version"] == "vertex-2023-10-16" and "model" not in body
    assert body["stream"] is True and place.api == "anthropic"
