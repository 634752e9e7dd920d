"""Everything that is known of one model at one provider: its family, the catalogue, and what users set."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from msgspec.structs import replace

from ..model import Origin
from ..wire.request import ModelFacts
from .catalogue import LimitRow, context_window, limit_row
from .models import IMAGE, OTHER_MEDIA, facts, family_name, normalize_model_name

OVERRIDES: dict[tuple[str, str], dict[str, Any]] = {}
"""Facts that users set, by provider and normalized name; they count for names that begin so."""


def known_facts(origin: Origin) -> ModelFacts:
    """The facts of a model. Its window and its limits are the catalogue's; the rest is its family's."""
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
    found = _with_listed_limits(found, provider, model)
    own = _set_by_user(provider, normalize_model_name(model))
    return replace(found, known=found.known or "output" in own, **own) if own else found


def _with_listed_limits(found: ModelFacts, provider: str, model: str) -> ModelFacts:
    """What the catalogue lists, if it is about this model and not about a wider family than the table's."""
    name, row = limit_row(provider, model)
    if not name or len(name) < len(family_name(model)):
        return found
    # A listed limit says nothing about media that are not listed: a family that is unknown may read them.
    possible = found.media if found.known else (*found.media, *OTHER_MEDIA)
    media = tuple(kind for kind in possible if _reads(row, kind) is not False)
    media += tuple(kind for kind in IMAGE if row.image and not any("image/" in each for each in media))
    output = found.output if row.output is None else row.output
    return replace(found, output=output, media=media, known=found.known or row.output is not None)


def _reads(row: LimitRow, kind: str) -> bool | None:
    """Whether the model reads this kind of media, where that is listed."""
    named = "pdf" if kind.endswith("pdf") else kind.partition("/")[0]
    return getattr(row, named, None)


def _set_by_user(provider: str, name: str) -> dict[str, Any]:
    cuts = (name[:cut] for cut in range(len(name), 0, -1))
    return next((OVERRIDES[provider, cut] for cut in cuts if (provider, cut) in OVERRIDES), {})
