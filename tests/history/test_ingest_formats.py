"""What each format says, and how it is kept: origins, private state, media, bodies, SDK objects."""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace
from tests.history.telling import (
    answers,
    asks,
    assistant,
    call,
    codes,
    content,
    function_call,
    function_response,
    outcomes,
    parts,
    result,
    story,
    system,
    text,
    thought,
    tool,
    use,
    user,
)

from turnout.errors import UsageError
from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.model import Code, Media, ModelTurn, Opaque, Origin, Text, Thinking, ToolCall, UserTurn
from turnout.providers.inbound import read_request
from turnout.providers.request import render


def blocks(messages: Any, form: str = "openai-chat", **given: Any) -> tuple[Any, ...]:
    """The blocks of the one turn that these messages make."""
    (turn,) = ingest(messages, form, **given).turns
    return turn.blocks


def reply(messages: Any, form: str = "openai-chat", **given: Any) -> ModelTurn:
    return next(turn for turn in ingest(messages, form, **given).turns if isinstance(turn, ModelTurn))


# Healthy conversations in every format give the same story

CHAT = [
    system("be kind"),
    user("weather?"),
    assistant("let me see", call("a", "weather", {"city": "Paris"})),
    tool("a", "sunny"),
    assistant("It is sunny."),
]
RESPONSES = {
    "instructions": "be kind",
    "input": [
        user("weather?"),
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "let me see"}]},
        {"type": "function_call", "call_id": "a", "name": "weather", "arguments": '{"city":"Paris"}'},
        {"type": "function_call_output", "call_id": "a", "output": "sunny"},
        {"role": "assistant", "content": "It is sunny."},
    ],
}
ANTHROPIC = {
    "system": [{"type": "text", "text": "be kind", "cache_control": {"type": "ephemeral"}}],
    "messages": [
        user("weather?"),
        {"role": "assistant", "content": [text("let me see"), use("a", "weather", city="Paris")]},
        user([result("a", [text("sunny")], cache_control={"type": "ephemeral"})]),
        {"role": "assistant", "content": "It is sunny."},
    ],
}
GEMINI = {
    "systemInstruction": {"parts": [{"text": "be kind"}]},
    "contents": [
        parts("user", {"text": "weather?"}),
        parts("model", {"text": "let me see"}, function_call("weather", city="Paris")),
        parts("user", function_response("weather", output="sunny")),
        parts("model", {"text": "It is sunny."}),
    ],
}
ICONTENT = [
    content("system", text("be kind")),
    content("human", text("weather?")),
    content("ai", text("let me see"), asks("a", "weather", city="Paris")),
    content("tool", answers("a", "sunny", "weather")),
    content("ai", text("It is sunny.")),
]
HEALTHY = [
    ("openai-chat", CHAT),
    ("openai-responses", RESPONSES),
    ("anthropic", ANTHROPIC),
    ("gemini", GEMINI),
    ("icontent", ICONTENT),
]


@pytest.mark.parametrize(("form", "given"), HEALTHY)
def test_a_healthy_conversation_is_the_same_in_every_format(form: str, given: Any) -> None:
    """Same system text, turns, arguments and outcome; nothing to diagnose."""
    history = ingest(given, form)

    assert history.system == "be kind"
    assert story(history) == ["user: weather?", "model: let me see, weather", "model: It is sunny."]
    assert outcomes(history) == [("weather", "complete", "sunny")]
    assert next(iter(history.ledger)).arguments == {"city": "Paris"}
    assert codes(history) == []


@pytest.mark.parametrize(("form", "given"), HEALTHY)
def test_a_conversation_goes_on_after_the_door(form: str, given: Any) -> None:
    history = ingest(given, form)
    history.user("And tomorrow?")
    turn = history.reply("mistral:mistral-large-latest", [ToolCall("x", "weather")])

    assert history.open_turn is turn
    assert len({turn.key for turn in history.turns}) == len(history.turns)


# What is not the format at all


@pytest.mark.parametrize(
    ("given", "form", "says"),
    [
        (42, "openai-chat", "int is not openai-chat"),
        (None, "gemini", "NoneType is not gemini"),
        ("hello", "openai-chat", "not JSON"),
        (b"\xff\xfe", "anthropic", "not JSON"),
        ('"hello"', "openai-chat", "str is not openai-chat"),
        ({"contents": []}, "openai-chat", "format='gemini'"),
        ({"input": []}, "anthropic", "format='openai-responses'"),
        ({"role": "user", "content": "hi"}, "openai-chat", "goes in a list"),
        ([], "morse", "is no message format"),
        ([], 7, "is no message format"),
    ],
)
def test_what_is_not_the_named_format_is_refused_with_the_way_on(given: Any, form: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        ingest(given, form)


def test_every_providers_name_is_the_name_of_its_format() -> None:
    """What is read under a provider's name, or under another name of it, is that provider's."""
    from turnout.providers import PROVIDERS

    for provider in PROVIDERS.values():
        for name in (provider.name, *provider.aliases):
            assert reply([assistant("hi")], name).origin == Origin(provider.name)


def test_every_name_that_is_checked_is_a_name_of_a_format() -> None:
    """`ingest` and `decode` know whatever `check` knows, also hosts that we have no address for."""
    from turnout import decode
    from turnout.wire.check.names import NAMES

    for name, meant in NAMES.items():
        assert isinstance(ingest([], name), History), name
        if meant == "openai-compatible":
            said = {"choices": [{"message": {"content": "hi"}, "finish_reason": "stop"}]}
            assert decode(f"{name}:m", said).text == "hi"


def test_a_file_is_no_message() -> None:
    """An open file is refused, and a view of bytes is bytes."""
    with pytest.raises(UsageError, match="read"):
        ingest(io.BytesIO(b"[]"))
    given = b'[{"role": "user", "content": "hi"}]'
    assert ingest(memoryview(given)).turns == ingest(given).turns


def test_a_history_key_holds_no_bar() -> None:
    with pytest.raises(UsageError, match="cannot name a history"):
        ingest([], key="a|b")


def test_nothing_said_is_an_empty_history() -> None:
    assert ingest([]).turns == []
    assert ingest({"messages": None}).turns == []


def test_system_text_alone_is_a_history_without_turns() -> None:
    history = ingest([system("be kind"), {"role": "developer", "content": "and brief"}])

    assert history.system == "be kind\n\nand brief"
    assert not history.turns


def test_empty_messages_are_left_out_and_said_so() -> None:
    history = ingest([user(""), assistant(None), user([]), user("hi")])

    assert story(history) == ["user: hi"]
    assert codes(history) == ["empty_message"] * 3


def test_what_nobody_can_read_is_kept_as_a_note_and_named() -> None:
    history = ingest([{"role": "user", "poll": {"question": "tea?"}}, {"role": "oracle", "content": "hm"}])

    assert [note.kind for note in history.notes] == ["unreadable_message"]
    assert story(history) == ["user: hm"]
    assert codes(history) == ["unknown_field", "unknown_role"]
    assert history.diagnostics[0].detail == "message.poll"


# Origin


@pytest.mark.parametrize(
    ("given", "form", "origin", "expected"),
    [
        ([assistant("hi")], "openai-chat", None, Origin("openai")),
        ([assistant("hi")], "mistral", None, Origin("mistral")),
        ([assistant("hi")], "responses", None, Origin("openai-responses")),
        ([assistant("hi")], "Kimi", None, Origin("kimi")),
        ([assistant("hi")], "anthropic", "bedrock:claude", Origin("bedrock", "", "claude")),
        ({"model": "m", "messages": [assistant("hi")]}, "chat", None, Origin("openai", "", "m")),
        ({"model": "m", "messages": [assistant("hi")]}, "chat", "groq@eu:x", Origin("groq", "eu", "m")),
        ([assistant("hi")], "chat", Origin("azure", "eu", "gpt"), Origin("azure", "eu", "gpt")),
        (
            {"model": "models/gemini-3", "contents": [parts("model", text("hi"))]},
            "vertex",
            None,
            Origin("vertex", "", "gemini-3"),
        ),
    ],
)
def test_origin_is_the_bodys_model_and_the_named_provider(
    given: Any, form: str, origin: Any, expected: Origin
) -> None:
    assert reply(given, form, origin=origin).origin == expected


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        ({}, Origin("groq", "eu", "m")),
        ({"provider": "anthropic", "model": "claude"}, Origin("anthropic", "", "claude")),
        ({"provider": "anthropic"}, Origin("anthropic")),
        ({"model": "other"}, Origin("groq", "eu", "other")),
        (
            {"provider": "openai", "model": "gpt", "providerBaseURL": "https://api.openai.com/v1"},
            Origin("openai", "", "gpt"),
        ),
        (
            {"provider": "openai", "model": "gpt", "providerBaseURL": "https://proxy.example/v1"},
            Origin("openai", "https://proxy.example/v1", "gpt"),
        ),
    ],
)
def test_a_contents_own_metadata_comes_first(metadata: dict[str, str], expected: Origin) -> None:
    assert reply([content("ai", text("hi"), **metadata)], "icontent", origin="groq@eu:m").origin == expected


# Turn keys


def test_a_turn_id_is_the_turns_key_and_counts_in_its_call_ids() -> None:
    messages = [
        content("human", text("go"), turnId="t"),
        content("ai", asks("x"), turnId="t|1", provider="kimi"),
    ]
    history = ingest(messages, "icontent")

    from turnout import ids

    assert [turn.key for turn in history.turns] == ["t", "t_1"]
    assert next(iter(history.ledger)).call.id == ids.call_id("kimi", "x", "read", "t_1", 0)


def test_a_turn_id_shared_by_several_contents_is_made_distinct() -> None:
    """The model's turn keeps it first: call ids are made from it."""
    messages = [
        content("human", text("go"), turnId="t"),
        content("ai", text("a"), turnId="t"),
        content("ai", text("b"), turnId="t"),
        content("ai", text("c"), turnId="t.2"),
    ]
    history = ingest(messages, "icontent", key="k")

    assert [turn.key for turn in history.turns] == ["k.1", "t", "t.2", "t.2.2"]
    assert codes(history) == ["shared_turn_id", "shared_turn_id"]


def test_given_keys_keep_out_of_the_way_of_turn_ids() -> None:
    messages = [content("human", text("go")), content("ai", text("a"), turnId="k.1")]

    assert [turn.key for turn in ingest(messages, "icontent", key="k").turns] == ["k.2", "k.1"]


# Chat and its dialects


@pytest.mark.parametrize(
    ("fields", "data"),
    [
        ({"reasoning_content": "hm"}, {"field": "reasoning_content"}),
        ({"reasoning": "hm"}, {"field": "reasoning"}),
        ({"thinking": "hm"}, {"field": "thinking"}),
        (
            {"reasoning_text": "hm", "reasoning_opaque": "xyz"},
            {"field": "reasoning_text", "reasoning_opaque": "xyz"},
        ),
        (
            {"reasoning": "hm", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
            {"field": "reasoning", "reasoning_details": [{"type": "reasoning.text", "text": "hm"}]},
        ),
        (
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
            {"reasoning_details": [{"type": "reasoning.summary", "summary": "hm"}]},
        ),
        ({"reasoning": "hm", "reasoning_content": "hm"}, {"field": "reasoning_content"}),
    ],
)
def test_chat_reasoning_knows_the_field_it_came_in(fields: dict[str, Any], data: dict[str, Any]) -> None:
    thinking, said = blocks([assistant("hi", **fields)], origin="deepseek:r")

    assert (thinking.text, thinking.residue.data) == ("hm", data)
    assert thinking.residue.origin == Origin("deepseek", "", "r")
    assert said == Text("hi")


def test_mistral_thinking_chunks_keep_what_is_not_text() -> None:
    chunk = {"type": "thinking", "closed": True, "thinking": [text("h"), text("m")]}
    thinking, _ = blocks([assistant([chunk, text("hi")])], "mistral")

    assert (thinking.text, thinking.residue.data) == (
        "hm",
        {"thinking_chunk": {"type": "thinking", "closed": True}},
    )


def test_a_call_keeps_what_its_provider_put_beside_it() -> None:
    extra = {"google": {"thought_signature": "sig"}}
    (made,) = blocks([assistant(None, call("a", extra_content=extra))], "gemini", origin="gemini:g")

    assert made.residue.data == {"extra_content": extra}


def test_calls_of_the_time_before_tool_calls() -> None:
    old = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": '{"p":1}'}}
    history = ingest([user("go"), old, {"role": "function", "name": "read", "content": "42"}])

    assert outcomes(history) == [("read", "complete", "42")]
    assert codes(history) == []


def test_ollamas_own_messages() -> None:
    """Arguments are an object, results name their tool, nothing has an id."""
    body = {
        "model": "qwen3",
        "messages": [
            {"role": "user", "content": "look", "images": ["iVBORabc"]},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"function": {"name": "f", "arguments": {"n": 1}}}],
            },
            {"role": "tool", "tool_name": "f", "content": "42"},
        ],
    }
    history = ingest(body, "ollama")

    assert history.turns[0].blocks[1] == Media("image/png", "iVBORabc")
    assert outcomes(history) == [("f", "complete", "42")]
    assert codes(history) == []


def test_a_custom_tools_call_is_its_text() -> None:
    custom = {"id": "a", "type": "custom", "custom": {"name": "sh", "input": "ls -l"}}
    (made,) = blocks([assistant(None, custom)])

    assert (made.name, made.arguments, made.residue.data) == ("sh", {"input": "ls -l"}, {"custom": True})


def test_a_refusal_is_what_the_model_said() -> None:
    assert blocks([assistant(None, refusal="No.")]) == (Text("No."),)


# Media


@pytest.mark.parametrize(
    ("part", "media"),
    [
        (
            {"type": "image_url", "image_url": {"url": "data:image/webp;base64,QUJD"}},
            Media("image/webp", "QUJD"),
        ),
        (
            {"type": "image_url", "image_url": "https://x.test/a.png?b"},
            Media("image/png", uri="https://x.test/a.png?b"),
        ),
        ({"type": "image_url", "image_url": {"url": "data:text/plain,a%20b"}}, Media("text/plain", "YSBi")),
        ({"type": "input_image", "image_url": "data:;base64,iVBORx"}, Media("image/png", "iVBORx")),
        (
            {"type": "input_audio", "input_audio": {"data": "QUJD", "format": "mp3"}},
            Media("audio/mpeg", "QUJD"),
        ),
        (
            {"type": "file", "file": {"filename": "a.pdf", "file_data": "data:application/pdf;base64,QUJD"}},
            Media("application/pdf", "QUJD", name="a.pdf"),
        ),
        (
            {"type": "input_file", "file_url": "https://x.test/a.pdf"},
            Media("application/pdf", uri="https://x.test/a.pdf"),
        ),
        (
            {"type": "document_url", "document_url": "https://x.test/b"},
            Media("application/pdf", uri="https://x.test/b"),
        ),
        (
            {"type": "video_url", "video_url": {"url": "https://x.test/c.mp4"}},
            Media("video/mp4", uri="https://x.test/c.mp4"),
        ),
        (
            {"type": "image", "source": {"type": "base64", "media_type": "image/gif", "data": "R0lG"}},
            Media("image/gif", "R0lG"),
        ),
        (
            {"type": "document", "title": "t", "source": {"type": "url", "url": "https://x.test/d.pdf"}},
            Media("application/pdf", uri="https://x.test/d.pdf", name="t"),
        ),
        ({"inlineData": {"mimeType": "image/png", "data": "QUJD"}}, Media("image/png", "QUJD")),
        ({"file_data": {"mime_type": "video/mp4", "file_uri": "gs://a"}}, Media("video/mp4", uri="gs://a")),
    ],
)
def test_media_is_data_or_a_place(part: dict[str, Any], media: Media) -> None:
    """However it is written, wherever it stands."""
    said, shown = blocks([user([text("look"), part])])

    assert (said, replace(shown, residue=None)) == (Text("look"), media)


def test_a_file_at_the_provider_is_kept_for_the_provider() -> None:
    part = {"type": "document", "source": {"type": "file", "file_id": "file_1"}}
    (kept,) = blocks([user([part])], "anthropic")

    assert kept == Opaque("document", "[file file_1]", kept.residue)
    assert kept.residue.data == {"block": part, "file_id": "file_1"}
    assert kept.residue.scope == "account"


def test_a_text_document_is_text_to_everyone() -> None:
    part = {"type": "document", "title": "facts", "source": {"type": "text", "data": "Ruby is from 1993."}}
    (kept,) = blocks([user([part])], "anthropic")

    assert kept.text == "facts\n\nRuby is from 1993."


# Responses


def test_a_reasoning_item_is_kept_whole_before_what_it_led_to() -> None:
    item = {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "hm"}],
        "encrypted_content": "e",
    }
    items = [
        item,
        {"type": "function_call", "id": "fc_1", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "summary": []},
        {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
    ]
    kept = blocks(items, "openai-responses")

    assert [type(block).__name__ for block in kept] == ["Thinking", "ToolCall", "Thinking", "ToolCall"]
    assert (kept[0].text, kept[0].residue.data) == ("hm", {"item": item})


def test_what_is_said_after_a_call_takes_its_reasoning_along() -> None:
    items = [
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "reasoning", "summary": [], "encrypted_content": "e"},
        {"type": "message", "role": "assistant", "content": "so"},
    ]
    first, second = ingest(items, "openai-responses").turns

    assert [type(block).__name__ for block in first.blocks] == ["ToolCall"]
    assert [type(block).__name__ for block in second.blocks] == ["Thinking", "Text"]


def test_a_messages_id_and_phase_ride_on_its_text() -> None:
    item = {
        "type": "message",
        "role": "assistant",
        "id": "msg_1",
        "phase": "commentary",
        "content": [{"type": "output_text", "text": "hi", "annotations": []}],
    }
    (said,) = blocks([item], "responses")

    assert said.residue.data == {"id": "msg_1", "phase": "commentary"}


def test_hosted_tools_are_kept_whole_and_references_noted() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"query": "q"}}
    history = ingest([user("?"), search, {"type": "item_reference", "id": "rs_1"}], "openai-responses")

    (kept,) = history.turns[1].blocks
    assert (kept.kind, kept.residue.data) == ("web_search_call", {"item": search})
    assert [note.kind for note in history.notes] == ["item_reference"]


@pytest.mark.parametrize("reference", [{"type": "item_reference", "id": "fc_1"}, {"id": "fc_1"}])
def test_an_item_that_lies_at_the_provider_is_named_and_its_output_stays(reference: dict[str, Any]) -> None:
    """The reference is all that the body says of the call; what came of it is told as ever."""
    output = {"type": "function_call_output", "call_id": "call_1", "output": "sunny"}
    history = ingest([user("?"), reference, output], "openai-responses")

    assert [(item.code, item.detail) for item in history.diagnostics] == [
        ("unknown_call", "call_1"),
        ("held_by_provider", "fc_1"),
    ]
    assert "sunny" in str(render(history, "anthropic:claude-sonnet-4-5").json)


def test_what_stands_before_a_result_in_a_chained_body_is_sent() -> None:
    """All of such a body is new: the response that it goes on from holds none of it."""
    output = {"type": "function_call_output", "call_id": "call_1", "output": "sunny"}
    body = {"input": [user("hurry"), output, user("more")], "previous_response_id": "resp_1"}
    inbound = read_request(body, "openai-responses", "openai-responses:gpt-5.1")
    sent = render(inbound.history, "openai-responses:gpt-5.1", options=inbound.options).json

    assert sent["previous_response_id"] == "resp_1"
    assert [item.get("content") or item["output"] for item in sent["input"]] == ["sunny", "hurry", "more"]


@pytest.mark.parametrize(
    ("block", "kind"),
    [
        ({"type": "thinking", "thinking": "", "signature": ""}, "thinking"),
        ({"type": "thinking"}, "thinking"),
        ({"type": "redacted_thinking", "data": ""}, "redacted_thinking"),
        ({"type": "redacted_thinking"}, "redacted_thinking"),
    ],
)
def test_thinking_without_words_and_signature_is_named(block: dict[str, Any], kind: str) -> None:
    """Nobody can be given it back, and the reader of the diagnostics knows that it was there."""
    said = {"role": "assistant", "content": [block, {"type": "text", "text": "yes"}]}
    history = ingest([user("?"), said], "anthropic")

    assert [(item.code, item.detail) for item in history.diagnostics] == [("empty_block", kind)]
    assert history.turns[1].blocks == (Text("yes"),)


RESULT = {"role": "tool", "tool_call_id": "c1", "content": "x"}


def _chat_call(**fields: Any) -> list[Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}, **fields}
    return [user("?"), {"role": "assistant", "content": None, "tool_calls": [call]}, RESULT]


@pytest.mark.parametrize(
    ("form", "messages", "named"),
    [
        ("openai-chat", _chat_call(new=1), "tool_calls.new"),
        ("openai-chat", [user("?"), {"role": "assistant", "annotations": [{}]}], "message.annotations"),
        ("openai-chat", _chat_call(function={"name": "f", "arguments": "{}", "new": 1}), "function.new"),
        (
            "openai-responses",
            [
                user("?"),
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}", "new": 1},
                {"type": "function_call_output", "call_id": "c1", "output": "x"},
            ],
            "function_call.new",
        ),
        (
            "openai-responses",
            [
                user("?"),
                {"type": "function_call", "call_id": "c1", "name": "f", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "c1", "output": "x", "new": 1},
            ],
            "function_call_output.new",
        ),
        ("gemini", [{"role": "user", "parts": [{"text": "?"}], "new": 1}], "content.new"),
        (
            "gemini",
            [
                {"role": "user", "parts": [{"text": "?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}, "new": 1}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": 1}}}]},
            ],
            "functionCall.new",
        ),
        (
            "gemini",
            [
                {"role": "user", "parts": [{"text": "?"}]},
                {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
                {"role": "user", "parts": [{"functionResponse": {"name": "f", "scheduling": "SILENT"}}]},
            ],
            "functionResponse.scheduling",
        ),
    ],
)
def test_a_field_that_nobody_reads_is_named(form: str, messages: list[Any], named: str) -> None:
    """Of calls and results as of messages and parts."""
    found = [item.detail for item in ingest(messages, form).diagnostics if item.code == "unknown_field"]
    assert found == [named]


def test_a_call_of_a_kind_to_come_keeps_its_input() -> None:
    """Chat has functions and custom tools; the next kind will look like them."""
    call = {"id": "c1", "type": "query", "query": {"name": "sql", "input": "SELECT 1"}}
    history = ingest([user("?"), {"role": "assistant", "tool_calls": [call]}, RESULT], "openai-chat")
    assert [(each.name, each.arguments) for each in history.turns[1].tool_calls] == [
        ("sql", {"input": "SELECT 1"})
    ]


def test_an_output_is_the_clients_unless_the_provider_ran_the_call() -> None:
    """Also of a kind to come. It stands in a turn of whoever sent it."""
    output = {"type": "query_output", "call_id": "c1", "output": "x"}
    assert [type(turn) for turn in ingest([user("?"), output], "responses").turns] == [UserTurn, UserTurn]

    call = {"type": "shell_call", "call_id": "c1", "action": {}, "environment": {"type": "container_auto"}}
    ran = {"type": "shell_call_output", "call_id": "c1", "output": []}
    turns = ingest([user("?"), call, ran], "responses").turns
    assert [type(turn) for turn in turns] == [UserTurn, ModelTurn]
    assert [block.kind for block in turns[1].blocks] == ["shell_call", "shell_call_output"]


def test_what_a_model_said_aloud_goes_back_by_its_id() -> None:
    """OpenAI keeps the sound for a while; others get the transcript, or a diagnostic."""
    spoken = {"role": "assistant", "audio": {"id": "audio_1"}}
    place = "openai:gpt-4o-audio-preview"
    history = ingest([user("?"), spoken, user("!")], "openai-chat", place)
    assert render(history, place).json["messages"][1]["audio"] == {"id": "audio_1"}
    told = render(history, "anthropic:claude-sonnet-4-5").report.diagnostics
    assert "opaque_omitted" in [item.code for item in told]


def test_custom_tool_calls_are_paired_with_their_outputs() -> None:
    items = [
        {"type": "custom_tool_call", "call_id": "a", "name": "sh", "input": "ls"},
        {"type": "custom_tool_call_output", "call_id": "a", "output": "file"},
    ]
    history = ingest(items, "openai-responses")

    assert outcomes(history) == [("sh", "complete", "file")]
    assert next(iter(history.ledger)).call.residue.data == {"custom": True}


@pytest.mark.parametrize("held", [{"previous_response_id": "resp_1"}, {"conversation": {"id": "resp_1"}}])
def test_outputs_of_a_chained_body_answer_calls_that_the_provider_holds(held: dict[str, Any]) -> None:
    """The call is made from the output's id, its name unknown, and marked."""
    body = {
        **held,
        "model": "gpt-5.1",
        "input": [
            {"type": "function_call_output", "call_id": "a", "output": "1"},
            {"type": "function_call_output", "call_id": "b", "output": "2"},
            user("go on"),
        ],
    }
    history = ingest(body, "openai-responses")

    assert outcomes(history) == [("unknown", "complete", "1"), ("unknown", "complete", "2")]
    assert story(history) == ["model: unknown, unknown", "user: go on"]
    assert codes(history) == ["unknown_call", "unknown_call", "held_by_provider"]
    assert [item.call.raw_id for item in history.ledger] == ["a", "b"]
    assert next(iter(history.ledger)).call.residue.data == history.turns[0].residue.data
    assert list(history.turns[0].residue.data.values()) == ["resp_1"]


def test_plain_words_of_a_chained_body_go_on_from_what_the_provider_holds() -> None:
    """An opening turn without words keeps the chain, for OpenAI only."""
    body = {"model": "gpt-5.1", "previous_response_id": "resp_1", "input": "go on"}
    history = ingest(body, "openai-responses")

    assert codes(history) == ["held_by_provider"]
    chained = render(history, "openai-responses:gpt-5.1", chain=True).params
    assert (chained["previous_response_id"], len(chained["input"])) == ("resp_1", 1)
    assert len(render(history, "openai:gpt-5.1").params["messages"]) == 1


def test_responses_takes_plain_text_for_input() -> None:
    assert story(ingest({"input": "hi"}, "openai-responses")) == ["user: hi"]


# Anthropic and Gemini


def test_citations_ride_on_their_text() -> None:
    (said,) = blocks(
        [assistant([{"type": "text", "text": "hi", "citations": [{"title": "t"}]}])], "anthropic"
    )

    assert said.residue.data == {"citations": [{"title": "t"}]}


def test_an_unknown_block_is_kept_whole_and_said_so() -> None:
    block = {"type": "hologram", "text": "shimmer", "depth": 3}
    history = ingest([assistant([block])], "anthropic")

    (kept,) = history.turns[0].blocks
    assert (kept.kind, kept.residue.data) == ("hologram", {"block": block})
    assert kept.text == '[hologram] {"text":"shimmer","depth":3}'
    assert codes(history) == ["unknown_block"]


@pytest.mark.parametrize("key", ["thoughtSignature", "thought_signature"])
def test_gemini_signatures_stay_on_their_part(key: str) -> None:
    given = parts(
        "model",
        {"text": "hm", "thought": True, key: "s1"},
        {"text": "", key: "s2"},
        {**function_call("f"), key: "s3"},
        {"text": "hi"},
    )
    kept = blocks([given], "gemini", origin="gemini:g")

    assert [type(block).__name__ for block in kept] == ["Thinking", "Text", "ToolCall", "Text"]
    assert [block.residue.data["thought_signature"] for block in kept[:3]] == ["s1", "s2", "s3"]
    assert kept[3].residue is None


def test_gemini_code_is_code_and_kept_as_its_part() -> None:
    ran = {"executableCode": {"language": "PYTHON", "code": "1+1"}}
    came = {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "2"}}
    code, output = blocks([parts("model", ran, came)], "gemini")

    assert code == Code("1+1", "python", residue=code.residue)
    assert code.residue.data == {"part": ran}
    assert (output.kind, output.text, output.residue.data) == ("codeExecutionResult", "2", {"part": came})


@pytest.mark.parametrize(
    ("response", "status", "told"),
    [
        ({"output": "42"}, "complete", "42"),
        ({"output": [1]}, "complete", "[1]"),
        ({"error": "boom"}, "error", "boom"),
        ({"error": "boom", "code": 7}, "complete", '{"error":"boom","code":7}'),
        ({"result": 42}, "complete", '{"result":42}'),
        ({}, "complete", ""),
    ],
)
def test_gemini_responses(response: dict[str, Any], status: str, told: str) -> None:
    messages = [parts("model", function_call("f")), parts("user", function_response("f", **response))]

    assert outcomes(ingest(messages, "gemini")) == [("f", status, told)]


# The canonical content list


@pytest.mark.parametrize(
    ("provider", "fields", "data"),
    [
        ("anthropic", {"signature": "s"}, {"signature": "s"}),
        ("anthropic", {"redactedData": "r"}, {"redacted": "r"}),
        ("gemini", {"signature": "s"}, {"thought_signature": "s"}),
        (
            "openai",
            {"encryptedContent": "e", "itemId": "rs_1"},
            {
                "item": {
                    "type": "reasoning",
                    "id": "rs_1",
                    "summary": [{"type": "summary_text", "text": "hm"}],
                    "encrypted_content": "e",
                }
            },
        ),
        ("kimi", {}, {"field": "reasoning_content"}),
    ],
)
def test_private_state_takes_the_shape_of_its_provider(
    provider: str, fields: dict[str, str], data: dict[str, Any]
) -> None:
    (thinking,) = blocks([content("ai", thought("hm", **fields), provider=provider, model="m")], "icontent")

    assert isinstance(thinking, Thinking)
    assert thinking.residue.data == data
    assert thinking.residue.origin == Origin(provider, "", "m")


@pytest.mark.parametrize("provider", ["anthropic", "openai", "gemini"])
def test_thinking_without_private_state_has_no_residue(provider: str) -> None:
    assert blocks([content("ai", thought("hm"), provider=provider, model="m")], "icontent") == (
        Thinking("hm"),
    )


def test_a_contents_calls_media_and_code() -> None:
    given = content(
        "ai",
        {**asks("x", "f", n=1), "thoughtSignature": "s", "itemId": "fc_1"},
        {"type": "media", "mimeType": "image/png", "data": "QUJD", "encoding": "base64"},
        {"type": "media", "mimeType": "image/png", "data": "https://x.test/a", "encoding": "url"},
        {"type": "code", "code": "1+1", "language": "python"},
        provider="gemini",
        model="m",
    )
    made, image, link, code = blocks([given], "icontent")

    assert made.residue.data == {"thought_signature": "s", "item_id": "fc_1"}
    assert (image, link) == (Media("image/png", "QUJD"), Media("image/png", uri="https://x.test/a"))
    assert code == Code("1+1", "python")


def test_parameters_may_be_the_text_that_a_model_wrote() -> None:
    (made,) = blocks([content("ai", {**asks("x"), "parameters": '{"n": 1'})], "icontent")

    assert (made.arguments, made.raw, made.fault) == ({}, '{"n": 1', "truncated")


# Mixed shapes


def test_messages_of_other_formats_among_ours_are_read_as_what_they_are() -> None:
    history = ingest(
        [
            user("a"),
            content("human", text("b")),
            parts("user", {"text": "c"}),
            {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"},
            user([result("x", "42")]),
            "d",
        ]
    )

    assert story(history) == ["user: a", "user: b", "user: c", "model: f", "user: d"]
    assert outcomes(history) == [("f", "complete", "42")]


def test_a_message_inside_a_messages_content_is_what_it_says() -> None:
    assert blocks([user([user("a"), {"role": "user", "content": [text("b")]}])]) == (Text("a"), Text("b"))


def test_results_inside_a_tool_message_are_results_of_their_own() -> None:
    both = {"role": "tool", "content": [result("a", "1"), result("b", "2")]}
    history = ingest([assistant(None, call("a", "f"), call("b", "g")), both])

    assert outcomes(history) == [("f", "complete", "1"), ("g", "complete", "2")]


def test_an_answer_in_another_familys_terms_still_answers() -> None:
    """OpenAI's call, Anthropic's result, and a call without id answered under an invented one."""
    history = ingest(
        [assistant(None, call("a", "f"), call("", "g")), user([result("a", "1")]), tool("made_up", "2")]
    )

    assert outcomes(history) == [("f", "complete", "1"), ("g", "complete", "2")]


# Bodies


@pytest.mark.parametrize(
    ("form", "tools"),
    [
        (
            "openai-chat",
            [
                {
                    "type": "function",
                    "function": {"name": "f", "description": "d", "parameters": {"type": "object"}},
                }
            ],
        ),
        (
            "openai-responses",
            [{"type": "function", "name": "f", "description": "d", "parameters": {"type": "object"}}],
        ),
        ("anthropic", [{"name": "f", "description": "d", "input_schema": {"type": "object"}}]),
        (
            "gemini",
            [{"functionDeclarations": [{"name": "f", "description": "d", "parameters": {"type": "OBJECT"}}]}],
        ),
        (
            "gemini",
            {"function_declarations": [{"name": "f", "description": "d", "parameters": {"type": "OBJECT"}}]},
        ),
    ],
)
def test_a_bodys_functions_are_read_into_one_shape(form: str, tools: Any) -> None:
    """Name, description and schema, whichever words an API has for them."""
    body = {"messages": [], "input": [], "contents": [], "tools": tools}
    (spec,) = ingest(body, form).tools

    assert (spec.name, spec.description, spec.parameters) == ("f", "d", {"type": "object"})
    assert (spec.kind, spec.residue) == ("function", None)


def test_geminis_snake_case_and_config_are_read_too() -> None:
    body = {
        "contents": "hi",
        "config": {"system_instruction": "be kind", "tools": [{"function_declarations": [{"name": "f"}]}]},
    }
    history = ingest(body, "gemini")

    assert (history.system, [tool.name for tool in history.tools]) == ("be kind", ["f"])
    assert story(history) == ["user: hi"]


# However it is handed over


class Dumps:
    """Stands for any SDK object."""

    def __init__(self, **fields: Any) -> None:
        self.fields = fields

    def model_dump(self) -> dict[str, Any]:
        return self.fields


class ToDict(Dumps):
    model_dump = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        return self.fields


@pytest.mark.parametrize("kind", [Dumps, ToDict])
def test_sdk_objects_are_opened_at_any_depth(kind: type[Dumps]) -> None:
    function = kind(name="f", arguments="{}")
    made = kind(
        role="assistant", content=None, tool_calls=(kind(id="a", type="function", function=function),)
    )
    history = ingest(kind(model="m", messages=[user("go"), made, tool("a", "42")]))

    assert outcomes(history) == [("f", "complete", "42")]
    assert reply(kind(model="m", messages=[made])).origin.model == "m"
    assert codes(history) == []


def test_real_sdk_objects() -> None:
    from anthropic.types import Message as AnthropicMessage
    from google.genai.types import Content, FunctionCall, Part
    from openai.types.chat import ChatCompletionMessage

    chat = ChatCompletionMessage.model_validate(assistant("hi", call("a", "f")))
    assert story(ingest([user("go"), chat])) == ["user: go", "model: hi, f"]

    made = AnthropicMessage.model_validate(
        {
            "id": "m",
            "type": "message",
            "role": "assistant",
            "model": "c",
            "content": [use("a", "f")],
            "usage": {"input_tokens": 1, "output_tokens": 1},
        }
    )
    assert story(ingest([user("go"), made], "anthropic")) == ["user: go", "model: f"]

    signed = Part(function_call=FunctionCall(name="f", args={"n": 1}), thought_signature=b"\x01\x02")
    history = ingest(
        [Content(role="model", parts=[signed, Part.from_bytes(data=b"ABC", mime_type="image/png")])], "gemini"
    )
    made_call, image = history.turns[0].blocks
    assert made_call.residue.data == {"thought_signature": "AQI="}
    assert image == Media("image/png", "QUJD")
    assert codes(history) == []


class Hostile:
    """An object whose every answer is an exception."""

    def __getattribute__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __str__ = __repr__


def test_an_object_that_answers_nothing_harms_nobody() -> None:
    """Nor one that is only its address, which would differ from run to run."""
    odd = {"hostile": Hostile(), "bare": object(), "kept": SimpleNamespace(deep=b"b")}
    history = ingest(
        [content("ai", asks("x", "f", **odd)), content("human", text("a")), Hostile()], "icontent"
    )

    arguments = next(iter(history.ledger)).arguments
    assert arguments == {
        "hostile": "[Hostile]",
        "bare": "[object]",
        "kept": {"deep": arguments["kept"]["deep"]},
    }
    assert codes(history).count("unplain_value") == 2


def test_bytes_are_read_as_text() -> None:
    history = ingest([user(b"caf\xc3\xa9 \xff")])

    assert story(history) == ["user: café \ufffd"]
    assert codes(history) == ["unplain_value"]


def test_messages_nested_beyond_reading_are_noted() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    history = ingest([user("a"), user(deep), {"role": "user", "content": deep}, assistant(None, call("a"))])

    assert story(history)[0] == "user: a"
    assert "unplain_value" in codes(history)


def test_any_iterable_of_messages_will_do() -> None:
    assert story(ingest(message for message in [user("a"), user("b")])) == ["user: a", "user: b"]
    assert story(ingest((user("a"),))) == ["user: a"]


def test_a_byte_order_mark_is_no_obstacle() -> None:
    assert story(ingest(b"\xef\xbb\xbf" + json.dumps([user("a")]).encode())) == ["user: a"]
    assert story(ingest("\ufeff" + json.dumps([user("a")]))) == ["user: a"]


def test_history_is_the_kind_that_everyone_writes() -> None:
    history = ingest(json.dumps([user("hi")]))

    assert isinstance(history, History)
    assert history.key == "ingest"
