"""Would the provider accept this request? Every rule that one request can break.

Written from what providers document and answer. It shares no code with the encoders, so the two
can disagree. One folder holds one family; a server that speaks the same protocol adds its own
rules. What only some servers refuse is a warning.

Others import `check` and `Problem`. Imports the bottom, and `wire.protocol` for its names.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .amended import AMENDED
from .chat.view import text
from .headers import header_problems, with_betas
from .intake import Unreadable, sent_values, submission
from .names import CHECKERS, NAMES, checker_for, resolve_api
from .problem import Problem
from .unchecked import UNCHECKED

__all__ = ["AMENDED", "CHECKERS", "NAMES", "UNCHECKED", "Problem", "check"]


MESSAGES = {
    "openai-responses": "input",
    "azure-responses": "input",
    "gemini": "contents",
    "vertex": "contents",
}
"""The field that holds the messages; in all other bodies it is `messages`."""


def check(
    api: str,
    body: Any,
    *,
    model: str | None = None,
    headers: Mapping[str, str] | None = None,
    warnings: bool = False,
) -> list[Problem]:
    """What `api` (a provider or a format, by any of its names) would refuse in a request.

    An empty list means that no known rule is broken. With `warnings`, the list includes what only
    some servers refuse; `level` tells them apart. `body` is a body, a list of messages, or a
    request with its headers (`render` returns one). `model` is for bodies that do not name their
    model, such as Gemini's. Headers are checked only if they are given.
    """
    name, named = resolve_api(api)
    given = submission(body, model if model is not None else named, headers)
    value = given.body
    if isinstance(value, list | tuple):
        value = {MESSAGES.get(name, "messages"): list(value)}
    if not isinstance(value, Mapping):
        return [_not_an_object(value)]
    value = with_betas({key: sent_values(item) for key, item in value.items()}, given.headers)
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
