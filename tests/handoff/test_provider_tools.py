"""Tools that a provider runs or defines itself: kept for that provider, named where they are left out."""

from __future__ import annotations

from typing import Any

import pytest
from tests.handoff.judges import complaints

from turnout import History, ToolSpec, UsageError, ingest, render
from turnout.history.codec import dump_history, load_history
from turnout.targets.target import find_target as target

CHAT, RESPONSES = "openai:gpt-4o", "openai-responses:gpt-5.1"
CLAUDE, GEMINI, VERTEX = (
    "anthropic:claude-sonnet-4-5",
    "gemini:gemini-3-pro-preview",
    "vertex:gemini-2.5-flash",
)
OPENROUTER, GROQ, KIMI = "openrouter:openai/gpt-5.1", "groq:openai/gpt-oss-120b", "kimi:kimi-k2.5"
EVERYONE = (CHAT, RESPONSES, CLAUDE, GEMINI, OPENROUTER, GROQ, KIMI, "mistral:mistral-large-latest")

SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
WEATHER = {
    "chat": {"type": "function", "function": {"name": "weather", "parameters": SCHEMA}},
    "responses": {"type": "function", "name": "weather", "parameters": SCHEMA, "strict": False},
    "anthropic": {"name": "weather", "input_schema": SCHEMA},
    "gemini": {"functionDeclarations": [{"name": "weather", "parameters": SCHEMA}]},
}
OWN_TOOLS: list[tuple[str, str, dict[str, Any]]] = [
    ("anthropic", CLAUDE, {"type": "web_search_20250305", "name": "web_search", "max_uses": 3}),
    ("anthropic", CLAUDE, {"type": "code_execution_20250825", "name": "code_execution"}),
    ("anthropic", CLAUDE, {"type": "tool_search_tool_bm25_20251119", "name": "tool_search_tool_bm25"}),
    ("responses", RESPONSES, {"type": "web_search", "filters": {"allowed_domains": ["a.example"]}}),
    ("responses", RESPONSES, {"type": "file_search", "vector_store_ids": ["vs_1"]}),
    ("responses", RESPONSES, {"type": "mcp", "server_label": "wiki", "server_url": "https://wiki.example"}),
    ("responses", RESPONSES, {"type": "code_interpreter", "container": {"type": "auto"}}),
    ("gemini", GEMINI, {"googleSearch": {}}),
    ("gemini", GEMINI, {"codeExecution": {}}),
    ("gemini", VERTEX, {"urlContext": {}}),
    ("chat", OPENROUTER, {"type": "openrouter:web_search", "parameters": {"max_results": 3}}),
    ("chat", GROQ, {"type": "browser_search"}),
    ("chat", KIMI, {"type": "builtin_function", "function": {"name": "$web_search"}}),
]
FORMATS = {
    "chat": "openai-chat",
    "responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}


def kind_of(tool: dict[str, Any]) -> str:
    return str(tool.get("type") or next(iter(tool)))


own_tools = pytest.mark.parametrize(
    ("api", "owner", "tool"), OWN_TOOLS, ids=[kind_of(tool) for _, _, tool in OWN_TOOLS]
)


def request(api: str, owner: str, *tools: dict[str, Any]) -> History:
    """A recorded-like request for `owner` that declares these tools, as a history."""
    said = {
        "messages": [{"role": "user", "content": "go"}],
        "input": "go",
        "contents": [{"role": "user", "parts": [{"text": "go"}]}],
    }
    name = {"responses": "input", "gemini": "contents"}.get(api, "messages")
    return ingest({name: said[name], "tools": list(tools)}, FORMATS.get(api, api), owner)


def hears_of(body: Any, tool: dict[str, Any]) -> bool:
    """Whether the declaration is in the body as it was written, but for a cache marker."""
    listed = [
        {key: item for key, item in held.items() if key != "cache_control"} for held in body.get("tools", ())
    ]
    return tool in listed


@own_tools
def test_its_own_api_gets_it_back_beside_the_functions(api: str, owner: str, tool: dict[str, Any]) -> None:
    """The declaration goes back as it was written, and the request is one that everyone accepts."""
    made = render(request(api, owner, WEATHER[api], tool), owner)
    assert hears_of(made.json, tool)
    assert made.tools == ("weather",)
    assert "weather" in made.body.decode()
    assert not any("dropped_tool" in line for line in made.changes)
    if tool.get("type") not in ("browser_search", "builtin_function"):  # no SDK here has types for these
        assert complaints(made, target(owner)) == []


@own_tools
def test_everyone_else_gets_a_form_of_its_own_or_the_report_names_it(
    api: str, owner: str, tool: dict[str, Any]
) -> None:
    """A target with the same ability gets its own form; for others a diagnostic `dropped_tool` names it."""
    history = request(api, owner, WEATHER[api], tool)
    named = str(tool.get("name") or tool.get("server_label") or kind_of(tool))
    named = "$web_search" if named == "builtin_function" else named
    for to in EVERYONE:
        if target(to).provider.name.startswith(target(owner).provider.name[:6]):
            continue
        if target(owner).provider.name == "vertex" and to == GEMINI:  # one house, one API
            continue
        made = render(history, to)
        assert not hears_of(made.json, tool)
        assert made.tools == ("weather",)
        dropped = [item.detail for item in made.report.diagnostics if item.code == "dropped_tool"]
        if len(made.json["tools"]) == 1:
            assert dropped == [tool_title(named, tool)]
            assert any(line.startswith(f"dropped_tool {named}") for line in made.changes)
        else:
            assert dropped == [] and target(to).dialect.hosted
        assert complaints(made, target(to)) == []


def tool_title(named: str, tool: dict[str, Any]) -> str:
    return named if named == kind_of(tool) else f"{named} ({kind_of(tool)})"


@own_tools
def test_given_as_a_tool_it_is_never_a_function(api: str, owner: str, tool: dict[str, Any]) -> None:
    """`tools=` takes a declaration as documentation shows it: sent as it is, or named as left out."""
    history = History("h")
    history.user("go")
    made = render(history, owner, tools=[WEATHER[api], tool])
    assert hears_of(made.json, tool)
    for to in (CHAT, "mistral:mistral-large-latest"):
        elsewhere = render(history, to, tools=[WEATHER["chat"], tool])
        assert [held["function"]["name"] for held in elsewhere.json["tools"]] == ["weather"]
        assert any(line.startswith("dropped_tool") for line in elsewhere.changes)


@own_tools
def test_it_survives_being_written_and_read(api: str, owner: str, tool: dict[str, Any]) -> None:
    """A stored history has the declaration, and renders to the same bytes."""
    history = request(api, owner, WEATHER[api], tool)
    again = load_history(dump_history(history))
    assert again.tools == history.tools
    assert render(again, owner).body == render(history, owner).body
    assert History("h", tools=[{"name": "f"}, tool]).tools[1].kind != "function"


@pytest.mark.parametrize(
    ("to", "tool"),
    [
        (CHAT, {"type": "custom", "custom": {"name": "sql"}}),
        (RESPONSES, {"type": "web_search"}),
        (CLAUDE, {"type": "web_search_20250305", "name": "web_search"}),
        (GEMINI, {"googleSearch": {}}),
    ],
)
def test_extra_tools_are_added_to_the_callers_own(to: str, tool: dict[str, Any]) -> None:
    """`extra={"tools": …}` used to replace every other tool; one of the same name still takes its place."""
    history = History("h", tools=[{"name": "read"}, {"name": "write"}])
    made = render(history, to, extra={"tools": [tool]})
    assert hears_of(made.json, tool)
    assert "read" in made.body.decode() and "write" in made.body.decode()

    replaced = render(history, CLAUDE, extra={"tools": [{"name": "read", "input_schema": SCHEMA}]})
    assert sorted(held["name"] for held in replaced.json["tools"]) == ["read", "write"]


def test_extra_objects_are_added_field_by_field() -> None:
    """A field of `generationConfig` in `extra` leaves the others as they were asked for."""
    made = render(
        History("h"), GEMINI, max_tokens=100, extra={"generationConfig": {"mediaResolution": "LOW"}}
    )
    assert made.json["generationConfig"] == {"maxOutputTokens": 100, "mediaResolution": "LOW"}


@pytest.mark.parametrize(
    ("api", "owner", "tool", "names"),
    [
        ("anthropic", CLAUDE, {**WEATHER["anthropic"], "defer_loading": True}, ["defer_loading"]),
        (
            "anthropic",
            CLAUDE,
            {**WEATHER["anthropic"], "input_examples": [{"city": "Oslo"}]},
            ["input_examples"],
        ),
        ("responses", RESPONSES, {**WEATHER["responses"], "defer_loading": True}, ["defer_loading"]),
        ("chat", OPENROUTER, {**WEATHER["chat"], "eager_input_streaming": True}, ["eager_input_streaming"]),
    ],
)
def test_what_one_api_says_of_a_function_goes_back_to_it(
    api: str, owner: str, tool: dict[str, Any], names: list[str]
) -> None:
    """Fields beside name, description and schema survive at home, and are named where they are not known."""
    history = request(api, owner, tool)
    (back,) = render(history, owner).json["tools"]
    assert {name: back[name] for name in names} == {name: tool[name] for name in names}
    for to in (CHAT, GEMINI):
        made = render(history, to)
        assert any("weather" in line and all(name in line for name in names) for line in made.changes)
        assert complaints(made, target(to)) == []


@pytest.mark.parametrize("api", ["chat", "responses", "anthropic"])
def test_a_strict_function_stays_strict_where_that_exists(api: str) -> None:
    """`strict` on one tool is a promise that three APIs can keep, and the fourth says that it cannot."""
    schema = {**SCHEMA, "additionalProperties": False}
    inner = {"name": "weather", "strict": True, "parameters": schema}
    shape = {
        "chat": {"type": "function", "function": inner},
        "responses": {"type": "function", **inner},
        "anthropic": {"name": "weather", "strict": True, "input_schema": schema},
    }
    history = request(api, CHAT, shape[api])
    for to in (CHAT, RESPONSES, CLAUDE):
        (back,) = render(history, to).json["tools"]
        assert back.get("function", back)["strict"] is True
    assert "tool weather: strict left out: this API does not have it" in render(history, GEMINI).changes


def test_a_custom_tool_keeps_its_grammar_at_home() -> None:
    """A tool that takes free text goes back as it was; elsewhere it is a function of one text."""
    sql = {"type": "custom", "name": "sql", "description": "Asks.", "format": {"type": "text"}}
    history = request("responses", RESPONSES, sql)
    assert render(history, RESPONSES).json["tools"] == [sql]
    made = render(history, CLAUDE)
    assert made.json["tools"][0]["input_schema"]["required"] == ["input"]
    assert any("sql: format" in line for line in made.changes)


def test_two_namespaces_with_one_function_name_are_two_tools() -> None:
    """Each keeps its namespace at home; elsewhere the names say which is which."""
    spaces = [
        {"type": "namespace", "name": name, "description": "d", "tools": [WEATHER["responses"]]}
        for name in ("north", "south")
    ]
    history = request("responses", RESPONSES, *spaces)
    assert [tool.name for tool in history.tools] == ["north.weather", "south.weather"]
    back = render(history, RESPONSES).json["tools"]
    assert [(space["name"], space["tools"][0]["name"]) for space in back] == [
        ("north", "weather"),
        ("south", "weather"),
    ]
    made = render(history, CLAUDE)
    assert len({tool["name"] for tool in made.json["tools"]}) == 2
    assert complaints(made, target(CLAUDE)) == []


def test_a_choice_of_a_tool_that_is_gone_is_named_and_left_out() -> None:
    """A forced choice falls with the tool that it forces; where the tool is, the choice is."""
    search = {"type": "web_search_20250305", "name": "web_search"}
    history = request("anthropic", CLAUDE, WEATHER["anthropic"], search)
    made = render(history, CLAUDE, tool_choice="web_search")
    assert made.json["tool_choice"] == {"type": "tool", "name": "web_search"}
    made = render(history, CHAT, tool_choice="web_search")
    assert "tool_choice" not in made.json
    assert "tool_choice web_search left out: that tool was dropped" in made.changes
    alone = render(request("anthropic", CLAUDE, search), CHAT, tool_choice="required")
    assert "tool_choice required left out: no tool is left to be called" in alone.changes


def test_tools_of_a_beta_come_with_its_header() -> None:
    """Anthropic refuses a beta's tools without the header that names it."""
    computer = {
        "type": "computer_20251124",
        "name": "computer",
        "display_width_px": 8,
        "display_height_px": 8,
    }
    made = render(request("anthropic", CLAUDE, computer), "anthropic@oauth:claude-sonnet-4-5")
    assert made.headers["anthropic-beta"] == "oauth-2025-04-20,computer-use-2025-11-24"
    assert "anthropic-beta" not in render(request("anthropic", CLAUDE, WEATHER["anthropic"]), CLAUDE).headers


def test_a_deferred_tool_is_never_the_one_that_is_marked_for_the_cache() -> None:
    """Anthropic refuses a cache marker on a tool that is loaded later; an earlier one carries it."""
    later = {**WEATHER["anthropic"], "name": "later", "defer_loading": True}
    tools = render(request("anthropic", CLAUDE, WEATHER["anthropic"], later), CLAUDE).json["tools"]
    assert ["cache_control" in tool for tool in tools] == [True, False]


def test_older_geminis_get_no_stubs_beside_googles_tools() -> None:
    """Before Gemini 3 functions and Google's own tools exclude each other; stubs would be functions."""
    body = {
        "contents": [
            {"role": "user", "parts": [{"text": "go"}]},
            {"role": "model", "parts": [{"functionCall": {"name": "old", "args": {}}}]},
            {"role": "user", "parts": [{"functionResponse": {"name": "old", "response": {"a": 1}}}]},
        ],
        "tools": [{"googleSearch": {}}],
    }
    history = ingest(body, "gemini", "gemini:gemini-2.5-flash")
    assert render(history, "gemini:gemini-2.5-flash").json["tools"] == [{"googleSearch": {}}]
    assert len(render(history, GEMINI).json["tools"]) == 2


@pytest.mark.parametrize(
    "tool", ["text", 7, {"description": "nameless"}, {"type": "function"}, {"parameters": {"type": "object"}}]
)
def test_a_declaration_that_declares_nothing_is_named(tool: Any) -> None:
    """At the door it is a diagnostic; from a caller it is an error."""
    history = ingest({"messages": [], "tools": [tool]}, "openai-chat")
    assert [item.code for item in history.diagnostics] == ["unreadable_tool"]
    with pytest.raises(UsageError, match="is not a tool"):
        render(History("h"), CHAT, tools=[tool])


def test_a_second_tool_of_one_name_is_named() -> None:
    """The first declaration stands, as providers refuse two; the report says that there was another."""
    tools = [WEATHER["anthropic"], {**WEATHER["anthropic"], "description": "another"}]
    history = request("anthropic", CLAUDE, *tools)
    assert len(history.tools) == 1
    assert [(item.code, item.detail) for item in history.diagnostics] == [("repeated_tool", "weather")]


def test_several_tools_in_one_declaration_are_no_single_tool() -> None:
    """`ToolSpec.of` reads one tool; Gemini's lists go where lists of tools go."""
    both = {"functionDeclarations": [{"name": "a"}, {"name": "b"}]}
    with pytest.raises(UsageError, match="several tools"):
        ToolSpec.of(both)
    assert render(History("h"), CHAT, tools=[both]).tools == ("a", "b")
