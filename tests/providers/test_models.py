"""What models can do: the longest prefix of a normalized name."""

from __future__ import annotations

import pytest

from turnout.model import Origin
from turnout.providers.known_facts import known_facts
from turnout.providers.models import MODELS, facts, normalize_model_name


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("anthropic/claude-sonnet-4.5", "claude-sonnet-4-5"),
        ("us.anthropic.claude-opus-4-8", "claude-opus-4-8"),
        ("models/gemini-2.5-pro", "gemini-2.5-pro"),
        ("accounts/fireworks/models/kimi-k2p5", "kimi-k2.5"),
        ("GPT-5.1", "gpt-5.1"),
    ],
)
def test_names_of_hosts_are_normalized(written: str, name: str) -> None:
    """Vendors, upper case and the dots of Claude's versions do not hide a model."""
    assert normalize_model_name(written) == name


def test_the_longest_prefix_wins() -> None:
    """A dated or suffixed name has the facts of its model."""
    assert facts("gpt-5.1-2026-01-01") is MODELS["gpt-5.1"]
    assert facts("claude-opus-4-8-latest") is MODELS["claude-opus-4-8"]


def test_an_unknown_model_gets_the_defaults() -> None:
    """It is marked as unknown, so that nothing is clamped to a guess."""
    assert not facts("some-new-model").known
    assert facts("gpt-4o").known


def test_every_name_of_the_table_is_found_as_it_is_written() -> None:
    """No row hides behind the normalization."""
    assert [name for name in MODELS if facts(name) is not MODELS[name]] == []


def test_a_listed_limit_does_not_narrow_what_an_unknown_family_reads() -> None:
    """Voxtral on Bedrock is listed with its limit and its hearing; what is not listed may be sent too."""
    voxtral = known_facts(Origin("bedrock", "openai", "mistral.voxtral-mini-3b-2507"))
    assert voxtral.output == 8192
    assert {"audio/", "video/", "image/png"} <= set(voxtral.media)
