"""Would the provider take this request? Every rule that one request can show, from the providers' own texts.

Written from what providers document and answer, never from the encoders, so that the two
can disagree. One file holds one family; a server that speaks another's wire adds its own
rules to it. What only some servers refuse is a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .amended import AMENDED
from .chat.view import text
from .headers import header_problems, with_betas
from .intake import Unreadable, each_offered, submission
from .names import CHECKERS, NAMES, checker_for, resolve
from .problem import Problem
from .unchecked import UNCHECKED

__all__ = ["AMENDED", "CHECKERS", "NAMES", "UNCHECKED", "Problem", "check"]


MESSAGES = {"openai-responses": "input", "gemini": "contents", "vertex": "contents"}
"""Where a body holds its messages; the others say `messages`."""


def check(
    api: str,
    body: Any,
    *,
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    warnings: bool = False,
) -> list[Problem]:
    """What `api` (a provider or a format, by any of its names) would refuse in a request.

    Nothing in the list means that nothing known speaks against it. With `warnings`, what only
    some servers refuse is listed too; `level` says which is which. `body` is a body, a bare list
    of messages, or a request with its headers (`render` returns one). `model` is for bodies that
    do not name theirs, as Gemini's do not. Headers are judged only where they are given.
    """
    name, named = resolve(api)
    given = submission(body, model if model is not None else named, headers)
    value = given.body
    if isinstance(value, list | tuple):
        value = {MESSAGES.get(name, "messages"): list(value)}
    if not isinstance(value, Mapping):
        return [_not_an_object(value)]
    value = with_betas({key: each_offered(item) for key, item in value.items()}, given.headers)
    chosen = given.model or text(value.get("model"))
    judged = checker_for(name, value)(value, model=chosen)
    found = [*judged, *header_problems(name, value, given.headers)]
    return [problem for problem in found if warnings or problem.is_refused]


def _not_an_object(value: Any) -> Problem:
    if isinstance(value, Unreadable):
        answer = "We could not parse the JSON body of your request."
        return Problem("BODY", "", answer, "send valid JSON")
    answer = "Invalid type for the request body: expected an object."
    return Problem("BODY", "", answer, "send one JSON object")
