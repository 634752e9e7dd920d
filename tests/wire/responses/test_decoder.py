"""OpenAI Responses: facts about what the decoder makes of items, deltas and ends."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.decoding import responses, stream, turn

from turnout.model import ModelTurn, Opaque, Residue, Text, Thinking, ToolCall, Usage
from turnout.streaming.events import Done, Error, TextDelta, ThinkingDelta, ToolCallDelta


def event(kind: str, **fields: Any) -> dict[str, Any]:
    return {"type": f"response.{kind}", **fields}


def added(place: int, **item: Any) -> dict[str, Any]:
    return event("output_item.added", output_index=place, item=item)


def finished(place: int, **item: Any) -> dict[str, Any]:
    return event("output_item.done", output_index=place, item=item)


def arguments(delta: str, place: int = 0, item_id: str = "fc_1") -> dict[str, Any]:
    return event("function_call_arguments.delta", output_index=place, item_id=item_id, delta=delta)


def ended(*output: dict[str, Any], status: str = "completed", **fields: Any) -> dict[str, Any]:
    response = {"id": "resp_1", "status": status, "output": list(output), **fields}
    return event(status, response=response)


ENDED = Done("end", "completed", residue=Residue(responses().reply.origin, {"response_id": "resp_1"}))

CALL: dict[str, Any] = {
    "type": "function_call",
    "id": "fc_1",
    "call_id": "call_1",
    "name": "add",
    "arguments": '{"x":1}',
}
START: dict[str, Any] = {**CALL, "arguments": ""}
MESSAGE: dict[str, Any] = {
    "type": "message",
    "id": "msg_1",
    "content": [{"type": "output_text", "text": "Hello."}],
}
REASONING: dict[str, Any] = {
    "type": "reasoning",
    "id": "rs_1",
    "summary": [{"type": "summary_text", "text": "Hm"}, {"type": "summary_text", "text": "m."}],
    "encrypted_content": "final",
}


def calls(turn: ModelTurn) -> list[tuple[str, str, Any]]:
    return [(call.raw_id, call.name, call.fault or call.arguments) for call in turn.tool_calls]


# -- calls


@pytest.mark.parametrize(
    "payloads",
    [
        [added(0, **START), arguments('{"x":'), arguments("1}"), finished(0, **CALL)],
        [arguments('{"x":'), added(0, **START), arguments("1}"), finished(0, **CALL)],
        [added(0, type="function_call", id="fc_1", name="add"), arguments('{"x":1}'), finished(0, **CALL)],
        [added(0, **START), event("function_call_arguments.done", output_index=0, arguments='{"x":1}')],
        [
            added(0, **START),
            arguments('{"x":1}'),
            event("function_call_arguments.done", output_index=0, arguments='{"x":1}'),
            finished(0, **CALL),
        ],
        [finished(0, **CALL)],
        [],
        [added(0, **START), finished(0, **CALL), finished(0, **CALL)],
        [
            added(0, **START),
            arguments('{"x":1}', item_id="fc_rotated"),
            finished(0, **{**CALL, "id": "fc_other"}),
        ],
    ],
    ids=[
        "deltas",
        "delta before the start",
        "start without call id",
        "arguments.done only",
        "arguments told three times",
        "output_item.done only",
        "last event only",
        "done twice",
        "item ids change",
    ],
)
def test_s_100_a_call_is_told_in_many_ways_and_is_one_call(payloads: list[Any]) -> None:
    """Whatever is missing, early or repeated."""
    assert calls(turn(responses(), *payloads, ended(CALL))) == [("call_1", "add", {"x": 1})]


def test_s_97_arguments_that_are_repeated_in_whole_are_not_doubled() -> None:
    """Not in the call, and not in the events either."""
    events = stream(
        responses(),
        added(0, **START),
        arguments('{"x":1}'),
        event("function_call_arguments.done", output_index=0, arguments='{"x":1}'),
        finished(0, **CALL),
        ended(CALL),
    )

    assert [event.args_delta for event in events if isinstance(event, ToolCallDelta)] == ['{"x":1}']


def test_calls_are_known_by_item_id_where_no_place_is_given() -> None:
    """Seed 004's way: item id to call id."""
    second = {**CALL, "id": "fc_2", "call_id": "call_2", "arguments": '{"x":2}'}
    payloads = [
        {"type": "response.output_item.added", "item": START},
        {"type": "response.output_item.added", "item": {**second, "arguments": ""}},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_2", "delta": '{"x":2}'},
        {"type": "response.function_call_arguments.delta", "item_id": "fc_1", "delta": '{"x":1}'},
        {"type": "response.output_item.done", "item": CALL},
        {"type": "response.output_item.done", "item": second},
        ended(),
    ]

    assert calls(turn(responses(), *payloads)) == [("call_1", "add", {"x": 1}), ("call_2", "add", {"x": 2})]


def test_the_item_id_is_kept_beside_the_call_id() -> None:
    """It is no id of the call, so it rides as residue."""
    (call,) = turn(responses(), finished(0, **CALL), ended()).tool_calls

    assert call.raw_id == "call_1"
    assert call.residue is not None and call.residue.data == {"item_id": "fc_1"}


@pytest.mark.parametrize("text", ['{"x":', ""])
def test_a_call_cut_at_the_token_limit_is_marked_truncated(text: str) -> None:
    """The response is incomplete; the call is there to be answered, not to be run."""
    half = {**CALL, "arguments": text, "status": "incomplete"}
    cut = ended(half, status="incomplete", incomplete_details={"reason": "max_output_tokens"})
    told = turn(responses(), added(0, **START), arguments(text), finished(0, **half), cut)

    assert (told.stop, told.raw_stop) == ("length", "incomplete:max_output_tokens")
    assert calls(told) == [("call_1", "add", "truncated")]


def test_custom_tools_take_their_text_as_one_argument() -> None:
    """Streamed or only in the finished item."""
    item = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c", "name": "sql", "input": 'a "b"\n'}
    deltas = [
        event("custom_tool_call_input.delta", output_index=0, item_id="ctc_1", delta=piece)
        for piece in ('a "', 'b"\n')
    ]
    streamed = turn(responses(), added(0, **{**item, "input": ""}), *deltas, finished(0, **item), ended())
    whole = turn(responses(), finished(0, **item), ended())

    assert calls(streamed) == calls(whole) == [("c", "sql", {"input": 'a "b"\n'})]
    residue = streamed.tool_calls[0].residue
    assert residue is not None and residue.data == {"custom": True, "item_id": "ctc_1"}


# -- text and thinking


def test_text_is_not_repeated_by_the_events_that_hold_it_whole() -> None:
    """The done events complete the deltas; they do not say it again."""
    payloads = [
        added(0, type="message", id="msg_1", content=[]),
        event("output_text.delta", output_index=0, item_id="msg_1", content_index=0, delta="Hel"),
        event("output_text.delta", output_index=0, item_id="msg_1", content_index=0, delta="lo."),
        event("output_text.done", output_index=0, item_id="msg_1", content_index=0, text="Hello."),
        finished(0, **MESSAGE),
        ended(MESSAGE),
    ]

    assert stream(responses(), *payloads) == [TextDelta("Hel"), TextDelta("lo."), ENDED]


@pytest.mark.parametrize(
    "payloads",
    [
        [finished(0, **MESSAGE), ended(MESSAGE)],
        [ended(MESSAGE)],
        [event("output_text.done", output_index=0, item_id="msg_1", text="Hello."), ended()],
        [
            event("output_text.delta", output_index=0, item_id="msg_1", delta="Hel"),
            finished(0, **MESSAGE),
            ended(),
        ],
    ],
    ids=["item only", "last event only", "done only", "deltas that stop early"],
)
def test_text_that_no_delta_brought_is_taken_from_where_it_is(payloads: list[Any]) -> None:
    """Gateways leave out what they like."""
    assert turn(responses(), *payloads).blocks == (Text("Hello."),)


def test_items_are_taken_once_wherever_they_are_named_again() -> None:
    """Done twice, still growing after that, or at another place in the last event."""
    search = {"type": "web_search_call", "id": "ws_1"}
    told = turn(
        responses(),
        finished(2, **search),
        finished(2, **search),
        finished(3, **MESSAGE),
        event("output_text.delta", output_index=3, item_id="msg_1", delta="Hello."),
        finished(4, **{**CALL, "id": ""}),
        ended(search, MESSAGE, CALL),
    )

    assert [type(block) for block in told.blocks] == [Opaque, Text, ToolCall]
    assert told.text == "Hello."


def test_each_message_is_a_block_and_keeps_its_phase() -> None:
    """Commentary and answer are told apart when they go back."""
    first, second = {**MESSAGE, "phase": "commentary"}, {**MESSAGE, "id": "msg_2"}
    one, two = turn(responses(), finished(0, **first), finished(1, **second), ended()).blocks

    assert one.residue is not None and one.residue.data == {"id": "msg_1", "phase": "commentary"}
    assert two == Text("Hello.")


def test_a_refusal_is_text_with_the_stop_reason_refused() -> None:
    """Streamed or whole."""
    item = {"type": "message", "id": "msg_1", "content": [{"type": "refusal", "refusal": "No."}]}
    delta = event("refusal.delta", output_index=0, item_id="msg_1", delta="No.")
    streamed = turn(responses(), delta, finished(0, **item), ended(item))
    whole = turn(responses(), ended(item))

    assert (streamed.text, streamed.stop) == (whole.text, whole.stop) == ("No.", "refused")


def test_encrypted_reasoning_is_taken_from_the_finished_item() -> None:
    """What the announcement holds may be incomplete."""
    delta = event(
        "reasoning_summary_text.delta", output_index=0, item_id="rs_1", summary_index=0, delta="Hmm."
    )
    early = {**REASONING, "summary": [], "encrypted_content": "not yet"}
    (block,) = turn(responses(), added(0, **early), delta, finished(0, **REASONING), ended(REASONING)).blocks

    assert isinstance(block, Thinking) and block.text == "Hmm."
    assert block.residue is not None and block.residue.data == {"item": REASONING}


def test_reasoning_without_text_is_kept_for_its_issuer() -> None:
    """Nothing to show, everything to send back."""
    (block,) = turn(responses(), finished(0, **{**REASONING, "summary": []}), ended()).blocks

    assert isinstance(block, Thinking) and block.text == ""
    assert block.residue is not None and block.residue.data["item"]["encrypted_content"] == "final"


def test_s_100_reasoning_told_in_full_and_summed_up_counts_once() -> None:
    """The first of the two is shown; both are kept in the item."""
    item = {**REASONING, "content": [{"type": "reasoning_text", "text": "Long."}]}
    full = event("reasoning_text.delta", output_index=0, item_id="rs_1", content_index=0, delta="Long.")
    summed = event(
        "reasoning_summary_text.delta", output_index=0, item_id="rs_1", summary_index=0, delta="Hmm."
    )
    decoder = responses()
    events = stream(decoder, full, summed, finished(0, **item), ended(item))

    assert [event.text for event in events if isinstance(event, ThinkingDelta)] == ["Long."]
    assert decoder.reply.turn().thinking == "Long."


def test_blocks_keep_the_order_of_the_items() -> None:
    """Thinking, call, thinking, text: interleaved as it came."""
    told = turn(
        responses(),
        finished(0, **REASONING),
        finished(1, **CALL),
        finished(2, **{**REASONING, "id": "rs_2"}),
        finished(3, **MESSAGE),
        ended(),
    )

    assert [type(block) for block in told.blocks] == [Thinking, ToolCall, Thinking, Text]


@pytest.mark.parametrize(
    "kind", ["web_search_call", "mcp_call", "code_interpreter_call", "image_generation_call", "tomorrow"]
)
def test_tools_that_the_server_runs_are_opaque(kind: str) -> None:
    """Kept whole, never paired, and no reason to go on with a round of tools."""
    item = {"type": kind, "id": "x_1", "status": "completed", "action": {"query": "tides"}}
    told = turn(responses(), added(0, **item), finished(0, **item), ended(item))

    (block,) = told.blocks
    assert isinstance(block, Opaque) and block.kind == kind
    assert block.residue is not None and block.residue.data == {"item": item}
    assert (told.stop, told.tool_calls) == ("end", ())


# -- the end


def test_the_last_event_counts_and_names_the_response() -> None:
    """Usage, and the id by which the next request may chain to this one."""
    usage = {
        "input_tokens": 9,
        "input_tokens_details": {"cached_tokens": 4},
        "output_tokens": 3,
        "output_tokens_details": {"reasoning_tokens": 2},
        "total_tokens": 12,
    }
    told = turn(responses(), ended(MESSAGE, usage=usage))

    assert told.usage == Usage(9, 3, 12, cached_input=4, reasoning=2)
    assert told.residue is not None and told.residue.data == {"response_id": "resp_1"}


@pytest.mark.parametrize(
    ("status", "reason", "stop", "raw"),
    [
        ("incomplete", "max_output_tokens", "length", "incomplete:max_output_tokens"),
        ("incomplete", "content_filter", "refused", "incomplete:content_filter"),
        ("incomplete", "weather", "other", "incomplete:weather"),
        ("cancelled", None, "interrupted", "cancelled"),
    ],
)
def test_s_100_incomplete_responses_say_why(status: str, reason: str | None, stop: str, raw: str) -> None:
    """The status and the reason are kept together."""
    details = {"reason": reason} if reason else None
    told = turn(responses(), ended(MESSAGE, status=status, incomplete_details=details))

    assert (told.stop, told.raw_stop, told.text) == (stop, raw, "Hello.")


@pytest.mark.parametrize(
    ("payload", "kind"),
    [
        (
            ended(status="failed", error={"code": "server_is_overloaded", "message": "Overloaded"}),
            "overloaded",
        ),
        (ended(status="failed", error={"code": "insufficient_quota", "message": "No money"}), "quota"),
        (
            {"type": "error", "code": "rate_limit_exceeded", "message": "Slow down", "param": None},
            "rate_limit",
        ),
        ({"type": "error", "error": {"type": "invalid_request_error", "message": "No"}}, "invalid_request"),
        (
            {"error": {"message": "context_length_exceeded", "code": "context_length_exceeded"}},
            "context_too_long",
        ),
        ("<html>", "malformed"),
        ('{"type":"response.comp', "truncated"),
        ("[]", "malformed"),
    ],
)
def test_s_100_failures_are_typed_and_end_the_reply(payload: Any, kind: str) -> None:
    """Whole calls that came before stay in the turn; nothing after counts."""
    decoder = responses()
    events = stream(decoder, finished(0, **CALL), payload, ended(MESSAGE))

    assert isinstance(events[-1], Error) and events[-1].kind == kind
    assert decoder.reply.turn().stop == "interrupted"
    assert [call.name for call in decoder.reply.turn().tool_calls] == ["add"]


def test_s_103_a_response_without_its_last_event_is_truncated() -> None:
    """A call that was announced and never done is no call."""
    decoder = responses()
    events = stream(decoder, added(0, **START), arguments('{"x":1}'))

    assert isinstance(events[-1], Error) and events[-1].kind == "truncated"
    assert decoder.reply.turn().tool_calls == ()


def test_s_100_a_response_that_completes_twice_ends_once() -> None:
    """The second one is not heard."""
    events = stream(responses(), ended(MESSAGE), ended(MESSAGE), "[DONE]")

    assert events == [TextDelta("Hello."), ENDED]


def test_a_body_that_was_not_streamed_gives_the_same_turn() -> None:
    """Items in order, usage, the end."""
    body = {"id": "resp_1", "status": "completed", "output": [REASONING, MESSAGE, CALL]}
    whole, streamed = responses(), responses()
    list(whole.whole(body))
    stream(streamed, finished(0, **REASONING), finished(1, **MESSAGE), finished(2, **CALL), ended())

    assert whole.reply.turn() == streamed.reply.turn()
    assert whole.reply.turn().stop == "tool_calls"


@pytest.mark.parametrize("body", [None, [], {}, {"choices": []}, "text"])
def test_s_105_a_body_that_is_no_response_is_an_error(body: Any) -> None:
    """Not an empty reply."""
    (error,) = responses().whole(body)

    assert isinstance(error, Error) and error.kind == "malformed"


KINDS = (
    "output_item.added",
    "output_item.done",
    "output_text.delta",
    "output_text.done",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "custom_tool_call_input.delta",
    "reasoning_summary_text.delta",
    "reasoning_text.delta",
    "refusal.done",
    "completed",
    "failed",
)
VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(0, 3)
    | st.sampled_from(["a", "message", "function_call", "reasoning"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["type", "id", "call_id", "name", "arguments", "content", "summary", "text", "output"]
            ),
            inner,
            max_size=5,
        )
    ),
    max_leaves=12,
)
PAYLOAD = st.fixed_dictionaries(
    {"type": st.sampled_from([f"response.{kind}" for kind in KINDS]) | VALUE},
    optional=dict.fromkeys(
        ("output_index", "item_id", "delta", "item", "text", "arguments", "response", "refusal", "error"),
        VALUE,
    ),
)


@given(st.lists(PAYLOAD | VALUE, max_size=8))
def test_no_payload_however_odd_makes_it_raise(payloads: list[Any]) -> None:
    """There is always one last event that says how it ended, and always a turn."""
    decoder = responses()
    events = stream(decoder, *payloads)

    assert [event for event in events if isinstance(event, Done | Error)] == events[-1:]
    decoder.reply.turn()
    assert isinstance([*responses().whole(payloads[0] if payloads else None)][-1], Done | Error)
