"""What was handed in to be checked: a body alone, or a request with its headers and its model.

People check what they have in hand: a dict, JSON text, an SDK's objects, a rendered request,
the envelope that `turnout render --envelope` prints.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import Struct

from ...plain import plain
from .chat.view import text


class Submission(Struct, frozen=True):
    """A request as the checkers read it; `headers` is None where nobody said what they are."""

    body: Any
    headers: dict[str, str] | None
    model: str


class Unreadable:
    """Text that is not JSON."""


def submission(given: Any, model: str, headers: Mapping[str, str] | None) -> Submission:
    """Read whatever was handed in; what the caller says of model and headers comes first."""
    body, found = _decoded(getattr(given, "body", given)), getattr(given, "headers", None)
    if isinstance(body, Mapping) and "body" in body and isinstance(body.get("headers"), Mapping):
        body, found = _decoded(body["body"]), body["headers"]
    named = text(getattr(getattr(given, "target", None), "model", None))
    return Submission(body, _lowered(found if headers is None else headers), model or named)


def _lowered(headers: Any) -> dict[str, str] | None:
    """Headers by their names in lower case: servers do not look at the case."""
    if not isinstance(headers, Mapping):
        return None
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _decoded(body: Any) -> Any:
    if isinstance(body, bytearray | memoryview):
        body = bytes(body)
    if not isinstance(body, str | bytes):
        return offered(body)
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(body)  # forgives lone surrogates and NaN, as servers do
    except (ValueError, RecursionError):
        return Unreadable()


def each_offered(value: Any) -> Any:
    """A list of messages, some of which may be the objects that an SDK answered with."""
    return [offered(item) for item in value] if isinstance(value, list | tuple) else value


def offered(value: Any) -> Any:
    """What an SDK would send of its own object: the fields that were set."""
    try:
        return plain(value.model_dump(mode="json", by_alias=True, exclude_unset=True))
    except (AttributeError, TypeError):
        pass
    return plain(value) if hasattr(value, "model_dump") or hasattr(value, "to_dict") else value
