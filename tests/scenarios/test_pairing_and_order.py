"""S-01 to S-36: calls and results that lost each other, and what each provider gets to see instead."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, find, model, settled, started, system, user

from turnout import History, Media, Outcome, check, ingest, render, transcript

CHAT = "openai:gpt-5.1"
RESPONSES = "openai-responses:gpt-5.1"
CLAUDE = "anthropic:claude-sonnet-4-5"
GEMINI = "gemini:gemini-3-pro"
MISTRAL = "mistral:mistral-large-latest"
KIMI = "kimi:kimi-k2.5"
DEEPSEEK = "deepseek:deepseek-chat"
STRICT = (CHAT, RESPONSES, CLAUDE, GEMINI, MISTRAL, KIMI, DEEPSEEK)


def body(history: History, target: str, **options: Any) -> dict[str, Any]:
    """The request body, which the target's own rules accept."""
    request = render(history, target, **options)
    assert check(target.partition(":")[0], request.body, model=request.target.model) == []
    return request.json


def accepted_everywhere(history: History) -> None:
    for target in STRICT:
        body(history, target)


def openai_call(*ids: str, name: str = "f", text: str | None = None) -> dict[str, Any]:
    calls = [{"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": text, "tool_calls": calls}


def openai_result(id: str, text: str = "done") -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id, "content": text}


def said(text: str, role: str = "user") -> dict[str, Any]:
    return {"role": role, "content": text}


def chat(*messages: dict[str, Any]) -> History:
    return ingest(list(messages), format="openai-chat", origin=CHAT)


def kinds(content: list[dict[str, Any]]) -> list[str]:
    return [block["type"] for block in content]


def roles(messages: list[dict[str, Any]]) -> list[str]:
    return [message["role"] for message in messages]


def test_s_01_call_without_result_then_user_text() -> None:
    """The user's next message starts with a synthetic error result; the text comes after."""
    messages = body(conversation(user("go"), model(call("f")), user("never mind")), CLAUDE)["messages"]
    result, text = messages[2]["content"]
    assert result["type"] == "tool_result" and result["is_error"] is True
    assert text == {"type": "text", "text": "never mind"}


def test_s_02_results_come_first_in_the_user_message() -> None:
    """All tool_result blocks stand before any text of the same message."""
    history = chat(
        said("go"), openai_call("a", "b"), openai_result("a"), said("hm"), openai_result("b"), said("?")
    )
    assert kinds(body(history, CLAUDE)["messages"][2]["content"]) == [
        "tool_result",
        "tool_result",
        "text",
        "text",
    ]


def test_s_03_a_call_is_never_the_last_message() -> None:
    """A trailing call is followed by a user message with its synthetic result."""
    messages = body(conversation(user("go"), model(call("f"))), CLAUDE)["messages"]
    assert messages[-1]["role"] == "user"
    assert kinds(messages[-1]["content"]) == ["tool_result"]


def test_s_04_unanswered_call_on_responses() -> None:
    """The output right after the call says that the outcome is unknown."""
    items = body(chat(said("go"), openai_call("a"), said("next")), RESPONSES)["input"]
    at = next(at for at, item in enumerate(items) if item["type"] == "function_call")
    assert items[at + 1]["type"] == "function_call_output"
    assert "unknown" in items[at + 1]["output"]


@pytest.mark.parametrize("target", [CHAT, KIMI, DEEPSEEK])
def test_s_05_unanswered_call_on_chat(target: str) -> None:
    """A synthetic tool message answers the call's own id."""
    messages = body(chat(said("go"), openai_call("a"), said("next")), target)["messages"]
    at = next(at for at, message in enumerate(messages) if message.get("tool_calls"))
    assert messages[at + 1]["tool_call_id"] == messages[at]["tool_calls"][0]["id"]


@pytest.mark.parametrize("target", [RESPONSES, CHAT, CLAUDE, MISTRAL, GEMINI])
def test_s_06_result_without_a_call_is_not_sent(target: str) -> None:
    """An orphaned result reaches no provider, and no call is made up for it; it is kept as a note."""
    history = chat(said("go"), openai_result("ghost", "boo"), said("next"))
    request = render(history, target)
    body(history, target)
    assert b"boo" not in request.body and request.report.calls == ()
    assert [note.kind for note in history.notes] == ["orphaned_result"]
    assert "orphaned_result" in {item.code for item in history.diagnostics}


def test_s_06_a_shortened_call_is_recreated_from_the_ledger() -> None:
    """When a compaction shortened a result, the call is still sent with its real name and arguments."""
    history = conversation(
        user("go"), model(call("read", "1", path="a.py")), settled("1", "x" * 5000), user("on")
    )
    history.compact(shortened={find(history, "1"): "short"})
    messages = body(history, CHAT)["messages"]
    assert messages[1]["tool_calls"][0]["function"] == {"name": "read", "arguments": '{"path":"a.py"}'}
    assert messages[2]["content"] == "short"


def test_s_09_history_that_opens_with_a_result() -> None:
    """Leading results are left out and the first role is the user's."""
    history = chat(openai_result("ghost"), said("hello", "assistant"), said("go"))
    assert body(history, CLAUDE)["messages"][0]["role"] == "user"
    accepted_everywhere(history)


def test_s_10_history_that_opens_with_a_call() -> None:
    """A user turn is put before it, with one constant text that the report names."""
    history = chat(openai_call("a"), openai_result("a"), said("go"))
    contents = body(history, GEMINI)["contents"]
    assert [content["role"] for content in contents][:2] == ["user", "model"]
    assert any("first-role filler" in change for change in render(history, GEMINI).report.changes)
    accepted_everywhere(history)


def test_s_11_parallel_results_in_several_messages() -> None:
    """They become one message with the results in call order."""
    history = chat(
        said("go"),
        openai_call("a", "b", "c"),
        openai_result("c", "C"),
        openai_result("a", "A"),
        openai_result("b", "B"),
    )
    content = body(history, CLAUDE)["messages"][2]["content"]
    assert [block["content"] for block in content] == ["A", "B", "C"]
    parts = body(history, GEMINI)["contents"][2]["parts"]
    assert [part["functionResponse"]["response"] for part in parts] == [
        {"output": "A"},
        {"output": "B"},
        {"output": "C"},
    ]


def test_s_12_fewer_results_than_calls() -> None:
    """N calls and K results give N results, N-K of them synthetic, in the original order."""
    history = chat(said("go"), openai_call(*"abcde"), openai_result("c"), said("next"))
    report = transcript(history, MISTRAL).report
    assert report.calls == report.results and len(report.calls) == 5
    assert len(report.synthetic) == 4
    accepted_everywhere(history)


@pytest.mark.parametrize("target", STRICT)
def test_s_13_result_after_an_interjection(target: str) -> None:
    """The result moves before what the user said in between."""
    history = chat(said("go"), openai_call("a"), said("wait"), openai_result("a", "A"))
    assert [message.role for message in transcript(history, target).messages] == [
        "user",
        "model",
        "tool",
        "user",
    ]
    body(history, target)


def test_s_14_words_between_call_and_output_on_responses() -> None:
    """The output stands directly after its call; the marker comes after both."""
    items = [
        {"type": "message", "role": "user", "content": "go"},
        {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
        {"type": "message", "role": "assistant", "content": "[marker]"},
        {"type": "function_call_output", "call_id": "a", "output": "A"},
    ]
    history = ingest(items, format="openai-responses")
    sent = body(history, RESPONSES)["input"]
    order = [item.get("content", item["type"]) for item in sent]
    assert order.index("function_call_output") == order.index("function_call") + 1
    assert order.index("[marker]") != order.index("function_call") + 1


def test_s_15_interleaved_turns() -> None:
    """call A, call B, result A, result B becomes A, result A, B, result B."""
    history = chat(
        said("go"), openai_call("a"), openai_call("b"), openai_result("a", "A"), openai_result("b", "B")
    )
    messages = body(history, CHAT)["messages"]
    assert roles(messages) == ["user", "assistant", "tool", "assistant", "tool"]
    assert [message["content"] for message in messages if message["role"] == "tool"] == ["A", "B"]


def test_s_16_duplicate_results() -> None:
    """Success before error before cancelled; among equals the earlier; and the decision is on record."""
    history = ingest(
        [
            said("go"),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]},
            {
                "role": "user",
                "content": [
                    {"type": "tool_result", "tool_use_id": "a", "content": "bad", "is_error": True},
                    {"type": "tool_result", "tool_use_id": "a", "content": "first"},
                    {"type": "tool_result", "tool_use_id": "a", "content": "second"},
                ],
            },
        ],
        format="anthropic",
    )
    content = body(history, CLAUDE)["messages"][2]["content"]
    assert [block["content"] for block in content] == ["first"]
    assert "duplicate_outcome" in {item.code for item in transcript(history, CLAUDE).report.deduplicated}


def test_s_17_a_real_result_replaces_the_synthetic_one() -> None:
    """A cancellation that was written first gives way to the real result, while the turn is open."""
    cancelled = Outcome("cancelled", synthetic=True, reason="stopped")
    history = conversation(
        user("go"), model(call("f")), started("f"), settled("f", cancelled), settled("f", "42")
    )
    assert body(history, CLAUDE)["messages"][2]["content"][0]["content"] == "42"


def test_s_18_the_same_call_twice() -> None:
    """Equal in every part: one call. Other arguments under the same id: two calls."""
    same = chat(said("go"), openai_call("a"), openai_call("a"), openai_result("a"))
    assert len(transcript(same, CLAUDE).report.calls) == 1
    other = openai_call("a")
    other["tool_calls"][0]["function"]["arguments"] = '{"x":1}'
    distinct = chat(said("go"), openai_call("a"), other, openai_result("a"))
    projected = [item.projected for item in transcript(distinct, CLAUDE).report.calls]
    assert len(projected) == len(set(projected)) == 2
    accepted_everywhere(distinct)


def test_s_19_two_shapes_of_one_call_in_one_message() -> None:
    """Anthropic blocks beside OpenAI tool_calls: one call per id."""
    message = openai_call("a")
    message["content"] = [{"type": "tool_use", "id": "a", "name": "f", "input": {}}]
    history = chat(said("go"), message, openai_result("a"))
    assert len(transcript(history, CLAUDE).report.calls) == 1


def test_s_20_raw_ids_repeat_in_later_turns() -> None:
    """functions.f:0 in two turns: two identities, both pairs kept."""
    history = chat(
        said("go"), openai_call("functions.f:0"), openai_result("functions.f:0", "one"),
        said("again"), openai_call("functions.f:0"), openai_result("functions.f:0", "two"),
    )  # fmt: skip
    messages = body(history, CLAUDE)["messages"]
    results = [b["content"] for m in messages for b in m["content"] if b["type"] == "tool_result"]
    assert results == ["one", "two"]
    assert transcript(history, CLAUDE).report.synthetic == ()


def test_s_21_the_same_raw_id_twice_in_one_turn() -> None:
    """Two identities by position; results are matched by position."""
    history = chat(said("go"), openai_call("", ""), openai_result("", "one"), openai_result("", "two"))
    content = body(history, CLAUDE)["messages"][2]["content"]
    assert [block["content"] for block in content] == ["one", "two"]


def test_s_22_call_and_response_in_one_tool_message() -> None:
    """They become the model's call and its result."""
    blocks = [
        {"type": "tool_call", "id": "a", "name": "f", "parameters": {}},
        {"type": "tool_response", "callId": "a", "toolName": "f", "result": "A"},
    ]
    history = ingest(
        [
            {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]},
            {"speaker": "tool", "blocks": blocks},
        ],
        format="icontent",
    )
    assert [message.role for message in transcript(history, CLAUDE).messages] == ["user", "model", "tool"]
    accepted_everywhere(history)


@pytest.mark.parametrize("name", ["another", ""])
def test_s_23_the_name_comes_from_the_call(name: str) -> None:
    """A result that names another tool, or none, gets the name of its call."""
    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
        {"role": "user", "parts": [{"functionResponse": {"name": name, "response": {"output": "A"}}}]},
    ]
    history = ingest(contents, format="gemini")
    assert body(history, GEMINI)["contents"][2]["parts"][0]["functionResponse"]["name"] == "f"
    assert body(history, MISTRAL)["messages"][2]["name"] == "f"


def test_s_24_result_before_its_call() -> None:
    """It stands after the call."""
    history = chat(said("go"), openai_result("a", "A"), openai_call("a"), said("next"))
    messages = body(history, CHAT)["messages"]
    assert roles(messages) == ["user", "assistant", "tool", "user"]
    assert messages[2]["content"] == "A"


def test_s_25_a_turn_that_renders_to_nothing_leaves_no_result_behind() -> None:
    """Calls are never filtered out, so their results never lose them."""
    history = conversation(user("go"), model(call("f"), origin="xai:grok-4"), settled("f"), user("on"))
    for target in STRICT:
        report = transcript(history, target).report
        assert len(report.calls) == len(report.results) == 1


def test_s_26_a_cancelled_call_stays_visible() -> None:
    """A turn with nothing but a cancelled call keeps the call and says that it was cancelled."""
    history = conversation(
        user("go"), model(call("f")), started("f"), settled("f", Outcome("cancelled")), user("so?")
    )
    for target in STRICT:
        text = render(history, target).body.decode()
        assert "cancelled" in text and "may have taken effect" in text


def test_s_27_a_denied_call_is_told_as_denied() -> None:
    """The result says that the user refused, with the user's words, and is no error; the question follows."""
    denied = Outcome("denied", "not on a Friday", reason="denied")
    history = conversation(user("go"), model(call("f")), settled("f", denied), user("why that?"))
    result, text = body(history, CLAUDE)["messages"][2]["content"]
    assert "refused" in result["content"] and "not on a Friday" in result["content"]
    assert text["text"] == "why that?" and "is_error" not in result


def test_s_28_neighbours_of_one_role_are_merged_where_templates_insist() -> None:
    """Two user messages and two assistant messages in a row become one each."""
    history = conversation(user("a"), user("b"), model("c"), model("d"), user("e"))
    for target in ("ollama@chat:llama3.1", "vllm:qwen3", MISTRAL):
        assert roles(body(history, target)["messages"]) == ["user", "assistant", "user"]
    assert roles(body(history, CLAUDE)["messages"]) == ["user", "assistant", "user"]


@pytest.mark.parametrize("target", [MISTRAL, "openrouter:mistralai/mistral-large", "vllm:mistral-small"])
def test_s_29_user_right_after_tool_on_mistral(target: str) -> None:
    """An assistant message bridges the two, wherever a Mistral model is served."""
    history = conversation(user("go"), model(call("f")), settled("f"), user("next"))
    assert roles(body(history, target)["messages"])[-3:] == ["tool", "assistant", "user"]


@pytest.mark.parametrize("target", [MISTRAL, CLAUDE, GEMINI, "copilot:claude-sonnet-4.5"])
def test_s_31_a_request_never_ends_with_the_model(target: str) -> None:
    """The user is made to go on, but never between a call and its result."""
    sent = body(conversation(user("go"), model("done")), target, thinking=True)
    last = (sent.get("messages") or sent["contents"])[-1]
    assert last["role"] == "user"
    open_loop = body(conversation(user("go"), model(call("f")), settled("f")), target)
    messages = open_loop.get("messages") or open_loop["contents"]
    assert len(messages) == 3


def test_s_35_system_text_between_call_and_result() -> None:
    """It is placed after the results."""
    history = chat(
        said("go"), openai_call("a"), said("remember", "system"), openai_result("a", "A"), said("on")
    )
    assert [message.role for message in transcript(history, CHAT).messages] == [
        "user",
        "model",
        "tool",
        "system",
        "user",
    ]
    accepted_everywhere(history)


def test_s_35_system_text_in_a_live_history_comes_after_the_results() -> None:
    """A reminder that is written while calls are open seals them first."""
    history = conversation(user("go"), model(call("f")), settled("f"), system("remember"), user("on"))
    accepted_everywhere(history)
    assert roles(body(history, CHAT)["messages"])[2:4] == ["tool", "developer"]


def test_s_36_images_from_tools_on_chat() -> None:
    """All tool messages first, then one user message with the images."""
    image = Media("image/png", data="iVBORw0KGgoAAAANSUhEUg==")
    history = conversation(
        user("go"), model(call("f", "1"), call("g", "2")), settled("1", (image,)), settled("2", (image,))
    )
    messages = body(history, CHAT)["messages"]
    assert roles(messages) == ["user", "assistant", "tool", "tool", "user"]
    assert kinds(messages[-1]["content"]).count("image_url") == 2
    on_mistral = body(history, MISTRAL)["messages"]
    assert roles(on_mistral)[-3:] == ["tool", "assistant", "user"]
