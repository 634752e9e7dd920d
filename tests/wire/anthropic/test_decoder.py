"""Anthropic streams and bodies become the events and the turn that they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.corpus import SOAK, Exchange, needs_corpus, replies, share
from tests.replies import (
    ORIGIN,
    decoded,
    differences,
    expected_events,
    fixtures,
    plain_events,
    random_cuts,
    rebuilt,
    said,
    turn_of,
    two_way_cuts,
)

from turnout.errors import ProviderError
from turnout.model import ModelTurn, Opaque, Residue, Text, Thinking, ToolCall
from turnout.plain import loads
from turnout.streaming.events import Done, Error, ToolCallDelta
from turnout.streaming.frames import FrameDecoder
from turnout.wire.anthropic.decoder import AnthropicDecoder

STREAMS = fixtures("anthropic")

# Recordings whose oracle is another reading than ours, each with the reason. At most 1 % of all families.
EXCEPTIONS = {
    "89e5b13f1a8dbb": "two messages in one body: a reply ends with its first message_stop",
    "aa4a209b1a96de": "a second message starts inside the first: the SDK joins the arguments of two calls",
    "c2473ec4fcfce1": "three messages in one body: a reply ends with its first message_stop",
}


def stream(*payloads: Any) -> bytes:
    """Payloads framed as the server frames them."""
    return b"".join(
        f"event: {payload['type']}\ndata: {json.dumps(payload)}\n\n".encode() for payload in payloads
    )


def start(index: int, **block: Any) -> dict[str, Any]:
    return {"type": "content_block_start", "index": index, "content_block": block}


def tool(index: int, name: str = "look", **block: Any) -> dict[str, Any]:
    return start(index, type="tool_use", id=f"toolu_{index}", name=name, **{"input": {}, **block})


def arguments(index: int, piece: str) -> dict[str, Any]:
    return {
        "type": "content_block_delta",
        "index": index,
        "delta": {"type": "input_json_delta", "partial_json": piece},
    }


def text(index: int, piece: str) -> dict[str, Any]:
    return {"type": "content_block_delta", "index": index, "delta": {"type": "text_delta", "text": piece}}


def stop(index: int) -> dict[str, Any]:
    return {"type": "content_block_stop", "index": index}


END = ({"type": "message_delta", "delta": {"stop_reason": "tool_use"}}, {"type": "message_stop"})


def turn(*payloads: Any) -> ModelTurn:
    return turn_of(AnthropicDecoder, stream(*payloads))


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_stream_gives_its_events(path: Path) -> None:
    """Streams written after real ones, each with its events beside it."""
    events, _ = decoded(AnthropicDecoder, [path.read_bytes()])

    assert plain_events(events) == expected_events(path)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_the_cut_of_the_bytes_makes_no_difference(path: Path) -> None:
    """S-92: every cut in two, and single bytes, give the same events."""
    body = path.read_bytes()
    whole, _ = decoded(AnthropicDecoder, [body])

    for chunks in share(list(two_way_cuts(body)), 20):
        assert decoded(AnthropicDecoder, chunks)[0] == whole
    assert decoded(AnthropicDecoder, [bytes([byte]) for byte in body])[0] == whole


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_events_alone_are_enough(path: Path) -> None:
    """A surface that only sees events puts the same reply together."""
    events, reply = decoded(AnthropicDecoder, [path.read_bytes()])

    assert said(rebuilt(events)) == said(reply.turn())


def test_seed_002_an_empty_input_at_the_start_is_not_the_arguments() -> None:
    """`input: {}` opens every streamed call; the arguments are the deltas that follow."""
    (call,) = turn(
        tool(0), arguments(0, ""), arguments(0, '{"path": '), arguments(0, '"a"}'), stop(0), *END
    ).tool_calls

    assert call.arguments == {"path": "a"}


def test_s99_deltas_win_over_the_input_at_the_start() -> None:
    """Should a server send both, what was streamed is what the model wrote."""
    (call,) = turn(tool(0, input={"a": 1}), arguments(0, '{"b": 2}'), stop(0), *END).tool_calls

    assert call.arguments == {"b": 2}


def test_s99_without_deltas_the_input_counts() -> None:
    """No delta at all is a call without arguments, unless the start names some."""
    first, second = turn(tool(0), stop(0), tool(1, input={"a": 1}), stop(1), *END).tool_calls

    assert (first.arguments, first.fault) == ({}, "")
    assert second.arguments == {"a": 1}


def test_s99_a_stop_without_a_start_is_passed_over() -> None:
    """Nor does a delta for a call that never started become one."""
    reply = turn(
        stop(7), arguments(7, "{}"), start(0, type="text", text=""), text(0, "Hi."), stop(0), stop(0), *END
    )

    assert reply.blocks == (Text("Hi."),)
    assert reply.stop == "end"


def test_s99_blocks_may_overlap() -> None:
    """Each delta goes to the block of its index, and blocks stand where they started."""
    reply = turn(
        start(0, type="thinking", thinking="", signature=""),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm"}},
        start(1, type="text", text=""),
        text(1, "One "),
        tool(2),
        arguments(2, '{"a":'),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "thinking_delta", "thinking": "."}},
        text(1, "two."),
        arguments(2, " 1}"),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "signature_delta", "signature": "s"}},
        stop(2),
        stop(0),
        stop(1),
        *END,
    )

    thought, spoken, call = reply.blocks
    assert thought == Thinking("Hm.", Residue(ORIGIN, {"signature": "s"}))
    assert spoken == Text("One two.")
    assert isinstance(call, ToolCall) and call.arguments == {"a": 1}


def test_s99_an_error_event_is_the_provider_s_failure() -> None:
    """After the start of a call too: the call is dropped, the text before it is kept."""
    path = next(path for path in STREAMS if path.stem == "overloaded_after_call_start")
    events, reply = decoded(AnthropicDecoder, [path.read_bytes()])

    assert events[-1] == Error("overloaded", "Overloaded")
    assert isinstance(reply.failure, ProviderError)
    assert (reply.failure.kind, reply.failure.code) == ("overloaded", "overloaded_error")
    assert reply.failure.turn is not None and reply.failure.turn.text == "Let me look."
    assert reply.turn().tool_calls == ()


def test_s99_a_missing_message_stop_is_a_cut() -> None:
    """The reply is kept and marked; whole calls stay in it, and it is never called complete."""
    events, reply = decoded(AnthropicDecoder, [stream(tool(0), stop(0), END[0])])

    assert isinstance(events[-1], Error) and events[-1].kind == "truncated"
    assert reply.turn().stop == "interrupted"
    assert len(reply.turn().tool_calls) == 1


def test_s98_a_call_cut_by_the_token_limit_is_marked() -> None:
    """Half the arguments are no arguments: the call says so, and is never run."""
    path = next(path for path in STREAMS if path.stem == "call_cut_by_max_tokens")
    reply = turn_of(AnthropicDecoder, path.read_bytes())

    assert reply.stop == "length"
    assert reply.tool_calls[0].fault == "truncated"


@pytest.mark.parametrize("body", [b"", b": ping\n\n", b"data: [DONE]\n\n"])
def test_s105_a_stream_with_nothing_in_it_is_cut(body: bytes) -> None:
    """A 200 without a message is an error and not an empty reply."""
    events, _ = decoded(AnthropicDecoder, [body])

    assert [type(event) for event in events] == [Error]


@pytest.mark.parametrize(
    "body",
    [
        b'{"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}',
        b'data: {"error": {"type": "overloaded_error", "message": "Overloaded"}}\n\n',
    ],
)
def test_s105_an_error_body_with_status_200_is_an_error(body: bytes) -> None:
    """Servers and gateways answer 200 and then say that they could not."""
    events, _ = decoded(AnthropicDecoder, [body])

    assert events == [Error("overloaded", "Overloaded")]


def test_provider_run_tools_are_kept_and_never_paired() -> None:
    """Their use and result are opaque blocks in place, with all that the provider wrote."""
    path = next(path for path in STREAMS if path.stem == "web_search_with_citations")
    used, found, answer = turn_of(AnthropicDecoder, path.read_bytes()).blocks

    assert isinstance(used, Opaque) and used.kind == "server_tool_use"
    assert used.residue is not None and used.residue.data["block"]["input"] == {"query": "tallest tower"}
    assert isinstance(found, Opaque) and found.kind == "web_search_tool_result"
    assert isinstance(answer, Text) and answer.residue is not None
    assert answer.residue.data["citations"][0]["cited_text"] == "828 metres"


def test_a_block_of_an_unknown_kind_grows_and_is_kept() -> None:
    """What a newer API sends is not lost: text fields of its deltas are joined."""
    reply = turn(
        start(0, type="compaction", content=None),
        {"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "content": "So "}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "compaction_delta", "content": "far."}},
        stop(0),
        *END,
    )

    assert reply.blocks == (
        Opaque(
            "compaction",
            "[compaction] So far.",
            Residue(ORIGIN, {"block": {"type": "compaction", "content": "So far."}}),
        ),
    )


def test_the_reply_keeps_its_id_and_its_container() -> None:
    """A later request may have to name them."""
    message = {"id": "msg_1", "content": [], "container": {"id": "c_1"}}
    reply = turn({"type": "message_start", "message": message}, *END)

    assert reply.residue == Residue(ORIGIN, {"id": "msg_1", "container": {"id": "c_1"}})


def test_a_call_made_from_code_keeps_its_caller() -> None:
    """The provider wants to hear again which of its own tools made the call."""
    caller = {"type": "code_execution_20250825", "tool_id": "srvtoolu_1"}
    (call,) = turn(tool(0, caller=caller), stop(0), *END).tool_calls

    assert call.residue == Residue(ORIGIN, {"caller": caller})


def test_a_message_whose_last_block_was_not_stopped_is_whole() -> None:
    """Some compatible servers leave the stop out; message_stop closes what is open."""
    reply = turn(start(0, type="text", text=""), text(0, "Hi."), tool(1), arguments(1, '{"a": 1}'), *END)

    assert reply.text == "Hi."
    assert reply.tool_calls[0].arguments == {"a": 1}


def test_a_body_gives_the_same_turn_as_a_stream() -> None:
    """Streamed or not, a reply is the same reply."""
    body = {
        "id": "msg_1",
        "type": "message",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "s"},
            {"type": "redacted_thinking", "data": "d"},
            {"type": "text", "text": "Yes."},
            {"type": "tool_use", "id": "toolu_3", "name": "look", "input": {"a": 1}},
        ],
        "stop_reason": "tool_use",
        "usage": {"input_tokens": 3, "output_tokens": 5},
    }
    whole = turn_of(AnthropicDecoder, json.dumps(body).encode())
    streamed = turn(
        {"type": "message_start", "message": {**body, "content": []}},
        start(0, type="thinking", thinking="Hm.", signature="s"),
        stop(0),
        start(1, type="redacted_thinking", data="d"),
        stop(1),
        start(2, type="text", text="Yes."),
        stop(2),
        tool(3),
        arguments(3, '{"a":1}'),
        stop(3),
        *END,
    )

    assert whole == streamed
    assert whole.stop == "tool_calls"


def test_event_names_are_only_a_hint() -> None:
    """A proxy that drops the event lines changes nothing."""
    for path in STREAMS:
        bare = b"".join(
            line + b"\n" for line in path.read_bytes().split(b"\n") if not line.startswith(b"event:")
        )
        assert decoded(AnthropicDecoder, [bare])[0] == decoded(AnthropicDecoder, [path.read_bytes()])[0]


# -- odd payloads

WORDS = """
content_block_delta content_block_start content_block_stop message_start message_delta message_stop ping
error message text_delta input_json_delta thinking_delta signature_delta citations_delta
text thinking tool_use server_tool_use redacted_thinking
"""
NAMES = """
type index delta content_block message content usage text thinking input id name partial_json
signature error stop_reason citations caller stop_details data
"""
words = st.sampled_from(WORDS.split())
names = st.sampled_from(NAMES.split())
odd = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 2) | st.floats() | words | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=6),
    max_leaves=12,
)
payloads = st.fixed_dictionaries(
    {"type": words},
    optional=dict.fromkeys(("index", "delta", "content_block", "message", "usage", "error", "content"), odd),
)


@given(st.lists(payloads | odd, max_size=8))
def test_no_payload_raises(payloads: list[Any]) -> None:
    """Whatever JSON comes, the reply ends in one Done or Error and the turn can be had."""
    decoder = AnthropicDecoder(ORIGIN, "turn")
    events = [event for payload in payloads for event in decoder.feed("", json.dumps(payload).encode())]
    events += decoder.close()

    assert [isinstance(event, Done | Error) for event in events] == [False] * (len(events) - 1) + [True]
    assert said(rebuilt(events))[2:] == said(decoder.reply.turn())[2:]
    decoder.reply.turn().text.encode()


@given(odd)
def test_no_body_raises(body: Any) -> None:
    """The same for a body that came whole."""
    decoder = AnthropicDecoder(ORIGIN, "turn")

    assert isinstance(list(decoder.whole(body))[-1], Done | Error)


# -- recordings


def recordings() -> list[Exchange]:
    return [exchange for exchange in replies("anthropic") if exchange.oracle["ok"]]


@needs_corpus
def test_recorded_replies_decode_to_what_the_sdk_made_of_them() -> None:
    """Text, thinking, calls, finish reason and usage agree with Anthropic's own SDK."""
    wrong = {
        exchange.id: found
        for exchange in recordings()
        if (found := differences(turn_of(AnthropicDecoder, exchange.body), exchange.oracle))
    }

    assert wrong.keys() == EXCEPTIONS.keys(), wrong


@needs_corpus
def test_recorded_signatures_are_kept() -> None:
    """Every signature and every redacted thought of a recording is in the turn."""
    for exchange in recordings():
        if exchange.id in EXCEPTIONS:
            continue
        thoughts = [
            block for block in turn_of(AnthropicDecoder, exchange.body).blocks if isinstance(block, Thinking)
        ]
        order = exchange.oracle["result"]["block_order"]
        assert len(thoughts) == order.count("thinking") + order.count("redacted_thinking"), exchange.id
        signed = [thought for thought in thoughts if thought.residue and "signature" in thought.residue.data]
        assert len(signed) == (exchange.oracle["result"].get("signatures") or 0), exchange.id


@needs_corpus
def test_recorded_cuts_make_no_difference() -> None:
    """Random cuts of recorded bytes give the same events."""
    for exchange in share(recordings(), 10):
        same_for_random_cuts(exchange, 3)


@needs_corpus
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="two hundred cuts of every recording: set TURNOUT_SOAK")
def test_many_recorded_cuts_make_no_difference() -> None:
    """The same, two hundred times for every recording."""
    for exchange in recordings():
        same_for_random_cuts(exchange, 200)


def same_for_random_cuts(exchange: Exchange, count: int) -> None:
    whole, _ = decoded(AnthropicDecoder, [exchange.body])
    for pieces in random_cuts(exchange.body, count, exchange.id):
        assert decoded(AnthropicDecoder, pieces)[0] == whole, exchange.id


@needs_corpus
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="every cut of every small recording: set TURNOUT_SOAK")
def test_every_two_way_cut_of_small_recordings_makes_no_difference() -> None:
    """Exhaustively, for the recordings that are small enough."""
    for exchange in recordings():
        body = exchange.body
        if len(body) > 4096:
            continue
        whole, _ = decoded(AnthropicDecoder, [body])
        for chunks in two_way_cuts(body):
            assert decoded(AnthropicDecoder, chunks)[0] == whole, exchange.id


@needs_corpus
def test_the_short_way_and_the_general_way_agree() -> None:
    """Deltas decoded into structs give what plain dicts give, on every recording."""
    for exchange in recordings():
        frames = FrameDecoder()
        short, general = AnthropicDecoder(ORIGIN, "turn"), AnthropicDecoder(ORIGIN, "turn")
        for frame in [*frames.feed(exchange.body), *frames.close()]:
            assert list(short.feed(frame.event, frame.data)) == list(general.feed_payload(loads(frame.data)))
        assert short.reply.turn() == general.reply.turn(), exchange.id


def test_the_short_way_is_taken() -> None:
    """A delta of arguments is one event and one piece, however odd its spacing."""
    decoder = AnthropicDecoder(ORIGIN, "turn")
    decoder.feed("content_block_start", json.dumps(tool(0)).encode())
    delta = b'{"partial_json": "{}", "type": "input_json_delta"}'
    data = b'{ "index": 0, "type": "content_block_delta", "delta": ' + delta + b"}"

    (event,) = decoder.feed("content_block_delta", data)
    assert isinstance(event, ToolCallDelta)
