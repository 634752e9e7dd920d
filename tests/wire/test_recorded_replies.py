"""Every recorded reply of OpenAI's families and Bedrock, held against what the provider's SDK makes of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import pytest
from tests.corpus import ROTATION, SOAK, Exchange, needs_corpus, share
from tests.corpus import replies as all_replies
from tests.decoding import DECODERS, cuts, decode, one_by_one

from turnout.model import ModelTurn
from turnout.plain import loads
from turnout.streaming.events import Done, Error
from turnout.streaming.frames import FrameDecoder
from turnout.streaming.reply import ReplyBuilder
from turnout.wire.chat import chunk as chat_chunk
from turnout.wire.ollama import decoder as ollama_decoder
from turnout.wire.responses import decoder as responses_decoder

FAMILIES = (
    *("openai_chat", "openai_responses", "mistral", "ollama", "cohere"),
    *("bedrock_converse", "bedrock_invoke"),
)
SMALL = 3_000

APART = {
    "f3f5bfd241786b": "a gateway's echo of the request: there is no reply in it, so we say that it failed",
    "153a153792ecdd": "a Chat body in answer to a Responses request, so we say that it failed",
    **dict.fromkeys(
        ("394c465f80f2c1", "a7a4cbea24f7ab", "d840f5ddbfa23e"),
        "botocore gives the cited text too; the reading of its result leaves it out",
    ),
    "03b55c11564f70": "the tokens ran out at a call without arguments: we do not run it, the SDK gives it",
    "a72bfbd2422c5d": "two responses in one body: the reply is over when the first one is",
}
"""The recordings in which we read something else than the SDK, each with the reason."""

pytestmark = needs_corpus


def replies(family: str) -> list[Exchange]:
    """The replies of a family; of InvokeModel those of Claude, since other makers have forms of their own."""
    found = all_replies(family)
    is_invoke = family == "bedrock_invoke"
    return [each for each in found if not is_invoke or "claude" in str(each.meta["model"])]


@pytest.mark.parametrize("family", FAMILIES)
def test_recorded_replies_decode_to_what_the_sdk_made_of_them(family: str) -> None:
    """Text, thinking, calls, the reason for stopping and usage are the same."""
    differences = {
        exchange.id: found
        for exchange in replies(family)
        if exchange.oracle["ok"]
        and exchange.id not in APART
        and (found := list(_differences(family, exchange)))
    }

    assert differences == {}


def test_the_recordings_set_apart_are_few() -> None:
    """At most one in a hundred."""
    assert len(APART) * 100 <= sum(len(replies(family)) for family in FAMILIES)


def _differences(family: str, exchange: Exchange) -> Iterator[tuple[str, Any, Any]]:
    decoder = DECODERS[family]()
    events = decode(decoder, exchange.body)
    turn, told = decoder.reply.turn(), exchange.oracle["result"]
    pairs = {
        "text": (turn.text, _told_text(told)),
        "thinking": (turn.thinking, told["thinking"]),
        "calls": (_calls(turn), [_told_call(call, told["finish_reason"]) for call in told["tool_calls"]]),
        "finish": (turn.raw_stop, told["finish_reason"] or ""),
        "last event": (type(events[-1]), Done),
        **_counts(turn, told["usage"] or {}),
    }
    yield from ((name, ours, theirs) for name, (ours, theirs) in pairs.items() if ours != theirs)


def _told_text(told: dict[str, Any]) -> str:
    """A refusal is text here; a server that parses JSON for us has it written out again."""
    text = told["text"] if isinstance(told["text"], str) else json.dumps(told["text"], separators=(",", ":"))
    return text + (told.get("refusal") or "")


def _calls(turn: ModelTurn) -> list[tuple[str, Any]]:
    """The calls that the SDK counts: not those in forms of their own, and without their namespace."""
    return [
        (call.name.rpartition(".")[2], "faulty" if call.fault else call.arguments)
        for call in turn.tool_calls
        if call.residue is None or "item" not in call.residue.data
    ]


def _told_call(call: dict[str, Any], finish: str) -> tuple[str, Any]:
    """`null` is how some models call a tool without arguments; Cohere's write nothing, and end the call."""
    is_valid = call["arguments_valid"] or (call.get("arguments_empty") and finish == "TOOL_CALL")
    return call["name"], call["arguments"] or {} if is_valid else "faulty"


def _counts(turn: ModelTurn, told: dict[str, Any]) -> dict[str, tuple[Any, Any]]:
    names = ("input", "output", "total", "cached_input", "reasoning")
    return {
        name: (getattr(turn.usage, name, None), told[name]) for name in names if told.get(name) is not None
    }


@pytest.mark.parametrize("family", FAMILIES)
def test_a_reply_is_the_same_however_its_bytes_are_cut(family: str) -> None:
    """Cut at random places, and byte by byte."""
    for exchange in share([exchange for exchange in replies(family) if len(exchange.body) < 30_000], 10):
        _assert_same(family, exchange, [one_by_one(exchange.body), *cuts(exchange.body, ROTATION, 2)])


only_soak = pytest.mark.skipif(not SOAK, reason="large counts: set TURNOUT_SOAK")


@pytest.mark.soak
@only_soak
@pytest.mark.parametrize("family", FAMILIES)
def test_every_reply_is_the_same_for_200_random_cuts_and_byte_by_byte(family: str) -> None:
    """All recordings, of any size."""
    for exchange in replies(family):
        _assert_same(family, exchange, [one_by_one(exchange.body), *cuts(exchange.body, ROTATION, 200)])


@pytest.mark.soak
@only_soak
@pytest.mark.parametrize("family", FAMILIES)
def test_every_small_reply_is_the_same_for_every_cut_in_two(family: str) -> None:
    """All places, in every recording that is small enough."""
    for exchange in replies(family):
        body = exchange.body
        if len(body) <= SMALL:
            _assert_same(family, exchange, ([body[:at], body[at:]] for at in range(len(body))))


def _assert_same(family: str, exchange: Exchange, ways: Iterable[list[bytes]]) -> None:
    expected = decode(DECODERS[family](), exchange.body)
    for chunks in ways:
        assert decode(DECODERS[family](), *chunks) == expected, exchange.id


@pytest.mark.parametrize("family", FAMILIES)
def test_whoever_holds_only_the_events_has_the_same_turn(family: str) -> None:
    """But for what rides along privately."""
    for exchange in replies(family):
        decoder = DECODERS[family]()
        again = ReplyBuilder(decoder.reply.origin, decoder.reply.turn_key)
        for event in decode(decoder, exchange.body):
            again.feed(event)

        assert _seen(again.turn()) == _seen(decoder.reply.turn()), exchange.id


def _seen(turn: ModelTurn) -> Any:
    calls = [(call.id, call.name, call.arguments, call.fault) for call in turn.tool_calls]
    return turn.text, turn.thinking, calls, turn.stop, turn.raw_stop, turn.usage


@pytest.mark.parametrize("family", ["openai_chat", "mistral"])
def test_chunks_read_the_quick_way_and_the_careful_way_are_the_same(family: str) -> None:
    """What is decoded straight into shape is what would be read from plain dicts."""
    for exchange in replies(family):
        for data in _payloads(exchange):
            assert chat_chunk.decode(data) == chat_chunk.read_chunk(loads(data)), exchange.id


@pytest.mark.parametrize("family", ["openai_chat", "mistral", "openai_responses", "ollama"])
def test_replies_read_the_careful_way_alone_are_the_same(
    family: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the quick way closed, every event is still the same."""
    chosen = share(replies(family), 5)
    expected = [decode(DECODERS[family](), exchange.body) for exchange in chosen]
    monkeypatch.setattr("turnout.wire.chat.decoder.decode", _refuse)
    monkeypatch.setattr(responses_decoder, "_decode_delta", _refuse)
    monkeypatch.setattr(ollama_decoder, "_decode", _refuse)

    assert [decode(DECODERS[family](), exchange.body) for exchange in chosen] == expected


def _refuse(data: bytes) -> Any:
    raise UnicodeDecodeError("utf-8", data, 0, 1, "not today")


def _payloads(exchange: Exchange) -> Iterator[bytes]:
    frames = FrameDecoder()
    for frame in (*frames.feed(exchange.body), *frames.close()):
        if not frame.data.startswith(b"[DONE]"):
            yield frame.data


@pytest.mark.parametrize("family", FAMILIES)
def test_a_recorded_stream_that_breaks_off_is_interrupted_and_has_whole_calls_only(family: str) -> None:
    """Whatever part of the bytes arrived, nothing raises and the last event says how it ended."""
    for exchange in share(replies(family), 4):
        body = exchange.body
        calls = _turn(family, body).tool_calls
        for part in (0, 1, 2, 3):
            turn = _turn(family, body[: len(body) * part // 4])
            assert turn.stop == "interrupted" or turn.blocks, exchange.id
            assert turn.tool_calls == calls[: len(turn.tool_calls)], exchange.id


def _turn(family: str, body: bytes) -> ModelTurn:
    decoder = DECODERS[family]()
    assert isinstance(decode(decoder, body)[-1], Done | Error)
    return decoder.reply.turn()
