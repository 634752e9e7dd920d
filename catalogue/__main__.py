"""Write the catalogue from the packages that know models, and from `by_hand.toml`.

Prices and context windows are those of `genai-prices`; end dates are in the SDKs of OpenAI and
Anthropic; output limits and modalities in other programs' tables (`limits.py`). A price is the one
of the day on which this runs.
"""

from __future__ import annotations

import inspect
import json
import re
import tomllib
from collections.abc import Iterator
from datetime import date, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from turnout.providers.models import normalize_model_name

from . import limits

HERE = Path(__file__).parent
MADE = HERE.parent / "src" / "turnout" / "providers" / "catalogue.json"
PACKAGES = ("genai-prices", "anthropic", "openai")

OUR_NAMES = {
    "anthropic": "anthropic",
    "aws": "bedrock",
    "azure": "azure",
    "cerebras": "cerebras",
    "cohere": "cohere",
    "deepseek": "deepseek",
    "fireworks": "fireworks",
    "github-copilot": "copilot",
    "google": "gemini",
    "groq": "groq",
    "mistral": "mistral",
    "moonshotai": "kimi",
    "openai": "openai",
    "openrouter": "openrouter",
    "together": "together",
    "x-ai": "xai",
    "zai": "zai",
}
PRICES = ("input_mtok", "output_mtok", "cache_read_mtok", "cache_write_mtok")

Row = list[Any]


def catalogue(today: date) -> dict[str, Any]:
    """Everything that is known today."""
    by_hand = _by_hand()
    return {
        "made": today.isoformat(),
        "sources": {package: version(package) for package in PACKAGES} | limits.sources(),
        "models": models(today),
        "limits": _with_limits(limits.limits(), by_hand["limits"]),
        "ends": ends(),
    }


def _by_hand() -> dict[str, Any]:
    return tomllib.loads((HERE / "by_hand.toml").read_text())


def models(today: date) -> dict[str, dict[str, Row]]:
    """Prices and windows; what is written by hand counts first."""
    return _with_contexts(_models(today), _by_hand()["contexts"])


def ends() -> dict[str, dict[str, str]]:
    """When the maker's own API stops to answer for a model, by its normalized name."""
    return _ends(_by_hand()["ends"])


def _models(today: date) -> dict[str, dict[str, Row]]:
    """By provider and normalized name: context, four prices, and what a long prompt costs."""
    from genai_prices.data import providers

    found: dict[str, dict[str, Row]] = {}
    for provider in providers:
        if (ours := OUR_NAMES.get(provider.id)) is None:
            continue
        rows = found.setdefault(ours, {})
        key = str.lower if ours == "bedrock" else normalize_model_name  # a region is a part of the price
        exact = {key(model.id): _row(model, today) for model in provider.models}
        for model in provider.models:
            for name in _other_names(model.match):
                rows.setdefault(key(name), _row(model, today))
        rows |= exact  # an id of its own comes before a pattern of another model
        found[ours] = {name: row for name, row in sorted(rows.items()) if any(row)}
    return found


def _row(model: Any, today: date) -> Row:
    prices = _prices_of(model.prices, today)
    base = [_dollars(getattr(prices, name, None)) for name in PRICES]
    row = [model.context_window, *base, _long_prices(prices)]
    while row and row[-1] is None:
        row.pop()
    return row


def _prices_of(prices: Any, today: date) -> Any:
    """The last price whose day has come. Prices for hours of the day are left out."""
    if not isinstance(prices, list):
        return prices
    started = [each for each in prices if _has_started(each.constraint, today)]
    return (started or prices)[-1].prices


def _has_started(constraint: Any, today: date) -> bool:
    if constraint is None:
        return True
    start = getattr(constraint, "start_date", None)
    return start is not None and start <= today


def _dollars(value: Any) -> float | None:
    base = getattr(value, "base", value)
    return None if base is None else float(base)


def _long_prices(prices: Any) -> list[Any] | None:
    """Where a long prompt costs more: from how many tokens, and the four prices then."""
    tiered = {name: value for name in PRICES if getattr(value := getattr(prices, name, None), "tiers", None)}
    if not tiered:
        return None
    start = min(value.tiers[0].start for value in tiered.values())
    return [start, *(_tier_price(getattr(prices, name, None), start) for name in PRICES)]


def _tier_price(value: Any, start: int) -> float | None:
    reached = [tier for tier in getattr(value, "tiers", ()) if tier.start <= start]
    return float(reached[-1].price) if reached else _dollars(value)


def _other_names(match: Any) -> Iterator[str]:
    """The names that the package matches this model by. Patterns and parts of names are left out."""
    if (alternatives := getattr(match, "or_", None)) is not None:
        for each in alternatives:
            yield from _other_names(each)
    for field in ("equals", "starts_with"):
        if isinstance(name := getattr(match, field, None), str):
            yield name.rstrip("-@:.")


def _with_contexts(models: dict[str, dict[str, Row]], rows: list[Any]) -> dict[str, dict[str, Row]]:
    for row in rows:
        for name in row["models"]:
            known = models[row["provider"]].setdefault(name, [None])
            known[0] = row["tokens"]
    return models


def _with_limits(found: dict[str, dict[str, Row]], rows: list[Any]) -> dict[str, dict[str, Row]]:
    for row in rows:
        for name in map(normalize_model_name, row["models"]):
            known = found.setdefault(row["provider"], {}).setdefault(name, [None] * 5)
            said = [row.get("tokens"), *(row.get(kind) for kind in limits.MODALITIES)]
            known[:] = [old if new is None else new for old, new in zip(known, said, strict=True)]
    return {provider: dict(sorted(models.items())) for provider, models in sorted(found.items())}


def _ends(by_hand: list[Any]) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = {"anthropic": {}, "openai": {}}
    for row in by_hand:
        found.setdefault(row["provider"], {})
        found[row["provider"]] |= {normalize_model_name(name): str(row["date"]) for name in row["models"]}
    found["anthropic"] |= dict(_ends_of_anthropic())
    found["openai"] |= dict(_ends_of_openai())
    return {provider: dict(sorted(ends.items())) for provider, ends in found.items()}


def _ends_of_anthropic() -> Iterator[tuple[str, str]]:
    from anthropic._data.deprecated_models import DEPRECATED_MODELS

    for model, words in DEPRECATED_MODELS.items():  # "November 30th, 2026"
        day = re.sub(r"(\d)(?:st|nd|rd|th)", r"\1", words)
        yield normalize_model_name(model), datetime.strptime(day, "%B %d, %Y").date().isoformat()


def _ends_of_openai() -> Iterator[tuple[str, str]]:
    """They stand in the text below the list of models."""
    from openai.types.shared import chat_model

    text = " ".join(inspect.getsource(chat_model).split())
    for names, day in re.findall(r'- ((?:"[^"]+",? ?)+): Announced shutdown date: (\d{4}-\d\d-\d\d)', text):
        for model in re.findall(r'"([^"]+)"', names):
            yield normalize_model_name(model), day


def catalogue_text(made: dict[str, Any]) -> str:
    """One line for each model, so that a change can be reviewed."""
    parts = [f'"made": {json.dumps(made["made"])}', f'"sources": {json.dumps(made["sources"])}']
    for section in ("models", "limits", "ends"):
        inner = []
        for provider, rows in made[section].items():
            lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
            inner.append(f"{json.dumps(provider)}: {{\n{lines}}}")
        parts.append(f'"{section}": {{' + ",\n".join(inner) + "}")
    return "{" + ",\n".join(parts) + "}\n"


if __name__ == "__main__":
    MADE.write_text(catalogue_text(catalogue(date.today())))
    print(f"wrote {MADE.name}")
