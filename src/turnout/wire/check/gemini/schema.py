"""What Gemini refuses in the declaration of a function (GEM-12 to GEM-14).

`parameters` is parsed into a message type with a fixed set of fields, so any other keyword of
JSON Schema fails the whole request. `parametersJsonSchema` accepts all keywords.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.view import array, mapping, text
from ..problem import Problem
from .view import GeminiRequest, Rule, field, snake

FIELDS = (
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "items",
    "minItems",
    "maxItems",
    "properties",
    "required",
    "propertyOrdering",
    "minProperties",
    "maxProperties",
    "minimum",
    "maximum",
    "minLength",
    "maxLength",
    "pattern",
    "anyOf",
    "default",
    "example",
)
# The SDK's type has these too. Whether the server accepts them is unknown, so they pass.
UNSETTLED = ("$ref", "$defs", "ref", "defs")
KNOWN = frozenset([*FIELDS, *map(snake, FIELDS), *UNSETTLED])

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,127}")
PARAMETER = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")


def _schemas(request: GeminiRequest) -> Iterator[tuple[str, Any, bool]]:
    """Every schema inside `parameters`: its path, itself, whether it is a root."""
    for path, declaration in request.declarations():
        root = field(declaration, "parameters")
        if root is None:
            continue
        waiting: list[tuple[str, Any, bool]] = [(f"{path}.parameters", root, True)]
        while waiting:
            where, schema, is_root = waiting.pop()
            yield where, schema, is_root
            schema = mapping(schema)
            for name, inner in mapping(schema.get("properties")).items():
                waiting.append((f"{where}.properties[{name}]", inner, False))
            if field(schema, "items") is not None:
                waiting.append((f"{where}.items", schema["items"], False))
            for place, inner in enumerate(array(field(schema, "anyOf"))):
                waiting.append((f"{where}.any_of[{place}]", inner, False))


def keywords_are_known(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-12: `parameters` has only the fields of its message type."""
    advice = "send the schema as parametersJsonSchema, or project it"
    for path, declaration in request.declarations():
        if field(declaration, "parameters") is not None and field(declaration, "parametersJsonSchema"):
            answer = f"{path}: only one of parameters and parameters_json_schema can be set."
            yield Problem("GEM-12", path, answer, "send one of the two")
    for path, schema, _ in _schemas(request):
        if not isinstance(schema, Mapping):
            answer = (
                f"Invalid value at '{path}' (type.googleapis.com/google.ai.generativelanguage.v1beta.Schema)"
            )
            yield Problem("GEM-12", path, answer, advice)
            continue
        for key in schema:
            if key not in KNOWN:
                answer = (
                    f"Invalid JSON payload received. Unknown name \"{key}\" at '{path}': Cannot find field."
                )
                yield Problem("GEM-12", path, answer, advice)
        if isinstance(schema.get("type"), list | tuple):
            answer = (
                f"Invalid JSON payload received. Unknown name \"type\" at '{path}': "
                "Proto field is not repeating, cannot start list."
            )
            yield Problem("GEM-12", path, answer, "use nullable or anyOf in place of a list of types")


def schemas_are_whole(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-13: enum on strings, items in arrays, properties in objects, required ones defined."""
    for path, schema, is_root in _schemas(request):
        schema = mapping(schema)
        type = text(schema.get("type")).upper()
        properties = mapping(schema.get("properties"))
        request_path = f"* GenerateContentRequest.{path}"
        enum = array(schema.get("enum"))
        if enum and type not in ("STRING", ""):
            answer = f"{request_path}.enum: only allowed for STRING type"
            yield Problem("GEM-13", path, answer, "use an enum of strings, or say the values in words")
        elif not all(isinstance(value, str) for value in enum):
            answer = f"Invalid value at '{path}.enum' (TYPE_STRING)"
            yield Problem("GEM-13", path, answer, "use an enum of strings")
        if type == "ARRAY" and field(schema, "items") is None:
            answer = f"{request_path}.items: missing field."
            yield Problem("GEM-13", path, answer, "say what the array holds")
        # Recorded since 2026: a root without properties, status 200. Within it none has been seen.
        if type == "OBJECT" and not properties and not is_root:
            answer = f"{request_path}.properties: should be non-empty for OBJECT type"
            yield Problem("GEM-13", path, answer, "name the properties, or use parametersJsonSchema")
        for place, name in enumerate(array(schema.get("required"))):
            if text(name) not in properties:
                answer = f"{request_path}.required[{place}]: property is not defined"
                yield Problem("GEM-13", path, answer, "require only properties of the schema")


def names_are_plain(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-14: names of functions and of their parameters match the pattern."""
    for path, declaration in request.declarations():
        if not NAME.fullmatch(text(field(declaration, "name"))):
            answer = (
                f"{path}.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an "
                "underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or "
                "dashes (-), with a maximum length of 128."
            )
            yield Problem("GEM-14", f"{path}.name", answer, "rename the function")
        parameters = mapping(mapping(field(declaration, "parameters")).get("properties"))
        for name in parameters:
            if not PARAMETER.fullmatch(name):
                where = f"{path}.parameters.properties[{name}]"
                answer = (
                    f"{where}: Invalid parameter name. Must start with a letter or an underscore and contain "
                    "only letters, digits and underscores, with a maximum length of 64."
                )
                yield Problem("GEM-14", where, answer, "rename the parameter, or use parametersJsonSchema")


RULES: tuple[Rule, ...] = (keywords_are_known, schemas_are_whole, names_are_plain)
