"""Read what is to be checked: a body alone, or a request with its headers and its model.

It may be a dict, JSON text, an SDK's objects, a rendered request, or the envelope that
`turnout render --envelope` prints.
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
    """A request as the checkers read it; `headers` is None if they are unknown."""

    body: Any
    headers: dict[str, str] | None
    model: str


class Unreadable:
    """Text that is not JSON."""


def submission(given: Any, model: str, headers: Mapping[str, str] | None) -> Submission:
    """Read what was given. The caller's model and headers come first."""
    body, found = _decode_body(getattr(given, "body", given)), getattr(given, "headers", None)
    if isinstance(body, Mapping) and "body" in body and isinstance(body.get("headers"), Mapping):
        body, found = _decode_body(body["body"]), body["headers"]
    named = text(getattr(getattr(given, "target", None), "model", None))
    return Submission(body, _lower_names(found if headers is None else headers), model or named)


def _lower_names(headers: Any) -> dict[str, str] | None:
    """Headers with their names in lower case: servers ignore the case."""
    if not isinstance(headers, Mapping):
        return None
    return {str(name).lower(): str(value) for name, value in headers.items()}


def _decode_body(body: Any) -> Any:
    if isinstance(body, bytearray | memoryview):
        body = bytes(body)
    if not isinstance(body, str | bytes):
        return sent_value(body)
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(body)  # forgives lone surrogates and NaN, as servers do
    except (ValueError, RecursionError):
        return Unreadable()


def sent_values(value: Any) -> Any:
    """A list of messages. Some of them may be objects of an SDK."""
    return [sent_value(item) for item in value] if isinstance(value, list | tuple) else value


def sent_value(value: Any) -> Any:
    """What an SDK would send for its object: the fields that were set."""
    try:
        return plain(value.model_dump(mode="json", by_alias=True, exclude_unset=True))
    except (AttributeError, TypeError):
        pass
    return plain(value) if hasattr(value, "model_dump") or hasattr(value, "to_dict") else value
