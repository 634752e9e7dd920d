"""botocore's own model of Bedrock as an oracle: shapes, unions, patterns, enums and limits.

botocore's validator checks types only, so its shapes are walked here, for bodies as they are on the wire:
a blob is base64 there.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error
from collections.abc import Iterator
from functools import cache
from typing import Any

from botocore.model import Shape
from botocore.session import get_session

NUMBERS = ("integer", "long", "float", "double")


@cache
def request_shape(operation: str = "Converse") -> Any:
    """The shape of a request."""
    return get_session().get_service_model("bedrock-runtime").operation_model(operation).input_shape


def shape_of(*path: str) -> Any:
    """A shape inside a Converse request: members by name, items of a list by []."""
    shape = request_shape()
    for step in path:
        shape = shape.member if step == "[]" else shape.members[step]
    return shape


def refusals_of_shape(value: Any, shape: Shape, path: str = "") -> Iterator[str]:
    """What in this value the shape does not allow."""
    match shape.type_name:
        case "structure" if shape.metadata.get("document") or getattr(shape, "is_document_type", False):
            return
        case "structure":
            yield from _structure(value, shape, path)
        case "list":
            yield from _list(value, shape, path)
        case "map":
            yield from _map(value, shape, path)
        case "string":
            yield from _string(value, shape, path)
        case "blob":
            yield from _blob(value, path)
        case "boolean" if not isinstance(value, bool):
            yield f"{path}: {value!r} is not a boolean"
        case kind if kind in NUMBERS:
            yield from _number(value, shape, path)


def _structure(value: Any, shape: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: {value!r} is not an object"
        return
    for name in shape.required_members:
        if name not in value and name != "modelId":  # the path has it
            yield f"{path}.{name}: missing"
    if shape.metadata.get("union") and len(value) != 1:
        yield f"{path}: a union has one member, not {sorted(value)}"
    for name, item in value.items():
        if name not in shape.members:
            yield f"{path}.{name}: unknown"
        else:
            yield from refusals_of_shape(item, shape.members[name], f"{path}.{name}")


def _list(value: Any, shape: Any, path: str) -> Iterator[str]:
    if not isinstance(value, list):
        yield f"{path}: {value!r} is not a list"
        return
    yield from _limits(len(value), shape, path)
    for at, item in enumerate(value):
        yield from refusals_of_shape(item, shape.member, f"{path}[{at}]")


def _map(value: Any, shape: Any, path: str) -> Iterator[str]:
    if not isinstance(value, dict):
        yield f"{path}: {value!r} is not a map"
        return
    yield from _limits(len(value), shape, path)
    for name, item in value.items():
        yield from refusals_of_shape(name, shape.key, f"{path}.{name}")
        yield from refusals_of_shape(item, shape.value, f"{path}.{name}")


def _string(value: Any, shape: Any, path: str) -> Iterator[str]:
    if not isinstance(value, str):
        yield f"{path}: {value!r} is not a text"
        return
    yield from _limits(len(value), shape, path)
    if (enum := shape.metadata.get("enum")) and value not in enum:
        yield f"{path}: {value!r} is not one of {enum}"
    if (pattern := shape.metadata.get("pattern")) and not re.fullmatch(pattern, value):
        yield f"{path}: {value!r} does not match {pattern}"


def _blob(value: Any, path: str) -> Iterator[str]:
    try:
        if not isinstance(value, str) or not b64decode(value, validate=True):
            yield f"{path}: an empty blob"
    except (Error, ValueError):
        yield f"{path}: not base64"


def _number(value: Any, shape: Any, path: str) -> Iterator[str]:
    whole = shape.type_name in ("integer", "long")
    if isinstance(value, bool) or not isinstance(value, int if whole else int | float):
        yield f"{path}: {value!r} is not a number"
    else:
        yield from _limits(value, shape, path)


def _limits(size: float, shape: Any, path: str) -> Iterator[str]:
    if (least := shape.metadata.get("min")) is not None and size < least:
        yield f"{path}: {size} is below {least}"
    if (most := shape.metadata.get("max")) is not None and size > most:
        yield f"{path}: {size} is above {most}"
