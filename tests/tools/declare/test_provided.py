"""What the session provides to its tools, by type: never seen by the model, never a global."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.session.talk import session, virtually

from turnout import Provided, ToolContext, UsageError, tool
from turnout.simulate import Call


class Database:
    def __init__(self, name: str) -> None:
        self.name = name


class SmallDatabase(Database): ...


@tool
async def count_rows(database: Provided[Database], table: str) -> str:
    """Count rows.

    Args:
        table: Which.
    """
    return f"{database.name}.{table}: 3"


@tool
async def describe(ctx: ToolContext, table: str) -> str:
    """Describe a table."""
    return f"{ctx.provided_value(Database).name}.{table}"


def test_the_model_does_not_see_what_is_provided() -> None:
    """The schema has the other parameters only, and the docstring's words for them."""
    assert list(count_rows.spec.parameters["properties"]) == ["table"]
    assert count_rows.spec.parameters["required"] == ["table"]


@pytest.mark.parametrize("kind", [Database, SmallDatabase])
def test_tools_get_the_value_of_their_type(kind: type[Database]) -> None:
    """As a parameter and by the context; a subclass serves too."""
    script = [[Call("count_rows", {"table": "a"}), Call("describe", {"table": "b"})], "ok"]
    talk, transport = session(script, tools=[count_rows, describe], provides=[Path("."), kind("main")])
    virtually(talk.ask("count"))
    outcomes = [item.outcome.text for item in talk.history.ledger if item.outcome]
    assert outcomes == ["main.a: 3", "main.b"] and transport.refusals == []


def test_a_session_without_it_is_refused_at_once() -> None:
    """The message names the tool, the type and where to give it."""
    with pytest.raises(UsageError, match=r"tool count_rows needs a Database.*World\(provides="):
        session(["ok"], tools=[count_rows], provides=[Path(".")])


def test_a_test_calls_the_function_itself() -> None:
    """A tool is still its function."""
    assert count_rows.function.__name__ == "count_rows"
    assert ToolContext(provides=[Database("x")]).provided_value(Database).name == "x"
