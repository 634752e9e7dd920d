"""Options within the limits of the model. `changes` gets a line for each that is not sent as asked."""

from __future__ import annotations

from collections.abc import Sequence

from ..options import EFFORTS, Options
from ..request import ModelFacts

OPENAI_TIERS = ("auto", "default", "flex", "scale", "priority")


def token_limit(options: Options, facts: ModelFacts, changes: list[str], least: int = 1) -> int | None:
    """How many tokens the model may write. Unknown models are not clamped."""
    wanted = options.max_tokens
    if wanted is None:
        return None
    limit = max(least, min(wanted, facts.output) if facts.known else wanted)
    if limit != wanted:
        changes.append(f"max_tokens {wanted} sent as {limit}: this model takes {least} to {facts.output}")
    return limit


def temperature(options: Options, changes: list[str], most: float = 2.0) -> float | None:
    """The temperature, within the range of the API."""
    wanted = options.temperature
    if wanted is None or wanted <= most:
        return wanted
    changes.append(f"temperature {wanted} sent as {most}: this API takes 0 to {most}")
    return most


def nearest_effort(wanted: str, offered: Sequence[str], changes: list[str]) -> str:
    """The offered effort that is closest to the one wanted."""
    place = EFFORTS.index(wanted)
    found = min(offered, key=lambda effort: abs(EFFORTS.index(effort) - place))
    if found != wanted:
        changes.append(f"effort {wanted} sent as {found}: this model knows {', '.join(offered)}")
    return found


def stop_words(options: Options, most: int | None, changes: list[str]) -> list[str]:
    """The stop words, as many as the API takes."""
    if most is None or len(options.stop) <= most:
        return list(options.stop)
    changes.append(f"{len(options.stop) - most} of {len(options.stop)} stop words left out: {most} are taken")
    return list(options.stop[:most])


def service_tier(options: Options, offered: Sequence[str], changes: list[str]) -> str:
    """The service tier, if the API has it; else "" and a line in `changes`."""
    tier = options.service_tier
    if tier is None or tier in offered:
        return tier or ""
    known = f"this API knows {', '.join(offered)}" if offered else "this API has no tiers"
    changes.append(f"service_tier {tier} left out: {known}")
    return ""


def openai_cache_ttl(options: Options, changes: list[str]) -> dict[str, str]:
    """How long OpenAI caches a prompt: its default, which is less than an hour, or 24h."""
    match options.cache_ttl:
        case None:
            return {}
        case "24h":
            return {"prompt_cache_retention": "24h"}
        case ttl:
            changes.append(f"cache_ttl {ttl} left out: this API keeps prompts for minutes, or for 24h")
            return {}
