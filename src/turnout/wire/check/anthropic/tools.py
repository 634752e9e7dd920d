"""What Anthropic Messages refuses about tools, their choice and cache marks (ANT-08, 09, 14, 15, 25).

Only tools that the client defines have a schema to check. The server's own tools are
recognised by their type and skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.view import array, mapping, text
from ..problem import Problem
from ..reading import Object, objects, repeats
from ..schema import nodes
from .view import AnthropicRequest, Rule

NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
SPOKEN_NAME = re.compile(r"[a-zA-Z0-9_-]{1,200}")  # of a call in the history
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
COMBINATORS = ("oneOf", "allOf", "anyOf")

# Recorded refusals of strict tools: limits over all of them, and over one schema.
MAX_STRICT = 20
MAX_OPTIONAL = 24
MAX_OPTIONAL_IN_ONE = 23
MAX_UNIONS = 16
MAX_UNIONS_IN_ONE = 15

MAX_CACHE_MARKS = 4


def client_tools(request: AnthropicRequest) -> Iterator[tuple[str, Object]]:
    """The tools with a schema. Type "function" belongs to another API, and is checked too."""
    ours = (None, "custom", "function")
    return ((path, tool) for path, tool in request.tools() if tool.get("type") in ours)


def names_are_plain(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-08: names of tools and of their properties match the pattern; tool names are unique."""
    for path, tool in client_tools(request):
        if tool.get("type") != "function" and not NAME.fullmatch(text(tool.get("name"))):
            answer = f"{path}.custom.name: String should match pattern '^[a-zA-Z0-9_-]{{1,128}}$'"
            yield Problem("ANT-08", f"{path}.name", answer, "use letters, digits, _ and - in tool names")
        schema = mapping(tool.get("input_schema"))
        if not all(PROPERTY.fullmatch(key) for key in mapping(schema.get("properties"))):
            path = f"{path}.custom.input_schema.properties"
            answer = f"{path}: Property keys should match pattern '^[a-zA-Z0-9_.-]{{1,64}}$'"
            yield Problem("ANT-08", path, answer, "rename the property")
    for path, _ in repeats((path, text(tool.get("name"))) for path, tool in request.tools()):
        yield Problem("ANT-08", path, "tools: Tool names must be unique.", "define each tool once")
    for block in request.blocks("tool_use"):
        if not SPOKEN_NAME.fullmatch(text(block.raw.get("name"))):
            path = f"{block.path}.tool_use.name"
            answer = f"{path}: String should match pattern '^[a-zA-Z0-9_-]{{1,200}}$'"
            yield Problem("ANT-08", path, answer, "use the same plain name as in tools")


def schemas_describe_objects(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-09: the root of a schema is an object, without combinators."""
    for path, tool in client_tools(request):
        path = f"{path}.custom.input_schema"
        wrong = _schema_fault(path, tool)
        if wrong:
            yield Problem("ANT-09", path, wrong, "give the schema type object at its root; nest the rest")


def _schema_fault(path: str, tool: Object) -> str:
    if tool.get("type") == "function":
        return (
            f"{path.split('.custom')[0]}: Input tag 'function' found using 'type' does not match any of the "
            "expected tags: 'custom'"
        )
    if "input_schema" not in tool:
        return f"{path}: Field required"
    schema = tool["input_schema"]
    if not isinstance(schema, Mapping):
        return f"{path}: Input does not match the expected shape."
    if "type" not in schema:
        return f"{path}.type: Field required"
    if schema["type"] != "object":
        return f"{path}.type: Input should be 'object'"
    if any(schema.get(key) is not None for key in COMBINATORS):
        return f"{path}: input_schema does not support oneOf, allOf, or anyOf at the top level"
    return ""


def strict_schemas_compile(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-09, for strict tools: no circular references, limits on options and unions."""
    strict = [(path, tool) for path, tool in client_tools(request) if tool.get("strict") is True]
    if len(strict) > MAX_STRICT:
        answer = (
            f"Too many strict tools ({len(strict)}). The maximum number of strict tools supported is "
            f"{MAX_STRICT}. Try reducing the number of tools marked as strict."
        )
        yield Problem("ANT-09", "tools", answer, "leave strict out of some of them")
    optional = unions = 0
    for path, tool in strict:
        schema = mapping(tool.get("input_schema"))
        circle = _circle(schema)
        if circle:
            answer = (
                f"{path}.custom: Invalid schema: Circular reference detected in schema definitions: "
                f"{circle}. Self-referencing or mutually-referencing definitions are not supported."
            )
            yield Problem("ANT-09", path, answer, "unfold the schema, or leave strict out")
        own_optional, own_unions = _freedom(schema)
        optional, unions = optional + own_optional, unions + own_unions
        crowded = MAX_OPTIONAL_IN_ONE < own_optional <= MAX_OPTIONAL
        if crowded or MAX_UNIONS_IN_ONE < own_unions <= MAX_UNIONS:
            answer = (
                "Schema is too complex for compilation. "
                "Try reducing the number of tools or simplifying tool schemas."
            )
            yield Problem("ANT-09", path, answer, "use fewer unions and options, or leave strict out")
    yield from _excess(optional, unions)


def _excess(optional: int, unions: int) -> Iterator[Problem]:
    if optional > MAX_OPTIONAL:
        answer = (
            f"Schemas contains too many optional parameters ({optional}), which would make grammar "
            "compilation inefficient. Reduce the number of optional parameters in your tool schemas "
            f"(limit: {MAX_OPTIONAL})."
        )
        yield Problem("ANT-09", "tools", answer, "require more of them, or leave strict out")
    if unions > MAX_UNIONS:
        answer = (
            f"Schemas contains too many parameters with union types ({unions} parameters with type arrays or "
            "anyOf). This causes exponential compilation cost. Reduce the number of nullable or union-typed "
            f"parameters (limit: {MAX_UNIONS} parameters with unions)."
        )
        yield Problem("ANT-09", "tools", answer, "use fewer unions, or leave strict out")


def _freedom(schema: Object) -> tuple[int, int]:
    """How many properties are optional, and how many are unions."""
    optional = unions = 0
    for _, part in nodes(schema):
        required = {text(key) for key in array(part.get("required"))}
        for key, inner in mapping(part.get("properties")).items():
            optional += key not in required
            inner = mapping(inner)
            unions += isinstance(inner.get("type"), list | tuple) or bool(inner.get("anyOf"))
    return optional, unions


def _circle(schema: Object) -> str:
    """Definitions that lead back to themselves, as the server writes them: Node -> Node."""
    definitions = {**mapping(schema.get("definitions")), **mapping(schema.get("$defs"))}
    leads = {name: sorted(_references(inner) & definitions.keys()) for name, inner in definitions.items()}
    done: set[str] = set()
    for start in leads:
        trail = {start: iter(leads[start])}  # names in the order in which they led here
        while trail:
            name = next(reversed(trail))
            step = next(trail[name], None)
            if step in trail:
                names = list(trail)
                return " -> ".join([*names[names.index(step) :], step])
            if step is None:
                done.add(name)
                del trail[name]
            elif step not in done:
                trail[step] = iter(leads[step])
    return ""


def _references(schema: Any) -> set[str]:
    references = (text(part.get("$ref")) for _, part in nodes(schema))
    return {reference.rpartition("/")[2] for reference in references if reference.startswith("#/")}


def a_choice_needs_tools(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-25: tool_choice needs tools."""
    # Recorded on sonnet-4-6 and sonnet-5: calls in the history without any tools, status 200. So the
    # other half of this rule, that such a history needs tools, is not checked.
    choice = mapping(request.body.get("tool_choice")).get("type")
    if choice in (None, "none") or request.body.get("tools") or request.body.get("mcp_servers"):
        return
    answer = "tool_choice: may only be specified while providing tools"
    yield Problem("ANT-25", "tool_choice", answer, "leave tool_choice out, or define the tools")


def _cache_marks(request: AnthropicRequest) -> Iterator[tuple[str, Any]]:
    """Every cache mark in the order in which the prompt is built: tools, system, messages."""
    holders = list(request.tools())
    holders += [(f"system.{place}", block) for place, block in objects(request.body.get("system"))]
    for turn in request.turns:
        for block in turn.blocks:
            inner = objects(block.raw.get("content")) if block.type == "tool_result" else ()
            holders += [(f"{block.path}.content.{place}", part) for place, part in inner]
            holders.append((block.path, block.raw))
    holders.append(("cache_control", request.body))
    return ((path, holder["cache_control"]) for path, holder in holders if holder.get("cache_control"))


def cache_marks_are_few(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-14: four cache marks at most, the long-lived first."""
    marks = list(_cache_marks(request))
    if len(marks) > MAX_CACHE_MARKS:
        answer = (
            f"A maximum of {MAX_CACHE_MARKS} blocks with cache_control may be provided. Found {len(marks)}."
        )
        yield Problem("ANT-14", marks[MAX_CACHE_MARKS][0], answer, "keep the last marks only")
    short = False
    for path, mark in marks:
        long = mapping(mark).get("ttl") == "1h"
        if long and short:
            answer = (
                f"{path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ttl='5m' "
                "cache_control block"
            )
            yield Problem("ANT-14", path, answer, "put 1h marks before 5m ones")
            return
        short = short or not long


def cache_marks_sit_on_content(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-15: no cache mark on a thought or on blank text."""
    for block in request.blocks("thinking", "redacted_thinking", "text"):
        if not block.raw.get("cache_control"):
            continue
        if block.type != "text":
            answer = f"{block.path}.{block.type}.cache_control: Extra inputs are not permitted"
        elif not block.text.strip():
            answer = f"{block.path}.text: cache_control cannot be set for empty text blocks"
        else:
            continue
        yield Problem("ANT-15", block.path, answer, "put the mark on the block before it")


RULES: tuple[Rule, ...] = (
    names_are_plain,
    schemas_describe_objects,
    strict_schemas_compile,
    a_choice_needs_tools,
    cache_marks_are_few,
    cache_marks_sit_on_content,
)
