"""What users give as tools, in every form: it runs, or is handed out, at every API."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from mcp import types as mcp_types
from tests.session.talk import everything, session, shown, virtually

from turnout import (
    Provided,
    Session,
    ToolContext,
    ToolResult,
    ToolSet,
    ToolSpec,
    UsageError,
    Waiting,
    World,
    tool,
)
from turnout.simulate import Call
from turnout.tools.declare.given_tools import split_tools

GPT = "openai:gpt-5.1"
TARGETS = (
    *(GPT, "openai-responses:gpt-5.1", "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-pro"),
    "mistral:mistral-large-latest",
)
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
FORMS: dict[str, Any] = {
    "chat": {"type": "function", "function": {"name": "weather", "description": "W.", "parameters": CITY}},
    "responses": {"type": "function", "name": "weather", "description": "W.", "parameters": CITY},
    "anthropic": {"name": "weather", "description": "W.", "input_schema": CITY},
    "gemini": {"functionDeclarations": [{"name": "weather", "description": "W.", "parameters": CITY}]},
    "mcp": {"name": "weather", "description": "W.", "inputSchema": CITY},
    "mcp object": mcp_types.Tool(name="weather", description="W.", input_schema=CITY),
    "spec": ToolSpec("weather", "W.", CITY),
}
SCRIPT = [[Call("weather", {"city": "Oslo"})], "Done."]


def weather(city: str) -> str:
    """Current weather."""
    return f"18 in {city}"


async def weather_later(city: str) -> str:
    """Current weather."""
    return f"18 in {city}"


class Station:
    """A weather station."""

    def __init__(self) -> None:
        self.asked = 0

    def weather(self, city: str) -> str:
        """Current weather."""
        self.asked += 1
        return f"{self.asked}: 18 in {city}"

    @classmethod
    def of_class(cls, city: str) -> str:
        """Current weather."""
        return f"18 in {city}"

    @staticmethod
    def of_nobody(city: str) -> str:
        """Current weather."""
        return f"18 in {city}"

    def __call__(self, city: str) -> str:
        """Count, and tell.

        Args:
            city: Where.
        """
        return self.weather(city)


def in_unit(unit: str, city: str) -> str:
    """Current weather."""
    return f"18{unit} in {city}"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("form", FORMS)
def test_a_declaration_alone_is_handed_out(form: str, target: str) -> None:
    """Any API's declaration is offered to any provider; the call waits, and the answer goes on."""
    talk, transport = session(SCRIPT, target, tools=[FORMS[form]])
    waiting = virtually(everything(talk))[-1]
    assert isinstance(waiting, Waiting)
    (call,) = waiting.calls
    assert (call.name, call.arguments, call.kind) == ("weather", {"city": "Oslo"}, "external")
    assert [spec.description for spec in talk.tool_specs()] == ["W."]
    assert shown(virtually(events_of_answer(talk, call.call_id))) == "Done."
    assert not transport.refusals


async def events_of_answer(talk: Session, call_id: str) -> list[Any]:
    return [event async for event in talk.answer(call_id, "18 in Oslo")]


@pytest.mark.parametrize("form", FORMS)
def test_a_function_beside_its_declaration_runs(form: str) -> None:
    """The declaration says what the model reads, also the name; the function gets the arguments."""

    def tell_weather(city: str, ctx: ToolContext, station: Provided[Station]) -> str:
        """Not what the model reads."""
        return f"{ctx.name} {station.weather(city)}"

    world = {"provides": [Station()]}
    talk, transport = session(SCRIPT, GPT, tools=[(FORMS[form], tell_weather)], **world)
    assert _results(talk) == ["weather 1: 18 in Oslo"]
    assert talk.tool_specs()[0].description == "W." and not transport.refusals


@pytest.mark.parametrize(
    ("given", "name", "result"),
    [
        (weather, "weather", "18 in Oslo"),
        (weather_later, "weather_later", "18 in Oslo"),
        (Station().weather, "weather", "1: 18 in Oslo"),
        (Station.of_class, "of_class", "18 in Oslo"),
        (Station.of_nobody, "of_nobody", "18 in Oslo"),
        (Station(), "Station", "1: 18 in Oslo"),
        (functools.partial(in_unit, "C"), "in_unit", "18C in Oslo"),
        (functools.lru_cache(weather), "weather", "18 in Oslo"),
        ([ToolSet([weather])], "weather", "18 in Oslo"),
        (tool(weather), "weather", "18 in Oslo"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_whatever_can_be_called_runs(given: Any, name: str, result: str) -> None:
    """Functions, methods, objects with state, partial functions and sets, with types and description."""
    talk, _ = session([[Call(name, {"city": "Oslo"})], "Done."], GPT, tools=[given])
    assert _results(talk) == [result]
    (spec,) = talk.tool_specs()
    assert spec.parameters["properties"]["city"]["type"] == "string"
    assert spec.description in ("Current weather.", "Count, and tell.")


def test_an_object_with_state_is_described_by_its_call() -> None:
    """The docstring of `__call__` counts before the one of the class, with its parameters."""
    made = tool(Station())
    assert made.description == "Count, and tell."
    assert made.spec.parameters["properties"]["city"]["description"] == "Where."


def test_one_declaration_may_hold_functions_and_tools_of_the_provider() -> None:
    """As Gemini writes them: the functions are handed out, the search is the provider's."""
    mixed = {"functionDeclarations": [{"name": "a"}, {"name": "b"}], "googleSearch": {}}
    ours, theirs = split_tools([mixed])
    assert [(each.name, each.external) for each in ours] == [("a", True), ("b", True)]
    assert [spec.kind for spec in theirs] == ["googleSearch"]


@pytest.mark.parametrize(
    ("hints", "risk"),
    [
        ({"readOnlyHint": True}, "read"),
        ({"destructiveHint": False}, "risky"),
        ({"title": "W"}, "read"),
        ({}, "read"),
    ],
)
def test_hints_of_an_mcp_server_decide_the_risk_of_a_function(hints: dict[str, Any], risk: str) -> None:
    """A tool that is said to change things is asked for. What is handed out needs no question."""
    declaration = {**FORMS["mcp"], "annotations": hints}
    assert tool(weather, declaration=declaration).risk == risk
    assert tool(weather, declaration=declaration, risk="write").risk == "write"
    assert tool(declaration).risk == "read"


def test_fields_of_one_api_stay_with_the_declaration() -> None:
    """`strict` and `cache_control` go back to the API that knows them."""
    strict = {"type": "function", "name": "weather", "parameters": CITY, "strict": True}
    assert tool(strict).spec.strict and tool(weather, declaration=strict).spec.strict
    cached = {**FORMS["anthropic"], "cache_control": {"type": "ephemeral"}}
    assert tool(weather, declaration=cached).spec.beside == {"cache_control": {"type": "ephemeral"}}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ("weather", "'weather' is not a tool; give a function"),
        (Station, r"Station is a class, not a tool; give ToolSet\(Station\(…\)\)"),
        (Station.weather, "Station.weather has no object to work on; give object.weather"),
        (lambda city: city, "name=…"),
        (3, "is not a tool"),
        ({"type": "function"}, "is not a tool"),
        ((FORMS["chat"], lambda town: town), "its declaration has 'city'; give the function that parameter"),
        ((FORMS["chat"], in_unit), "its function needs 'unit'; declare it, or give it a default"),
        (({"type": "web_search"}, weather), "web_search is run by its provider"),
    ],
)
def test_what_cannot_be_a_tool_is_refused_with_the_way_on(wrong: Any, said: str) -> None:
    """When the session is made, not when the model calls."""
    with pytest.raises(UsageError, match=said):
        Session(GPT, tools=[wrong])


def test_a_tool_of_a_class_needs_its_object() -> None:
    """`@tool` on a method makes a tool of each object; taken from the class there is none."""

    class Shop:
        @tool
        def price(self, item: str) -> int:
            """The price of an item."""
            return 3

    assert [each.name for each in split_tools([Shop().price])[0]] == ["price"]
    with pytest.raises(UsageError, match="has no object to work on"):
        Session(GPT, tools=[Shop.price], world=World())


def test_calling_a_declared_tool_says_that_it_has_no_code() -> None:
    """A program that calls it by mistake learns how calls are answered."""
    with pytest.raises(UsageError, match="declared without a function"):
        tool(FORMS["chat"])(city="Oslo")


def _results(talk: Session) -> list[str]:
    return [event.outcome.text for event in virtually(everything(talk)) if isinstance(event, ToolResult)]
