"""The tables of failures: every provider has a text for every kind."""

from __future__ import annotations

from typing import get_args

import pytest

from turnout.errors import FailureKind
from turnout.providers import PROVIDERS
from turnout.simulate.failure_words import ANTHROPIC, CHANGES, GEMINI, MISTRAL, OPENAI, XAI, failure_text

LOCAL = {"network", "truncated", "malformed", "too_large"}
"""Kinds that no provider sends: they happen on the way."""


@pytest.mark.parametrize("table", [OPENAI, ANTHROPIC, GEMINI, MISTRAL, XAI])
def test_every_table_has_every_kind(table: dict[str, object]) -> None:
    """A script may fail in any way at any provider."""
    assert set(get_args(FailureKind)) - LOCAL <= set(table)


def test_changes_are_for_known_providers_and_kinds() -> None:
    """A row that nothing can reach would be dead."""
    assert set(CHANGES) <= set(PROVIDERS)
    for rows in CHANGES.values():
        assert set(rows) <= set(OPENAI)


def test_a_provider_has_its_own_text() -> None:
    """By protocol, then by provider, else that of OpenAI."""
    assert failure_text("anthropic", "anthropic", "overloaded").status == 529
    assert failure_text("kimi", "chat", "overloaded").status == 429
    assert failure_text("together", "chat", "auth") is OPENAI["auth"]
