"""What OpenAI Responses requires of single items: their required fields.

Only OpenAI's own server is known to require them. Hosts of other models require less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.view import array, kind, text
from ..problem import Problem
from ..reading import quote_names
from .view import ResponsesRequest, openai_items

HOSTED = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
)
"""Tools that the server ran itself. It knows each only by its id."""

ANNOTATIONS: dict[str, tuple[str, ...]] = {
    "file_citation": ("file_id", "index"),
    "url_citation": ("url", "title", "start_index", "end_index"),
    "container_file_citation": ("container_id", "file_id", "start_index", "end_index"),
    "file_path": ("file_id", "index"),
}
WHOLE = "send the item as it came, or leave it out"


def items_have_their_fields(request: ResponsesRequest) -> Iterator[Problem]:
    """An item of the server, or a reference to one, needs its id; a call needs its name and arguments."""
    for path, item in openai_items(request, *HOSTED, "item_reference"):
        yield from _string_problems(path, item, "id", WHOLE)
    for path, item in openai_items(request, "function_call"):
        yield from _string_problems(path, item, "name", "give the call the name of its tool")
        yield from _string_problems(path, item, "arguments", "send the arguments as JSON text")


def _string_problems(path: str, item: Mapping[str, Any], key: str, advice: str) -> Iterator[Problem]:
    where, value = f"{path}.{key}", item.get(key)
    if value is None:
        yield Problem("BODY", where, f"Missing required parameter: '{where}'.", advice)
    elif not isinstance(value, str):
        answer = f"Invalid type for '{where}': expected a string, but got {kind(value)} instead."
        yield Problem("BODY", where, answer, advice)
    elif not value and key == "id":
        answer = f"Invalid '{where}': empty string. Expected a string with minimum length 1."
        yield Problem("BODY", where, answer, advice)


def annotations_are_whole(request: ResponsesRequest) -> Iterator[Problem]:
    """OAR-11: each annotation of a text is an object that says what it refers to."""
    for path, item in openai_items(request, "message"):
        for index, part in enumerate(array(item.get("content"))):
            if isinstance(part, Mapping) and part.get("annotations") is not None:
                yield from _annotation_problems(f"{path}.content[{index}].annotations", part["annotations"])


def _annotation_problems(path: str, annotations: Any) -> Iterator[Problem]:
    advice = "send annotations as they came, or []"
    if not isinstance(annotations, list | tuple):
        answer = (
            f"Invalid type for '{path}': expected an array of objects, but got {kind(annotations)} instead."
        )
        yield Problem("OAR-11", path, answer, advice)
    for index, annotation in enumerate(array(annotations)):
        if answer := _annotation_fault(f"{path}[{index}]", annotation):
            yield Problem("OAR-11", f"{path}[{index}]", answer, advice)


def _annotation_fault(path: str, annotation: Any) -> str:
    if not isinstance(annotation, Mapping):
        return f"Invalid type for '{path}': expected an object, but got {kind(annotation)} instead."
    if not (given := text(annotation.get("type"))):
        return f"Missing required parameter: '{path}.type'."
    if given not in ANNOTATIONS:
        return f"Invalid value: '{given}'. Supported values are: {quote_names(ANNOTATIONS)}."
    missing = [key for key in ANNOTATIONS[given] if annotation.get(key) is None]
    return f"Missing required parameter: '{path}.{missing[0]}'." if missing else ""
