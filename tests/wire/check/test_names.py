"""All names of an API lead to one checker."""

from __future__ import annotations

import pytest

from turnout.errors import UsageError
from turnout.targets.target import find_target
from turnout.wire.check.names import CHECKERS, NAMES, checker_for, format_of, likely_api, resolve_api


def test_a_target_names_its_checker_and_its_model() -> None:
    """Separators, case and endpoints do not matter."""
    assert resolve_api("OpenAI_Responses:gpt-5.1") == ("openai-responses", "gpt-5.1")
    assert resolve_api("gemini@oauth:gemini-2.5-pro") == ("gemini", "gemini-2.5-pro")
    assert resolve_api("claude") == ("anthropic", "")


def test_an_unknown_name_gets_a_suggestion() -> None:
    """The nearest names are listed."""
    with pytest.raises(UsageError, match=r"did you mean .*anthropic"):
        resolve_api("antropic")


def test_every_alias_leads_to_a_checker() -> None:
    """No alias points at a name without rules."""
    assert set(NAMES.values()) == set(CHECKERS)


def test_the_shape_of_the_body_chooses_among_formats() -> None:
    """A body with `input` is a Responses body, whichever name was given."""
    body = {"input": "hi"}

    assert checker_for("openai", body) is CHECKERS["openai-responses"]
    assert format_of("openai", body) == ("openai-responses", "openai-responses")


@pytest.mark.parametrize(
    ("name", "body", "source", "target"),
    [
        ("bedrock-invoke", {}, "anthropic", "bedrock@invoke"),
        ("bedrock", {"anthropic_version": "bedrock-2023-05-31"}, "anthropic", "bedrock@invoke"),
        ("bedrock", {"model": "openai.gpt-oss-20b-1:0"}, "openai", "bedrock@openai"),
        ("bedrock", {}, "bedrock", "bedrock"),
        ("ollama-native", {}, "ollama", "ollama"),
        ("cohere", {}, "cohere", "cohere"),
        ("vertex", {"messages": []}, "anthropic", "vertex"),
    ],
)
def test_a_body_leads_to_a_target_that_render_takes(
    name: str, body: dict[str, str], source: str, target: str
) -> None:
    """What `check` advises can be typed: the format is one that is read, the target one that is known."""
    assert format_of(name, body) == (source, target)
    assert find_target(f"{target}:claude-sonnet-4-5").provider.name == target.partition("@")[0]


@pytest.mark.parametrize(
    ("body", "api"),
    [
        ({"contents": []}, "gemini"),
        ({"input": "hi"}, "openai-responses"),
        ({"system": "x", "messages": [{"role": "user", "content": "hi"}]}, "anthropic"),
        ({"model": "kimi-k2", "messages": [{"role": "user", "content": "hi"}]}, "kimi"),
        ({"question": "hi"}, ""),
    ],
)
def test_a_body_shows_whose_it_is(body: dict[str, object], api: str) -> None:
    """The shape of the messages decides, then the name of the model."""
    assert likely_api(body) == api
