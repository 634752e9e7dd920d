"""Model names as people type them."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnout.errors import UsageError
from turnout.providers import PROVIDERS
from turnout.world.config import DEFAULT_MODELS, load_config
from turnout.world.model_names import full_target_name, known_model_names, maker_of


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gpt-5.1", "openai:gpt-5.1"),
        ("gpt-5.1-2025-11-13", "openai:gpt-5.1-2025-11-13"),
        ("openai/gpt-5.1", "openai:gpt-5.1"),
        ("openai:gpt-5.1", "openai:gpt-5.1"),
        ("claude-sonnet-4-5", "anthropic:claude-sonnet-4-5"),
        ("claude-sonnet-4.5", "anthropic:claude-sonnet-4-5"),
        ("anthropic/claude-sonnet-4.5", "anthropic:claude-sonnet-4-5"),
        ("openrouter/anthropic/claude-sonnet-4.5", "openrouter:anthropic/claude-sonnet-4.5"),
        ("openrouter:anthropic/claude-sonnet-4.5", "openrouter:anthropic/claude-sonnet-4.5"),
        ("opus-4-5", "anthropic:claude-opus-4-5"),
        ("gpt-9-turbo", "openai:gpt-9-turbo"),
        ("ollama/qwen3:8b", "ollama:qwen3:8b"),
        ("ollama:qwen3:8b", "ollama:qwen3:8b"),
        ("kimi-k2.5", "kimi:kimi-k2.5"),
        ("anthropic", "anthropic"),
        ("openai@eu:gpt-4o", "openai@eu:gpt-4o"),
    ],
)
def test_a_name_means_one_target(typed: str, meant: str) -> None:
    """The maker of a model is its provider; a slash and a colon are the same."""
    assert full_target_name(typed) == meant


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("sonnet", "fits several models: anthropic:claude-sonnet"),
        ("gpt5.1", "did you mean openai:gpt-5.1"),
        ("gpt-oss-20b", "write provider:model"),
        ("nonsense", "`turnout models` lists the known ones"),
    ],
)
def test_an_unclear_name_is_an_error_that_helps(typed: str, said: str) -> None:
    """A wrong guess would cost money, so nothing is guessed."""
    with pytest.raises(UsageError, match=said):
        full_target_name(typed)


def test_every_default_model_is_found_by_its_name_alone(tmp_path: Path) -> None:
    """The maker of each default model is the provider that it is a default of, hosts aside."""
    config = load_config({"HOME": str(tmp_path)}, tmp_path)
    for provider, model in DEFAULT_MODELS.items():
        if provider not in ("openrouter", "groq", "openai-responses") and "/" not in model:
            assert str(config.target(model).origin) == f"{provider}:{model}"


def test_every_known_name_is_of_a_known_provider() -> None:
    """The list that /model offers holds only targets that can be asked."""
    names = known_model_names()
    assert len(names) > 50
    assert all(name.partition(":")[0] in PROVIDERS and maker_of(name.partition(":")[2]) for name in names)


def test_a_configuration_takes_the_short_names(tmp_path: Path) -> None:
    """-m and `model =` read the same names."""
    config = load_config({"HOME": str(tmp_path)}, tmp_path)
    for name in ("gpt-5.1", "openai/gpt-5.1"):
        assert str(config.target(name).origin) == "openai:gpt-5.1"
