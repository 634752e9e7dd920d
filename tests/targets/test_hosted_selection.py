"""What becomes of a tool that a provider runs, at one target."""

from __future__ import annotations

import pytest

from turnout.declarations import specs_of
from turnout.hosted_tools import hosted
from turnout.model import ToolSpec
from turnout.targets.family import select_tools
from turnout.targets.hosted_selection import choose_hosted, neutral_declaration
from turnout.targets.target import find_target

CLAUDE, MISTRAL = find_target("anthropic:claude-sonnet-4-5"), find_target("mistral:mistral-large-latest")


def test_the_choice_is_a_declaration_a_local_tool_or_a_reason() -> None:
    """Exactly one of the three."""
    search = hosted("web_search")
    assert choose_hosted(search, CLAUDE, (), 0).tool is not None
    assert choose_hosted(search, MISTRAL, ("web_search",), 0).local == "web_search"
    assert "mistral does not have it" in choose_hosted(search, MISTRAL, (), 0).why


def test_a_page_is_read_by_the_local_tool_that_fetches() -> None:
    """`url_context` has another name where the client does it."""
    assert choose_hosted(hosted("url_context"), MISTRAL, ("web_fetch",), 0).local == "web_fetch"


def test_a_tool_that_must_stand_alone_is_left_out_beside_others() -> None:
    """Gemini searches files only where nothing else of Google's is declared."""
    place = find_target("gemini:gemini-2.5-flash")
    files = hosted("file_search", stores=["s"])
    assert choose_hosted(files, place, (), 0).tool is not None
    assert "only alone" in choose_hosted(files, place, (), 1).why


@pytest.mark.parametrize(
    ("declared", "kind"),
    [
        ({"type": "web_search_20260209", "name": "web_search"}, "hosted:web_search"),
        ({"type": "web_search_preview"}, "hosted:web_search"),
        ({"google_search": {}}, "hosted:web_search"),
        ({"url_context": {}}, "hosted:url_context"),
        ({"type": "code_interpreter", "container": {"type": "auto"}}, "hosted:code_execution"),
        ({"type": "openrouter:web_search"}, "hosted:web_search"),
    ],
)
def test_a_declaration_of_any_provider_is_read_in_neutral_words(
    declared: dict[str, object], kind: str
) -> None:
    """Without an origin the shape decides."""
    read = neutral_declaration(specs_of([declared])[0])
    assert read is not None and read.tool.kind == kind


def test_a_server_without_its_address_cannot_be_asked_elsewhere() -> None:
    """Anthropic names its servers in another field, so the declaration alone is not enough."""
    toolset = specs_of([{"type": "mcp_toolset", "mcp_server_name": "wiki"}])[0]
    assert neutral_declaration(toolset) is None


@pytest.mark.parametrize(
    ("declared", "unread"),
    [
        ({"type": "web_search_20250305", "name": "other"}, ("name",)),
        ({"type": "web_search_20250305", "name": "web_search", "cache_control": {"type": "ephemeral"}}, ()),
        (
            {"type": "web_search", "filters": {"allowed_domains": ["a.example"], "language": "de"}},
            ("filters",),
        ),
        ({"type": "code_interpreter", "container": {"type": "auto", "file_ids": ["f"]}}, ()),
        ({"type": "code_interpreter", "container": {"type": "auto", "memory_limit": "4g"}}, ("container",)),
        ({"type": "code_interpreter", "container": "cntr_1"}, ()),
        ({"type": "code_interpreter", "container": "elsewhere_1"}, ("container",)),
        ({"googleSearch": {"timeRangeFilter": {"startTime": "2020"}}}, ("timeRangeFilter",)),
    ],
)
def test_what_has_no_neutral_name_is_named_however_deep_it_stands(
    declared: dict[str, object], unread: tuple[str, ...]
) -> None:
    """A field is read whole, or it is in the list of what was not read."""
    read = neutral_declaration(specs_of([declared])[0])
    assert read is not None and read.unread == unread


def test_the_report_names_options_in_the_words_of_the_declaration() -> None:
    """OpenAI's `server_description` is called so where Anthropic does not take it."""
    wiki = {
        "type": "mcp",
        "server_label": "wiki",
        "server_url": "https://w.example",
        "server_description": "d",
    }
    changes = select_tools(specs_of([wiki]), CLAUDE).changes
    assert changes == ("wiki (mcp): server_description left out: anthropic does not take it",)


def test_options_that_the_local_tool_does_not_take_are_named() -> None:
    """A local search knows no limit of uses."""
    given = [hosted("web_search", max_uses=3), ToolSpec("web_search")]
    assert any("max_uses left out" in line for line in select_tools(given, MISTRAL).changes)
