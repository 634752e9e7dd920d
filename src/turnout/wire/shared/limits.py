"""What a request asks for, within what the model can give; whatever is not sent as asked is said."""

from __future__ import annotations

from collections.abc import Sequence

from ..options import EFFORTS, Options
from ..request import ModelFacts

OPENAI_TIERS = ("auto", "default", "flex", "scale", "priority")


def token_limit(options: Options, facts: ModelFacts, changes: list[str], least: int = 1) -> int | None:
    """How much the model may write. Of a model that nobody knows, nobody knows the limit either."""
    wanted = options.max_tokens
    if wanted is None:
        return None
    limit = max(least, min(wanted, facts.output) if facts.known else wanted)
    if limit != wanted:
        changes.append(f"max_tokens {wanted} sent as {limit}: this model takes {least} to {facts.output}")
    return limit


def temperature(options: Options, changes: list[str], most: float = 2.0) -> float | None:
    """How freely the model may choose its words, within what the API takes."""
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
    """The words at which the model stops, as many as the API takes."""
    if most is None or len(options.stop) <= most:
        return list(options.stop)
    changes.append(f"{len(options.stop) - most} of {len(options.stop)} stop words left out: {most} are taken")
    return list(options.stop[:most])


def service_tier(options: Options, offered: Sequence[str], changes: list[str]) -> str:
    """How the request is served, where the API has that word for it; else "" and a line that says so."""
    tier = options.service_tier
    if tier is None or tier in offered:
        return tier or ""
    known = f"this API knows {', '.join(offered)}" if offered else "this API has no tiers"
    changes.append(f"service_tier {tier} left out: {known}")
    return ""


def openai_cache_ttl(options: Options, changes: list[str]) -> dict[str, str]:
    """How long OpenAI keeps a prompt: its usual time, which ends within the hour, or a day."""
    match options.cache_ttl:
        case None:
            return {}
        case "24h":
            return {"prompt_cache_retention": "24h"}
        case ttl:
            changes.append(f"cache_ttl {ttl} left out: this API keeps prompts for minutes, or for 24h")
            return {}
