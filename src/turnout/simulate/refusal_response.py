"""The answer of a provider to a broken rule: the status, the labels, the envelope."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ..wire.check.models import family
from ..wire.check.problem import Problem
from ..wire.shared.framing import encode
from .failure_response import FailureResponse, envelope
from .failure_words import INVALID, FailureText, failure_text

STATUSES = {"OAR-08": 404, "MIS-10": 422}
"""Rules whose violation has another status than 400."""

CODES = (
    ("string too long", "string_above_max_length"),
    ("empty string", "string_below_min_length"),
    ("array too long", "array_above_max_length"),
    ("Missing required parameter", "missing_required_parameter"),
    ("Unknown parameter", "unknown_parameter"),
    ("Invalid schema for function", "invalid_function_parameters"),
    ("encrypted content", "invalid_encrypted_content"),
    ("Previous response", "previous_response_not_found"),
    ("Unsupported", "unsupported_parameter"),
    ("Invalid value", "invalid_value"),
    ("Invalid '", "invalid_value"),
)
"""The error codes of OpenAI, by a part of the message."""

MISTRAL = {
    "MIS-01": ("invalid_function_call", "3280"),
    "MIS-03": ("invalid_function_call", "3280"),
    "MIS-08": ("invalid_function_call", "3280"),
    "MIS-02": ("invalid_request_message_order", "3230"),
    "MIS-04": ("invalid_request_message_order", "3230"),
    "MIS-05": ("invalid_request_message_order", "3230"),
    "MIS-06": ("invalid_request_message_order", "3230"),
}
MAKERS = {"claude": "Anthropic", "gemini": "Google", "openai": "OpenAI", "kimi": "Moonshot AI"}

_QUOTED = re.compile(r"^\{'error': .*'raw': '(.*)'\}\}\}$", re.DOTALL)


def refusal_response(
    problems: Sequence[Problem], provider: str, protocol: str, model: str
) -> FailureResponse:
    """The answer of the provider to a request that breaks rules: it names the first."""
    problem = problems[0]
    words = _refusal_text(problem, provider, protocol, model)
    if provider == "mistral" and words.status == 422:
        return FailureResponse(422, {}, encode(_unprocessable(problem)))
    headers = {"x-amzn-errortype": words.type} if provider == "bedrock" else {}
    return FailureResponse(words.status, headers, encode(envelope(words, provider, protocol)))


def _refusal_text(problem: Problem, provider: str, protocol: str, model: str) -> FailureText:
    usual = failure_text(provider, protocol, "invalid_request")
    status = STATUSES.get(problem.rule, usual.status)
    if problem.answer.startswith("Failed to parse tool call arguments"):
        return FailureText(500, "server_error", problem.answer)  # llama.cpp fails inside its template
    if provider == "openrouter":
        quoted = _QUOTED.match(problem.answer)
        maker = MAKERS.get(family(model), "Chutes")
        return FailureText(status, "", quoted[1] if quoted else problem.answer, status, maker)
    if provider == "mistral":
        kind, code = MISTRAL.get(problem.rule, ("invalid_request_error", "3051"))
        return FailureText(status, kind, problem.answer, code)
    label = usual.code
    if usual.type == INVALID and label is None and protocol in ("chat", "responses"):
        label = next((code for part, code in CODES if part in problem.answer), None)
    return FailureText(status, usual.type, problem.answer, label, problem.path or None)


def _unprocessable(problem: Problem) -> dict[str, object]:
    found = {"type": "value_error", "loc": ["body", *problem.path.split(".")], "msg": problem.answer}
    return {"object": "error", "message": {"detail": [found]}}
