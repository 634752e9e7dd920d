"""Typed answers: many shapes, every family, and answers that do not fit at first."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypedDict

import pydantic
import pytest
from msgspec import Struct
from tests.session.talk import session, virtually

from turnout.errors import UsageError
from turnout.model import ModelTurn, Text
from turnout.session.typed import AnswerProblem, Shape
from turnout.simulate import Call, Say, SimulatedRequest


class City(Struct):
    name: str
    people: int = 0


class Sea(Struct):
    salt: float


@dataclass
class Route:
    cities: list[str]
    length: float


class Person(pydantic.BaseModel):
    name: str
    age: int


@dataclass
class Family:
    members: list[Person]


class Box(TypedDict):
    width: int


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


SHAPES: dict[str, tuple[Any, Any, Any, Any]] = {
    "struct": (City, {"name": "Oslo", "people": 7}, City("Oslo", 7), {"name": 7}),
    "dataclass": (Route, {"cities": ["a"], "length": 1.5}, Route(["a"], 1.5), {"cities": "a"}),
    "typed dict": (Box, {"width": 3}, {"width": 3}, {"width": "wide"}),
    "pydantic": (Person, {"name": "Bo", "age": 3}, Person(name="Bo", age=3), {"name": "Bo", "age": "old"}),
    "list of structs": (list[City], {"value": [{"name": "Oslo"}]}, [City("Oslo")], {"value": [{}]}),
    "list of numbers": (list[int], {"value": [1, 2]}, [1, 2], {"value": ["one"]}),
    "list of pydantic": (
        list[Person],
        {"value": [{"name": "Bo", "age": 3}]},
        [Person(name="Bo", age=3)],
        {"value": [{"name": "Bo"}]},
    ),
    "dataclass of pydantic": (
        Family,
        {"members": [{"name": "Bo", "age": 3}]},
        Family([Person(name="Bo", age=3)]),
        {"members": [3]},
    ),
    "union of structs": (City | Sea, {"value": {"salt": 3.5}}, Sea(3.5), {"value": {"depth": 3}}),
    "union with nothing": (City | None, {"value": None}, None, {"value": 7}),
    "number": (int, {"value": 42}, 42, {"value": "42 or so"}),
    "text": (str, {"value": "yes"}, "yes", {"value": 1}),
    "enum": (Colour, {"value": "red"}, Colour.RED, {"value": "green"}),
    "literal": (Literal["a", "b"], {"value": "b"}, "b", {"value": "c"}),
    "mapping": (dict[str, int], {"a": 1}, {"a": 1}, {"a": "one"}),
    "json schema": (
        {"type": "object", "properties": {"n": {"type": "integer", "minimum": 5}}, "required": ["n"]},
        {"n": 6},
        {"n": 6},
        {"n": 4},
    ),
    "schema of a list": (
        {"type": "array", "items": {"type": "integer"}},
        {"value": [1]},
        [1],
        {"value": ["a"]},
    ),
}
TARGETS = (
    "openai:gpt-5.1",
    "openai-responses:gpt-5.1",
    "anthropic:claude-sonnet-4-5",
    "anthropic:claude-3-5-haiku-20241022",
    "gemini:gemini-3-pro",
    "gemini:gemini-2.5-flash",
    "mistral:mistral-large-latest",
    "deepseek:deepseek-chat",
    "kimi:kimi-k2.5",
    "groq:llama-3.3-70b-versatile",
)


def answering(wire: Any) -> Any:
    """A model that gives this value in the form that the request asks for."""

    def answer(asked: SimulatedRequest) -> Any:
        if "give_answer" in asked.tools:
            return [Say("Here it is."), Call("give_answer", wire)]
        return json.dumps(wire)

    return answer


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", SHAPES)
def test_an_answer_that_does_not_fit_is_asked_for_again(name: str, target: str) -> None:
    """Broken text, then a wrong value, then a right one: every shape at every family, nothing refused."""
    kind, wire, value, wrong = SHAPES[name]
    steps = iter([lambda asked: "Well, it depends {", answering(wrong), answering(wire)])
    talk, transport = session(lambda asked: next(steps)(asked), target, tools=[])
    answer = virtually(talk.ask("tell", output=kind))
    assert answer.output == value and type(answer.output) is type(value)
    assert len(transport.exchanges) == 3 and transport.refusals == []
    assert answer.usage.output and len(talk.turns) == 3
    told = talk.history.turns[-2]
    assert not isinstance(told, ModelTurn) and "does not fit" in str(told.blocks)


def test_the_number_of_corrections_is_bounded() -> None:
    """After two corrections the problem is raised, with what the model said; 0 raises at once."""
    talk, transport = session(lambda asked: "no idea")
    with pytest.raises(AnswerProblem, match=r"does not fit.*It was: no idea"):
        virtually(talk.ask("tell", output=City))
    assert len(transport.exchanges) == 3
    with pytest.raises(UsageError):
        virtually(talk.ask("tell", output=City, corrections=0))
    assert len(transport.exchanges) == 4


def test_a_model_without_schemas_answers_by_a_tool_that_leaves_no_trace() -> None:
    """The call is text in the history, so the next provider reads an ordinary answer."""
    talk, transport = session(answering({"name": "Oslo"}), "anthropic:claude-3-5-haiku-20241022", tools=[])
    answer = virtually(talk.ask("which?", output=City))
    assert answer.output == City("Oslo") and not answer.turn.tool_calls and answer.turn.stop == "end"
    assert answer.turn.blocks[-1] == Text('{"name":"Oslo"}')
    assert b'"tool_choice":{"type":"tool","name":"give_answer"}' in transport.exchanges[0].body


def test_partial_values_grow_to_the_whole_one() -> None:
    """While the answer streams, each value holds what the one before it held; the last one is typed."""
    wire = {"value": [{"name": f"Town number {number}", "people": number} for number in range(20)]}
    for target in ("openai:gpt-5.1", "anthropic:claude-3-5-haiku-20241022"):
        talk, _ = session(answering(wire), target, tools=[])

        async def collect(talk: Any = talk) -> list[Any]:
            return [value async for value in talk.ask_partially("which?", output=list[City])]

        *partial, whole = virtually(collect())
        assert whole == [City(f"Town number {number}", number) for number in range(20)]
        sizes = [len(str(value)) for value in partial]
        assert len(partial) > 3 and sizes == sorted(sizes)
        assert partial[-1] == wire["value"]


def test_a_type_that_cannot_be_described_is_named() -> None:
    """The message says what to give instead."""
    with pytest.raises(UsageError, match="cannot describe an answer"):
        Shape.of(type(iter(())))
