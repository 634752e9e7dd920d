"""Replies for clients: every recorded reply, written for each of the four protocols, reads the same."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.corpus import ROTATION, Exchange, needs_corpus, replies, share
from tests.decoding import decode
from tests.wire.reencoding import PROTOCOLS, RECORDED, read_back, sense_of, streamed, whole_body
from tests.wire.test_openai_sdks import chat_reading, mistral_reading, responses_reading
from tests.wire.test_sdks import Dice, anthropic_reading, gemini_reading

import turnout
from turnout.model import ModelTurn, Origin, Usage
from turnout.streaming.events import Done, StreamEvent
from turnout.streaming.reply import ReplyBuilder

COUNT = 25


def recorded(family: str, exchange: Exchange) -> tuple[list[StreamEvent], ModelTurn]:
    decoder = RECORDED[family]()
    return decode(decoder, exchange.body), decoder.reply.turn()


def finished(family: str, parts: int) -> list[tuple[Exchange, list[StreamEvent], ModelTurn]]:
    chosen = [(exchange, *recorded(family, exchange)) for exchange in share(replies(family), parts)]
    return [(exchange, events, turn) for exchange, events, turn in chosen if isinstance(events[-1], Done)]


BROKEN_CALLS = {"aa4a209b1a96de": "its first call breaks off and was shown before that could be known"}
"""Recordings whose stream cannot be written as the turn is, each with the reason."""


@needs_corpus
@pytest.mark.parametrize("family", RECORDED)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_recorded_reply_reads_the_same_after_it_was_written_again(protocol: str, family: str) -> None:
    """Streamed and whole: text, thinking, calls, the stop reason and the counts."""
    found = finished(family, 6)
    different = {}
    for exchange, events, turn in found:
        bodies = [whole_body(protocol, turn)]
        if exchange.id not in BROKEN_CALLS:
            bodies.append(streamed(protocol, events))
        for body in bodies:
            if (ours := sense_of(read_back(protocol, body))) != sense_of(turn):
                different[exchange.id] = (ours, sense_of(turn))

    assert found
    assert different == {}


def test_a_protocol_that_no_client_speaks_is_refused() -> None:
    """The message lists those that can be written."""
    with pytest.raises(turnout.UsageError, match="chat, responses, anthropic, gemini"):
        turnout.ReplyEncoder("ollama", model="m")


def _blocks_sense(blocks: list[Any]) -> tuple[str, str, list[Any]]:
    """Text, thinking and calls, from blocks as the readings of the SDKs give them."""
    text = "".join(block[1] for block in blocks if block[0] == "text")
    thinking = "".join(block[1] for block in blocks if block[0] == "thinking")
    return text, thinking, [(block[2], _value(block[3])) for block in blocks if block[0] == "call"]


def _value(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) else arguments


def _sdk_sense(protocol: str, body: bytes) -> Any:
    """What the vendor's own SDK finds in the stream."""
    match protocol:
        case "chat" | "mistral":
            thinking, text, calls, _, counts = (chat_reading if protocol == "chat" else mistral_reading)(body)
            called = [(name, _value(arguments)) for _, name, arguments in calls]
            return text, thinking if protocol == "chat" else "", called, counts
        case "anthropic":
            blocks, _, counts = anthropic_reading(body)
        case "responses":
            blocks, _, counts = responses_reading(body)
        case _:
            blocks, _, counts = gemini_reading(body)
    return (*_blocks_sense(blocks), counts[:2])


SDKS = ("chat", "mistral", "responses", "anthropic", "gemini")


@pytest.mark.parametrize("sdk", SDKS)
def test_the_vendors_sdk_reads_the_stream(sdk: str) -> None:
    """Thinking, text, parallel calls and counts, from events cut at random places."""
    for seed in range(ROTATION * COUNT, ROTATION * COUNT + COUNT):
        events, turn = made_up_reply(Dice(seed))
        protocol = "chat" if sdk == "mistral" else sdk
        text, thinking, calls, _, (input, output, _) = exact_sense(turn)
        thinking = "" if sdk == "mistral" else thinking  # its client knows no reasoning_content
        expected = (text, thinking, calls, (input, output))

        assert _sdk_sense(sdk, streamed(protocol, events)) == expected, seed


def made_up_reply(dice: Dice) -> tuple[list[StreamEvent], ModelTurn]:
    """A reply of thinking, text and calls, with the events that give it."""
    builder = ReplyBuilder(Origin("openai", "", "m"), "t.1")
    events: list[StreamEvent] = []
    for place in range(dice.randint(1, 5)):
        match dice.choice(["text", "thinking", "call"]):
            case "text":
                for piece in dice.pieces(dice.text()):
                    events += builder.text(piece)
            case "thinking":
                for piece in dice.pieces(dice.text()):
                    events += builder.thinking(piece)
                events += builder.end_thinking()
            case _:
                events += builder.start_call(place, f"id{place}", f"tool_{place}")
                for piece in dice.pieces(json.dumps(dice.object(), ensure_ascii=dice.random() < 0.5)):
                    events += builder.append_args(place, piece)
    builder.usage(Usage(dice.randint(1, 99), dice.randint(1, 99)))
    events += builder.complete_all()
    return [*events, *builder.done("end", "stop")], builder.turn()


def exact_sense(turn: ModelTurn) -> Any:
    return turn.text, *sense_of(turn)[1:]
