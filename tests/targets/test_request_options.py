"""One neutral set of options, on every provider: mapped, left out with a line in the report, or refused."""

from __future__ import annotations

from typing import Any

import mcp.types
import pytest
from tests.build import call, conversation, model, settled, user
from tests.handoff.judges import complaints
from tests.handoff.places import PLACES

from turnout import History, ToolSpec, UsageError, check, ingest, render
from turnout.targets.target import Target
from turnout.targets.target import find_target as target
from turnout.wire.request import WireRequest

TOOLS = (
    {"name": "read_file", "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}},
    {"name": "server.tool"},
)
OPENAI, RESPONSES = "openai:gpt-4o", "openai-responses:gpt-4o"
CLAUDE, GEMINI = "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-flash"
VALUES: dict[str, tuple[Any, ...]] = {
    "tool_choice": ("auto", "none", "required", "read_file", "server.tool"),
    "parallel": (True, False),
    "effort": ("none", "minimal", "low", "medium", "high", "xhigh", "max"),
    "thinking": (True, False),
    "max_tokens": (1, 1_000, 10_000_000),
    "temperature": (0.0, 0.3, 1.0, 1.7),
    "top_p": (0.1, 1.0),
    "top_k": (5,),
    "stop": (("END",),),
    "seed": (7,),
    "stream": (True,),
    "strict": (True,),
    "cache": (False,),
    "chain": (True,),
    "schema": ({"type": "object", "properties": {"a": {"type": "string"}}},),
}
# Where an option shows in a body, in any of the four formats.
SHOWN = {
    "tool_choice": ("tool_choice", "toolConfig"),
    "parallel": ("parallel_tool_calls", "disable_parallel_tool_use"),
    "effort": (
        "reasoning_effort",
        "reasoning",
        "output_config",
        "thinkingConfig",
        "thinking",
        "enable_thinking",
        "think",
        "reasoningConfig",
    ),
    "thinking": (
        "reasoning_effort",
        "reasoning",
        "reasoningConfig",
        "thinkingConfig",
        "thinking",
        "enable_thinking",
        "think",
    ),
    "max_tokens": (
        "max_tokens",
        "max_completion_tokens",
        "max_output_tokens",
        "maxOutputTokens",
        "num_predict",
        "maxTokens",
    ),
    "temperature": ("temperature",),
    "top_p": ("top_p", "topP", "p"),
    "top_k": ("top_k", "topK", "k"),
    "stop": ("stop", "stop_sequences", "stopSequences"),
    "seed": ("seed", "random_seed"),
}


def history() -> History:
    return conversation(user("go"), model("so", call("read_file", "1", path="a")), settled("1"), user("on"))


def keys(value: Any) -> set[str]:
    if isinstance(value, dict):
        return set(value) | {key for item in value.values() for key in keys(item)}
    return {key for item in value for key in keys(item)} if isinstance(value, list) else set()


def asked(place: Target, **options: Any) -> WireRequest | None:
    """The request with these options; None where they are refused with a clear text."""
    try:
        request = render(history(), place, tools=TOOLS, **options)
    except UsageError as error:
        assert place.model in str(error) and "use " in str(error)
        return None
    assert complaints(request, place) == []
    return request


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place.origin))
def test_every_option_is_mapped_or_said_to_be_left_out(place: Target) -> None:
    """Every value of every option makes a valid request; if it does not show, the report names it."""
    for name, values in VALUES.items():
        for value in values:
            request = asked(place, **{name: value})
            if request is None or name not in SHOWN:
                continue
            shows = keys(request.json) & set(SHOWN[name])
            usual = (name, value) in (("parallel", True), ("thinking", False), ("effort", "none"))
            words = (name, "thinking", "reasoning")
            said = any(word in line for line in request.report.changes for word in words)
            assert shows or said or usual, (name, value, request.json.keys(), request.report.changes)


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place.origin))
def test_options_go_together(place: Target) -> None:
    """All at once, thinking or not, forced or not: valid, or refused with a clear text."""
    common = {"max_tokens": 4_000, "temperature": 0.3, "top_p": 0.9, "stop": ("END",), "parallel": False}
    for thinking in (None, True, False):
        for choice in ("auto", "required", "read_file"):
            asked(place, thinking=thinking, tool_choice=choice, **common)
            asked(place, thinking=thinking, tool_choice=choice, stream=True, strict=True)


@pytest.mark.parametrize(
    ("to", "choice", "wire"),
    [
        (OPENAI, "auto", "auto"),
        (OPENAI, "none", "none"),
        (OPENAI, "required", "required"),
        (OPENAI, "read_file", {"type": "function", "function": {"name": "read_file"}}),
        ("mistral:mistral-large-latest", "required", "any"),
        (RESPONSES, "required", "required"),
        (RESPONSES, "read_file", {"type": "function", "name": "read_file"}),
        (CLAUDE, "auto", {"type": "auto"}),
        (CLAUDE, "none", {"type": "none"}),
        (CLAUDE, "required", {"type": "any"}),
        (CLAUDE, "read_file", {"type": "tool", "name": "read_file"}),
    ],
)
def test_tool_choice_in_each_ones_words(to: str, choice: str, wire: Any) -> None:
    """Each API has its own form for a choice of tools."""
    assert render(history(), to, tools=TOOLS, tool_choice=choice).json["tool_choice"] == wire


@pytest.mark.parametrize(
    ("choice", "wire"),
    [
        ("auto", {"mode": "AUTO"}),
        ("none", {"mode": "NONE"}),
        ("required", {"mode": "ANY"}),
        ("server.tool", {"mode": "ANY", "allowedFunctionNames": ["server.tool"]}),
    ],
)
def test_tool_choice_at_gemini(choice: str, wire: Any) -> None:
    """Gemini takes a mode, and the name of the one function that must be called."""
    config = render(history(), GEMINI, tools=TOOLS, tool_choice=choice).json["toolConfig"]
    assert config == {"functionCallingConfig": wire}


def test_a_chosen_tool_goes_by_its_name_on_the_wire() -> None:
    """The caller names the tool as it is; where that name is refused, the choice is projected with it."""
    request = render(history(), OPENAI, tools=TOOLS, tool_choice="server.tool")
    chosen = request.json["tool_choice"]["function"]["name"]
    assert request.names[chosen] == "server.tool" and chosen != "server.tool"


@pytest.mark.parametrize("to", [OPENAI, RESPONSES, CLAUDE, GEMINI])
def test_a_choice_that_is_no_tool_is_refused(to: str) -> None:
    """A choice must name one of the tools of the request."""
    with pytest.raises(UsageError, match="'nothing'"):
        render(history(), to, tools=TOOLS, tool_choice="nothing")
    with pytest.raises(UsageError, match="needs tools"):
        render(History("h"), to, tool_choice="required")


@pytest.mark.parametrize("to", [OPENAI, RESPONSES, CLAUDE, GEMINI, "kimi:kimi-k2.5"])
def test_tool_options_without_tools_are_left_out(to: str) -> None:
    """OAC-06: they may only be sent with tools."""
    place = target(to)
    request = render(conversation(user("hi")), place, parallel=False, tool_choice="auto")
    assert complaints(request, place) == []
    assert any("there are no tools" in line for line in request.report.changes)


@pytest.mark.parametrize(
    ("to", "switch"),
    [
        ("openai:gpt-5.1", {"reasoning_effort": "high"}),
        ("openrouter:openai/gpt-5.1", {"reasoning": {"effort": "high"}}),
        ("deepseek:deepseek-v4-pro", {"thinking": {"type": "enabled"}, "reasoning_effort": "high"}),
        ("kimi:kimi-k2.5", {"thinking": {"type": "enabled"}}),
        ("zai:glm-4.6", {"thinking": {"type": "enabled"}}),
        ("openai-responses:gpt-5.1", {"reasoning": {"effort": "high", "summary": "auto"}}),
        (
            "anthropic:claude-opus-4-8",
            {"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}},
        ),
        (CLAUDE, {"thinking": {"type": "enabled", "budget_tokens": 16_384}}),
    ],
)
def test_effort_alone_asks_for_thinking(to: str, switch: dict[str, Any]) -> None:
    """`effort` switches thinking on, so that one option is enough."""
    body = render(conversation(user("hi")), to, effort="high").json
    assert {key: body.get(key) for key in switch} == switch


@pytest.mark.parametrize(
    ("to", "key", "value"),
    [
        ("openai:gpt-5.1", "reasoning_effort", "none"),
        ("openrouter:openai/gpt-5.1", "reasoning", {"enabled": False}),
        ("kimi:kimi-k2.5", "thinking", {"type": "disabled"}),
        ("deepseek:deepseek-v4-pro", "thinking", {"type": "disabled"}),
        ("anthropic:claude-opus-4-8", "thinking", {"type": "disabled"}),
        ("openai-responses:gpt-5.1", "reasoning", {"effort": "none"}),
    ],
)
@pytest.mark.parametrize(
    "asking", [{"thinking": False}, {"effort": "none"}, {"thinking": False, "effort": "high"}]
)
def test_thinking_is_switched_off(to: str, key: str, value: Any, asking: dict[str, Any]) -> None:
    """By `thinking=False`, whatever the effort, or by an effort of none."""
    assert render(conversation(user("hi")), to, **asking).json[key] == value


@pytest.mark.parametrize(
    ("to", "said"),
    [
        ("kimi:kimi-k3", "thinking stays on"),
        ("gemini:gemini-2.5-pro", "thinking stays on"),
        ("gemini:gemini-3-pro-preview", "effort none sent as low"),
        ("openai:o3", "effort none sent as low"),
        ("anthropic:claude-fable-5", "cannot switch it off"),
    ],
)
def test_where_thinking_cannot_be_switched_off_the_report_says_so(to: str, said: str) -> None:
    """The request is sent all the same, and the report names the option."""
    lines = render(conversation(user("hi")), to, thinking=False).report.changes
    assert any(said in line for line in lines)


@pytest.mark.parametrize("to", ["kimi:kimi-k2.5", "qwen:qwen3-max", "deepseek:deepseek-v4-pro"])
def test_a_forced_choice_switches_thinking_off_where_both_do_not_go(to: str) -> None:
    """KIM-03, QWN-02, DSK-04: the choice was asked for, so thinking gives way; the report says so."""
    request = render(history(), to, tools=TOOLS, thinking=True, stream=True, tool_choice="required")
    assert complaints(request, target(to)) == []
    assert any("thinking switched off" in line for line in request.report.changes)


def test_a_model_that_always_thinks_cannot_be_forced() -> None:
    """Such a model refuses a forced call, so the request raises instead."""
    with pytest.raises(UsageError, match=r"kimi-k3 always thinks.*tool_choice='auto'"):
        render(history(), "kimi:kimi-k3", tools=TOOLS, tool_choice="required")
    with pytest.raises(UsageError, match=r"claude-fable-5-1 cannot be forced.*tool_choice='auto'"):
        render(history(), "anthropic:claude-fable-5-1", tools=TOOLS, tool_choice="read_file")


def test_claude_thinks_or_is_forced() -> None:
    """ANT-24, and ANT-23 where the limit leaves no room."""
    request = render(history(), CLAUDE, tools=TOOLS, thinking=True, tool_choice="required")
    assert "thinking" not in request.json
    assert any(line.startswith("ANT-24") for line in request.report.changes)
    small = render(conversation(user("hi")), CLAUDE, thinking=True, max_tokens=1_000)
    assert "thinking" not in small.json
    assert any(line.startswith("ANT-23") for line in small.report.changes)


def test_gpt_5_6_with_tools_on_chat_does_not_reason() -> None:
    """OAC-11, and the report points to where it would."""
    request = render(history(), "openai:gpt-5.6-terra", tools=TOOLS, effort="high")
    assert request.json["reasoning_effort"] == "none"
    assert any("openai-responses" in line for line in request.report.changes)


@pytest.mark.parametrize(
    ("to", "wanted", "sent"),
    [
        (OPENAI, 10**6, 16_384),
        (RESPONSES, 3, 16),
        (CLAUDE, 10**6, 64_000),
        ("compatible:unheard-of", 10**6, 10**6),
    ],
)
def test_max_tokens_stays_within_what_the_model_can_write(to: str, wanted: int, sent: int) -> None:
    """A known model's limit is kept, and said; of an unknown one nobody knows it."""
    request = render(conversation(user("hi")), to, max_tokens=wanted)
    body = request.json
    limit = body.get("max_tokens") or body.get("max_completion_tokens") or body.get("max_output_tokens")
    assert limit == sent
    assert any("max_tokens" in line for line in request.report.changes) == (wanted != sent)


def test_sampling_that_a_model_refuses_is_left_out() -> None:
    """ANT-22 and the reasoning models of OpenAI; Claude takes no temperature above one."""
    for to in ("anthropic:claude-opus-4-8", "openai:gpt-5.1", "openai-responses:gpt-5.1"):
        request = render(conversation(user("hi")), to, temperature=0.3, top_p=0.5)
        assert not {"temperature", "top_p"} & set(request.json)
        assert any("temperature" in line and "left out" in line for line in request.report.changes)
    assert render(conversation(user("hi")), CLAUDE, temperature=1.7).json["temperature"] == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"effort": "enormous"}, "none, minimal, low"),
        ({"max_tokens": 0}, "max_tokens 0"),
        ({"max_tokens": "many"}, "max_tokens"),
        ({"thinking": True, "effort": "none"}, "contradict"),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], said: str) -> None:
    """The error names the option and the values that it takes."""
    with pytest.raises(UsageError, match=said):
        render(History("h"), OPENAI, **options)


def test_a_misspelt_option_is_answered_with_the_nearest() -> None:
    """Parameters of `render` itself are known too; where nothing is near, all of them are listed."""
    with pytest.raises(TypeError, match=r"render\(\) has no option 'tol_choice'; did you mean tool_choice\?"):
        render(History("h"), OPENAI, tol_choice="auto")
    with pytest.raises(TypeError, match=r"did you mean system\?"):
        render(History("h"), OPENAI, systm="Be brief.")
    with pytest.raises(TypeError, match=r"it has .*tool_choice, parallel.*extra"):
        render(History("h"), OPENAI, xyzzy=1)
    with pytest.raises(TypeError, match=r"did you mean max_tokens\?"):
        render(History("h"), OPENAI, options={"max_token": 1})


def test_extra_fields_go_into_the_body_as_they_are() -> None:
    """`extra` is for fields that we do not know."""
    for to in (OPENAI, RESPONSES, CLAUDE, GEMINI):
        assert render(History("h"), to, extra={"metadata": {"a": "b"}}).json["metadata"] == {"a": "b"}


@pytest.mark.parametrize(("to", "limit"), [(OPENAI, 128), (RESPONSES, 128), (CLAUDE, 512), (GEMINI, 512)])
def test_of_more_tools_than_an_api_takes_the_called_and_the_first_are_offered(to: str, limit: int) -> None:
    """OAC-06: in the order given; the report names those left out, and the history's stubs give way."""
    names = [f"tool_{n}" for n in range(limit + 3)]
    called = conversation(user("go"), model(call("unknown", "1"), call(names[-1], "2")), settled("1"))
    request = render(called, to, tools=[{"name": name} for name in names], tool_choice=names[-2])

    assert tools_of(request) == [*names[: limit - 2], names[-2], names[-1]]
    (told,) = [line for line in request.report.changes if "tools left out" in line]
    assert told.endswith(f": {names[limit - 2]}, {names[limit - 1]}, {names[limit]}")
    assert check(to, request.body) == []


def tools_of(request: WireRequest) -> list[str]:
    declared = request.json["tools"]
    if "functionDeclarations" in declared[0]:
        declared = declared[0]["functionDeclarations"]
    return [tool.get("function", tool)["name"] for tool in declared]


@pytest.mark.parametrize("to", [OPENAI, RESPONSES, CLAUDE, GEMINI, "kimi:kimi-k2-0905-preview"])
def test_a_tool_named_like_the_projection_of_another_is_another_tool(to: str) -> None:
    """Both are offered, each under a name of its own, and each name leads back to its tool."""
    like = render(History("h"), to, tools=[{"name": "größe"}]).names
    (projected,) = like
    for given in (["größe", projected], [projected, "größe"]):
        request = render(History("h"), to, tools=[{"name": name} for name in given], tool_choice="größe")

        assert len(set(tools_of(request))) == 2
        assert {request.names[sent] for sent in tools_of(request)} == {"größe", projected}
        assert request.names[projected] == projected
        assert check(to, request.body) == []


def test_the_same_tool_twice_is_refused() -> None:
    """Two tools of one name cannot be told apart in a reply."""
    with pytest.raises(UsageError, match="'read_file' is given twice"):
        render(History("h"), OPENAI, tools=[TOOLS[0], TOOLS[0]])


def test_what_is_no_tool_is_refused() -> None:
    """The error says what a tool may be given as."""
    with pytest.raises(UsageError, match="is not a tool"):
        render(History("h"), OPENAI, tools=["read_file"])


SCHEMA = {"type": "object", "properties": {"x": {"type": "string"}}, "required": ["x"]}


@pytest.mark.parametrize(
    "declared",
    [
        {"name": "find", "description": "d", "parameters": SCHEMA},
        {"type": "function", "function": {"name": "find", "description": "d", "parameters": SCHEMA}},
        {"type": "function", "name": "find", "description": "d", "parameters": SCHEMA, "strict": False},
        {"name": "find", "description": "d", "input_schema": SCHEMA},
        {"name": "find", "description": "d", "inputSchema": SCHEMA},
        {"name": "find", "description": "d", "parametersJsonSchema": SCHEMA},
        mcp.types.Tool(name="find", description="d", inputSchema=SCHEMA),
    ],
    ids=["ours", "chat", "responses", "anthropic", "mcp", "gemini", "mcp object"],
)
def test_a_tool_is_itself_in_any_providers_words(declared: Any) -> None:
    """A declaration copied from a provider's or an MCP server's documentation keeps its schema."""
    assert ToolSpec.of(declared) == ToolSpec("find", "d", SCHEMA)


def test_what_no_api_takes_is_refused_before_it_is_sent() -> None:
    """Numbers out of any range are an error here; one stop word may stand by itself."""
    history = ingest([{"role": "user", "content": "hi"}])
    for options in ({"top_p": 2}, {"top_p": -0.1}, {"temperature": -1}, {"temperature": float("nan")}):
        with pytest.raises(UsageError):
            render(history, "gemini:gemini-2.5-flash", **options)
    asked = render(history, "gemini:gemini-2.5-flash", stop="END", temperature=5)
    assert asked.json["generationConfig"] == {"temperature": 2.0, "stopSequences": ["END"]}
    assert any("temperature" in change for change in asked.changes)


@pytest.mark.parametrize("given", [None, [], [{"role": "user", "content": "hi"}]])
def test_messages_that_are_no_history_yet_are_refused_with_the_way_on(given: Any) -> None:
    """Rendering raw messages says that they go through `ingest` first."""
    with pytest.raises(UsageError, match="ingest"):
        render(given, "openai:gpt-4o")
