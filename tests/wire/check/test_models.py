"""What the name of a model shows."""

from __future__ import annotations

import pytest

from turnout.wire.check import models


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("moonshotai/kimi-k2.5", "kimi"),
        ("deepseek-r1-distill-qwen-32b", "deepseek"),
        ("gpt-oss-120b", "open"),
        ("o3-mini", "openai"),
        ("some-model", ""),
    ],
)
def test_a_name_shows_the_family(model: str, family: str) -> None:
    """The first known word decides; a distilled model belongs to its teacher."""
    assert models.family(model) == family


def test_a_name_shows_the_version() -> None:
    """Dots, dashes and dates are told apart."""
    assert models.gpt_version("gpt-5.6-terra") == (5, 6)
    assert models.claude_version("claude-haiku-4-5-20251001") == (4, 5)
    assert models.claude_version("claude-sonnet-4-20250514") == (4, 0)
    assert models.kimi_version("accounts/x/models/kimi-k2p5") == (2, 5)
    assert models.gemini_version("gpt-4o") == 0


def test_a_vendor_before_the_name_is_another_server() -> None:
    """Fine-tuned models are OpenAI's own."""
    assert models.is_elsewhere("openai/gpt-5")
    assert not models.is_elsewhere("ft:gpt-4o:me/x")
