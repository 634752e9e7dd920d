"""The registry: tools by name, offered by mode, and found as a model writes them."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.errors import UsageError
from turnout.tools.declare.registry import FoundTool, Registry, UnknownTool
from turnout.tools.declare.tool import tool


@tool(groups=("files",))
def read_file(path: str) -> None: ...


@tool(risk="write", groups=("files",))
def write_file(path: str) -> None: ...


@tool(risk="dangerous", groups=("shell",))
def shell(command: str) -> None: ...


def registry() -> Registry:
    return Registry([read_file, write_file, shell])


@pytest.mark.parametrize(
    "written",
    [
        "functions.read_file",
        "functions.read_file:3",
        "default_api:read_file",
        "Read File",
        " read_file ",
        "READ_FILE",
        "readFile",
        "read-file",
        "tools/read_file",
    ],
)
def test_a_name_written_otherwise_means_the_one_tool_it_can_mean(written: str) -> None:
    """Prefixes, case, spaces and call numbers are put right, and the repair is visible."""
    assert registry().find(written) == FoundTool(read_file, repaired=True)


def test_the_exact_name_is_no_repair() -> None:
    """A name that is a tool's own is taken first, also when it looks like another with a prefix."""
    dotted = tool(lambda: None, name="functions.read_file")
    tools = Registry([read_file, dotted])
    assert tools.find("functions.read_file") == FoundTool(dotted)
    assert tools.find("read_file") == FoundTool(read_file)


def test_a_name_that_could_mean_two_tools_means_none() -> None:
    """Nothing is guessed: two tools that differ only in spelling are both suggested."""
    tools = Registry([tool(lambda: None, name="read_file"), tool(lambda: None, name="readFile")])
    found = tools.find("READFILE")
    assert isinstance(found, UnknownTool)
    assert found.suggestions


def test_an_unknown_name_gets_suggestions_that_a_model_can_act_on() -> None:
    """The answer is a tool_error with the names that come near."""
    found = registry().find("read_fil")
    assert isinstance(found, UnknownTool)
    error = json.loads(found.explanation)["tool_error"]
    assert error["kind"] == "unknown_tool"
    assert error["suggestions"][0] == "read_file"


def test_plan_mode_offers_only_what_reads() -> None:
    """A model in plan mode is not told of tools that change things, and cannot call them."""
    tools = registry()
    assert [spec.name for spec in tools.specs("plan")] == ["read_file"]
    assert tools.find("write_file", "plan") == UnknownTool("write_file", disabled=True)


def test_groups_can_be_switched_off_and_on() -> None:
    """A group that is off is neither offered nor found."""
    tools = registry()
    tools.enable("files", False)
    assert [spec.name for spec in tools.specs()] == ["shell"]
    assert tools.find("read_file") == UnknownTool("read_file", disabled=True)
    tools.enable("files")
    assert tools.find("read_file") == FoundTool(read_file)
    assert tools.group("files") == (read_file, write_file)


def test_two_tools_cannot_have_one_name() -> None:
    """The second is refused when it is added, with the way on."""
    with pytest.raises(UsageError, match="two tools are called 'shell'"):
        Registry([shell, shell])


def test_a_removed_tool_is_gone_under_every_spelling() -> None:
    """After removal the name is unknown."""
    tools = registry()
    tools.remove("read_file")
    assert isinstance(tools.find("functions.read_file"), UnknownTool)


@given(st.text(max_size=300))
def test_any_name_gets_an_answer(name: str) -> None:
    """Whatever a model writes as a name, there is a tool or an explanation."""
    found = registry().find(name)
    assert isinstance(found, FoundTool) or json.loads(found.explanation)["tool_error"]


def test_a_hostile_name_costs_no_time() -> None:
    """A name of a megabyte is answered at once, and not repeated back."""
    before = time.process_time()
    found = registry().find("a." * 500_000)
    assert isinstance(found, UnknownTool)
    assert len(found.explanation) < 1000
    assert time.process_time() - before < 1
