"""`read_request`: a body of any API is read whole, and asks the same of every target that can do it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.corpus import needs_corpus, share
from tests.handoff import recorded
from tests.handoff.judges import complaints

from turnout import History, InboundRequest, UsageError, check, ingest, read_request, render
from turnout.providers import target
from turnout.wire.protocol import WireRequest

CHAT, RESPONSES = "openai:gpt-4o", "openai-responses:gpt-5.1"
CLAUDE, GEMINI = "anthropic:claude-sonnet-4-5", "gemini:gemini-2.5-flash"
MISTRAL = "mistral:mistral-large-latest"
EVERYONE = (CHAT, RESPONSES, CLAUDE, GEMINI, MISTRAL, "kimi:kimi-k2.5", "openrouter:openai/gpt-5.1")
SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}
USER = {"role": "user", "content": "Where is it? Answer in JSON."}
FUNCTIONS = {
    "chat": {"type": "function", "function": {"name": "find", "parameters": SCHEMA}},
    "responses": {"type": "function", "name": "find", "parameters": SCHEMA},
    "anthropic": {"name": "find", "input_schema": SCHEMA},
    "gemini": {"functionDeclarations": [{"name": "find", "parametersJsonSchema": SCHEMA}]},
}


def body(api: str, **fields: Any) -> dict[str, Any]:
    said: dict[str, Any] = {"messages": [USER]}
    if api == "responses":
        said = {"input": [USER]}
    elif api == "gemini":
        said = {"contents": [{"role": "user", "parts": [{"text": USER["content"]}]}]}
    return {**said, "tools": [FUNCTIONS[api]], **fields}


FORMATS = {
    "chat": "openai-chat",
    "responses": "openai-responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
}
HOMES = {"chat": CHAT, "responses": RESPONSES, "anthropic": CLAUDE, "gemini": GEMINI}


def read(api: str, origin: str = "", **fields: Any) -> InboundRequest:
    return read_request(body(api, **fields), FORMATS[api], origin or HOMES[api])


def rendered(inbound: InboundRequest, to: str, **asked: Any) -> WireRequest:
    return render(inbound.history, to, options=inbound.options, stream=inbound.stream, **asked)


CHAT_SCHEMA = {"type": "json_schema", "json_schema": {"name": "place", "schema": SCHEMA, "strict": True}}
CASES: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("chat", {"max_tokens": 100}, {"max_tokens": 100}),
    ("chat", {"max_completion_tokens": 100}, {"max_tokens": 100}),
    ("responses", {"max_output_tokens": 100}, {"max_tokens": 100}),
    ("gemini", {"generationConfig": {"maxOutputTokens": 100}}, {"max_tokens": 100}),
    ("chat", {"temperature": 0.2, "top_p": 0.9, "seed": 7}, {"temperature": 0.2, "top_p": 0.9, "seed": 7}),
    ("anthropic", {"temperature": 1, "top_k": 5}, {"temperature": 1.0, "top_k": 5}),
    ("gemini", {"generation_config": {"top_k": 5, "seed": 7}}, {"top_k": 5, "seed": 7}),
    ("chat", {"stop": "END"}, {"stop": ("END",)}),
    ("anthropic", {"stop_sequences": ["A", "B"]}, {"stop": ("A", "B")}),
    ("gemini", {"generationConfig": {"stopSequences": ["A"]}}, {"stop": ("A",)}),
    ("chat", {"tool_choice": "required"}, {"tool_choice": "required"}),
    ("chat", {"tool_choice": {"type": "function", "function": {"name": "find"}}}, {"tool_choice": "find"}),
    ("responses", {"tool_choice": {"type": "function", "name": "find"}}, {"tool_choice": "find"}),
    (
        "anthropic",
        {"tool_choice": {"type": "any", "disable_parallel_tool_use": True}},
        {"tool_choice": "required", "parallel": False},
    ),
    ("anthropic", {"tool_choice": {"type": "tool", "name": "find"}}, {"tool_choice": "find"}),
    ("gemini", {"toolConfig": {"functionCallingConfig": {"mode": "ANY"}}}, {"tool_choice": "required"}),
    (
        "gemini",
        {"tool_config": {"function_calling_config": {"mode": "any", "allowed_function_names": ["find"]}}},
        {"tool_choice": "find"},
    ),
    ("chat", {"function_call": {"name": "find"}}, {"tool_choice": "find"}),
    ("chat", {"parallel_tool_calls": False}, {"parallel": False}),
    ("chat", {"response_format": {"type": "json_object"}}, {"json": True}),
    ("chat", {"response_format": {"type": "text"}}, {}),
    (
        "chat",
        {"response_format": CHAT_SCHEMA},
        {"schema": SCHEMA, "schema_name": "place", "schema_strict": True},
    ),
    (
        "responses",
        {"text": {"format": {"type": "json_schema", "name": "place", "schema": SCHEMA}, "verbosity": "low"}},
        {"schema": SCHEMA, "schema_name": "place", "verbosity": "low"},
    ),
    (
        "anthropic",
        {"output_config": {"format": {"type": "json_schema", "schema": SCHEMA}}},
        {"schema": SCHEMA},
    ),
    ("gemini", {"generationConfig": {"responseMimeType": "application/json"}}, {"json": True}),
    (
        "gemini",
        {"generationConfig": {"responseMimeType": "application/json", "responseSchema": {"type": "OBJECT"}}},
        {"schema": {"type": "object"}},
    ),
    ("chat", {"reasoning_effort": "low"}, {"effort": "low", "thinking": True}),
    ("responses", {"reasoning": {"effort": "high"}}, {"effort": "high", "thinking": True}),
    (
        "anthropic",
        {"thinking": {"type": "enabled", "budget_tokens": 2000}},
        {"thinking": True, "budget": 2000},
    ),
    ("anthropic", {"thinking": {"type": "disabled"}}, {"thinking": False}),
    ("gemini", {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}}, {"thinking": False}),
    (
        "gemini",
        {"generationConfig": {"thinkingConfig": {"thinkingLevel": "LOW"}}},
        {"effort": "low", "thinking": True},
    ),
    ("chat", {"reasoning": {"max_tokens": 900}}, {"thinking": True, "budget": 900}),
    ("chat", {"enable_thinking": False}, {"thinking": False}),
    ("chat", {"frequency_penalty": 0.5, "user": "u1"}, {"frequency_penalty": 0.5, "user": "u1"}),
    ("anthropic", {"metadata": {"user_id": "u1"}}, {"user": "u1"}),
    (
        "responses",
        {"metadata": {"run": "7"}, "service_tier": "flex"},
        {"metadata": {"run": "7"}, "service_tier": "flex"},
    ),
    ("anthropic", {"cache_control": {"type": "ephemeral", "ttl": "1h"}}, {"cache_ttl": "1h"}),
    (
        "anthropic",
        {"system": [{"type": "text", "text": "s", "cache_control": {"type": "ephemeral", "ttl": "1h"}}]},
        {"cache_ttl": "1h"},
    ),
    (
        "chat",
        {"prompt_cache_key": "k", "prompt_cache_retention": "24h"},
        {"cache_key": "k", "cache_ttl": "24h"},
    ),
    ("chat", {"logprobs": True, "top_logprobs": 3}, {"logprobs": 3}),
    ("gemini", {"generationConfig": {"responseLogprobs": True}}, {"logprobs": 0}),
    (
        "chat",
        {"think": True, "options": {"num_predict": 9}, "format": "json"},
        {"thinking": True, "max_tokens": 9, "json": True},
    ),
    ("chat", {"n": 1, "stream_options": {"include_usage": True}, "temperature": None}, {}),
    (
        "responses",
        {"store": False, "include": ["reasoning.encrypted_content"], "previous_response_id": None},
        {},
    ),
]


CASE_NAMES = [f"{api} {next(iter(fields))}" for api, fields, _ in CASES]


@pytest.mark.parametrize(("api", "fields", "options"), CASES, ids=CASE_NAMES)
def test_what_apis_share_is_read_in_neutral_words(
    api: str, fields: dict[str, Any], options: dict[str, Any]
) -> None:
    """Every spelling of an option is the same option, and nothing is left over of it."""
    inbound = read(api, **fields)
    found = {name: value for name, value in dict(inbound.options).items() if name != "private"}
    assert found == options
    private = inbound.options.private
    assert private is None or private.data["fields"] in ({}, {"reasoning": {"summary": None}})
    assert inbound.dropped == ()


@pytest.mark.parametrize(("api", "fields", "options"), CASES, ids=CASE_NAMES)
def test_what_was_asked_for_is_asked_of_everyone_or_named(
    api: str, fields: dict[str, Any], options: dict[str, Any]
) -> None:
    """Each target is asked in its own words, or the report names the option; nobody refuses the request."""
    inbound = read(api, **fields)
    without = read(api)
    for to in EVERYONE:
        made = rendered(inbound, to)
        assert complaints(made, target(to)) == []
        usual = {name for name, value in options.items() if value in ("auto", 1.0, True)}
        if set(options) - usual and options != {"thinking": False}:
            assert (made.body, made.changes) != (rendered(without, to).body, rendered(without, to).changes), (
                to
            )


PRIVATE: list[tuple[str, str, dict[str, Any]]] = [
    ("chat", CHAT, {"logit_bias": {"50256": -100}}),
    ("chat", CHAT, {"prediction": {"type": "content", "content": "x"}}),
    ("chat", MISTRAL, {"safe_prompt": True}),
    ("chat", "openrouter:openai/gpt-5.1", {"provider": {"order": ["a"]}, "transforms": ["middle-out"]}),
    ("responses", RESPONSES, {"truncation": "auto"}),
    ("responses", RESPONSES, {"reasoning": {"effort": "low", "summary": "detailed"}}),
    ("anthropic", CLAUDE, {"container": "c_1"}),
    ("anthropic", CLAUDE, {"thinking": {"type": "enabled", "budget_tokens": 2000, "display": "omitted"}}),
    ("gemini", GEMINI, {"safetySettings": [{"category": "HARM_CATEGORY_HARASSMENT", "threshold": "OFF"}]}),
    ("gemini", GEMINI, {"generationConfig": {"temperature": 0.5, "mediaResolution": "MEDIA_RESOLUTION_LOW"}}),
    ("gemini", GEMINI, {"cachedContent": "cachedContents/1"}),
]


@pytest.mark.parametrize(("api", "owner", "fields"), PRIVATE)
def test_what_one_api_alone_has_goes_back_to_it_and_is_named_elsewhere(
    api: str, owner: str, fields: dict[str, Any]
) -> None:
    """Verbatim at home; for the others, one line of the report for each field."""
    inbound = read(api, owner, **fields)
    home = rendered(inbound, owner)
    for name, value in fields.items():
        assert _holds(home.json[name], value), home.json
    for to in EVERYONE:
        if target(to).provider.name == target(owner).provider.name:
            continue
        made = rendered(inbound, to)
        left = inbound.options.private
        assert left is not None
        for name in left.data["fields"]:
            assert any(line.startswith(name) and "left out" in line for line in made.changes), (to, name)
        assert complaints(made, target(to)) == []


def _holds(held: Any, value: Any) -> bool:
    if isinstance(value, dict) and isinstance(held, dict):
        return all(name in held and _holds(held[name], item) for name, item in value.items())
    return bool(held == value)


def test_a_server_that_we_know_little_of_is_asked_as_it_was() -> None:
    """An option that its dialect does not know goes back to the very model it was written for."""
    fields = {"top_k": 7, "reasoning_effort": "high", "service_tier": "on_demand", "metadata": {"a": "b"}}
    inbound = read("chat", "compatible:unheard-of", **fields)
    made = rendered(inbound, "compatible:unheard-of")
    assert {name: made.json.get(name) for name in fields} == fields
    other = rendered(inbound, "compatible:another")
    assert not set(fields) & set(other.json)
    assert all(
        any(line.startswith(name) for line in other.changes) for name in ("top_k", "effort", "metadata")
    )
    anew = rendered(inbound, "compatible:unheard-of", effort="low")
    assert "reasoning_effort" not in anew.json and any(line.startswith("effort") for line in anew.changes)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"temperature": "hot"}, "temperature"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": True}, "max_tokens"),
        ({"top_p": 7}, "top_p"),
        ({"tool_choice": {"type": "function", "function": {"name": "gone"}}}, "tool_choice"),
        ({"tool_choice": "required", "tools": []}, "tool_choice"),
        ({"keep_alive": "5m"}, "keep_alive"),
        ({"seed": "x", "stop": 7}, "seed"),
    ],
)
def test_what_nobody_can_get_is_dropped_with_a_reason(fields: dict[str, Any], named: str) -> None:
    """Values that make no sense raise nothing and are sent to nobody."""
    inbound = read("chat", **fields)
    assert any(line.startswith(f"{named}: ") for line in inbound.dropped)
    assert complaints(rendered(inbound, CHAT), target(CHAT)) == []


def test_streaming_is_said_apart_from_the_options() -> None:
    """So that whoever answers can choose; the options never say it."""
    inbound = read("chat", stream=True, stream_options={"include_usage": True, "include_obfuscation": False})
    assert inbound.stream is True and "stream" not in dict(inbound.options)
    assert rendered(inbound, CHAT).json["stream_options"] == {
        "include_usage": True,
        "include_obfuscation": False,
    }
    alone = render(inbound.history, CHAT, options=inbound.options)
    assert "stream_options" not in alone.json
    assert any(line.startswith("stream_options left out") for line in alone.changes)


def test_options_are_handed_on_as_keywords_too() -> None:
    """`**inbound.options` is what was asked for; a keyword beside `options=` counts more."""
    inbound = read("chat", temperature=0.5, max_tokens=100)
    assert dict(inbound.options) == {"temperature": 0.5, "max_tokens": 100}
    assert render(inbound.history, CHAT, **inbound.options).body == rendered(inbound, CHAT).body
    assert rendered(inbound, CHAT, temperature=0.9).json["temperature"] == 0.9


def test_messages_alone_ask_for_nothing() -> None:
    """A list of messages, JSON text and bytes are read as `ingest` reads them."""
    for given in ([USER], json.dumps([USER]), json.dumps({"messages": [USER]}).encode()):
        inbound = read_request(given)
        assert (dict(inbound.options), inbound.stream, inbound.dropped) == ({}, False, ())
        assert len(inbound.history.turns) == 1
    with pytest.raises(UsageError, match="say format='openai-responses'"):
        read_request({"input": "hi"})


def test_ingest_names_the_fields_that_it_does_not_carry() -> None:
    """A history is the conversation; whoever drops the rest of a request hears of it."""
    given = body("chat", temperature=0.5, response_format={"type": "json_object"}, user=None, model="gpt-4o")
    (found,) = ingest(given).diagnostics
    assert found.code == "unread_fields"
    assert found.detail.startswith("temperature, response_format;") and "read_request()" in found.detail
    assert read_request(given).history.diagnostics == []
    assert ingest({"model": "gpt-4o", "messages": [USER]}).diagnostics == []


def test_a_chained_request_goes_on_from_what_the_provider_holds() -> None:
    """At home the response is named again, and outputs go by the ids that the server knows."""
    output = {"type": "function_call_output", "call_id": "call_7", "output": "Oslo"}
    inbound = read("responses", previous_response_id="resp_1", input=[output])
    made = rendered(inbound, RESPONSES).json
    assert (made["previous_response_id"], made["input"]) == ("resp_1", [output])
    assert [tool["name"] for tool in made["tools"]] == ["find"]
    elsewhere = rendered(inbound, CLAUDE)
    assert any(
        item.code == "held_by_provider" and "resp_1" in item.detail for item in inbound.history.diagnostics
    )
    assert complaints(elsewhere, target(CLAUDE)) == []


def test_a_conversation_at_the_provider_is_gone_on_with() -> None:
    """The id goes back to OpenAI, with the storing that it needs; calls that lie there cannot be answered."""
    made = rendered(read("responses", conversation={"id": "conv_1"}), RESPONSES).json
    assert (made["conversation"], made["store"]) == ("conv_1", True)
    output = {"type": "function_call_output", "call_id": "call_7", "output": "Oslo"}
    inbound = read("responses", conversation="conv_1", input=[output])
    assert any(line.startswith("conversation: ") for line in inbound.dropped)


def test_a_forced_call_is_weakened_where_none_can_be_forced() -> None:
    """The request asked for it, not the caller: it is named, and no error. The caller's own word is one."""
    inbound = read("chat", tool_choice="required")
    for to in ("kimi:kimi-k2-thinking", "anthropic:claude-opus-5-5"):
        made = rendered(inbound, to)
        assert (
            f"tool_choice required sent as auto: {target(to).model} cannot be forced to call a tool"
            in made.changes
        )
        with pytest.raises(UsageError, match="cannot be forced"):
            rendered(inbound, to, tool_choice="required")


@pytest.mark.parametrize("to", [CHAT, RESPONSES])
def test_openai_hears_of_json_when_it_must_answer_in_json(to: str) -> None:
    """It refuses `json_object` where no message speaks of JSON; one that does is left as it is."""
    silent = read_request(
        {
            "contents": [{"parts": [{"text": "go"}]}],
            "generationConfig": {"responseMimeType": "application/json"},
        },
        "gemini",
    )
    made = rendered(silent, to)
    assert "Answer in JSON." in made.body.decode()
    assert any(line.startswith("a word about JSON added") for line in made.changes)
    spoken = read("chat", response_format={"type": "json_object"})
    assert not any("a word about JSON" in line for line in rendered(spoken, to).changes)


def test_cache_markers_in_chat_messages_are_named() -> None:
    """OpenRouter passes them on; here every target places its own."""
    part = {"type": "text", "text": "long", "cache_control": {"type": "ephemeral", "ttl": "1h"}}
    inbound = read("chat", messages=[{"role": "user", "content": [part]}])
    assert inbound.options.cache_ttl == "1h"
    assert any(line.startswith("cache_control: 1 markers") for line in inbound.dropped)
    assert rendered(inbound, CLAUDE).json["cache_control"] == {"type": "ephemeral", "ttl": "1h"}


def test_a_history_without_a_request_asks_for_what_it_did_before() -> None:
    """Options that nobody gives change no byte."""
    history = History("h")
    history.user("go")
    for to in EVERYONE:
        assert render(history, to).body == render(history, to, options={}).body


THOUGHT = {
    "role": "assistant",
    "content": [
        {"type": "thinking", "thinking": "It is Oslo.", "signature": "c2ln"},
        {"type": "text", "text": "Oslo"},
    ],
}


def test_thinking_of_others_is_left_out_or_said_as_text() -> None:
    """Both ways are named in the report; a third is an error that lists them."""
    inbound = read_request({"messages": [USER, THOUGHT, USER]}, "anthropic", CLAUDE)
    left_out = rendered(inbound, CHAT)
    assert "It is Oslo." not in left_out.body.decode()
    assert "thinking_omitted" in {item.code for item in left_out.report.diagnostics}
    said = rendered(inbound, CHAT, foreign_thinking="as_text")
    assert "It is Oslo." in said.body.decode()
    assert "thinking_as_text" in {item.code for item in said.report.diagnostics}
    with pytest.raises(UsageError, match="foreign_thinking 'keep' is not one of omit, as_text"):
        rendered(inbound, CHAT, foreign_thinking="keep")


@needs_corpus
def test_recorded_requests_are_asked_again_and_nobody_refuses() -> None:
    """With all that they ask for: of whom they were written for, and of another in turn.

    A Chat server has fields of its own that no SDK here knows; they were taken when they were recorded.
    """
    found: list[str] = []
    answered = [exchange for exchange in recorded.requests() if exchange.status == 200]
    for at, exchange in enumerate(share(answered, 5)):
        form, origin = recorded.FORMATS[exchange.meta["family"]], recorded.origin(exchange)
        inbound = read_request(exchange.request, form, origin)
        home, other = target(origin), target(EVERYONE[at % len(EVERYONE)])
        lines = check(home.provider.name, rendered(inbound, origin).body, model=home.model)
        found += [f"{exchange.id} -> {origin}: {line}" for line in lines]
        if other.provider.name != home.provider.name:
            lines = complaints(rendered(inbound, str(other.origin)), other)
            found += [f"{exchange.id} -> {other.origin}: {line}" for line in lines]
    assert found == []


def test_what_its_own_api_refuses_is_left_out_and_named() -> None:
    """A field that the API does not have would have the whole request refused."""
    inbound = read("anthropic", CLAUDE, never_heard_of=1, container="c_1")
    made = rendered(inbound, CLAUDE)
    assert "never_heard_of" not in made.json and made.json["container"] == "c_1"
    assert any(line.startswith("ANT-27 never_heard_of left out") for line in made.changes)


@pytest.mark.parametrize(
    ("api", "fields", "to", "word"),
    [
        ("gemini", {"generationConfig": {"stopSequences": ["END"]}}, RESPONSES, "stopSequences"),
        ("anthropic", {"stop_sequences": ["END"]}, RESPONSES, "stop_sequences"),
        ("chat", {"prompt_cache_key": "k"}, CLAUDE, "prompt_cache_key"),
        ("chat", {"logprobs": True, "top_logprobs": 2}, CLAUDE, "top_logprobs"),
        ("anthropic", {"thinking": {"type": "enabled", "budget_tokens": 2000}}, CHAT, "budget_tokens"),
    ],
)
def test_a_report_names_options_as_the_request_did(
    api: str, fields: dict[str, Any], to: str, word: str
) -> None:
    """Neutral words are ours; who wrote the request knows its own. A caller's choice is not the request's."""
    inbound = read(api, **fields)
    assert any(word in line for line in rendered(inbound, to).changes)
    chosen = render(inbound.history, to, options=inbound.options, **dict(inbound.options))
    assert not any("asked for as" in line for line in chosen.changes)
