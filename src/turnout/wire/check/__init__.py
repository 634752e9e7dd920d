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

from .names import CHECKERS, NAMES, checker_for, resolve
from .problem import Problem
from .unchecked import UNCHECKED
from .view import text

__all__ = ["CHECKERS", "NAMES", "UNCHECKED", "Problem", "check"]


def check(api: str, body: Mapping[str, Any] | str | bytes, *, model: str | None = None) -> list[Problem]:
    """What `api` (a provider or a format, by any of its names) would refuse in a request body.

    Nothing in the list means that nothing known speaks against it. `model` is for bodies
    that do not name theirs, as Gemini's do not.
    """
    name, named = resolve(api)
    value = _read(body)
    if not isinstance(value, Mapping):
        return [_not_an_object(value)]
    chosen = model if model is not None else named or text(value.get("model"))
    return list(checker_for(name, value)(value, model=chosen))


class _Unreadable:
    pass


def _read(body: Any) -> Any:
    if isinstance(body, bytearray | memoryview):
        body = bytes(body)
    if not isinstance(body, str | bytes):
        return body
    try:
        return msgspec.json.decode(body)
    except (ValueError, RecursionError):
        pass
    try:
        return json.loads(body)  # forgives lone surrogates and NaN, as servers do
    except (ValueError, RecursionError):
        return _Unreadable()


def _not_an_object(value: Any) -> Problem:
    if isinstance(value, _Unreadable):
        answer = "We could not parse the JSON body of your request."
        return Problem("BODY", "", answer, "send valid JSON")
    answer = "Invalid type for the request body: expected an object."
    return Problem("BODY", "", answer, "send one JSON object")
