"""Hostile histories: thinking that others signed, that nobody signed, or that is missing."""

from __future__ import annotations

from typing import Any

from tests.build import call as made
from tests.build import conversation, model, settled
from tests.build import user as says
from tests.handoff.scenario import (
    answered,
    asked,
    call,
    chat,
    claude,
    function_call,
    function_response,
    gemini,
    item_call,
    item_output,
    item_reasoning,
    item_said,
    responses,
    result,
    said,
    scenario,
    thought,
    tool_result,
    tool_use,
    turn,
    user,
)

from turnout import History, Origin, Residue, Text, Thinking, ToolCall, ingest

CLAUDE = "anthropic:claude-sonnet-4-5"
GEMINI_3 = "gemini:gemini-3-pro-preview"
RESPONSES = "openai-responses:gpt-5.1"


def signed(origin: str, text: str = "hm", **data: Any) -> Thinking:
    return Thinking(text, Residue(Origin.parse(origin), data))


@scenario
def s_69_thinking_signed_by_another_model() -> History:
    return claude(
        asked("go"), answered(thought(), "so", tool_use()), asked(tool_result()), model="claude-opus-4-1"
    )


@scenario
def s_70_thinking_without_signature() -> History:
    return claude(asked("go"), answered(thought(signature=None), tool_use()), asked(tool_result(), "on"))


@scenario
def s_71_open_loop_without_thinking() -> History:
    return claude(asked("go"), answered("so", tool_use()), asked(tool_result()))


@scenario
def s_72_thinking_in_the_final_position() -> History:
    return claude(asked("go"), answered(thought(), "so it is"))


@scenario
def s_73_thinking_apart_from_its_call() -> History:
    return claude(asked("go"), answered(thought()), answered(tool_use()), asked(tool_result()))


@scenario
def s_74_empty_text_between_signed_thoughts() -> History:
    return claude(asked("go"), answered(thought("a"), "", thought("b"), tool_use()), asked(tool_result()))


@scenario
def s_75_redacted_thinking() -> History:
    hidden = {"type": "redacted_thinking", "data": "aGlkZGVuIHRob3VnaHRz=="}
    return claude(asked("go"), answered(hidden, thought(), tool_use()), asked(tool_result()))


@scenario
def s_76_reasoning_with_nothing_after_it() -> History:
    return responses(item_said("go", "user"), item_reasoning(), item_said("on", "user"))


@scenario
def s_77_items_without_their_reasoning() -> History:
    return responses(
        item_said("go", "user"),
        item_call("call_1", id="fc_1"),
        item_output(),
        item_said("done", id="msg_1"),
        item_said("on", "user"),
    )


@scenario
def s_78_reasoning_that_was_not_stored() -> History:
    return responses(
        item_said("go", "user"), item_reasoning(encrypted=None), item_call(), item_output(), store=False
    )


@scenario
def s_79_reasoning_without_summary() -> History:
    bare = {key: value for key, value in item_reasoning().items() if key != "summary"}
    return responses(item_said("go", "user"), bare, item_call(), item_output())


@scenario
def s_80_the_same_reasoning_twice() -> History:
    return responses(
        item_said("go", "user"),
        item_reasoning(),
        item_reasoning(),
        item_call(),
        item_output(),
        item_said("on", "user"),
    )


@scenario
def s_81_reasoning_between_calls() -> History:
    return responses(
        item_said("go", "user"),
        item_reasoning("rs_1", "Zmlyc3Q="),
        item_call("call_1"),
        item_reasoning("rs_2", "c2Vjb25k"),
        item_call("call_2"),
        item_output("call_1"),
        item_output("call_2"),
    )


@scenario
def s_82_goes_on_from_a_stored_response() -> History:
    return responses(item_output("call_far", "42"), item_said("on", "user"), previous_response_id="resp_1")


@scenario
def s_82_our_own_chain() -> History:
    history = conversation(says("go"))
    residue = Residue(Origin.parse(RESPONSES), {"response_id": "resp_1"})
    history.reply(RESPONSES, [Text("let me see"), ToolCall("call_1", "read_file", {})], residue=residue)
    return history


@scenario
def s_83_kimi_calls_without_reasoning() -> History:
    return chat(user(), said("so", call("a")), result("a"), said(None, call("b")), result("b"))


@scenario
def s_84_deepseek_reasoning() -> History:
    return ingest(
        {
            "model": "deepseek-reasoner",
            "messages": [
                user(),
                said("so", call("a"), reasoning_content="because"),
                result("a"),
                said("done", reasoning_content="clear"),
                user(),
            ],
        },
        "deepseek",
    )


@scenario
def s_85_a_synthetic_turn_in_a_thinking_loop() -> History:
    steps: list[Any] = [says("go")]
    steps += [model(signed(CLAUDE, signature="c2ln"), made("a", "1"), origin=CLAUDE), settled("1")]
    return conversation(*steps, model(made("b", "2"), origin="unknown:someone"), settled("2"))


@scenario
def s_86_reasoning_content_in_a_chat_history() -> History:
    return chat(user(), said("so", call("a"), reasoning_content="because"), result("a"), user())


@scenario
def s_87_gemini_steps_with_and_without_signature() -> History:
    return gemini(
        turn("user", "go"),
        turn("model", function_call("a", "c2lnQQ=="), function_call("b")),
        turn("user", function_response("a"), function_response("b")),
        turn("model", function_call("c")),
        turn("user", function_response("c")),
    )


@scenario
def s_88_a_claude_signature_on_a_gemini_call() -> History:
    foreign = Residue(Origin.parse(CLAUDE), {"thought_signature": "Y2xhdWRl"})
    return conversation(
        says("go"), model(ToolCall("1", "a", {}, residue=foreign), origin=CLAUDE), settled("1")
    )


@scenario
def s_89_gemini_signature_through_chat() -> History:
    extra = {"google": {"thought_signature": "c2lnbmVk"}}
    return ingest(
        {
            "model": "gemini-3-pro",
            "messages": [user(), said(None, {**call("a"), "extra_content": extra}), result("a")],
        },
        "openai-chat",
        "compatible:gemini-3-pro",
    )


@scenario
def s_90_openrouter_reasoning_details() -> History:
    details = [
        {
            "type": "reasoning.text",
            "text": "hm",
            "format": "anthropic-claude-v1",
            "index": 0,
            "signature": "c2ln",
        },
        {
            "type": "reasoning.encrypted",
            "data": "ZW5j",
            "format": "anthropic-claude-v1",
            "index": 1,
            "id": "x",
        },
    ]
    return ingest(
        {
            "model": "anthropic/claude-sonnet-4.5",
            "messages": [
                user(),
                said("so", call("a"), reasoning="hm", reasoning_details=details),
                result("a"),
            ],
        },
        "openrouter",
    )


@scenario
def s_91_think_tags_in_the_text() -> History:
    return chat(user(), said("<think>because</think>so it is", call("a")), result("a"), user())


@scenario
def thinking_of_everyone_in_one_loop() -> History:
    return conversation(
        says("go"),
        model(signed(CLAUDE, signature="c2ln"), "one", made("a", "1"), origin=CLAUDE),
        settled("1"),
        model(signed(GEMINI_3, thought_signature="c2ln"), made("b", "2"), origin=GEMINI_3),
        settled("2"),
        model(signed(RESPONSES, "", item=item_reasoning()), made("c", "3"), origin=RESPONSES),
        settled("3"),
        model(
            signed("deepseek:deepseek-reasoner", field="reasoning_content"),
            made("d", "4"),
            origin="deepseek:deepseek-reasoner",
        ),
        settled("4"),
    )


@scenario
def thinking_alone() -> History:
    """A turn that holds nothing but another model's thoughts leaves two user turns in a row."""
    return conversation(says("go"), model(Thinking("hm"), origin=CLAUDE), says("well?"))
