"""What OpenAI Responses refuses inside of reasoning: its summary is a list of texts (OAR-11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .problem import Problem
from .responses_view import Request, own
from .view import array, is_redacted, kind, text

ADVICE = 'write each text as {"type": "summary_text", "text": …}, or send []'


def summaries_are_parts(request: Request) -> Iterator[Problem]:
    """OAR-11: each text of a summary is an object of its own."""
    for path, item in own(request, "reasoning"):
        summary, path = item.get("summary"), f"{path}.summary"
        if summary is None:
            yield Problem("OAR-11", path, f"Missing required parameter: '{path}'.", ADVICE)
        elif not isinstance(summary, list | tuple):
            answer = (
                f"Invalid type for '{path}': expected an array of objects, but got {kind(summary)} instead."
            )
            yield Problem("OAR-11", path, answer, ADVICE)
        for index, part in enumerate(array(summary)):
            if answer := _fault_of_part(f"{path}[{index}]", part):
                yield Problem("OAR-11", f"{path}[{index}]", answer, ADVICE)


def hidden_content_is_one_word(request: Request) -> Iterator[Problem]:
    """OAR-08: the server decodes what it hid before, and refuses what it cannot."""
    for path, item in own(request, "reasoning"):
        hidden, path = item.get("encrypted_content"), f"{path}.encrypted_content"
        if hidden is None or is_redacted(hidden):
            continue
        if not isinstance(hidden, str):
            answer = f"Invalid type for '{path}': expected a string, but got {kind(hidden)} instead."
        elif len(hidden.split()) > 1 and not hidden.startswith("<"):
            answer = f"The encrypted content for item {text(item.get('id'))} could not be verified."
        else:
            continue
        yield Problem("OAR-08", path, answer, "send the reasoning as it came, or leave it out")


def _fault_of_part(path: str, part: Any) -> str:
    if not isinstance(part, Mapping):
        return f"Invalid type for '{path}': expected an object, but got {kind(part)} instead."
    if part.get("type") != "summary_text":
        return f"Invalid value: '{text(part.get('type'))}'. Supported values are: 'summary_text'."
    return "" if isinstance(part.get("text"), str) else f"Missing required parameter: '{path}.text'."
