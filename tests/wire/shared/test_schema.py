"""Tool schemas, projected: every family takes them, and they accept what the tool accepts."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
from hypothesis import assume, given, settings
from tests.corpus import SOAK
from tests.handoff.judges import complaints
from tests.wire.shared.schemas import Drawn, broken, roots

from turnout import History, render
from turnout.model import ToolSpec
from turnout.targets.target import find_target as target
from turnout.wire.shared.schema import gemini_parameters, project_schema
from turnout.wire.shared.strict import strict_schema

TARGETS = (
    "openai:gpt-4o",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-2.5-flash",
    "mistral:mistral-large-latest",
    "kimi:kimi-k2.5",
    "xai:grok-4",
    "ollama:llama3.2",
)
STYLES: tuple[Any, ...] = ("openai", "anthropic", "moonshot", "xai", "plain")
MANY = settings(max_examples=2000 if SOAK else 120, deadline=None)
DRAFT_7 = "http://json-schema.org/draft-07/schema#"
FEWER = settings(max_examples=1000 if SOAK else 40, deadline=None)  # where each example is sixteen requests


def accepts(schema: Any, value: Any) -> bool:
    return jsonschema_rs.Draft7Validator(schema).is_valid(value)


def tool(schema: dict[str, Any]) -> ToolSpec:
    return ToolSpec("t", "A tool.", schema)


def is_said(changes: list[str]) -> bool:
    """The two places where a projection may be narrower than the tool, and the report names them.

    A property of one alternative at the root keeps its type also where another alternative
    leaves it open; Gemini takes no empty word in an enum.
    """
    return any("at the root" in line or "empty enum value" in line for line in changes)


def plain_json_schema(node: Any) -> Any:
    """Gemini's own subset, written as JSON Schema."""
    if not isinstance(node, dict):
        return node
    schema = {key: value for key, value in node.items() if key != "nullable"}
    for key in ("items",):
        if key in schema:
            schema[key] = plain_json_schema(schema[key])
    if "anyOf" in schema:
        schema["anyOf"] = [plain_json_schema(branch) for branch in schema["anyOf"]]
    if "properties" in schema:
        schema["properties"] = {
            name: plain_json_schema(value) for name, value in schema["properties"].items()
        }
    return {"anyOf": [schema, {"type": "null"}]} if node.get("nullable") else schema


@FEWER
@given(drawn=roots())
def test_every_family_takes_every_schema(drawn: Drawn) -> None:
    """Whatever a tool's parameters look like, the checkers and the vendors' types find nothing."""
    for name in TARGETS:
        place = target(name)
        for strict in (False, True):
            request = render(History("h"), place, tools=[tool(drawn[0])], strict=strict)
            assert complaints(request, place) == []


@MANY
@given(drawn=roots())
def test_a_projected_schema_accepts_what_the_tool_accepts(drawn: Drawn) -> None:
    """Arguments that fit the tool fit what the model is told of it; where not, the report says so."""
    schema, arguments = drawn
    assume(accepts(schema, arguments))
    for style in STYLES:
        changes: list[str] = []
        projected = project_schema(tool(schema), style, changes)
        assert accepts(projected, arguments) or is_said(changes), (style, projected, changes)


@MANY
@given(drawn=roots())
def test_geminis_subset_accepts_what_the_tool_accepts(drawn: Drawn) -> None:
    """A projected schema is never narrower than the tool's own."""
    schema, arguments = drawn
    assume(accepts(schema, arguments))
    changes: list[str] = []
    declared = gemini_parameters(tool(schema), changes)
    projected = declared.get("parametersJsonSchema") or plain_json_schema(declared.get("parameters", {}))
    assert accepts(projected, arguments) or is_said(changes), (declared, changes)


@MANY
@given(drawn=roots())
def test_a_strict_schema_accepts_the_same_with_nulls_or_is_not_sent(drawn: Drawn) -> None:
    """Optional becomes nullable at OpenAI; what the strict subset cannot say goes without the promise."""
    schema, arguments = drawn
    assume(accepts(schema, arguments))
    for style in ("openai", "anthropic"):
        changes: list[str] = []
        projected = strict_schema(tool(schema), style, changes)
        if projected is None:
            assert "sent without strict" in changes[-1]
        else:
            assert accepts(projected, filled(projected, arguments)), (style, projected, changes)


def filled(schema: Any, value: Any) -> Any:
    """The value as a strict model writes it: null where a required property was left out."""
    if isinstance(value, list) and isinstance(schema.get("items"), dict):
        return [filled(schema["items"], item) for item in value]
    for branch in schema.get("anyOf", ()):
        if accepts(branch, whole := filled(branch, value)):
            return whole
    if not isinstance(value, dict) or "properties" not in schema:
        return value
    properties = schema["properties"]
    missing = {name: None for name in schema.get("required", ()) if name not in value}
    return missing | {name: filled(properties.get(name, {}), item) for name, item in value.items()}


@MANY
@given(drawn=roots())
def test_projecting_twice_changes_nothing_more(drawn: Drawn) -> None:
    """A schema that a family takes is sent as it is, and nothing is reported."""
    for style in STYLES:
        once = project_schema(tool(drawn[0]), style, [])
        changes: list[str] = []
        assert project_schema(tool(once), style, changes) == once
        assert changes == []


@FEWER
@given(schema=broken())
def test_a_schema_that_makes_no_sense_is_sent_without_the_parts_that_do_not(schema: dict[str, Any]) -> None:
    """Every family takes what is left, it is JSON Schema, and the report names what went."""
    for style in STYLES:
        changes: list[str] = []
        projected = project_schema(tool(schema), style, changes)
        assert jsonschema_rs.meta.is_valid({"$schema": DRAFT_7, **projected}), (style, projected)
        assert changes or jsonschema_rs.meta.is_valid({**schema, "$schema": DRAFT_7})
    for name in TARGETS:
        place = target(name)
        for strict in (False, True):
            request = render(History("h"), place, tools=[tool(schema)], strict=strict)
            assert complaints(request, place) == []
