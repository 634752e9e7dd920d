"""Everything that is known of one model at one provider: its family, the catalogue, and what users set."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from ..model import Origin
from ..wire.request import ModelFacts
from .catalogue import context_window
from .models import facts, normalize_model_name

OVERRIDES: dict[tuple[str, str], dict[str, Any]] = {}
"""Facts that users set, by provider and normalized name; they count for names that begin so."""


def known_facts(origin: Origin) -> ModelFacts:
    """The facts of a model. Its window is the catalogue's; the rest is its family's."""
    return _facts_at(origin.provider, origin.model)


def set_facts(provider: str, model: str, **values: Any) -> None:
    """Override facts for this process: `context`, `output`. A model with its own facts counts as known."""
    OVERRIDES[provider, normalize_model_name(model)] = values
    _facts_at.cache_clear()


@lru_cache(maxsize=512)
def _facts_at(provider: str, model: str) -> ModelFacts:
    found = facts(model)
    if (window := context_window(provider, model)) is not None and window != found.context:
        found = replace(found, context=window)
    own = _set_by_user(provider, normalize_model_name(model))
    return replace(found, known=found.known or "output" in own, **own) if own else found


def _set_by_user(provider: str, name: str) -> dict[str, Any]:
    cuts = (name[:cut] for cut in range(len(name), 0, -1))
    return next((OVERRIDES[provider, cut] for cut in cuts if (provider, cut) in OVERRIDES), {})
