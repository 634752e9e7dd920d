"""OpenAI Responses, as the encoder writes it: items, paired by call id, without item ids."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, find, model, settled, system, user
from tests.handoff.scenario import item_reasoning

from turnout import History, Media, Opaque, Origin, Outcome, Residue, Text, Thinking, ToolCall, check, render

GPT = "openai-responses:gpt-5.1"
OWNER = Origin.parse(GPT)
PNG = "iVBORw0KGgo="


def items(history: History, to: str = GPT, **options: Any) -> list[dict[str, Any]]:
    return list(render(history, to, **options).json["input"])


def kinds(history: History, to: str = GPT, **options: Any) -> list[str]:
    return [item.get("role") or item["type"] for item in items(history, to, **options)]


def thought(encrypted: str = "ZW5j", **item: Any) -> Thinking:
    return Thinking("", Residue(OWNER, {"item": item_reasoning(encrypted=encrypted, **item)}))


def test_a_turn_is_a_run_of_items_in_its_own_order() -> None:
    """Text, reasoning and calls keep their order."""
    history = conversation(
        user("go"),
        model(thought(), "first", call("a", "1"), thought(), call("b", "2"), origin=GPT),
        settled("1"),
        settled("2"),
    )
    assert kinds(history) == [
        "user",
        "reasoning",
        "assistant",
        "function_call",
        "reasoning",
        "function_call",
        "function_call_output",
        "function_call_output",
    ]


def test_reasoning_goes_back_encrypted_and_without_its_id() -> None:
    """OAR-08, OAR-09: the encrypted content is enough."""
    history = conversation(user("go"), model(thought(), "so", origin=GPT), user("on"))
    assert items(history)[1] == {"type": "reasoning", "summary": [], "encrypted_content": "ZW5j"}
    assert render(history, GPT).json["include"] == ["reasoning.encrypted_content"]


def test_reasoning_is_dropped_when_thinking_is_off_or_another_model_reads() -> None:
    """OAR-10: it is bound to its model."""
    history = conversation(user("go"), model(thought(), "so", origin=GPT), user("on"))
    assert "reasoning" not in kinds(history, thinking=False)
    assert "reasoning" not in kinds(history, "openai-responses:gpt-5.6-terra")
    assert "reasoning" not in kinds(history, "copilot:gpt-5.2-codex")


def test_reasoning_before_something_that_is_not_sent_goes_with_it() -> None:
    """Where nothing of what it led to can be sent, nothing may stand for it."""
    searched = Opaque("web_search_call", "", Residue(Origin.parse("openai-responses:gpt-6"), {"item": {}}))
    history = conversation(user("go"), model(thought(), searched, origin=GPT), user("on"))
    assert kinds(history) == ["user", "user"]


def test_system_text_is_instructions_at_the_top_and_developer_text_later() -> None:
    """Instructions hold the first, messages of the developer the later ones."""
    body = render(conversation(user("go"), system("mind"), user("on")), GPT, system="Be brief.").json
    assert body["instructions"] == "Be brief."
    assert [item["role"] for item in body["input"]] == ["user", "developer", "user"]


def test_what_an_assistant_said_keeps_its_phase() -> None:
    """Commentary and final answer go back as they were marked."""
    said = Text("thinking aloud", Residue(OWNER, {"id": "msg_1", "phase": "commentary"}))
    history = conversation(user("go"), model(said, origin=GPT), user("on"))
    assert items(history)[1] == {
        "type": "message",
        "role": "assistant",
        "content": "thinking aloud",
        "phase": "commentary",
    }


@pytest.mark.parametrize("status", ["error", "denied", "cancelled"])
def test_a_failure_is_told_in_the_output_itself(status: Any) -> None:
    """There is no flag for it here."""
    history = conversation(user("go"), model(call("f", "1")), settled("1", Outcome(status, "the reason")))
    output = items(history)[-1]
    assert set(output) == {"type", "call_id", "output"}
    assert "the reason" in output["output"] and output["output"] != "the reason"


def test_media_of_a_tool_stands_in_its_output() -> None:
    """OAR-12: an output may hold parts."""
    history = conversation(
        user("go"), model(call("f", "1")), settled("1", (Text("x"), Media("image/png", PNG)))
    )
    assert [part["type"] for part in items(history)[-1]["output"]] == ["input_text", "input_image"]


def test_files_and_pictures_of_the_user() -> None:
    """Each kind of media has its own part."""
    pdf, link = (
        Media("application/pdf", "JVBERi0xLjQK", name="a.pdf"),
        Media("application/pdf", uri="https://h/a.pdf"),
    )
    parts = items(conversation(user("read", pdf, link, Media("image/png", PNG))))[0]["content"]
    assert [part["type"] for part in parts] == ["input_text", "input_file", "input_file", "input_image"]
    assert parts[1]["filename"] == "a.pdf" and parts[2] == {
        "type": "input_file",
        "file_url": "https://h/a.pdf",
    }


def test_a_file_that_lies_at_the_provider_goes_back_to_it_alone() -> None:
    """Other accounts cannot read the file, so a text takes its place."""
    part = {"type": "input_file", "file_id": "file-1"}
    history = conversation(user("read", Opaque("file", "[file file-1]", Residue(OWNER, {"part": part}))))
    assert items(history)[0]["content"][1] == part
    other = items(history, "openai-responses:gpt-4o")[0]["content"]
    assert other == [{"type": "input_text", "text": "read"}, {"type": "input_text", "text": "[file file-1]"}]


def test_a_request_does_not_end_with_the_models_words() -> None:
    """A filler of the user is added."""
    request = render(conversation(user("go"), model("done")), GPT)
    assert request.json["input"][-1]["content"] == "Please continue."
    assert any("last-role filler" in line for line in request.report.changes)
    assert kinds(History("h")) == ["user"]


def stored(*blocks: Any) -> History:
    history = conversation(user("go"))
    history.reply(OWNER, blocks, residue=Residue(OWNER, {"response_id": "resp_1"}))
    return history


def test_a_chain_goes_on_from_the_last_response_that_is_stored() -> None:
    """OAR-05: what the response holds is not sent again."""
    history = stored(ToolCall("call_1", "f", {}))
    history.settle(find(history, "call_1"), Outcome("complete", "42"))
    history.user("on")
    request = render(history, GPT, chain=True)
    assert request.json["previous_response_id"] == "resp_1" and request.json["store"] is True
    assert [item["type"] for item in request.json["input"]] == ["function_call_output", "message"]
    assert any("chained to resp_1" in line for line in request.report.changes)


def test_a_chain_answers_under_the_id_that_the_server_knows() -> None:
    """Not under our own: the server holds the call."""
    history = stored(ToolCall("call_1", "f", {}))
    assert items(history, chain=True)[0]["call_id"] == "call_1"
    assert items(history)[1]["call_id"] != "call_1"


def test_a_foreign_turn_without_calls_is_sent_after_the_stored_one() -> None:
    """The chain does not hold what somebody else said."""
    history = stored(Text("so"))
    history.user("and you?")
    history.reply("anthropic:claude-sonnet-4-5", [Text("I agree")])
    history.user("on")
    assert kinds(history, chain=True) == ["user", "assistant", "user"]


def test_a_chained_request_never_holds_calls() -> None:
    """Once another model made calls, the whole history is sent, both items of each call, and it is said."""
    history = stored(Text("so"), ToolCall("call_1", "f", {}))
    turn = history.reply("anthropic:claude-sonnet-4-5", [ToolCall("toolu_1", "f", {})])
    history.settle(turn.tool_calls[0].id, Outcome("complete", "42"))
    request = render(history, GPT, chain=True)
    sent = [item["type"] for item in request.json["input"]]

    assert "previous_response_id" not in request.json and check("openai-responses", request.body) == []
    assert sent.count("function_call") == sent.count("function_call_output") == 2
    assert any("not chained" in line for line in request.report.changes)
    history.reply(OWNER, [Text("done")], residue=Residue(OWNER, {"response_id": "resp_2"}))
    history.user("on")
    assert render(history, GPT, chain=True).json["previous_response_id"] == "resp_2"


def test_s_82_a_compacted_history_is_sent_once_and_chained_again() -> None:
    """What the server stored is the long conversation: the short one starts a chain of its own."""
    history = stored(Text("so"))
    history.user("on")
    history.reply(OWNER, [Text("done")], residue=Residue(OWNER, {"response_id": "resp_2"}))
    history.user("and?")
    history.compact(history.turns[1].key, "We spoke.")
    request = render(history, GPT, chain=True)

    assert "previous_response_id" not in request.json and "We spoke." in request.body.decode()
    history.reply(OWNER, [Text("yes")], residue=Residue(OWNER, {"response_id": "resp_3"}))
    history.user("good")
    assert render(history, GPT, chain=True).json["previous_response_id"] == "resp_3"


def test_copilot_keeps_no_responses_so_nothing_is_chained() -> None:
    """The whole conversation is sent."""
    body = render(stored(Text("so")), "copilot:gpt-5.2-codex", chain=True).json
    assert "previous_response_id" not in body and body["store"] is False


def test_tools_are_flat_and_say_whether_they_are_strict() -> None:
    """OAR-14: name and parameters stand on the tool itself."""
    schema = {"type": "object", "properties": {"a": {"type": "string"}}}
    for strict in (False, True):
        (tool,) = render(History("h"), GPT, tools=[{"name": "f", "parameters": schema}], strict=strict).json[
            "tools"
        ]
        assert tool["strict"] is strict and tool["name"] == "f"
    (free,) = render(
        History("h"),
        GPT,
        tools=[{"name": "f", "parameters": {"type": "object", "properties": {"a": {}}}}],
        strict=True,
    ).json["tools"]
    assert free["strict"] is False
