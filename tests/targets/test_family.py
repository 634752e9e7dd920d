"""Which tools and options a target gets, by the family of API that they were written for."""

from __future__ import annotations

from turnout import Residue, ToolSpec
from turnout.model import Origin
from turnout.targets.family import select_tools
from turnout.targets.target import find_target

CLAUDE, GPT = find_target("anthropic:claude-sonnet-4-5"), find_target("openai-responses:gpt-5.1")
FIND = ToolSpec("find", "Find things.", {"type": "object", "properties": {}})


def provider_tool(name: str, origin: str) -> ToolSpec:
    """A tool that the provider runs, as its API declares it."""
    declaration = {"type": name, "name": "web_search"}
    residue = Residue(Origin.parse(origin), {"api": "anthropic", "declaration": declaration})
    return ToolSpec("web_search", kind=name, residue=residue)


def test_functions_go_to_every_target_as_they_are() -> None:
    """The same values, so that their encoding can be kept."""
    for place in (CLAUDE, GPT):
        selected = select_tools([FIND], place)
        assert selected.tools[0] is FIND and not selected.changes and not selected.dropped


def test_a_model_without_tools_gets_none() -> None:
    """The report says so, and names each that was left out."""
    selected = select_tools([FIND], find_target("openai:o1-mini"))
    assert selected.tools == () and selected.dropped == (FIND,)
    assert "tools left out" in selected.changes[0]
    assert [each.code for each in selected.diagnostics] == ["dropped_tool"]


def test_a_provider_tool_goes_back_to_its_own_api_alone() -> None:
    """Another provider does not have it: it is dropped there, and the report names it."""
    search = provider_tool("advisor_20260301", "anthropic:claude-sonnet-4-5")
    assert select_tools([search], CLAUDE).tools == (search,)
    elsewhere = select_tools([search], GPT)
    assert elsewhere.tools == () and elsewhere.dropped == (search,)
    assert elsewhere.changes[0].startswith("dropped_tool")
