"""Signatures as schemas, and arguments as Python values."""

from __future__ import annotations

import dataclasses
import datetime
import enum
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import msgspec
import pydantic
import pytest
from tests.tools.declare.test_tool import weather

from turnout.errors import UsageError
from turnout.model import ToolSpec
from turnout.tools.declare.tool import Tool, ToolContext, tool


def parameters(made: Tool) -> dict[str, Any]:
    return made.spec.parameters


def test_type_hints_and_docstring_become_the_schema() -> None:
    """The example of the manual gives the schema one would write by hand."""
    assert weather.spec == ToolSpec(
        "weather",
        "Current weather.",
        {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "City name."},
                "unit": {"type": "string", "enum": ["c", "f"], "default": "c"},
            },
            "required": ["city"],
            "additionalProperties": False,
        },
    )


def test_the_context_is_hidden_from_the_model() -> None:
    """A parameter annotated ToolContext is ours, wherever it stands."""

    @tool
    def note(text: str, ctx: ToolContext) -> str:
        return f"{ctx.call_id}: {text}"

    assert list(parameters(note)["properties"]) == ["text"]
    assert note.invoke(ToolContext("c1"), {"text": "hi"}) == "c1: hi"


class Colour(enum.Enum):
    RED = "red"


@dataclasses.dataclass
class Point:
    x: int
    y: int = 0


class Query(msgspec.Struct):
    words: list[str]


class Address(TypedDict):
    street: str


class Person(pydantic.BaseModel):
    name: str
    born: datetime.date


@dataclasses.dataclass
class Party:
    guests: list[Person]


VALUES: list[tuple[Any, Any, Any]] = [
    (int, 3, 3),
    (float, 3, 3.0),
    (int, 3.0, 3),
    (int | None, None, None),
    (list[int], [1, 2], [1, 2]),
    (set[str], ["a"], {"a"}),
    (tuple[int, str], [1, "a"], (1, "a")),
    (dict[str, float], {"a": 1}, {"a": 1.0}),
    (datetime.date, "2024-02-29", datetime.date(2024, 2, 29)),
    (bytes, "aGk=", b"hi"),
    (Colour, "red", Colour.RED),
    (Point, {"x": 1}, Point(1)),
    (list[Point], [{"x": 1, "y": 2}], [Point(1, 2)]),
    (Query, {"words": ["a"]}, Query(["a"])),
    (Address, {"street": "s"}, {"street": "s"}),
    (Person, {"name": "n", "born": "2000-01-01"}, Person(name="n", born=datetime.date(2000, 1, 1))),
    (list[Person] | None, None, None),
    (Annotated[int, msgspec.Meta(ge=1)], 1, 1),
    (Annotated[int, pydantic.Field(ge=1)], 1, 1),
    (Any, {"a": [1]}, {"a": [1]}),
    (Path, "a/b", Path("a/b")),
    (list[Path] | None, ["a"], [Path("a")]),
    (
        Party,
        {"guests": [{"name": "n", "born": "2000-01-01"}]},
        Party([Person(name="n", born=datetime.date(2000, 1, 1))]),
    ),
]


@pytest.mark.parametrize(("hint", "given", "wanted"), VALUES, ids=lambda value: str(value)[:30])
def test_arguments_become_the_python_values_of_their_annotations(hint: Any, given: Any, wanted: Any) -> None:
    """What JSON says arrives as what the function is annotated with; the schema accepts it."""

    def take(value: Any) -> Any:
        return value

    take.__annotations__["value"] = hint
    made = tool(take)

    assert made.validator.is_valid({"value": given})
    found = made.invoke(ToolContext(), made.signature.decode({"value": given}))
    assert found == wanted
    assert type(found) is type(wanted)


def test_types_of_the_function_around_are_found() -> None:
    """With postponed annotations, a type that is local to the caller is still known, in classes too."""

    @dataclasses.dataclass
    class Here:
        x: int

    class Box:
        @tool
        def put(self, here: Here) -> int:
            return here.x

    made = Box().put
    assert made.invoke(ToolContext(), made.signature.decode({"here": {"x": 7}})) == 7
    assert list(parameters(made)["properties"]) == ["here"]


def test_a_schema_written_by_hand_is_taken_as_it_is() -> None:
    """With `parameters`, arguments reach the function unchanged, whatever their names."""
    schema = {"properties": {"a-b": {"type": "integer"}}, "required": ["a-b"]}

    @tool(name="server.tool", description="By hand.", parameters=schema)
    def remote(**arguments: Any) -> Any:
        return arguments

    assert remote.spec == ToolSpec("server.tool", "By hand.", {"type": "object", **schema})
    assert remote.invoke(ToolContext(), remote.signature.decode({"a-b": 1})) == {"a-b": 1}


def test_open_ended_functions_take_any_argument() -> None:
    """`**more` means that a model may send what it likes."""

    @tool
    def anything(first: int, **more: Any) -> None: ...

    assert "additionalProperties" not in parameters(anything)
    assert anything.validator.is_valid({"first": 1, "second": 2})


def test_a_choice_says_of_which_type_it_is() -> None:
    """Some servers refuse an enum without one; a choice of several types has none to say."""

    @tool
    def choose(
        unit: Literal["c", "f"],
        many: list[Literal[1, 2]],
        maybe: Literal["a"] | None,
        colour: Colour,
        mixed: Literal["a", 1],
        enum: Annotated[dict[str, str], "A parameter may bear this name."],
    ) -> None: ...

    schema = parameters(choose)
    found = schema["properties"]
    assert found["unit"] == {"type": "string", "enum": ["c", "f"]}
    assert found["many"]["items"] == {"type": "integer", "enum": [1, 2]}
    assert {"type": "string", "enum": ["a"]} in found["maybe"]["anyOf"]
    assert schema["$defs"]["Colour"]["type"] == "string"
    assert found["mixed"] == {"enum": [1, "a"]}
    assert found["enum"]["type"] == "object"


def test_a_type_without_json_form_is_refused_when_the_tool_is_made() -> None:
    """A parameter that no JSON value could become is an error of the author."""
    with pytest.raises(UsageError, match=r"odd: .*no JSON form"):

        @tool
        def take(odd: type(iter(()))) -> None: ...  # type: ignore[valid-type]


def test_pydantic_is_not_loaded_unless_a_type_is_its_own() -> None:
    """A tool with plain types, structs and dataclasses works in a process that never imports pydantic."""
    code = (
        "import sys, dataclasses, turnout.tools.declare.tool as t\n"
        "@dataclasses.dataclass\nclass P: x: int\n"
        "made = t.tool(lambda p: p, name='f')\n"
        "@t.tool\ndef f(p: P, q: list[int]): ...\n"
        "assert f.validator.is_valid({'p': {'x': 1}, 'q': []})\n"
        "assert 'pydantic' not in sys.modules\n"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_an_annotation_may_describe_its_parameter() -> None:
    """`Annotated[str, "..."]` is a description where the docstring has none."""

    @tool
    def look(where: Annotated[str, "A place."]) -> None: ...

    assert parameters(look)["properties"]["where"] == {"type": "string", "description": "A place."}
