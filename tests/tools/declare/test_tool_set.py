"""Sets of tools: of objects, modules and lists; cut, renamed and offered as a whole."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.session.talk import session, virtually

import turnout
from turnout.errors import UsageError
from turnout.simulate import Call, SimulatedRequest
from turnout.tools.declare.tool_set import ToolSet


class Counter:
    """An object with state."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, number: int) -> int:
        """Add a number."""
        self.count += number
        return self.count

    @turnout.tool(risk="write")
    def reset(self) -> str:
        """Start over."""
        self.count = 0
        return "done"

    def _hidden(self) -> None: ...


class Wordy(Counter):
    def say(self, word: str) -> str:
        """Say a word."""
        return word


def test_the_public_methods_of_an_object_are_tools() -> None:
    """Inherited ones too, bound to the object; private ones and the constructor are not."""
    owner = Wordy()
    tools = ToolSet(owner)
    assert tools.names == ("add", "reset", "say")
    by_name = {tool.name: tool for tool in tools}
    assert by_name["add"](number=2) == 2 and by_name["add"](number=3) == 5 and owner.count == 5
    assert by_name["reset"].risk == "write" and by_name["add"].description == "Add a number."


def test_a_set_is_filtered_prefixed_and_joined() -> None:
    """Each step gives another set; the first one stays as it was."""
    first = ToolSet(Counter())
    reading = first.only(lambda tool: tool.risk == "read").with_prefix("one_")
    both = reading + ToolSet([Wordy().say])
    assert both.names == ("one_add", "say") and len(both) == 2
    assert [tool.spec.name for tool in both] == ["one_add", "say"]
    assert first.names == ("add", "reset")


def test_functions_of_a_list_get_the_options_of_the_set() -> None:
    """What is a tool already keeps its own."""

    def look(path: str) -> str:
        """Look."""
        return path

    (tool,) = ToolSet([look], risk="dangerous")
    assert tool.risk == "dangerous"


def test_nothing_to_make_tools_of_is_an_error() -> None:
    """The message names the value."""
    with pytest.raises(UsageError, match="no public method"):
        ToolSet(object())
    with pytest.raises(UsageError, match="no public method"):
        ToolSet(math)  # builtins have no signature to read


def test_a_function_of_the_situation_decides_what_is_offered() -> None:
    """For one target the tools are in the request, for the other they are not."""
    offers: list[turnout.ToolOffer] = []

    def only_for_claude(offer: turnout.ToolOffer) -> bool:
        offers.append(offer)
        return offer.target.provider == "anthropic"

    seen: list[tuple[str, ...]] = []

    def answer(asked: SimulatedRequest) -> Any:
        seen.append(asked.tools)
        return "ok"

    talk, transport = session(answer, tools=ToolSet(Counter()).offered_when(only_for_claude))
    virtually(talk.ask("hello"))
    talk.switch("anthropic:claude-sonnet-4-5")
    virtually(talk.ask("and now"))
    assert seen == [(), ("add", "reset")] and transport.refusals == []
    assert offers[-1].history is talk.history and offers[-1].mode == "ask"


def test_a_set_runs_in_a_session() -> None:
    """State is kept between calls, without a global."""
    owner = Counter()
    script = [[Call("n_add", {"number": 2}), Call("n_add", {"number": 5})], "seven"]
    talk, transport = session(script, tools=ToolSet(owner).with_prefix("n_"))
    virtually(talk.ask("add"))
    assert owner.count == 7 and transport.refusals == []
