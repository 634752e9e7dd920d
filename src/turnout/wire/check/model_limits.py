"""What a body asks of a model that does not have it: a temperature out of range, sound, a web search.

Each server has its own words for it; the ranges are those that were recorded or documented.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import models
from .pairing import Rule
from .problem import Problem
from .view import View, kind

WITHIN = "send a temperature within the range, or leave it out"

# OPT-01


def temperature_problem(
    value: Any, most: float, words: Callable[[Any], str], path: str = "temperature"
) -> Iterator[Problem]:
    """The one problem of a temperature that is out of 0 … `most`; none where none is sent."""
    if _is_number(value) and not 0 <= value <= most:
        yield Problem("OPT-01", path, words(value), WITHIN)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def openai_temperature(body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    """OpenAI, on both of its APIs."""
    value = body.get("temperature")
    if value is not None and not _is_number(value):
        answer = f"Invalid type for 'temperature': expected a decimal, but got {kind(value)} instead."
        yield Problem("OPT-01", "temperature", answer, "send a number, or leave it out")
    yield from temperature_problem(value, 2, _openai_words)
    yield from _pinned(value, body, model)


def _openai_words(value: float) -> str:
    side, bound = ("below minimum", ">= 0") if value < 0 else ("above maximum", "<= 2")
    return f"Invalid 'temperature': decimal {side} value. Expected a value {bound}, but got {value} instead."


# OPT-02. The first models that think have one temperature. Later ones take another while they do not
# think, which the body need not say, so they are left alone (recorded: gpt-5.4-nano at 0, status 200).

_THINKER = re.compile(r"(?:^|/)(?:o[134](?:$|-)|gpt-5(?:$|-(?!chat)))")


def _pinned(value: Any, body: Mapping[str, Any], model: str) -> Iterator[Problem]:
    if not _is_number(value) or value == 1 or not 0 <= value <= 2 or not _THINKER.search(model):
        return
    answer = (
        f"Unsupported value: 'temperature' does not support {value} with this model. "
        "Only the default (1) value is supported."
        if "messages" in body
        else "Unsupported parameter: 'temperature' is not supported with this model."
    )
    yield Problem("OPT-02", "temperature", answer, "leave temperature out: this model always thinks")


def chat_temperature(seen: View) -> Iterator[Problem]:
    return openai_temperature(seen.body, seen.model)


def temperature_up_to(most: float, words: str) -> Rule:
    """The rule of a host that says so in words of its own."""

    def hosted_temperature(seen: View) -> Iterator[Problem]:
        return temperature_problem(seen.body.get("temperature"), most, words.format)

    return hosted_temperature


# OAC-16, OAC-17: only at OpenAI, whose models say in their names what they are made for.


def only_some_models_hear(seen: View) -> Iterator[Problem]:
    if not _is_known(seen.model) or "audio" in seen.model:
        return
    advice = "send a transcript, or ask a model with audio in its name"
    for message in seen.messages:
        for path, part in message.parts():
            if part.get("type") == "input_audio":
                answer = (
                    f"Invalid '{message.path}'. Content blocks are expected to be either text or image_url "
                    "type."
                )
                yield Problem("OAC-16", path, answer, advice)


def only_some_models_search(seen: View) -> Iterator[Problem]:
    if _is_known(seen.model) and "search" not in seen.model and seen.body.get("web_search_options"):
        answer = "Web search options not supported with this model."
        advice = "leave web_search_options out, or ask a model with search in its name"
        yield Problem("OAC-17", "web_search_options", answer, advice)


def _is_known(model: str) -> bool:
    """Models to come may have what those up to now have not."""
    return models.family(model) == "openai" and models.gpt_version(model) < (6, 0)


OPENAI: tuple[Rule, ...] = (chat_temperature, only_some_models_hear, only_some_models_search)
