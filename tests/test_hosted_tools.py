"""Tools that a provider runs: one neutral declaration, and each provider's own form of it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.handoff.judges import complaints

import turnout
from turnout import History, UsageError, render
from turnout.hosted_tools import KINDS, NEEDED, hosted, hosted_kind
from turnout.providers import PROVIDERS
from turnout.targets.hosted_selection import neutral_declaration
from turnout.targets.target import find_target
from turnout.tools.declare.tool import tool

OPTIONS: dict[str, dict[str, Any]] = {
    "web_search": {"allowed_domains": ["a.example"], "max_uses": 2, "user_location": {"country": "CH"}},
    "url_context": {"max_uses": 2, "citations": True},
    "code_execution": {"files": ["file_1"]},
    "file_search": {"stores": ["store_1"], "max_results": 3},
    "image_generation": {"size": "1024x1024", "format": "png"},
    "mcp": {"url": "https://mcp.example", "label": "wiki", "allowed_tools": ["ask"]},
}
TARGETS = (
    *("anthropic:claude-sonnet-4-5", "anthropic:claude-haiku-4-5", "anthropic:claude-3-haiku-20240307"),
    *("openai-responses:gpt-5.1", "openai:gpt-5.1", "gemini:gemini-2.5-flash", "gemini:gemini-3-pro-preview"),
    *("vertex:gemini-3-pro-preview", "openrouter:openai/gpt-5.1", "groq:openai/gpt-oss-120b"),
    *("zai:glm-4.6", "mistral:mistral-large-latest", "kimi:kimi-k2.5", "deepseek:deepseek-chat"),
    *("xai:grok-4", "ollama:llama3.2", "copilot:gpt-5.2-codex"),
)
WEATHER = {"name": "weather", "parameters": {"type": "object", "properties": {}}}


def asked(*tools: Any, to: str) -> turnout.WireRequest:
    history = History("h")
    history.user("go")
    return render(history, to, tools=list(tools))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("to", TARGETS)
def test_every_target_gets_its_own_form_or_the_report_names_the_tool(kind: str, to: str) -> None:
    """Either the server's own form is in the request, which the vendor's types accept, or `dropped_tool`."""
    for beside in ((), (WEATHER,)):
        made = asked(hosted(kind, **OPTIONS[kind]), *beside, to=to)
        dropped = [item.detail for item in made.report.diagnostics if item.code == "dropped_tool"]
        listed = made.json.get("tools", [])
        assert dropped == ([] if len(listed) > len(beside) else [hosted(kind, **OPTIONS[kind]).name])
        assert complaints(made, find_target(to)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_an_option_arrives_or_is_named_as_left_out(kind: str) -> None:
    """No option is lost without a word, at any provider that has the tool."""
    for provider in PROVIDERS.values():
        for form in (form for form in provider.dialect.hosted if form.kind == kind):
            declared = str(form.declaration(OPTIONS[kind])) + str(form.request_fields(OPTIONS[kind]))
            for name, value in OPTIONS[kind].items():
                known = name in form.options or name in form.entry_options
                assert known != (name in form.not_taken(OPTIONS[kind]))
                if known and isinstance(value, list):
                    assert value[0] in declared
    made = asked(hosted("web_search", max_uses=3, allowed_domains=["a.example"]), to="gemini:gemini-2.5-pro")
    assert any("max_uses, allowed_domains left out" in line for line in made.changes)


def test_a_form_that_is_written_is_read_back() -> None:
    """Reading a provider's declaration gives the neutral options that it was written from."""
    for provider in PROVIDERS.values():
        for form in provider.dialect.hosted:
            options = OPTIONS[form.kind]
            read, unread = form.read_options(form.declaration(options))
            taken = {name: value for name, value in options.items() if name in form.options}
            assert taken.items() <= read.items()
            assert unread == [] and form.reads(form.type)


def test_a_declaration_that_came_in_becomes_the_form_of_another_provider() -> None:
    """Anthropic's search, ingested, is OpenAI's and Google's search there, with the options they take."""
    came_in = {"type": "web_search_20250305", "name": "web_search", "allowed_domains": ["a.example"]}
    body = {"messages": [{"role": "user", "content": "go"}], "tools": [came_in]}
    history = turnout.ingest(body, "anthropic", "anthropic:claude-sonnet-4-5")
    assert render(history, "anthropic:claude-opus-4-1").json["tools"][0]["allowed_domains"] == ["a.example"]
    elsewhere = render(history, "openai-responses:gpt-5.1").json
    assert elsewhere["tools"] == [{"type": "web_search", "filters": {"allowed_domains": ["a.example"]}}]
    assert "web_search_call.action.sources" in elsewhere["include"]
    assert render(history, "gemini:gemini-3-flash").json["tools"] == [{"googleSearch": {}}]
    read = neutral_declaration(history.tools[0])
    assert read is not None and hosted_kind(read.tool) == "web_search"


@tool
def web_search(query: str) -> str:
    """Search the web from here."""
    return query


def test_a_target_without_it_uses_the_local_tool_of_the_same_name() -> None:
    """Where the provider has the tool, the local one is left out: two tools cannot share a name."""
    local = asked(hosted("web_search"), web_search, to="mistral:mistral-large-latest")
    assert [held["function"]["name"] for held in local.json["tools"]] == ["web_search"]
    assert not local.report.diagnostics and any("local tool web_search" in line for line in local.changes)
    provided = asked(hosted("web_search"), web_search, to="anthropic:claude-sonnet-4-5")
    assert [held.get("type") for held in provided.json["tools"]] == ["web_search_20250305"]


def test_gemini_mixes_its_tools_with_functions_only_from_gemini_3_on() -> None:
    """Older models refuse the mixture: the functions stay, and the report names what was left out."""
    old = asked(hosted("web_search"), WEATHER, to="gemini:gemini-2.5-flash")
    assert list(old.json["tools"][0]) == ["functionDeclarations"] and len(old.json["tools"]) == 1
    assert [item.code for item in old.report.diagnostics] == ["dropped_tool"]
    new = asked(hosted("web_search"), WEATHER, to="gemini:gemini-3-pro-preview")
    assert {"googleSearch": {}} in new.json["tools"]
    assert new.json["toolConfig"]["includeServerSideToolInvocations"] is True


def test_a_remote_server_stands_where_each_api_wants_it() -> None:
    """Anthropic has a list of servers beside the tools and wants a beta header; OpenAI has one object."""
    wiki = hosted("mcp", **OPTIONS["mcp"], authorization="secret")
    docs = hosted("mcp", url="https://docs.example", label="docs")
    claude = asked(wiki, docs, to="anthropic:claude-sonnet-4-5")
    assert [server["name"] for server in claude.json["mcp_servers"]] == ["wiki", "docs"]
    assert claude.json["tools"][0]["configs"] == {"ask": {"enabled": True}}
    assert "mcp-client" in claude.headers["anthropic-beta"]
    gpt = asked(wiki, to="openai-responses:gpt-5.1").json["tools"][0]
    assert (gpt["server_label"], gpt["authorization"], gpt["require_approval"]) == ("wiki", "secret", "never")


@pytest.mark.parametrize("to", ["openrouter:openai/gpt-5.1", "gemini:gemini-3-pro-preview"])
def test_a_tool_that_cannot_be_forced_is_offered(to: str) -> None:
    """These APIs force functions only; the choice is weakened, and the report says so."""
    history = History("h")
    history.user("go")
    made = render(history, to, tools=[hosted("web_search")], tool_choice="web_search")
    assert any("tool_choice web_search sent as auto" in line for line in made.changes)
    assert complaints(made, find_target(to)) == []


def test_a_mistake_is_named_at_once() -> None:
    """An unknown kind, a misspelt option, or a missing one."""
    with pytest.raises(UsageError, match="known are web_search"):
        hosted("telepathy")
    with pytest.raises(TypeError, match="did you mean max_uses"):
        hosted("web_search", max_use=3)
    for kind, needed in NEEDED.items():
        with pytest.raises(UsageError, match=needed[0]):
            hosted(kind)


def test_it_survives_being_written_as_json() -> None:
    """A history that declares it renders to the same bytes after a round trip."""
    from turnout.history.codec import dump_history, load_history

    history = History("h", tools=[turnout.hosted("web_search", max_uses=2)])
    history.user("go")
    again = load_history(dump_history(history))
    assert again.tools == history.tools
    to = "anthropic:claude-sonnet-4-5"
    assert render(again, to).body == render(history, to).body


@pytest.mark.parametrize(
    ("to", "id", "place"),
    [
        ("openai-responses:gpt-5.1", "cntr_68c3", lambda body: body["tools"][0]["container"]),
        ("azure-responses:gpt-5.1", "cntr_68c3", lambda body: body["tools"][0]["container"]),
        ("anthropic:claude-sonnet-5", "container_011C", lambda body: body["container"]),
        ("anthropic:claude-haiku-4-5", "container_011C", lambda body: body["container"]),
    ],
)
def test_code_runs_again_in_the_container_that_is_named(to: str, id: str, place: Any) -> None:
    """OpenAI has the id in the declaration, Anthropic in the request; neither is given the other's."""
    theirs = "container_011C" if id.startswith("cntr_") else "cntr_68c3"
    own, foreign = (asked(hosted("code_execution", container=each), to=to) for each in (id, theirs))

    assert (
        place(own.json) == id
        and complaints(own, find_target(to)) == []
        and "container" not in str(own.changes)
    )
    assert theirs.encode() not in foreign.body and complaints(foreign, find_target(to)) == []
    assert any("container" in each for each in (*foreign.changes, *map(str, foreign.diagnostics)))


def test_a_container_and_files_exclude_each_other() -> None:
    """A container has its own files."""
    with pytest.raises(UsageError, match="leave one"):
        hosted("code_execution", container="cntr_1", files=["file_1"])


def test_a_container_in_a_declaration_is_read_back() -> None:
    """What a client of OpenAI asks for survives for OpenAI, and its id goes to no other provider."""
    declared = {"type": "code_interpreter", "container": "cntr_68c3"}
    same, other = (asked(declared, to=to) for to in ("openai-responses:gpt-5.1", "anthropic:claude-sonnet-5"))

    assert same.json["tools"] == [declared]
    assert other.json["tools"][0]["type"].startswith("code_execution") and b"cntr_" not in other.body
