"""Gemini generateContent, as the encoder writes it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, model, settled, system, user
from tests.handoff.scenario import function_call, function_response, gemini, turn

from turnout import Code, History, Media, Origin, Outcome, Residue, Text, Thinking, ToolCall, render

GEMINI_2, GEMINI_3 = "gemini:gemini-2.5-flash", "gemini:gemini-3-pro-preview"
PNG = "iVBORw0KGgo="
SENTINEL = "skip_thought_signature_validator"


def contents(history: History, to: str = GEMINI_2, **options: Any) -> list[dict[str, Any]]:
    return list(render(history, to, **options).json["contents"])


def kinds(content: dict[str, Any]) -> list[str]:
    return [
        next(key for key in part if key not in ("thoughtSignature", "thought")) for part in content["parts"]
    ]


def test_only_two_roles_that_alternate() -> None:
    """GEM-04: user and model, never two of one role in a row."""
    history = conversation(
        user("a"), user("b"), model("c"), model("d", call("f", "1")), settled("1"), user("e")
    )
    sent = contents(history)
    assert [content["role"] for content in sent] == ["user", "model", "user"]
    assert kinds(sent[2]) == ["functionResponse", "text"]


def test_every_call_of_a_turn_is_answered_in_one_content_in_call_order() -> None:
    """GEM-01: as many responses as calls, in one content."""
    history = conversation(
        user("go"), model(call("a", "1"), call("b", "2"), call("c", "3")), settled("2"), user("on")
    )
    answers = [
        part["functionResponse"]["name"]
        for part in contents(history)[2]["parts"]
        if "functionResponse" in part
    ]
    assert answers == ["a", "b", "c"]


def test_a_request_begins_and_ends_with_the_user() -> None:
    """GEM-04: a filler is added where the history does not."""
    request = render(conversation(model("hello")), GEMINI_2)
    assert [content["role"] for content in request.json["contents"]] == ["user", "model", "user"]
    assert all(line.startswith("GEM-04") for line in request.report.changes)
    assert contents(History("h"))[0]["role"] == "user"


def test_no_user_turn_comes_between_a_call_and_its_response() -> None:
    """S-33: the filler at the end is for words, not for open calls, which are answered."""
    history = conversation(user("go"), model(call("f", "1")))
    assert [kinds(content) for content in contents(history)] == [
        ["text"],
        ["functionCall"],
        ["functionResponse"],
    ]


def test_system_text_stands_apart_at_the_top_and_with_the_user_later() -> None:
    """systemInstruction first; later system text is a reminder of the user."""
    body = render(conversation(user("go"), system("mind"), user("on")), GEMINI_2, system="Be brief.").json
    assert body["systemInstruction"] == {"parts": [{"text": "Be brief."}]}
    assert "<system-reminder>\nmind\n</system-reminder>" in body["contents"][0]["parts"][1]["text"]


@pytest.mark.parametrize(
    ("outcome", "response"),
    [
        (Outcome("complete", "plain"), {"output": "plain"}),
        (Outcome("complete", {"a": 1}), {"a": 1}),
        (Outcome("complete", [1, 2]), {"output": [1, 2]}),
        (Outcome("error", "broke"), {"error": "broke"}),
        (Outcome("error", {"a": 1}), {"error": '{"a":1}'}),
        (Outcome("complete", '{"a": 1, "b": {"a": ":"}}'), {"a": 1, "b": {"a": ":"}}),
        (Outcome("complete", '{"a": 1, "a": 2}'), {"output": '{"a": 1, "a": 2}'}),  # one would be lost
        (Outcome("complete", '[{"a": 1, "a": 1}]'), {"output": '[{"a": 1, "a": 1}]'}),
        (Outcome("complete", '{"id": 9007199254740992}'), {"id": 9007199254740992}),
        (Outcome("complete", '{"id": 9007199254740993}'), {"output": '{"id": 9007199254740993}'}),
        (Outcome("complete", '{"id": 123456789012345678901}'), {"output": '{"id": 123456789012345678901}'}),
        (Outcome("complete", '{"n": 0.30000000000000004}'), {"n": 0.30000000000000004}),
        (Outcome("complete", '["' + "9" * 20 + '"]'), {"output": ["9" * 20]}),
        (Outcome("complete", "[" * 1000), {"output": "[" * 1000}),
        (Outcome("complete", "[" * 49 + "]" * 49), {"output": "[" * 49 + "]" * 49}),
    ],
)
def test_a_result_is_an_object(outcome: Outcome, response: Any) -> None:
    """The one that the tool gave, if a Struct can say all of it: else its text, or its value under a name."""
    history = conversation(user("go"), model(call("f", "1")), settled("1", outcome))
    assert contents(history)[2]["parts"][0]["functionResponse"]["response"] == response


def test_an_id_that_gemini_gave_goes_back_and_others_get_our_own() -> None:
    """GEM-06: the model knows its own ids only."""
    history = conversation(
        user("go"),
        model(ToolCall("8hd01vsf", "f", {}), origin=GEMINI_3),
        settled("8hd01vsf"),
        model(ToolCall("call_1", "f", {}), origin="openai:gpt-4o"),
        settled("call_1"),
    )
    ids = [
        part["functionCall"]["id"]
        for content in contents(history, GEMINI_3)
        for part in content["parts"]
        if "functionCall" in part
    ]
    assert ids[0] == "8hd01vsf" and ids[1] != "call_1"


def test_pictures_of_tools_stand_where_each_generation_reads_them() -> None:
    """GEM-17: inside the response since Gemini 3, after the responses before."""
    history = conversation(
        user("go"), model(call("f", "1")), settled("1", (Text("x"), Media("image/png", PNG)))
    )
    assert kinds(contents(history, GEMINI_2)[2]) == ["functionResponse", "inlineData"]
    (part,) = contents(history, GEMINI_3)[2]["parts"]
    assert part["functionResponse"]["parts"] == [{"inlineData": {"mimeType": "image/png", "data": PNG}}]


def test_signatures_stay_on_their_parts() -> None:
    """On a thought, on a text, on an empty text that only carries one: never moved, never merged."""
    history = gemini(
        turn("user", "go"),
        turn(
            "model",
            {"text": "hm", "thought": True},
            {"text": "so", "thoughtSignature": "c2lnQQ=="},
            {"text": "", "thoughtSignature": "c2lnQg=="},
        ),
        turn("user", "on"),
    )
    parts = contents(history, GEMINI_3)[1]["parts"]
    assert [part.get("thoughtSignature") for part in parts if not part.get("thought")] == [
        "c2lnQQ==",
        "c2lnQg==",
    ]


def test_the_sentinel_is_reported_and_stays_in_old_turns() -> None:
    """GEM-09: the bytes already sent do not change."""
    history = conversation(user("go"), model(call("f", "1"), call("g", "2")), settled("1"), settled("2"))
    request = render(history, GEMINI_3)
    signatures = [part.get("thoughtSignature") for part in request.json["contents"][1]["parts"]]
    assert signatures == [SENTINEL, None]
    assert any(line.startswith("GEM-09") for line in request.report.changes)
    history.reply(GEMINI_3, "done")
    history.user("next")
    assert contents(history, GEMINI_3)[1] == request.json["contents"][1]


def test_thoughts_are_dropped_when_thinking_is_off_but_signatures_of_calls_stay() -> None:
    """GEM-07: calls stay signed without thinking."""
    owner = Origin.parse(GEMINI_3)
    thought = Thinking("hm", Residue(owner, {"thought_signature": "c2lnQQ=="}))
    signed = ToolCall("1", "f", {}, residue=Residue(owner, {"thought_signature": "c2lnQg=="}))
    history = conversation(user("go"), model(thought, signed, origin=GEMINI_3), settled("1"))
    (part,) = contents(history, GEMINI_3, thinking=False)[1]["parts"]
    assert part["thoughtSignature"] == "c2lnQg=="


def test_code_that_gemini_ran_goes_back_as_its_own_parts() -> None:
    """The code and its result are two parts."""
    parts = [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1"}},
    ]
    ran = Code("print(1)", "python", "1", Residue(Origin.parse(GEMINI_2), {"parts": parts}))
    history = conversation(user("go"), model(ran, "done", origin=GEMINI_2), user("on"))
    assert contents(history)[1]["parts"][:2] == parts
    assert "```python" in contents(history, GEMINI_3)[1]["parts"][0]["text"]


def test_a_link_says_its_type_only_where_it_is_known() -> None:
    """Recorded: YouTube without mimeType, status 200."""
    known, unknown = Media("image/png", uri="https://h/a.png"), Media("image/*", uri="https://h/a")
    parts = contents(conversation(user(known, unknown)))[0]["parts"]
    assert parts == [
        {"fileData": {"mimeType": "image/png", "fileUri": "https://h/a.png"}},
        {"fileData": {"fileUri": "https://h/a"}},
    ]


@pytest.mark.parametrize(
    ("to", "options", "config"),
    [
        (GEMINI_2, {"thinking": True}, {"thinkingBudget": -1, "includeThoughts": True}),
        (GEMINI_2, {"thinking": False}, {"thinkingBudget": 0}),
        (GEMINI_2, {"effort": "low"}, {"thinkingBudget": 2_048, "includeThoughts": True}),
        (GEMINI_3, {"effort": "low"}, {"thinkingLevel": "low", "includeThoughts": True}),
        (GEMINI_3, {"thinking": True}, {"thinkingLevel": "high", "includeThoughts": True}),
    ],
)
def test_thinking_by_budget_or_by_level(to: str, options: dict[str, Any], config: dict[str, Any]) -> None:
    """Gemini 3 takes a level, earlier models a budget."""
    assert (
        render(conversation(user("go")), to, **options).json["generationConfig"]["thinkingConfig"] == config
    )


def test_a_tool_without_parameters_declares_none() -> None:
    """GEM-13: an object without properties is refused."""
    body = render(
        History("h"), GEMINI_2, tools=[{"name": "a"}, {"name": "b", "parameters": {"type": "object"}}]
    ).json
    assert body["tools"] == [{"functionDeclarations": [{"name": "a"}, {"name": "b"}]}]


def test_responses_without_ids_are_told_apart_by_order() -> None:
    """Vertex takes no ids, so responses stand in the order of the calls."""
    history = gemini(
        turn("user", "go"),
        turn("model", function_call("f", n=1), function_call("f", n=2)),
        turn("user", function_response("f", n=1), function_response("f", n=2)),
    )
    answers = [
        part["functionResponse"]["response"]
        for part in contents(history, "vertex:gemini-2.5-flash")[2]["parts"]
    ]
    assert answers == [{"n": 1}, {"n": 2}]


def test_no_more_than_five_stop_words_are_sent() -> None:
    """The others are left out, and the report names how many."""
    request = render(conversation(user("go")), GEMINI_2, stop=[f"stop {n}" for n in range(9)])
    assert len(request.json["generationConfig"]["stopSequences"]) == 5
    assert any("4 of 9 stop words left out" in line for line in request.report.changes)
