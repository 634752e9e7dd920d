"""Gemini streams, arrays and bodies become the events and the turn that they mean."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from google.genai import types
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

from turnout import decode
from turnout.errors import ProviderError
from turnout.model import Code, Media, ModelTurn, Opaque, Residue, Text, Thinking, Usage
from turnout.plain import loads
from turnout.streaming.events import Done, Error
from turnout.streaming.frames import FrameDecoder
from turnout.wire.gemini.decoder import GeminiDecoder
from turnout.wire.gemini.partial_args import PartialArgs

STREAMS = fixtures("gemini")

# Recordings whose oracle is no whole reading, each with the reason.
EXCEPTIONS = {
    "909f5d785a85f7": "arguments come value by value; the SDK lists the fragments",
    "ce9be52a1a32a0": "arguments come value by value; the SDK lists the fragments",
}


def chunk(*parts: Any, finish: Any = None, **more: Any) -> dict[str, Any]:
    candidate = {"content": {"parts": list(parts), "role": "model"}, "index": 0}
    return {"candidates": [{**candidate, "finishReason": finish} if finish else candidate], **more}


def call(name: str, args: Any = None, signature: str = "", **more: Any) -> dict[str, Any]:
    part: dict[str, Any] = {
        "functionCall": {"name": name, **({} if args is None else {"args": args}), **more}
    }
    return {**part, "thoughtSignature": signature} if signature else part


def stream(*chunks: Any) -> bytes:
    return b"".join(b"data: " + json.dumps(item).encode() + b"\r\n\r\n" for item in chunks)


def turn(*chunks: Any) -> ModelTurn:
    return turn_of(GeminiDecoder, stream(*chunks))


def fixture(name: str) -> ModelTurn:
    return turn_of(GeminiDecoder, next(path for path in STREAMS if path.stem == name).read_bytes())


END = chunk({"text": ""}, finish="STOP")


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_a_stream_gives_its_events(path: Path) -> None:
    """Streams written after real ones, each with its events beside it."""
    events, _ = decoded(GeminiDecoder, [path.read_bytes()])

    assert plain_events(events) == expected_events(path)


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_the_cut_of_the_bytes_makes_no_difference(path: Path) -> None:
    """S-92: every cut in two, and single bytes, give the same events."""
    body = path.read_bytes()
    whole, _ = decoded(GeminiDecoder, [body])

    for chunks in share(list(two_way_cuts(body)), 20):
        assert decoded(GeminiDecoder, chunks)[0] == whole
    assert decoded(GeminiDecoder, [bytes([byte]) for byte in body])[0] == whole


@pytest.mark.parametrize("path", STREAMS, ids=lambda path: path.stem)
def test_events_alone_are_enough(path: Path) -> None:
    """A surface that only sees events puts the same reply together."""
    events, reply = decoded(GeminiDecoder, [path.read_bytes()])

    assert said(rebuilt(events)) == said(reply.turn())


def test_a_signature_stays_on_its_part() -> None:
    """Calls keep theirs; a signed text is a block of its own, never joined with an unsigned one."""
    signed = {"text": "b", "thoughtSignature": "1"}
    first, second, third, fourth = turn(
        chunk({"text": "a"}), chunk(signed), chunk({"text": "c"}), chunk(call("look", {}, "2")), END
    ).blocks

    assert (first, second, third) == (
        Text("a"),
        Text("b", Residue(ORIGIN, {"thought_signature": "1"})),
        Text("c"),
    )
    assert fourth.residue == Residue(ORIGIN, {"thought_signature": "2"})


def test_an_empty_part_that_only_carries_a_signature_is_kept() -> None:
    """Gemini 3 ends some replies so, and wants it back."""
    assert fixture("signature_on_empty_last_part").blocks[-1] == Text(
        "", Residue(ORIGIN, {"thought_signature": "CiQB0e2Kb1"})
    )


def test_a_signed_thought_ends_with_its_signature() -> None:
    """A thought part may carry one too."""
    part = {"text": "Hm.", "thought": True, "thoughtSignature": "s"}

    assert turn(chunk(part), END).blocks == (Thinking("Hm.", Residue(ORIGIN, {"thought_signature": "s"})),)


def test_s101_a_repeated_call_is_one_call() -> None:
    """A part that comes again with the next chunk is known by its id or by its signature."""
    by_signature = turn(chunk(call("look", {"a": 1}, "s")), chunk(call("look", {"a": 1}, "s")), END)
    by_id = turn(chunk(call("look", {"a": 1}, id="x")), chunk(call("look", {"a": 1}, id="x")), END)

    assert len(by_signature.tool_calls) == len(by_id.tool_calls) == 1


def test_s101_equal_calls_without_a_mark_are_two_calls() -> None:
    """A model that rolls a die twice asks for it twice; recordings show it."""
    assert len(turn(chunk(call("roll"), call("roll")), END).tool_calls) == 2
    assert len(turn(chunk(call("roll")), chunk(call("roll")), END).tool_calls) == 2


def test_s101_several_calls_in_one_list_and_after_text_after_thought() -> None:
    """Blocks stand in the order of the parts."""
    reply = turn(
        chunk({"text": "Hm.", "thought": True}, {"text": "So."}, call("a", {"x": 1}), call("b", {"y": 2})),
        END,
    )

    assert [type(block).__name__ for block in reply.blocks] == ["Thinking", "Text", "ToolCall", "ToolCall"]
    assert [(item.name, item.arguments) for item in reply.tool_calls] == [("a", {"x": 1}), ("b", {"y": 2})]
    assert (reply.stop, reply.raw_stop) == ("tool_calls", "STOP")


@pytest.mark.parametrize("reason", ["MALFORMED_FUNCTION_CALL", "UNEXPECTED_TOOL_CALL", "MALFORMED_RESPONSE"])
def test_s101_a_call_that_the_model_spoiled_is_an_error_stop(reason: str) -> None:
    """The reply ended, and not well; what the model wrote is kept with it."""
    reply = turn({"candidates": [{"finishReason": reason, "finishMessage": "print(default_api.look("}]})

    assert (reply.stop, reply.raw_stop) == ("error", reason)
    assert reply.residue == Residue(ORIGIN, {"finish_message": "print(default_api.look("})


@pytest.mark.parametrize(
    "empty", [{"candidates": []}, {"candidates": [{}]}, {}, {"candidates": [{"content": {}}]}]
)
def test_s101_empty_candidates_say_nothing(empty: Any) -> None:
    """Chunks without content are passed over; a stream of nothing else is cut short."""
    assert turn(empty, chunk({"text": "Hi."}), END).text == "Hi."
    assert isinstance(decoded(GeminiDecoder, [stream(empty)])[0][-1], Error)


def test_s101_a_chunk_of_usage_alone_counts() -> None:
    """Also after the finish reason."""
    assert fixture("usage_after_finish").usage == Usage(30, 1, 31, 16)


def test_s106_the_first_candidate_is_the_reply() -> None:
    """Others are other replies to the same prompt."""
    other = {"content": {"parts": [{"text": "B"}]}, "index": 1}
    mixed = {"candidates": [{"content": {"parts": [{"text": "A"}]}, "index": 0}, other]}

    assert turn(mixed, {"candidates": [other]}, chunk({"text": "A"}), END).text == "AA"


def test_a_blocked_prompt_is_a_refusal() -> None:
    """There is no candidate then; the reason is shown as text."""
    reply = turn({"promptFeedback": {"blockReason": "SAFETY", "blockReasonMessage": "Not this."}})

    assert (reply.text, reply.stop, reply.raw_stop) == ("Not this.", "refused", "SAFETY")


@pytest.mark.parametrize(
    ("reason", "stop"),
    [
        ("STOP", "end"),
        ("MAX_TOKENS", "length"),
        ("SAFETY", "refused"),
        ("RECITATION", "refused"),
        ("OTHER", "other"),
    ],
)
def test_finish_reasons_are_put_in_our_words(reason: str, stop: str) -> None:
    """The provider's word is kept beside ours."""
    reply = turn(chunk({"text": "Hi."}, finish=reason))

    assert (reply.stop, reply.raw_stop) == (stop, reason)


def test_a_finish_reason_may_be_a_number() -> None:
    """Some clients write enums so."""
    assert turn(chunk({"text": "Hi."}, finish=1)).raw_stop == "STOP"


def test_an_error_in_the_stream_is_the_provider_s_failure() -> None:
    """With its kind, and the text so far."""
    path = next(path for path in STREAMS if path.stem == "error_in_stream")
    events, reply = decoded(GeminiDecoder, [path.read_bytes()])

    assert isinstance(events[-1], Error) and events[-1].kind == "overloaded"
    assert isinstance(reply.failure, ProviderError) and reply.failure.code == "UNAVAILABLE"
    assert reply.turn().text == "Once "


@pytest.mark.parametrize("body", [b"", b'data: {"candidates": [', b"[]", b"{}"])
def test_s105_a_body_without_a_reply_is_an_error(body: bytes) -> None:
    """A 200 with nothing in it, or cut in the middle, is not an empty reply."""
    decoder = GeminiDecoder(ORIGIN, "turn")
    frames = FrameDecoder()
    events = [
        event for frame in [*frames.feed(body), *frames.close()] for event in decoder.feed("", frame.data)
    ]
    events += decoder.close()

    assert [type(event) for event in events] == [Error]


def test_code_that_the_provider_ran_is_one_block() -> None:
    """Source and output together, with the parts as they came for the provider itself."""
    _, code, _ = fixture("code_execution").blocks

    assert isinstance(code, Code)
    assert (code.language, code.source, code.output) == ("python", "print(17**2)\n", "289\n")
    assert code.residue is not None and len(code.residue.data["parts"]) == 2


def test_code_without_a_result_is_kept() -> None:
    """The stream may end before it."""
    part = {"executableCode": {"language": "PYTHON", "code": "1"}}

    assert [type(block) for block in turn(chunk(part), chunk({"text": "x"}), END).blocks] == [Code, Text]
    assert [type(block) for block in turn(chunk(part)).blocks] == [Code]


def test_images_are_media() -> None:
    """So that any target that reads images can be shown them."""
    assert fixture("image").blocks[-1] == Media("image/png", "iVBORw0KGgo=")


def test_provider_run_tools_are_kept_and_never_paired() -> None:
    """Opaque blocks with the part as it came."""
    used, answered, _ = fixture("server_side_tool").blocks

    assert isinstance(used, Opaque) and used.kind == "toolCall"
    assert isinstance(answered, Opaque) and answered.kind == "toolResponse"


def test_seed_06_arguments_that_come_value_by_value_are_whole_at_the_end() -> None:
    """Vertex names places and what stands there; strings come in pieces."""
    (item,) = fixture("partial_args").tool_calls

    assert item.arguments == {
        "items": [{"title": "Red apple", "price": 0.5}, {"title": "Pear"}],
        "keep": True,
        "note": None,
    }


def partial(*entries: Any) -> ModelTurn:
    more = {"functionCall": {"partialArgs": list(entries), "willContinue": True}}
    return turn(chunk(call("put", willContinue=True)), chunk(more), chunk({"functionCall": {}}), END)


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("$.a", {"a": 1}),
        ("$.a.b[1].c", {"a": {"b": [None, {"c": 1}]}}),
        ("$['a b'][\"c.d\"]", {"a b": {"c.d": 1}}),
        ("$", {}),
        ("a.b", {}),
        ("$[0]", {}),
        ("$.a[999999999]", {"a": []}),
        ("$.a[", {}),
    ],
)
def test_places_in_arguments(path: str, expected: Any) -> None:
    """A place that makes no sense changes nothing, and none can make us build a billion holes."""
    assert partial({"jsonPath": path, "numberValue": 1}).tool_calls[0].arguments == expected


def test_a_value_may_change_its_mind() -> None:
    """A later value at the same place replaces the earlier one, unless that said more would follow."""
    first = {"jsonPath": "$.a", "stringValue": "x"}
    deeper = {"jsonPath": "$.a.b", "stringValue": "y"}

    assert partial(first, first).tool_calls[0].arguments == {"a": "x"}
    assert partial({**first, "willContinue": True}, first).tool_calls[0].arguments == {"a": "xx"}
    assert partial(first, deeper).tool_calls[0].arguments == {"a": {"b": "y"}}


def test_a_call_whose_arguments_never_ended_never_was_one() -> None:
    """Also when the reply itself ended as it should."""
    assert turn(chunk(call("put", willContinue=True)), END).tool_calls == ()


def test_counts_that_are_not_text_are_passed_over() -> None:
    """They are set aside unread, and must not spoil the reply at its end."""
    decoder = GeminiDecoder(ORIGIN, "turn")
    decoder.feed("", json.dumps(chunk({"text": "a"})).encode())
    spoiled = (
        json.dumps(chunk({"text": "b"}, usageMetadata={"trafficType": "?"})).encode().replace(b"?", b"\xe8")
    )
    decoder.feed("", spoiled)

    assert isinstance(list(decoder.close())[-1], Error)
    assert decoder.reply.turn().text == "ab"


def test_chunks_may_be_wrapped() -> None:
    """Code Assist puts each chunk inside `response`."""
    assert turn({"response": chunk({"text": "Hi."})}, {"response": END}).text == "Hi."


def test_a_body_gives_the_same_turn_as_a_stream() -> None:
    """Streamed, as an array, or whole: a reply is the same reply."""
    parts = [{"text": "Hm.", "thought": True}, {"text": "Yes."}, call("look", {"a": 1}, "s")]
    usage = {"promptTokenCount": 3, "candidatesTokenCount": 4, "totalTokenCount": 7}
    whole = json.dumps(chunk(*parts, finish="STOP", usageMetadata=usage, responseId="r")).encode()
    chunks = [*(chunk(part, responseId="r") for part in parts), {**END, "usageMetadata": usage}]

    streamed = turn(*chunks)
    assert turn_of(GeminiDecoder, whole) == streamed
    assert turn_of(GeminiDecoder, json.dumps(chunks).encode()) == streamed


# -- odd payloads

NAMES = """
candidates content parts text thought thoughtSignature functionCall name args id partialArgs jsonPath
stringValue willContinue executableCode codeExecutionResult inlineData finishReason index promptFeedback
blockReason usageMetadata promptTokenCount responseId error response finishMessage toolCall code output
"""
names = st.sampled_from(NAMES.split())
texts = st.sampled_from(["STOP", "$.a", "x", "$.a[0].b"])
odd = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-1, 2)
    | st.floats()
    | st.sampled_from(["STOP", "$.a", "x", "$.a[0].b"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=6),
    max_leaves=12,
)
parts = st.dictionaries(names, odd, max_size=4)
chunks = st.builds(
    lambda parts, more: {"candidates": [{"content": {"parts": parts}, **more}]},
    st.lists(parts, max_size=3),
    parts,
)


@given(st.lists(chunks | odd, max_size=8))
def test_no_chunk_raises(chunks: list[Any]) -> None:
    """Whatever JSON comes, the reply ends in one Done or Error and the turn can be had."""
    decoder = GeminiDecoder(ORIGIN, "turn")
    events = [event for item in chunks for event in decoder.feed("", json.dumps(item).encode())]
    events += decoder.close()

    assert [isinstance(event, Done | Error) for event in events] == [False] * (len(events) - 1) + [True]
    assert said(rebuilt(events)) == said(decoder.reply.turn())


@given(odd)
def test_no_body_raises(body: Any) -> None:
    """The same for a body that came whole."""
    assert isinstance(list(GeminiDecoder(ORIGIN, "turn").whole(body))[-1], Done | Error)


# -- recordings


def recordings() -> list[Exchange]:
    return [exchange for exchange in replies("gemini") if exchange.oracle["ok"]]


@needs_corpus
def test_recorded_replies_decode_to_what_the_sdk_made_of_them() -> None:
    """Text, thinking, calls, finish reason and usage agree with Google's own SDK."""
    wrong = {
        exchange.id: found
        for exchange in recordings()
        if (found := differences(turn_of(GeminiDecoder, exchange.body), exchange.oracle))
    }

    assert wrong.keys() == EXCEPTIONS.keys(), wrong


@needs_corpus
def test_replies_that_the_sdk_could_not_read_are_read() -> None:
    """Enums written as numbers: the text is there, and the finish reason."""
    for exchange in replies("gemini"):
        if not exchange.oracle["ok"]:
            reply = turn_of(GeminiDecoder, exchange.body)
            assert reply.text and (reply.stop, reply.raw_stop) == ("end", "STOP"), exchange.id


@needs_corpus
def test_recorded_signatures_are_kept() -> None:
    """As many signatures as the SDK saw are in the turn, each on a block."""
    for exchange in recordings():
        blocks = turn_of(GeminiDecoder, exchange.body).blocks
        seen = json.dumps([block.residue.data for block in blocks if block.residue])
        found = seen.count('"thought_signature"') + seen.count('"thoughtSignature"')
        assert found == (exchange.oracle["result"].get("signatures") or 0), exchange.id


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
    whole, _ = decoded(GeminiDecoder, [exchange.body])
    for pieces in random_cuts(exchange.body, count, exchange.id):
        assert decoded(GeminiDecoder, pieces)[0] == whole, exchange.id


@needs_corpus
@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="every cut of every small recording: set TURNOUT_SOAK")
def test_every_two_way_cut_of_small_recordings_makes_no_difference() -> None:
    """Exhaustively, for the recordings that are small enough."""
    for exchange in recordings():
        body = exchange.body
        if len(body) > 4096:
            continue
        whole, _ = decoded(GeminiDecoder, [body])
        for pieces in two_way_cuts(body):
            assert decoded(GeminiDecoder, pieces)[0] == whole, exchange.id


@needs_corpus
def test_the_short_way_and_the_general_way_agree() -> None:
    """Chunks decoded into structs give what plain dicts give, on every recording."""
    for exchange in recordings():
        frames = FrameDecoder()
        short, general = GeminiDecoder(ORIGIN, "turn"), GeminiDecoder(ORIGIN, "turn")
        for frame in [*frames.feed(exchange.body), *frames.close()]:
            assert list(short.feed("", frame.data)) == list(general.feed_payload(loads(frame.data)))
        assert list(short.close()) == list(general.close())
        assert short.reply.turn() == general.reply.turn(), exchange.id


@needs_corpus
def test_the_sdks_own_objects_read_as_what_was_sent() -> None:
    """A response of Google's SDK, dumped with its names in snake case and null in every empty field."""
    for exchange in replies("gemini"):
        if exchange.meta["response_kind"] != "json" or exchange.status != 200:
            continue
        try:
            spoken = types.GenerateContentResponse.model_validate_json(exchange.body)
        except (ValueError, AttributeError):
            continue  # their types know fewer fields than their servers
        expected = told(exchange.body)
        assert told(spoken) == told(spoken.model_dump_json()) == expected, exchange.id


def told(body: Any) -> Any:
    turn = decode("gemini:gemini-2.5-flash", body)
    calls = [(call.name, call.arguments) for call in turn.tool_calls]
    return turn.text, turn.thinking, calls, turn.stop, turn.raw_stop, turn.usage


def test_a_null_beside_a_value_is_not_the_value() -> None:
    """Streamed arguments hold the one value that is there, whatever else is written as null."""
    partial = {"jsonPath": "$.price", "stringValue": None, "numberValue": 0.5, "nullValue": None}
    arguments = PartialArgs()
    arguments.add(partial)

    assert arguments.value == {"price": 0.5}
