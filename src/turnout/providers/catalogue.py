"""What is known about single models: context windows, prices, output limits, modalities, and when they end.

The data is `catalogue.json`, which `make catalogue` writes; it is read when it is first needed. What
is not in it is unknown. A model that is not listed has the facts of the longest listed name that its
own begins with: a dated version, or a newer member of the family.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache, lru_cache
from pathlib import Path

import msgspec
from msgspec import Struct

from .models import normalize_model_name

MAKERS = ("openai", "anthropic", "gemini", "mistral", "kimi", "deepseek", "xai", "zai", "openrouter")
"""Asked in this order for a model at a host that the catalogue does not list: the window is the maker's."""
LOCAL = frozenset({"ollama", "vllm", "llamacpp", "lmstudio"})
SAME_MODELS = {"openai-responses": "openai", "vertex": "gemini"}
_REGION = re.compile(r"^(?:us|eu|apac|jp|au|ca|in|us-gov)\.")


class LongPrompt(Struct, frozen=True, array_like=True):
    """What a prompt of more than `start` tokens costs: all of it, not only what is beyond."""

    start: int
    input: float | None = None
    output: float | None = None
    cached: float | None = None
    cache_write: float | None = None


class ModelRow(Struct, frozen=True, array_like=True):
    """One model at one provider; prices in US dollars per million tokens."""

    context: int | None = None
    input: float | None = None
    output: float | None = None
    cached: float | None = None
    cache_write: float | None = None
    long: LongPrompt | None = None


class LimitRow(Struct, frozen=True, array_like=True):
    """The most tokens of one answer, and what the model reads; None where that is unknown."""

    output: int | None = None
    image: bool | None = None
    pdf: bool | None = None
    audio: bool | None = None
    video: bool | None = None


class Catalogue(Struct, frozen=True):
    """The whole file."""

    made: str
    sources: dict[str, str]
    models: dict[str, dict[str, ModelRow]]
    limits: dict[str, dict[str, LimitRow]]
    ends: dict[str, dict[str, str]]


@cache
def load_catalogue() -> Catalogue:
    return msgspec.json.decode(Path(__file__).with_name("catalogue.json").read_bytes(), type=Catalogue)


def listing_provider(provider: str, model: str) -> str:
    """Whose rows count for a model: some providers serve the models of others at the same price."""
    if provider == "vertex" and normalize_model_name(model).startswith("claude"):
        return "anthropic"
    return SAME_MODELS.get(provider, provider)


@lru_cache(maxsize=512)
def model_row(provider: str, model: str, *, priced: bool = False) -> ModelRow | None:
    """The row of a model at a provider; None where that provider does not list it.

    With `priced` rows without a price are passed over: a model may be listed for its window only.
    """
    rows = load_catalogue().models.get(listing_provider(provider, model), {})
    if priced:
        rows = {name: row for name, row in rows.items() if row.input is not None}
    if provider == "bedrock":
        return _bedrock_row(rows, model.lower())
    return _longest_prefix(rows, normalize_model_name(model))


@lru_cache(maxsize=512)
def context_window(provider: str, model: str) -> int | None:
    """Tokens that a prompt and its answer may have; None where that is unknown."""
    own = model_row(provider, model)
    if own is not None and own.context is not None:
        return own.context
    if provider in load_catalogue().models or provider in SAME_MODELS:
        return None  # the provider is listed; it may have another window than the maker
    rows = (model_row(maker, model) for maker in MAKERS)
    return next((row.context for row in rows if row is not None and row.context is not None), None)


@lru_cache(maxsize=512)
def limit_row(provider: str, model: str) -> tuple[str, LimitRow]:
    """The limits of a model, and the part of its name that they are listed for; "" where nothing is listed.

    A host that lists no limits is taken to have the maker's. A local server has its window only.
    """
    limits, name = load_catalogue().limits, normalize_model_name(model)
    own = listing_provider(provider, model)
    asked = () if provider in LOCAL else (own,) if own in limits else MAKERS
    for each in asked:
        length, found = _longest_listed(limits.get(each, {}), name)
        if found:
            return name[:length], limits[each][found]
    return "", LimitRow()


def end_date(provider: str, model: str) -> str:
    """The day on which the maker's own API stops to answer for a model, as 2026-11-30; "" if unknown."""
    ends = load_catalogue().ends.get(SAME_MODELS.get(provider, provider), {})
    name = normalize_model_name(model)
    return ends.get(name) or ends.get(_UNDATED.sub("", name), "")


_UNDATED = re.compile(r"-(?:\d{8}|\d{4}-\d\d-\d\d|latest)$")


def _bedrock_row(rows: Mapping[str, ModelRow], model: str) -> ModelRow | None:
    """A region costs more than the whole world, so its prefix is looked at."""
    bare = _REGION.sub("", model)
    names = (model, f"regional.{bare}") if bare != model else (model, f"global.{bare}")
    found = (_longest_prefix(rows, name) for name in (*names, f"global.{bare}"))
    return next((row for row in found if row is not None), None)


def _longest_prefix(rows: Mapping[str, ModelRow], name: str) -> ModelRow | None:
    found = _longest_listed(rows, name)[1]
    return rows[found] if found else None


def _longest_listed(rows: Collection[str], name: str) -> tuple[int, str]:
    """How much of the name is listed, and as what. No letter or digit may follow that part.

    A model may be listed as its preview only: `gemini-3-pro-preview`.
    """
    for cut in range(len(name), 0, -1):
        if cut == len(name) or not name[cut].isalnum():
            spellings = (name[:cut], f"{name[:cut]}-preview", f"{name[:cut]}-latest")
            if found := next((each for each in spellings if each in rows), ""):
                return cut, found
    return 0, ""
