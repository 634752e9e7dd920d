"""What a provider refuses because of the headers of a request.

Headers are checked only if they are given: a body alone does not show them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .chat.view import array, mapping, text
from .problem import Problem

VISION = "Copilot-Vision-Request"
INITIATOR = "X-Initiator"
IMAGES = ("image_url", "input_image", "image")


def header_problems(
    name: str, body: Mapping[str, Any], headers: Mapping[str, str] | None
) -> Iterator[Problem]:
    """What this provider would refuse in the headers (names in lower case)."""
    if headers is None:
        return
    if name == "copilot":
        yield from _copilot_vision(body, headers)
        yield from _copilot_initiator(body, headers)
    elif name == "anthropic" and "anthropic-version" not in headers:
        answer = "anthropic-version: header is required"
        yield Problem("ANT-32", "headers", answer, "send anthropic-version: 2023-06-01")


def with_betas(body: Mapping[str, Any], headers: Mapping[str, str] | None) -> Mapping[str, Any]:
    """The body with the betas of Anthropic's header. Other hosts have them in the body."""
    named = (headers or {}).get("anthropic-beta", "")
    if not named:
        return body
    return {**body, "anthropic_beta": [*array(body.get("anthropic_beta")), *named.split(",")]}


# GitHub Copilot: COP-06, COP-07


def _copilot_vision(body: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[Problem]:
    if headers.get(VISION.lower()) != "true" and any(_is_image(part) for part in _parts_of_body(body)):
        answer = f"missing required {VISION} header for vision requests"
        yield Problem("COP-06", f"headers.{VISION}", answer, f"send {VISION}: true")


def _copilot_initiator(body: Mapping[str, Any], headers: Mapping[str, str]) -> Iterator[Problem]:
    """The initiator decides whether the request is counted. No refusal was seen, so it is a warning."""
    given = headers.get(INITIATOR.lower())
    if given in ("user", "agent") and not (given == "user" and _answers_calls(body)):
        return
    advice = f"send {INITIATOR}: agent when results of tools come last, user otherwise"
    answer = f"{INITIATOR} is {given or 'missing'}: every step of a tool loop counts as a premium request"
    yield Problem("COP-07", f"headers.{INITIATOR}", answer, advice, "warning")


def _messages(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [mapping(item) for item in (*array(body.get("messages")), *array(body.get("input")))]


def _parts_of_body(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Every part of every message and of every output."""
    for message in _messages(body):
        for key in ("content", "output"):
            yield from map(mapping, array(message.get(key)))


def _is_image(part: Mapping[str, Any]) -> bool:
    return text(part.get("type")) in IMAGES


def _answers_calls(body: Mapping[str, Any]) -> bool:
    last = (_messages(body) or [{}])[-1]
    return last.get("role") == "tool" or text(last.get("type")).endswith("_call_output")
