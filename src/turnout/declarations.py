"""Tool declarations as providers and MCP servers write them, read into `ToolSpec`s.

A function of the client is the same in every API: a name, a description, a schema. What one
API adds (`cache_control`, `defer_loading`) is kept beside it for that API. A tool that a provider
runs or defines (`web_search_20250305`, `googleSearch`, `mcp`) is kept as it was written, and never
becomes a function.
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
"""Is called with each damage in a declaration."""

SCHEMAS = ("parametersJsonSchema", "parameters_json_schema", "parameters", "input_schema", "inputSchema")
"""The field of the argument schema: in Gemini, turnout and OpenAI, Anthropic, MCP servers."""

COMMON = frozenset({"type", "name", "description", "strict", *SCHEMAS})
"""The fields of a function that are read here; others are kept as they are."""

FREE_TEXT = {"type": "object", "properties": {"input": {"type": "string"}}, "required": ["input"]}
"""The schema of a custom tool of OpenAI: one text."""

NO_ORIGIN = Origin("")
"""The origin of a declaration that was given without one."""

FUNCTION_LISTS = ("functionDeclarations", "function_declarations")
# Anthropic dates the types of its tools; OpenAI writes dates with underscores, if at all.
ANTHROPIC_KIND = re.compile(r"\w+_20\d{6}|mcp_toolset|tool_search_tool_(regex|bm25)")
GEMINI_TYPES = frozenset({"STRING", "NUMBER", "INTEGER", "BOOLEAN", "ARRAY", "OBJECT", "NULL"})


def specs_of(tools: Iterable[Any]) -> tuple[ToolSpec, ...]:
    """The specs of tools as callers give them: tools of turnout, or declarations of any provider."""
    return tuple(spec for tool in tools for spec in _specs_of(tool))


def _specs_of(tool: Any) -> Iterator[ToolSpec]:
    given = getattr(tool, "spec", tool)
    if isinstance(given, ToolSpec):
        yield given
        return
    if not isinstance(given, Mapping) and hasattr(given, "model_dump"):
        given = plain(given)
    if isinstance(given, Mapping) and "kind" in given:  # a ToolSpec as JSON
        yield _spec_of_json(given)
        return
    specs = list(read_declaration(given)) if isinstance(given, Mapping) else []
    if not specs:
        raise UsageError(f"{tool!r} is not a tool; give one made with @tool, or a dict with 'name'")
    yield from specs


def _spec_of_json(given: Mapping[str, Any]) -> ToolSpec:
    try:
        return msgspec.convert(given, ToolSpec)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"this is not a tool: {error}; give one made with @tool, or a dict with 'name'"
        ) from None


def read_declaration(
    tool: Mapping[str, Any], origin: Origin = NO_ORIGIN, api: str = "", found: Found | None = None
) -> Iterator[ToolSpec]:
    """The tools of one declaration: several in a namespace, or in a `tool` of Gemini.

    `origin` is the provider that it was written for and `api` its protocol, where the caller knows;
    else the shape decides. A value that declares no tool gives nothing. `found` is called with
    damage; without it, damage is an error.
    """
    writer = _DeclarationReader(origin, api, found)
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
    """Whether it has a type or a name; a tool of Gemini is an object with one key."""
    return isinstance(tool.get("type"), str) or isinstance(tool.get("name"), str) or "function" in tool


class _DeclarationReader:
    """Reads the declarations of one origin."""

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
            beside = {}  # other fields of an MCP server are for its client, not for a model
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
        """Tools of OpenAI that take free text; for other providers a function with one text."""
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
                    for spec in _DeclarationReader(self.origin, self.api or "gemini", self.found).function(
                        function
                    ):
                        schema = json_schema(spec.parameters)
                        yield replace(spec, parameters=schema if isinstance(schema, dict) else {})
            elif isinstance(value, Mapping | list) and key not in COMMON:
                yield self._provider_spec(key, key, {key: value}, "gemini")

    def provider_tool(self, kind: str, tool: Mapping[str, Any]) -> ToolSpec:
        inner = tool.get("function")  # a builtin_function of Kimi has its name here
        places = [tool.get("name"), inner.get("name") if isinstance(inner, Mapping) else None]
        names = [name for name in (*places, tool.get("server_label")) if isinstance(name, str)]
        api = "anthropic" if ANTHROPIC_KIND.fullmatch(kind) else ""
        return self._provider_spec(kind, names[0] if names else kind, tool, api)

    def _provider_spec(self, kind: str, name: str, declaration: Mapping[str, Any], api: str) -> ToolSpec:
        owner, mark, _ = kind.partition(":")  # openrouter:web_search
        origin = Origin(owner) if mark and self.origin == NO_ORIGIN else self.origin
        written_for = self.api or api or ("chat" if mark else "")
        data = {"api": written_for, "declaration": plain(_without_nulls(declaration))}
        return ToolSpec(name, kind=kind, residue=Residue(origin, data))

    def _schema_of(self, function: Mapping[str, Any]) -> dict[str, Any]:
        schema = plain(next((function[name] for name in SCHEMAS if function.get(name)), {}))
        if isinstance(schema, dict):
            return schema
        problem = f"the parameters of tool {function['name']!r} are {schema!r}"
        if self.found is None:
            raise UsageError(f"{problem}; give a JSON Schema object")
        self.found(problem)
        return {}

    def _residue(self, api: str, **data: Any) -> Residue | None:
        kept = {name: value for name, value in data.items() if value}
        return Residue(self.origin, {"api": self.api or api, **kept}) if kept else None


def _function_api(tool: Mapping[str, Any]) -> str:
    """The API of this form; "" for the form of MCP and of turnout."""
    if "function" in tool:
        return "chat"
    if tool.get("type") == FUNCTION:
        return "responses"
    return "anthropic" if "input_schema" in tool else ""


def _without_nulls(values: Mapping[str, Any]) -> dict[str, Any]:
    """The values without nulls: SDK objects write every field, most of them as null."""
    return {name: value for name, value in values.items() if value is not None}


def _dicts(listed: Any) -> list[Mapping[str, Any]]:
    items = listed if isinstance(listed, list | tuple) else [listed]
    return [item for item in items if isinstance(item, Mapping)]


def json_schema(schema: Any) -> Any:
    """The schema as JSON Schema: Gemini writes types in capitals."""
    if isinstance(schema, list):
        return [json_schema(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        name: _lower_type(value) if name == "type" else json_schema(value) for name, value in schema.items()
    }


def _lower_type(value: Any) -> Any:
    return value.lower() if isinstance(value, str) and value in GEMINI_TYPES else json_schema(value)
