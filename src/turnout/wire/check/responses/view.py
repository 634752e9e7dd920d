"""A Responses body, read once: its items in order, and who serves the model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeAlias

from msgspec import Struct

from .. import models
from ..chat.view import mapping, text
from ..problem import Problem
from ..reading import Object, objects

CALLS = ("function_call", "custom_tool_call")
OUTPUTS = ("function_call_output", "custom_tool_call_output")


class ResponsesRequest(Struct, frozen=True):
    """A body as the rules read it. Servers of other models (`foreign`) have their own ids and reasoning."""

    body: Object
    items: list[tuple[int, Object]]
    model: str
    chained: bool
    foreign: bool


Rule: TypeAlias = Callable[[ResponsesRequest], Iterator[Problem]]


def view_body(body: Mapping[str, Any], model: str = "") -> ResponsesRequest:
    body = mapping(body)
    name = model or text(body.get("model"))
    return ResponsesRequest(
        body=body,
        items=list(objects(body.get("input"))),
        model=name.lower(),
        chained=bool(body.get("previous_response_id") or body.get("conversation")),
        foreign=models.is_elsewhere(name),
    )


def kind(item: Object) -> str:
    """An item without a type is a message if it has a role, else its id refers to a stored one."""
    if item.keys() <= {"id", "type"} and "id" in item:
        return "item_reference"
    return text(item.get("type")) or ("message" if "role" in item else "")


def parts(request: ResponsesRequest) -> Iterator[tuple[str, str, Object]]:
    """Every part of every message: its path, the role, the part."""
    for place, item in request.items:
        if kind(item) == "message":
            for index, part in objects(item.get("content")):
                yield f"input[{place}].content[{index}]", text(item.get("role")), part


def of_kind(request: ResponsesRequest, *kinds: str) -> Iterator[tuple[str, Object]]:
    return ((f"input[{place}]", item) for place, item in request.items if kind(item) in kinds)


def openai_items(request: ResponsesRequest, *kinds: str) -> Iterator[tuple[str, Object]]:
    """Items of these kinds, if OpenAI is the server: only its ids and names follow these rules."""
    return iter(()) if request.foreign else of_kind(request, *kinds)
