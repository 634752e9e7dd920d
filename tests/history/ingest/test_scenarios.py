"""Hostile histories that real users ran into, and what becomes of them at the door."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.history.ingest.telling import (
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
    statuses,
    story,
    system,
    text,
    thought,
    tool,
    use,
    user,
)

from turnout import ids
from turnout.history.ingest import ingest
from turnout.model import Media, ModelTurn, Opaque, Text, Thinking

# Pairing and order


def test_s_01_a_call_without_a_result_before_user_text_is_interrupted() -> None:
    """The call is settled at once, its outcome unknown, and the user's words follow."""
    history = ingest([user("go"), assistant(None, call("a")), user("never mind")])

    (item,) = history.ledger
    assert (item.status, item.outcome.synthetic, item.outcome.reason) == ("interrupted", True, "unknown")
    assert story(history) == ["user: go", "model: read", "user: never mind"]
    assert codes(history) == ["missing_result"]


def test_s_02_results_come_first_wherever_they_stood_in_the_message() -> None:
    """Text before a result in one user message does not part the result from its call."""
    mixed = user([{"type": "text", "text": "and?"}, result("t1", "42")])
    history = ingest([user("go"), {"role": "assistant", "content": [use("t1")]}, mixed], "anthropic")

    assert story(history) == ["user: go", "model: read", "user: and?"]
    assert outcomes(history) == [("read", "complete", "42")]


def test_s_03_a_call_at_the_very_end_waits_for_its_result() -> None:
    """Nothing follows, so the caller may still run it."""
    history = ingest([user("go"), assistant(None, call("a"), call("b")), tool("b", "yes")])

    assert statuses(history) == ["pending", "complete"]
    assert [item.call.raw_id for item in history.open_calls] == ["a"]
    assert "missing_result" not in codes(history)


@pytest.mark.parametrize("form", ["openai-chat", "openai-responses"])
def test_s_04_05_a_lost_output_is_said_to_be_unknown(form: str) -> None:
    """Neither API says what became of the call, so we do not pretend to know."""
    chat = [user("go"), assistant(None, call("a")), user("next")]
    items = [
        user("go"),
        {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
        user("x"),
    ]
    history = ingest(chat if form == "openai-chat" else items, form)

    assert [item.outcome.reason for item in history.ledger] == ["unknown"]


@pytest.mark.parametrize(
    ("form", "messages"),
    [
        ("openai-chat", [tool("ghost", "lost words"), user("hi")]),
        ("anthropic", [user([result("ghost", "lost words")]), user("hi")]),
        ("openai-responses", [{"type": "function_call_output", "call_id": "ghost", "output": "lost words"}]),
        ("gemini", [parts("user", function_response("read", output="lost words"))]),
        ("icontent", [content("tool", answers("ghost", "lost words"))]),
    ],
)
def test_s_06_to_09_a_result_without_a_call_is_a_note(form: str, messages: list[Any]) -> None:
    """It is kept, diagnosed, and stands in no turn: nobody is told of a call that never was."""
    history = ingest(messages, form)

    (note,) = history.notes
    assert note.kind == "orphaned_result"
    assert "lost words" in json.dumps(note.data)
    assert len(history.ledger) == 0
    assert codes(history) == ["orphaned_result"]
    assert "lost words" not in " ".join(story(history))


def test_s_10_a_history_may_open_with_a_call() -> None:
    """The model may come first; its call is answered."""
    history = ingest([assistant(None, call("a")), tool("a", "42"), user("so?")])

    assert story(history) == ["model: read", "user: so?"]
    assert outcomes(history) == [("read", "complete", "42")]


def test_s_11_results_in_several_messages_belong_to_one_turn() -> None:
    """All calls of the turn are answered."""
    history = ingest(
        [user("go"), assistant(None, call("a"), call("b"), call("c")), tool("c"), tool("a"), tool("b")]
    )

    assert story(history) == ["user: go", "model: read, read, read"]
    assert statuses(history) == ["complete"] * 3
    assert codes(history) == []


def test_s_12_five_calls_and_one_result() -> None:
    """The missing four are interrupted, each in its place."""
    calls = [call(raw_id) for raw_id in "abcde"]
    history = ingest([user("go"), assistant(None, *calls), tool("b"), user("and?")])

    assert statuses(history) == ["interrupted", "complete", "interrupted", "interrupted", "interrupted"]
    assert codes(history) == ["missing_result"] * 4


def test_s_13_a_result_after_the_user_spoke_still_answers_its_call() -> None:
    """The result belongs to the turn of its call."""
    history = ingest([user("go"), assistant(None, call("a")), user("hurry"), tool("a", "42")])

    assert outcomes(history) == [("read", "complete", "42")]
    assert story(history) == ["user: go", "model: read", "user: hurry"]
    assert codes(history) == ["misplaced_result"]


def test_s_14_what_stood_between_call_and_output_comes_after() -> None:
    """A status marker between a call and its output is a turn of its own, after the call."""
    history = ingest(
        [
            user("go"),
            {"type": "function_call", "call_id": "a", "name": "read", "arguments": "{}"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "working"}]},
            {"type": "message", "role": "assistant", "content": []},
            {"type": "function_call_output", "call_id": "a", "output": "42"},
        ],
        "openai-responses",
    )

    assert story(history) == ["user: go", "model: read", "model: working"]
    assert outcomes(history) == [("read", "complete", "42")]


def test_s_15_interleaved_turns_keep_their_own_results() -> None:
    """Each result goes to the call with its id."""
    history = ingest(
        [assistant(None, call("a", "f")), assistant(None, call("b", "g")), tool("a", "1"), tool("b", "2")]
    )

    assert outcomes(history) == [("f", "complete", "1"), ("g", "complete", "2")]
    assert len(history.turns) == 2


@pytest.mark.parametrize(
    ("reported", "kept"),
    [
        ([answers("x", "first"), answers("x", "second")], "first"),
        ([answers("x", None, error="boom"), answers("x", "fine")], "fine"),
        ([answers("x", None, isComplete=False), answers("x", None, error="boom")], "boom"),
        ([answers("x", "part", isComplete=False), answers("x", "whole")], "whole"),
        ([answers("x", None), answers("x", "part", isComplete=False)], "part"),
    ],
)
def test_s_16_of_several_results_the_best_is_kept(reported: list[Any], kept: str) -> None:
    """Success before error before the rest; the earlier wins ties; the others are on record."""
    history = ingest([content("ai", asks("x")), content("tool", *reported)], "icontent")

    assert [item.outcome.text for item in history.ledger] == [kept]
    assert codes(history).count("duplicate_outcome") == 1
    assert [note.kind for note in history.notes] == ["duplicate_outcome"]


def test_s_17_a_real_result_beats_a_synthetic_one_that_came_first() -> None:
    """Even when the user spoke in between: the result has no position to lose."""
    history = ingest(
        [
            content("ai", asks("x")),
            content("tool", answers("x", None)),
            content("human", text("well?")),
            content("tool", answers("x", "42")),
        ],
        "icontent",
    )

    assert outcomes(history) == [("read", "complete", "42")]
    assert story(history) == ["model: read", "user: well?"]


def test_s_18_the_same_call_twice_is_one_call() -> None:
    """Same id, name and arguments, and no result between: it was only written twice."""
    message = assistant("look", call("a", "read", {"path": "x"}))
    history = ingest([user("go"), message, message, tool("a", "42")])

    assert story(history) == ["user: go", "model: look, read"]
    assert outcomes(history) == [("read", "complete", "42")]
    assert "repeated_call" in codes(history)


def test_s_18_the_same_id_for_another_call_makes_two() -> None:
    """Name or arguments differ, so these are two calls."""
    first, second = call("a", "read", {"path": "x"}), call("a", "read", {"path": "y"})
    history = ingest(
        [user("go"), assistant(None, first), tool("a", "1"), assistant(None, second), tool("a", "2")]
    )

    assert [item.outcome.text for item in history.ledger] == ["1", "2"]
    assert len({item.call.id for item in history.ledger}) == 2
    assert codes(history) == ["reused_id"]


def test_s_19_calls_in_two_shapes_are_one_call_per_id() -> None:
    """A gateway wrote Anthropic's blocks and OpenAI's calls into one message."""
    both = assistant([use("a", path="x"), use("b")], call("a", "read", {"path": "x"}), call("c"))
    history = ingest([user("go"), both, tool("a"), tool("b"), tool("c")])

    assert [item.call.raw_id for item in history.ledger] == ["a", "b", "c"]
    assert codes(history) == ["mixed_shapes"]


def test_s_20_raw_ids_that_start_over_in_each_turn_are_told_apart() -> None:
    """The same id, name and arguments: two calls, because a result stands between."""
    step = [assistant(None, call("functions.read:0", "read", {"path": "x"})), tool("functions.read:0", "old")]
    again = [
        assistant(None, call("functions.read:0", "read", {"path": "x"})),
        tool("functions.read:0", "new"),
    ]
    history = ingest([user("go"), *step, *again], "kimi")

    assert [item.outcome.text for item in history.ledger] == ["old", "new"]
    first, second = history.ledger
    assert first.call.id != second.call.id
    assert first.call.raw_id == second.call.raw_id == "functions.read:0"


def test_s_20_a_result_answers_the_nearest_call_before_it() -> None:
    """The first call of that id was never answered; the result belongs to the second."""
    history = ingest(
        [
            assistant(None, call("call_0", "read", {"path": "x"})),
            user("stop"),
            assistant(None, call("call_0", "read", {"path": "y"})),
            tool("call_0", "y's"),
            user("ok"),
        ]
    )

    assert outcomes(history) == [("read", "interrupted", ""), ("read", "complete", "y's")]


def test_s_21_empty_ids_in_one_turn_are_matched_by_position() -> None:
    """The order of results is the order of calls."""
    history = ingest(
        [assistant(None, call("", "f"), call("", "f"), call("", "g")), tool("", "1"), tool("", "2")]
    )

    assert outcomes(history) == [("f", "complete", "1"), ("f", "complete", "2"), ("g", "pending", "")]
    assert len({item.call.id for item in history.ledger}) == 3
    assert codes(history).count("empty_id") == 3


def test_s_21_one_raw_id_for_two_calls_of_one_turn() -> None:
    """Different arguments, so two calls; the results come in the calls' order."""
    both = assistant(None, call("x", "read", {"n": 1}), call("x", "read", {"n": 2}))
    history = ingest([both, tool("x", "one"), tool("x", "two")])

    assert [item.outcome.text for item in history.ledger] == ["one", "two"]
    assert len({item.call.id for item in history.ledger}) == 2


def test_s_22_a_call_inside_a_tool_message_is_the_models() -> None:
    """It becomes a model turn."""
    history = ingest(
        [content("human", text("go")), content("tool", asks("x"), answers("x", "42"))], "icontent"
    )

    assert story(history) == ["user: go", "model: read"]
    assert outcomes(history) == [("read", "complete", "42")]
    assert codes(history) == ["misplaced_call"]


def test_s_22_a_tool_message_may_repeat_the_call_it_answers() -> None:
    """The call is kept once."""
    history = ingest([content("ai", asks("x")), content("tool", asks("x"), answers("x", "42"))], "icontent")

    assert story(history) == ["model: read"]
    assert outcomes(history) == [("read", "complete", "42")]


@pytest.mark.parametrize("name", ["write", ""])
def test_s_23_the_calls_name_stands(name: str) -> None:
    """The name in the result is reported."""
    history = ingest([content("ai", asks("x")), content("tool", answers("x", "42", name))], "icontent")

    assert outcomes(history) == [("read", "complete", "42")]
    assert codes(history) == (["name_mismatch"] if name else [])


def test_s_24_a_result_may_stand_before_its_call() -> None:
    """It still answers the call."""
    history = ingest([user("go"), tool("a", "42"), assistant(None, call("a")), user("so?")])

    assert outcomes(history) == [("read", "complete", "42")]
    assert story(history) == ["user: go", "model: read", "user: so?"]
    assert codes(history) == ["early_result"]


def test_s_26_a_turn_of_nothing_but_an_interrupted_call_is_kept() -> None:
    """Though its message has no text."""
    history = ingest([user("go"), assistant("", call("a", "delete")), user("no!")])

    assert story(history) == ["user: go", "model: delete", "user: no!"]


def test_s_28_turns_of_one_speaker_in_a_row_stay_as_they_are() -> None:
    """Merging is a matter of the target's syntax."""
    history = ingest([user("a"), user("b"), assistant("c"), assistant("d")])

    assert story(history) == ["user: a", "user: b", "model: c", "model: d"]
    assert codes(history) == []


def test_s_35_system_text_between_call_and_result_comes_after_the_turn() -> None:
    """Call and result stay together."""
    history = ingest(
        [system("be kind"), user("go"), assistant(None, call("a")), system("hurry"), tool("a", "42")]
    )

    assert history.system == "be kind"
    assert story(history) == ["user: go", "model: read", "system: hurry"]
    assert outcomes(history) == [("read", "complete", "42")]


@pytest.mark.parametrize(
    ("form", "messages"),
    [
        (
            "openai-chat",
            [
                assistant(None, call("a"), call("b")),
                tool("a", [{"type": "image_url", "image_url": {"url": "data:image/png;base64,QUJD"}}]),
                tool("b", "text"),
            ],
        ),
        (
            "anthropic",
            [
                {"role": "assistant", "content": [use("a"), use("b")]},
                user(
                    [
                        result(
                            "a",
                            [
                                {
                                    "type": "image",
                                    "source": {"type": "base64", "media_type": "image/png", "data": "QUJD"},
                                }
                            ],
                        ),
                        result("b", "text"),
                    ]
                ),
            ],
        ),
        (
            "icontent",
            [
                content("ai", asks("a"), asks("b")),
                content(
                    "tool",
                    answers("a", ""),
                    {"type": "media", "mimeType": "image/png", "data": "QUJD", "encoding": "base64"},
                    answers("b", "text"),
                ),
            ],
        ),
    ],
)
def test_s_36_and_64_media_stays_with_the_result_that_it_belongs_to(form: str, messages: list[Any]) -> None:
    """Media beside a result is part of it."""
    first, second = ingest(messages, form).ledger

    assert first.outcome.content == (Media("image/png", "QUJD"),)
    assert second.outcome.content == (Text("text"),)


# Ids


def test_s_37_and_39_foreign_ids_become_canonical_once() -> None:
    """Made from provider, raw id, name, turn key and place; the result follows, whatever the id is."""
    raw = ["functions.read:0", "toolu_vrtx_1", "call with spaces", "ünïcödé", "a" * 60]
    history = ingest(
        [assistant(None, *map(call, raw)), *(tool(raw_id, raw_id) for raw_id in raw)], "kimi", key="k"
    )

    expected = [ids.call_id("kimi", raw_id, "read", "k.1", index) for index, raw_id in enumerate(raw)]
    assert [item.call.id for item in history.ledger] == expected
    assert [item.outcome.text for item in history.ledger] == raw


def test_s_41_ids_that_differ_in_punctuation_only_are_two() -> None:
    """Only spaces around an id are ignored."""
    history = ingest([assistant(None, call("a:b"), call("ab")), tool("a:b", "1"), tool("ab", "2")])

    assert [item.outcome.text for item in history.ledger] == ["1", "2"]


def test_s_42_an_id_of_two_hundred_characters_is_diagnosed_and_kept() -> None:
    """It still pairs call and result."""
    raw_id = "call_" + "x" * 195
    history = ingest([assistant(None, call(raw_id)), tool(raw_id, "42")])

    (item,) = history.ledger
    assert (item.call.raw_id, item.outcome.text) == (raw_id, "42")
    assert ids.is_canonical(item.call.id)
    assert codes(history) == ["long_id"]


def test_s_43_item_ids_never_pair() -> None:
    """`id` is the item, `call_id` is the call; a proxy without call_id leaves the item's id to go by."""
    history = ingest(
        [
            {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": "{}"},
            {"type": "function_call", "id": "fc_2", "name": "g", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "1"},
            {"type": "function_call_output", "call_id": "fc_2", "output": "2"},
        ],
        "openai-responses",
    )

    assert outcomes(history) == [("f", "complete", "1"), ("g", "complete", "2")]
    assert next(iter(history.ledger)).call.residue.data == {"item_id": "fc_1"}


@pytest.mark.parametrize("lost", [None, ""])
def test_s_44_an_output_without_call_id_is_matched_by_position(lost: Any) -> None:
    """Those with an id take theirs first."""
    history = ingest(
        [
            {"type": "function_call", "call_id": "a", "name": "f", "arguments": "{}"},
            {"type": "function_call", "call_id": "b", "name": "g", "arguments": "{}"},
            {"type": "function_call_output", "call_id": lost, "output": "g's"},
            {"type": "function_call_output", "call_id": "a", "output": "f's"},
        ],
        "openai-responses",
    )

    assert outcomes(history) == [("f", "complete", "f's"), ("g", "complete", "g's")]
    assert codes(history) == ["unnamed_result"]


def test_s_44_nameless_results_of_turns_in_a_row_follow_the_order_of_the_calls() -> None:
    """Each turn gets its own results."""
    turns = [assistant(None, call("", "f")), assistant(None, call("", "g"))]
    history = ingest([*turns, tool("", "1"), tool("", "2")])

    assert outcomes(history) == [("f", "complete", "1"), ("g", "complete", "2")]


@pytest.mark.parametrize("between", [user("stop"), tool("", "h's")])
def test_s_44_a_nameless_result_belongs_to_the_latest_calls(between: dict[str, Any]) -> None:
    """An older call that still waits was given up when the conversation went on."""
    before = assistant(None, call("", "h"), call("", "f"))
    history = ingest([before, between, assistant(None, call("", "g")), tool("", "g's"), user("so?")])

    assert outcomes(history)[1:] == [("f", "interrupted", ""), ("g", "complete", "g's")]


def test_s_44_a_result_that_names_another_tool_takes_no_call_that_was_given_up() -> None:
    """By name it answers nobody, and where it stood no call was waiting."""
    turns = [assistant(None, call("", "f")), user("stop"), assistant(None, call("", "g")), tool("", "g's")]
    history = ingest([*turns, tool("", "whose?", name="h")])

    assert outcomes(history) == [("f", "interrupted", ""), ("g", "complete", "g's")]
    assert "orphaned_result" in codes(history)


@pytest.mark.parametrize("missing", ["", None])
def test_s_45_a_missing_id_is_made_from_turn_and_place(missing: Any) -> None:
    """Two calls without ids get two ids."""
    messages = [user("go"), assistant(None, call(missing), call(missing)), tool(missing, "1")]
    history = ingest(messages, key="k")

    expected = [ids.call_id("openai", "", "read", "k.2", index) for index in (0, 1)]
    assert [item.call.id for item in history.ledger] == expected
    assert [item.call.id for item in ingest(messages, key="k").ledger] == expected


def test_s_46_three_parallel_calls_of_one_name_without_ids() -> None:
    """They are answered in order."""
    history = ingest(
        [
            parts("user", {"text": "go"}),
            parts("model", *(function_call("read", n=n) for n in (1, 2, 3))),
            parts("user", *(function_response("read", output=f"{n}'s") for n in (1, 2, 3))),
        ],
        "gemini",
    )

    assert [(item.call.arguments["n"], item.outcome.text) for item in history.ledger] == [
        (1, "1's"),
        (2, "2's"),
        (3, "3's"),
    ]
    assert codes(history) == []  # so Gemini writes it


def test_s_46_parallel_responses_in_another_order_go_by_name() -> None:
    """The name decides where there is no id."""
    history = ingest(
        [
            parts("model", function_call("f"), function_call("g")),
            parts("user", function_response("g", output="g's"), function_response("f", output="f's")),
        ],
        "gemini",
    )

    assert outcomes(history) == [("f", "complete", "f's"), ("g", "complete", "g's")]


def test_s_49_an_id_of_our_own_form_is_kept_for_its_first_call() -> None:
    """A history that went out and came back keeps its identities; a second use becomes another."""
    messages = [
        content("ai", asks("hist_tool_1")),
        content("tool", answers("hist_tool_1", "1")),
        content("ai", asks("hist_tool_1")),
        content("tool", answers("hist_tool_1", "2")),
        content("ai", asks("hist_tool_a:b")),
        content("tool", answers("hist_tool_a:b", "3")),
    ]
    first, second, third = ingest(messages, "icontent").ledger

    assert first.call.id == "hist_tool_1"
    assert second.call.id not in ("hist_tool_1", third.call.id)
    assert ids.is_canonical(third.call.id)
    assert [item.outcome.text for item in (first, second, third)] == ["1", "2", "3"]
    assert codes(ingest(messages, "icontent")) == ["reused_id", "foreign_canonical_id"]


# Content shape


@pytest.mark.parametrize("empty", ["", [], None])
def test_s_54_an_empty_result_is_a_result(empty: Any) -> None:
    """The call is complete."""
    history = ingest([assistant(None, call("a")), tool("a", empty), user("so?")])

    assert outcomes(history) == [("read", "complete", "")]


@pytest.mark.parametrize(
    ("written", "fault"), [(None, "not_object"), ([], "not_object"), ("", ""), ("{}", "")]
)
def test_s_55_arguments_that_are_no_object_become_one(written: Any, fault: str) -> None:
    """Every API needs an object; the fault names what was written."""
    block = {"type": "tool_use", "id": "a", "name": "read", "input": written}
    (item,) = ingest([{"role": "assistant", "content": [block]}], "anthropic").ledger

    assert item.call.arguments in ({}, {"value": []})
    assert item.call.fault == fault


def test_s_56_arguments_that_were_cut_are_kept_as_written() -> None:
    """Their fault is `truncated`."""
    history = ingest([assistant(None, call("a", "write", '{"path": "x", "content": "hal')), user("?")])

    (item,) = history.ledger
    assert item.call.arguments == {}
    assert item.call.raw == '{"path": "x", "content": "hal'
    assert item.call.fault == "truncated"
    assert "invalid_arguments" in codes(history)


@pytest.mark.parametrize("written", ["[1, 2]", "7", "true"])
def test_s_57_other_json_is_wrapped(written: str) -> None:
    """Under the name `value`."""
    (item,) = ingest([assistant(None, call("a", "read", written))]).ledger

    assert item.call.arguments == {"value": json.loads(written)}
    assert item.call.raw == written


def test_s_58_arguments_encoded_twice_are_decoded_once_more() -> None:
    """Some models encode twice."""
    (item,) = ingest([assistant(None, call("a", "read", json.dumps('{"path": "x"}')))]).ledger

    assert item.call.arguments == {"path": "x"}


@pytest.mark.parametrize("given", ["object", "text"])
def test_s_59_lone_surrogates_are_replaced(given: str) -> None:
    """Servers refuse them."""
    messages: Any = [assistant(None, call("a")), tool("a", "bad \ud800 text")]
    history = ingest(messages if given == "object" else json.dumps(messages))

    assert outcomes(history) == [("read", "complete", "bad \ufffd text")]
    assert codes(history) == ["unplain_value"]


def test_s_60_nul_is_replaced_and_a_megabyte_is_kept() -> None:
    """Long text is not truncated on ingest."""
    history = ingest([assistant(None, call("a")), tool("a", "\0" + "x" * 1_000_000)])

    assert history.ledger[next(iter(history.ledger)).call.id].outcome.text == "\ufffd" + "x" * 1_000_000


def test_s_61_circular_and_foreign_objects_are_resolved() -> None:
    """They become plain values with a diagnostic."""
    knot: dict[str, Any] = {"n": float("nan"), "when": object()}
    knot["self"] = knot
    messages = [content("ai", asks("x", "read", deep=knot)), content("tool", answers("x", knot))]
    history = ingest(messages, "icontent")

    (item,) = history.ledger
    assert item.call.arguments["deep"]["self"] == "[circular]"
    assert item.call.arguments["deep"]["n"] is None
    assert item.status == "complete"
    assert codes(history) == ["unplain_value", "unplain_value"]


def test_s_61_the_callers_objects_are_not_shared() -> None:
    """Later changes by the caller have no effect."""
    arguments = {"path": ["a"]}
    messages = [content("ai", asks("x", "read", **arguments))]
    history = ingest(messages, "icontent")
    arguments["path"].append("b")

    assert next(iter(history.ledger)).call.arguments == {"path": ["a"]}


@pytest.mark.parametrize(
    ("fields", "status", "told"),
    [
        ({"result": "42"}, "complete", "42"),
        ({"result": "42", "isComplete": True}, "complete", "42"),
        ({"result": None, "isComplete": True}, "complete", ""),
        ({"result": {"a": 1}}, "complete", '{"a":1}'),
        ({"result": None, "error": "boom"}, "error", "boom"),
        ({"result": None, "error": "boom", "isComplete": True}, "error", "boom"),
        ({"result": "half", "error": "boom"}, "error", "boom\nhalf"),
        ({"result": None}, "interrupted", ""),
        ({"result": None, "isComplete": False}, "interrupted", ""),
        ({"result": "half", "isComplete": False}, "interrupted", "half"),
        ({"result": "42", "error": ""}, "complete", "42"),
    ],
)
def test_s_62_status_follows_from_error_result_and_completeness_together(
    fields: dict[str, Any], status: str, told: str
) -> None:
    """No single field decides."""
    answer = {"type": "tool_response", "callId": "x", "toolName": "read", **fields}
    history = ingest([content("ai", asks("x")), content("tool", answer)], "icontent")

    assert outcomes(history) == [("read", status, told)]
    assert ("incomplete_result" in codes(history)) == (status == "interrupted")


def test_s_62_anthropic_says_when_a_result_is_an_error() -> None:
    """`is_error` gives the status."""
    messages = [
        {"role": "assistant", "content": [use("a")]},
        user([result("a", "no such file", is_error=True)]),
    ]

    assert outcomes(ingest(messages, "anthropic")) == [("read", "error", "no such file")]


def test_s_63_text_and_calls_of_one_message_stay_together() -> None:
    """They are one turn."""
    history = ingest([user("go"), assistant("let me see", call("a")), tool("a")])

    assert story(history) == ["user: go", "model: let me see, read"]


# Reasoning


def test_s_69_and_70_thinking_keeps_its_signature_and_who_wrote_it() -> None:
    """It goes back only to its model."""
    body = {
        "model": "claude-sonnet-4-5",
        "messages": [
            user("hi"),
            {
                "role": "assistant",
                "content": [{"type": "thinking", "thinking": "hm", "signature": "sig"}, use("a")],
            },
        ],
    }
    turn = ingest(body, "anthropic").turns[1]

    assert isinstance(turn, ModelTurn)
    assert str(turn.origin) == "anthropic:claude-sonnet-4-5"
    thinking = turn.blocks[0]
    assert isinstance(thinking, Thinking)
    assert (thinking.text, thinking.residue.data, thinking.residue.origin) == (
        "hm",
        {"signature": "sig"},
        turn.origin,
    )


def test_s_71_unsigned_thinking_has_no_residue() -> None:
    """Only its text is kept."""
    block = {"type": "thinking", "thinking": "hm"}
    (turn,) = ingest([{"role": "assistant", "content": [block]}], "anthropic").turns

    assert turn.blocks == (Thinking("hm"),)


def test_s_73_a_thinking_only_turn_joins_the_turn_it_led_to() -> None:
    """Both are one reply."""
    source = {"provider": "anthropic", "model": "claude-sonnet-4-5"}
    history = ingest(
        [
            content("ai", thought("hm", signature="s"), turnId="t1", **source),
            content("ai", asks("x"), turnId="t2", **source),
            content("tool", answers("x", "42")),
        ],
        "icontent",
    )

    (turn,) = history.turns
    assert [type(block).__name__ for block in turn.blocks] == ["Thinking", "ToolCall"]
    assert turn.key == "t2"
    assert codes(history) == ["merged_turns"]


def test_s_73_thinking_of_another_model_stays_apart() -> None:
    """Another origin is another turn."""
    history = ingest(
        [
            content("ai", thought("hm"), provider="anthropic", model="a"),
            content("ai", asks("x"), provider="openai", model="b"),
        ],
        "icontent",
    )

    assert len(history.turns) == 2


def test_s_74_an_empty_text_between_signed_thoughts_stays() -> None:
    """It separates two stretches of thinking."""
    signed = {"type": "thinking", "thinking": "hm", "signature": "s"}
    blocks = [signed, {"type": "text", "text": ""}, signed, {"type": "text", "text": ""}]
    (turn,) = ingest([{"role": "assistant", "content": blocks}], "anthropic").turns

    assert [type(block).__name__ for block in turn.blocks] == ["Thinking", "Text", "Thinking"]


def test_s_75_redacted_thinking_is_kept_to_the_byte() -> None:
    """Its provider checks it."""
    blocks = [{"type": "redacted_thinking", "data": "EmwKAhgB+/=="}, {"type": "text", "text": "hi"}]
    (turn,) = ingest([{"role": "assistant", "content": blocks}], "anthropic").turns

    assert turn.blocks[0].residue.data == {"redacted": "EmwKAhgB+/=="}


def test_s_124_tools_that_the_provider_ran_are_never_paired_with_ours() -> None:
    """They are kept whole for the provider."""
    blocks = [
        {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []},
        {"type": "text", "text": "found"},
    ]
    history = ingest([user("search"), {"role": "assistant", "content": blocks}], "anthropic")

    assert len(history.ledger) == 0
    kept = [block for block in history.turns[1].blocks if isinstance(block, Opaque)]
    assert [block.residue.data["block"] for block in kept] == blocks[:2]
    assert codes(history) == []
