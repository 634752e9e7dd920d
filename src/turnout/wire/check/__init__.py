"""Would the provider take this body? Every rule that one body can show, from the providers' own texts.

Written from what providers document and answer, never from the encoders, so that the two
can disagree. One file holds one family; a server that speaks another's wire adds its own
rules to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from ...plain import plain
from .names import CHECKERS, NAMES, checker_for, resolve
from .problem import Problem
from .unchecked import UNCHECKED
from .view import text

__all__ = ["CHECKERS", "NAMES", "UNCHECKED", "Problem", "check"]


MESSAGES = {"openai-responses": "input", "gemini": "contents", "vertex": "contents"}
"""Where a body holds its messages; the others say `messages`."""


def check(api: str, body: Any, *, model: str | None = None) -> list[Problem]:
    """What `api` (a provider or a format, by any of its names) would refuse in a request body.

    Nothing in the list means that nothing known speaks against it. `model` is for bodies
    that do not name theirs, as Gemini's do not. A bare list is the body's messages.
    """
    name, named = resolve(api)
    value = _read(body)
    if isinstance(value, list | tuple):
        value = {MESSAGES.get(name, "messages"): list(value)}
    if not isinstance(value, Mapping):
        return [_not_an_object(value)]
    value = {key: _each_offered(item) for key, item in value.items()}
    chosen = model if model is not None else named or text(value.get("model"))
    return list(checker_for(name, value)(value, model=chosen))


class _Unreadable:
    pass


def _read(body: Any) -> Any:
    body = getattr(body, "body", body)  # a request that was rendered
    if isinstance(body, bytearray | memoryview):
        body = bytes(body)
    if not isinstance(body, str | bytes):
        return _offered(body)
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(body)  # forgives lone surrogates and NaN, as servers do
    except (ValueError, RecursionError):
        return _Unreadable()


def _each_offered(value: Any) -> Any:
    """A list of messages, some of which may be the objects that an SDK answered with."""
    return [_offered(item) for item in value] if isinstance(value, list | tuple) else value


def _offered(value: Any) -> Any:
    """What an SDK would send of its own object: the fields that were set."""
    try:
        return plain(value.model_dump(mode="json", by_alias=True, exclude_unset=True))
    except (AttributeError, TypeError):
        pass
    return plain(value) if hasattr(value, "model_dump") or hasattr(value, "to_dict") else value


def _not_an_object(value: Any) -> Problem:
    if isinstance(value, _Unreadable):
        answer = "We could not parse the JSON body of your request."
        return Problem("BODY", "", answer, "send valid JSON")
    answer = "Invalid type for the request body: expected an object."
    return Problem("BODY", "", answer, "send one JSON object")
