"""Tool declarations as providers and MCP servers write them, read into `ToolSpec`s.

A function of the client is the same thing in everyone's words: a name, a description, a
schema. What one API adds to it (`cache_control`, `defer_loading`) is kept beside it for that
API. A tool that a provider runs or defines itself (`web_search_20250305`, `googleSearch`,
`mcp`) is kept as it was written, and is never turned into a function.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from .errors import UsageError
from .model import FUNCTION, Origin, Residue, ToolSpec
from .plain import plain

Found = Callable[[str], None]
"""Hears of damage in a declaration."""

SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters", "input_schema", "inputSchema")
"""What the schema of a tool's arguments is called: by Gemini, us and OpenAI, Anthropic, MCP servers."""

COMMON = frozenset({"type", "name", "description", "strict", *SCHEMAS})
"""The fields of a function that we read ourselves; the others ride along."""

FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""What a custom tool of OpenAI takes: one text."""

NOBODY = Origin("")
"""Whose a declaration is that somebody gave without saying whom it was written for."""

FUNCTION_LISTS = ("functionDeclarations", "function_declarations")
# Anthropic dates the types of its tools; OpenAI writes dates with underscores, if at all.
ANTHROPIC_KIND = re.compile(r"\w+_20\d{6}|mcp_toolset|tool_search_tool_(regex|bm25)")
GEMINI_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def specs_of(tools: Iterable[Any]) -> tuple[ToolSpec, ...]:
    """Tools as callers give them: our own, or declarations in any provider's words."""
    return tuple(spec for tool in tools for spec in _specs_of(tool))


def _specs_of(tool: Any) -> Iterator[ToolSpec]:
    given = getattr(tool, "spec", tool)
    if isinstance(given, ToolSpec):
        yield given
        return
    if not isinstance(given, Mapping) and hasattr(given, "model_dump"):
        given = plain(given)
    if isinstance(given, Mapping) and "kind" in given:  # one of our own, as JSON
        yield _restored(given)
        return
    specs = list(read_declaration(given)) if isinstance(given, Mapping) else []
    if not specs:
        raise UsageError(f"{tool!r} is not a tool; give one made with @tool, or a dict with 'name'")
    yield from specs


def _restored(given: Mapping[str, Any]) -> ToolSpec:
    try:
        return msgspec.convert(given, ToolSpec)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"this is not a tool: {error}; give one made with @tool, or a dict with 'name'"
        ) from None


def read_declaration(
    tool: Mapping[str, Any], origin: Origin = NOBODY, api: str = "", found: Found | None = None
) -> Iterator[ToolSpec]:
    """The tools that one declaration declares: several in a namespace, or in a `tool` of Gemini.

    `origin` is whom it was written for and `api` the protocol it was written in, where the
    caller knows; else the shape tells. Nothing comes of what declares no tool. `found` hears of
    damage; without it, damage is an error.
    """
    writer = _Writer(origin, api, found)
    kind = tool.get("type")
    if any(name in tool for name in FUNCTION_LISTS) or not _is_typed(tool):
        yield from writer.gemini_tools(tool)
    elif kind == "namespace":
        yield from writer.namespace(tool)
    elif kind == "custom" and not any(tool.get(name) for name in SCHEMAS):
        yield from writer.custom(tool)
    elif kind in (None, FUNCTION, "custom"):
        yield from writer.function(tool)
    elif isinstance(kind, str):
        yield writer.provider_tool(kind, tool)


def _is_typed(tool: Mapping[str, Any]) -> bool:
    """Whether it says what it is; Gemini's tools are objects with one key each."""
    return isinstance(tool.get("type"), str) or isinstance(tool.get("name"), str) or "function" in tool


class _Writer:
    """Reads the declarations that one author wrote."""

    def __init__(self, origin: Origin, api: str, found: Found | None) -> None:
        self.origin = origin
        self.api = api
        self.found = found

    def function(self, tool: Mapping[str, Any]) -> Iterator[ToolSpec]:
        inner = tool.get("function")
        function = inner if isinstance(inner, Mapping) else tool
        name = function.get("name")
        if not isinstance(name, str) or not name:
            return
        beside = {key: value for key, value in tool.items() if key not in COMMON and key != "function"}
        if "inputSchema" in tool:
            beside = {}  # what an MCP server says besides is for its client, not for a model
        if function is not tool:
            within = {key: value for key, value in function.items() if key not in COMMON}
            beside |= {"function": within} if within else {}
        description = function.get("description")
        yield ToolSpec(
            name,
            description if isinstance(description, str) else "",
            self._schema_of(function),
            strict=function.get("strict") is True,
            residue=self._residue(_function_api(tool), beside=plain(_without_nulls(beside))),
        )

    def custom(self, tool: Mapping[str, Any]) -> Iterator[ToolSpec]:
        """OpenAI's tools that take free text; for everyone else a function of one text."""
        inner = tool.get("custom")
        for spec in self.function(inner if isinstance(inner, Mapping) else tool):
            api = "chat" if isinstance(inner, Mapping) else "responses"
            residue = self._residue(api, declaration=plain(tool))
            yield replace(spec, parameters=FREE_TEXT, residue=residue)

    def namespace(self, tool: Mapping[str, Any]) -> Iterator[ToolSpec]:
        """Functions of one namespace: two of the same name in two namespaces are two tools."""
        header = {key: value for key, value in tool.items() if key != "tools"}
        for inner in _dicts(tool.get("tools")):
            for spec in read_declaration(inner, self.origin, self.api or "responses", self.found):
                held = {"declaration": spec.declaration, "beside": spec.beside, "namespace": plain(header)}
                residue = self._residue("responses", **held)
                yield replace(spec, name=f"{tool.get('name')}.{spec.name}", residue=residue)

    def gemini_tools(self, tool: Mapping[str, Any]) -> Iterator[ToolSpec]:
        for key, value in tool.items():
            if value is None:
                continue
            if key in FUNCTION_LISTS:
                for function in _dicts(value):
                    for spec in _Writer(self.origin, self.api or "gemini", self.found).function(function):
                        schema = json_schema(spec.parameters)
                        yield replace(spec, parameters=schema if isinstance(schema, dict) else {})
            elif isinstance(value, Mapping | list) and key not in COMMON:
                yield self._kept(key, key, {key: value}, "gemini")

    def provider_tool(self, kind: str, tool: Mapping[str, Any]) -> ToolSpec:
        inner = tool.get("function")  # Kimi's builtin_function has its name in there
        places = [tool.get("name"), inner.get("name") if isinstance(inner, Mapping) else None]
        names = [name for name in (*places, tool.get("server_label")) if isinstance(name, str)]
        api = "anthropic" if ANTHROPIC_KIND.fullmatch(kind) else ""
        return self._kept(kind, names[0] if names else kind, tool, api)

    def _kept(self, kind: str, name: str, declaration: Mapping[str, Any], api: str) -> ToolSpec:
        owner, mark, _ = kind.partition(":")  # openrouter:web_search
        origin = Origin(owner) if mark and self.origin == NOBODY else self.origin
        spoken = self.api or api or ("chat" if mark else "")
        data = {"api": spoken, "declaration": plain(_without_nulls(declaration))}
        return ToolSpec(name, kind=kind, residue=Residue(origin, data))

    def _schema_of(self, function: Mapping[str, Any]) -> dict[str, Any]:
        schema = plain(next((function[name] for name in SCHEMAS if function.get(name)), {}))
        if isinstance(schema, dict):
            return schema
        problem = f"the parameters of tool {function['name']!r} are {schema!r}"
        if self.found is None:
            raise UsageError(f"{problem}; give a JSON Schema, which is an object")
        self.found(problem)
        return {}

    def _residue(self, api: str, **data: Any) -> Residue | None:
        kept = {name: value for name, value in data.items() if value}
        return Residue(self.origin, {"api": self.api or api, **kept}) if kept else None


def _function_api(tool: Mapping[str, Any]) -> str:
    """Whose words these are, where the shape tells; "" where it is MCP's or our own."""
    if "function" in tool:
        return "chat"
    if tool.get("type") == FUNCTION:
        return "responses"
    return "anthropic" if "input_schema" in tool else ""


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    """SDK objects write every field that they know, most of them as null."""
    return {name: value for name, value in values.items() if value is not None}


def _dicts(listed: Any) -> list[Mapping[str, Any]]:
    items = listed if isinstance(listed, list | tuple) else [listed]
    return [item for item in items if isinstance(item, Mapping)]


def json_schema(schema: Any) -> Any:
    """Gemini writes types in capitals; JSON Schema does not."""
    if isinstance(schema, list):
        return [json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: _lower(value) if name == "type" else json_schema(value) for name, value in schema.items()}


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) and value in GEMINI_TYPES else json_schema(value)
