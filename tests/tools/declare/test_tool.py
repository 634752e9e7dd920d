"""Functions as tools: type hints and docstring become the schema, arguments become Python values."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Literal

import pytest

from turnout.errors import UsageError
from turnout.tools.declare.tool import ToolContext, tool


@tool(risk="read")
async def weather(city: str, unit: Literal["c", "f"] = "c") -> str:
    """Current weather.

    Args:
        city: City name.
    """
    return f"{city} {unit}"


def test_a_tool_is_still_its_function() -> None:
    """Calling a tool calls the function, so that it can be tested without any scheduler."""

    @tool
    def double(number: int) -> int:
        return 2 * number

    assert double(21) == 42
    assert double(number=4) == 8


def test_a_method_is_bound_to_its_object() -> None:
    """Two objects of a class give two tools that share one schema."""

    class Counter:
        def __init__(self) -> None:
            self.count = 0

        @tool
        def add(self, by: int = 1) -> int:
            self.count += by
            return self.count

    one, two = Counter(), Counter()
    one.add.invoke(ToolContext(), {"by": 5})
    assert (one.count, two.count) == (5, 0)
    assert one.add.spec is two.add.spec


def test_the_schema_is_built_once() -> None:
    """Reading the spec again gives the very same object."""
    assert weather.spec is weather.spec
    assert weather.spec.parameters is weather.signature.schema


def test_the_kind_of_function_is_known() -> None:
    """Plain, async, generator and async generator functions are told apart."""

    def plain() -> None: ...
    async def later() -> None: ...
    def steps() -> Iterator[str]:
        yield "a"

    async def later_steps() -> AsyncIterator[str]:
        yield "a"

    kinds = [tool(function).kind for function in (plain, later, steps, later_steps)]
    assert kinds == ["sync", "async", "generator", "async_generator"]


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: tool(lambda *words: None, name="f"), "by name"),
        (lambda: tool(lambda: None, name="no spaces please"), "cannot name a tool"),
        (lambda: tool(lambda: None, name="f", risk="huge"), "not a risk"),
        (lambda: tool(lambda: None, name="f", parameters={"type": 3}), "use .object"),
        (lambda: tool(lambda: None, name="f", parameters={"properties": 3}), "not a JSON Schema"),
    ],
)
def test_a_tool_that_cannot_work_is_refused_when_it_is_made(wrong: Any, said: str) -> None:
    """The error names the tool and the rule, and comes at the definition."""
    with pytest.raises(UsageError, match=said):
        wrong()


def test_paths_are_named_or_computed() -> None:
    """A tool says what it touches: by argument names, lists and defaults included, or by a function."""

    @tool(paths=("path", "others"))
    def move(path: str, others: list[str]) -> None: ...

    @tool
    def search(text: str, path: str = ".") -> None: ...

    assert search.touched_paths({"text": "x"}) == (".",)

    @tool(paths=lambda arguments: [arguments["a"] + ".lock"])
    def lock(a: str) -> None: ...

    assert move.touched_paths({"path": "a", "others": ["b", "c"]}) == ("a", "b", "c")
    assert lock.touched_paths({"a": "x"}) == ("x.lock",)
