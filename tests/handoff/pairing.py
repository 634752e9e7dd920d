"""Hostile histories: calls and results that do not belong together, or stand in the wrong place."""

from __future__ import annotations

from tests.build import call as made
from tests.build import conversation, model, settled, started
from tests.build import user as says
from tests.handoff.scenario import (
    PNG,
    answered,
    asked,
    call,
    chat,
    claude,
    function_call,
    function_response,
    gemini,
    image,
    item_call,
    item_output,
    item_said,
    responses,
    result,
    said,
    scenario,
    tool_result,
    tool_use,
    turn,
    user,
)

from turnout import History, Media, Outcome, Text, ingest


@scenario
def s_01_call_without_result_then_user() -> History:
    return claude(asked("go"), answered(tool_use()), asked("and now?"))


@scenario
def s_02_results_after_text() -> History:
    return claude(asked("go"), answered(tool_use()), asked("first words", tool_result(), "last words"))


@scenario
def s_03_call_is_the_last_message() -> History:
    return claude(asked("go"), answered("let me see", tool_use()))


@scenario
def s_04_lost_output_on_responses() -> History:
    return responses(item_said("go", "user"), item_call(), item_said("hello?", "user"))


@scenario
def s_05_lost_result_on_chat() -> History:
    return chat(user(), said(None, call("a"), call("b")), result("a"), user())


@scenario
def s_06_output_without_call() -> History:
    return responses(item_said("go", "user"), item_output("call_gone"), item_said("on", "user"))


@scenario
def s_07_tool_message_without_call() -> History:
    return chat(user(), result("gone"), user())


@scenario
def s_08_tool_result_without_call() -> History:
    return claude(asked("go"), answered("done"), asked(tool_result("toolu_gone"), "next"))


@scenario
def s_09_opens_with_a_result() -> History:
    return claude(asked(tool_result()), answered("so it was"), asked("on"))


@scenario
def s_10_opens_with_a_call() -> History:
    return gemini(
        turn("model", function_call(path="a")), turn("user", function_response()), turn("user", "on")
    )


@scenario
def s_11_results_in_three_messages() -> History:
    return chat(
        user(), said(None, call("a"), call("b"), call("c")), result("a"), result("b"), result("c"), user()
    )


@scenario
def s_12_five_calls_one_result() -> History:
    return chat(user(), said("five", *[call(f"c{n}") for n in range(5)]), result("c3"), user())


@scenario
def s_13_result_after_the_user_spoke() -> History:
    return chat(user(), said(None, call("a")), user("wait"), result("a"), user())


@scenario
def s_14_text_between_call_and_output() -> History:
    return responses(
        item_said("go", "user"),
        item_call(),
        item_said("[status]"),
        item_said(""),
        item_output(),
        item_said("on", "user"),
    )


@scenario
def s_15_interleaved_turns() -> History:
    return chat(
        user(), said(None, call("a")), said(None, call("b")), result("a", "A"), result("b", "B"), user()
    )


@scenario
def s_16_several_results_for_one_call() -> History:
    return chat(user(), said(None, call("a")), result("a", "first"), result("a", "again"), user())


@scenario
def s_17_real_result_after_a_synthetic_one() -> History:
    history = conversation(says("go"), model(made("read_file", "a"), made("read_file", "b")))
    for item in list(history.open_calls):
        history.settle(item.call.id, Outcome("cancelled", synthetic=True, reason="stopped"))
    history.settle(next(iter(history.ledger)).call.id, Outcome("complete", "it came after all"))
    return history


@scenario
def s_18_same_call_twice() -> History:
    return chat(user(), said(None, call("a")), said(None, call("a")), result("a"), user())


@scenario
def s_18_same_id_for_two_calls() -> History:
    other = call("a", "write", '{"x":1}')
    return chat(user(), said(None, call("a")), result("a", "1"), said(None, other), result("a", "2"), user())


@scenario
def s_19_calls_in_two_shapes() -> History:
    return chat(user(), said([tool_use("a")], call("a")), result("a"), user())


@scenario
def s_20_raw_ids_start_over() -> History:
    return chat(
        user(),
        said(None, call("functions.read_file:0")),
        result("functions.read_file:0", "one"),
        user(),
        said(None, call("functions.read_file:0", arguments='{"path":"b"}')),
        result("functions.read_file:0", "two"),
        user(),
    )


@scenario
def s_21_empty_ids_in_one_turn() -> History:
    return chat(user(), said(None, call(""), call("", "write")), result("", "1"), result("", "2"), user())


@scenario
def s_22_call_inside_a_tool_message() -> History:
    return ingest(
        [
            {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]},
            {
                "speaker": "tool",
                "blocks": [
                    {"type": "tool_call", "id": "hist_tool_1", "name": "read_file", "parameters": {}},
                    {
                        "type": "tool_response",
                        "callId": "hist_tool_1",
                        "toolName": "read_file",
                        "result": "ok",
                    },
                ],
            },
            {"speaker": "human", "blocks": [{"type": "text", "text": "on"}]},
        ],
        "icontent",
    )


@scenario
def s_23_result_of_another_name() -> History:
    return chat(user(), said(None, call("a")), result("a", "x", name="something_else"), user())


@scenario
def s_24_result_before_its_call() -> History:
    return chat(user(), result("a", "early"), said(None, call("a")), user())


@scenario
def s_26_nothing_but_a_cancelled_call() -> History:
    cancelled = Outcome("cancelled", reason="stopped")
    return conversation(says("go"), model(made("shell", "a")), settled("a", cancelled), says("why?"))


@scenario
def s_27_the_user_denies_and_asks() -> History:
    denied = Outcome("denied", "not on a Friday", reason="denied")
    return conversation(
        says("go"), model(made("shell", "a")), settled("a", denied), says("what would it do?")
    )


@scenario
def s_28_speakers_in_a_row() -> History:
    return chat(user("a"), user("b"), said("c"), said("d"), user("e"))


@scenario
def s_29_user_right_after_tool() -> History:
    return chat(user(), said(None, call("a")), result("a"), user("never mind"))


@scenario
def s_30_tool_right_after_user() -> History:
    return chat(user(), result("nobody"), user("hm"))


@scenario
def s_31_ends_with_the_model() -> History:
    return chat(user(), said("that is all"))


@scenario
def s_32_ends_with_signed_thinking() -> History:
    return claude(asked("go"), answered({"type": "thinking", "thinking": "hm", "signature": "c2ln"}, "done"))


@scenario
def s_33_gemini_ends_with_the_model() -> History:
    return gemini(turn("user", "go"), turn("model", "done"))


@scenario
def s_34_response_apart_from_its_call() -> History:
    return gemini(
        turn("user", "go"),
        turn("model", function_call()),
        turn("user", "wait"),
        turn("user", function_response()),
        turn("model", "done"),
        turn("user", "on"),
    )


@scenario
def s_35_system_text_between_call_and_result() -> History:
    reminder = {"role": "system", "content": "mind the gap"}
    return chat(user(), said(None, call("a")), reminder, result("a"), user())


@scenario
def s_36_images_from_parallel_tools() -> History:
    return claude(
        asked("go"),
        answered(tool_use("a"), tool_use("b"), tool_use("c")),
        asked(
            tool_result("a", [{"type": "text", "text": "one"}, image()]),
            tool_result("b", "two"),
            tool_result("c", [image()]),
        ),
        answered("seen"),
        asked("on"),
    )


@scenario
def s_107_cut_between_call_and_result() -> History:
    history = s_12_five_calls_one_result()
    history.compact(history.turns[0].key, "what was said")
    return history


@scenario
def s_109_summary_before_calls() -> History:
    history = s_20_raw_ids_start_over()
    history.compact(history.turns[1].key, "one file was read")
    return history


@scenario
def s_110_one_of_several_crashes() -> History:
    return conversation(
        says("go"),
        model("three", made("a", "1"), made("b", "2"), made("c", "3")),
        started("1"),
        settled("1", "fine"),
        started("2"),
        settled("2", "it broke", "error"),
        started("3"),
    )


@scenario
def s_115_two_hundred_calls_in_one_turn() -> History:
    calls = [made("read_file", f"c{n}", path=str(n)) for n in range(200)]
    results = [settled(f"c{n}", f"result {n}") for n in range(0, 200, 3)]
    return conversation(says("go"), model("many", *calls), *results, says("on"))


@scenario
def s_121_failover_in_an_open_loop() -> History:
    return conversation(
        says("go"),
        model("first", made("a", "1"), origin="kimi:kimi-k2-thinking"),
        settled("1", "A"),
        model(made("b", "2"), origin="anthropic:claude-sonnet-4-5"),
        settled("2", "B"),
        model(made("c", "3"), origin="gemini:gemini-3-pro-preview"),
        settled("3", (Text("C"), Media("image/png", PNG))),
    )


@scenario
def s_124_tools_that_the_provider_ran() -> History:
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
    found = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}
    lone = {**use, "id": "srvtoolu_2"}
    return claude(asked("go"), answered(use, found, "found", lone), asked("on"))


@scenario
def nothing_was_said() -> History:
    return History("empty")


@scenario
def only_system_text() -> History:
    return History("system", system="Be brief.")
