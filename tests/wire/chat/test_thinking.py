"""Thinking on the Chat wire: whatever field it comes in, and what its server wants back with it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.chunks import DONE, delta, fragment
from tests.decoding import chat, origin, stream, turn

from turnout.model import Opaque, Text, Thinking, ToolCall
from turnout.streaming.reply import ReplyBuilder


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text"])
def test_reasoning_is_read_from_any_field_that_has_it(field: str) -> None:
    """Whatever the target; the residue says where the text came from."""
    blocks = turn(chat(), delta(**{field: "hm"}), delta(content="yes"), delta("stop"), DONE).blocks

    assert [type(block) for block in blocks] == [Thinking, Text]
    assert blocks[0].residue is not None and blocks[0].residue.data == {"field": field}
    assert blocks[0].residue.origin == origin("openai")


def test_reasoning_that_two_fields_repeat_counts_once() -> None:
    """Servers in transition write the same text under two names, and in details as well."""
    details = [{"type": "reasoning.text", "text": "hm", "index": 0}]
    both = delta(reasoning="hm", reasoning_content="hm", reasoning_details=details)

    assert turn(chat(), both, delta(content="yes"), delta("stop"), DONE).thinking == "hm"


def test_reasoning_that_only_details_hold_is_read_from_there() -> None:
    """Texts and summaries; encrypted parts have none."""
    details = [{"type": "reasoning.summary", "summary": "hm"}, {"type": "reasoning.encrypted", "data": "x"}]
    ended = turn(chat(), delta(reasoning_details=details), delta(content="yes"), delta("stop"), DONE)

    assert ended.thinking == "hm"
    assert ended.blocks[0].residue is not None and ended.blocks[0].residue.data == {
        "reasoning_details": details
    }


def test_pieces_of_one_detail_are_put_together() -> None:
    """Text grows, a signature comes once, and other details keep their order."""
    pieces: list[dict[str, Any]] = [
        {"type": "reasoning.text", "text": "Hm", "index": 0, "format": "f"},
        {"type": "reasoning.text", "text": ".", "index": 0, "format": "f"},
        {"type": "reasoning.text", "signature": "sig", "index": 0, "format": "f"},
        {"type": "reasoning.encrypted", "data": "d1", "index": 1, "id": "rs_1"},
        {"type": "reasoning.encrypted", "data": "d2", "index": 1, "id": "rs_1"},
    ]
    ended = turn(chat(), *[delta(reasoning_details=[piece]) for piece in pieces], delta("stop"), DONE)

    (thinking,) = ended.blocks
    assert thinking.residue is not None
    assert thinking.residue.data["reasoning_details"] == [
        {"type": "reasoning.text", "text": "Hm.", "index": 0, "format": "f", "signature": "sig"},
        pieces[3],
        pieces[4],
    ]


def test_state_that_comes_late_is_kept_whole() -> None:
    """Details after the text: the last thinking block of the reply holds all of them."""
    first, second = (
        {"type": "reasoning.text", "text": "hm", "index": 0},
        {"type": "reasoning.encrypted", "data": "x"},
    )
    ended = turn(
        chat(),
        delta(reasoning="hm", reasoning_details=[first]),
        delta(content="yes"),
        delta(reasoning_details=[second]),
        delta("stop"),
        DONE,
    )

    assert ended.thinking == "hm"
    last = [block for block in ended.blocks if isinstance(block, Thinking)][-1]
    assert last.residue is not None and last.residue.data == {"reasoning_details": [first, second]}


def test_copilot_state_is_kept_with_its_thinking() -> None:
    """It may ride on the chunk that calls a tool."""
    opaque = delta(reasoning_opaque="state", tool_calls=[fragment(0, "a", "add", "{}")])
    ended = turn(chat("copilot"), delta(reasoning_text="hm"), opaque, delta("tool_calls"), DONE)

    assert [type(block) for block in ended.blocks] == [Thinking, ToolCall]
    assert ended.blocks[0].residue is not None
    assert ended.blocks[0].residue.data == {"field": "reasoning_text", "reasoning_opaque": "state"}


def test_mistral_thinks_in_parts_of_its_content() -> None:
    """Text before, between and after; a reference is kept as it is; a signature ends what it signs."""
    reference = {"type": "reference", "reference_ids": [1]}
    content = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "signature": "s", "closed": True},
        {"type": "thinking", "thinking": [{"type": "text", "text": "so"}]},
        {"type": "text", "text": "yes"},
        reference,
    ]
    decoder = chat("mistral")
    list(decoder.whole({"choices": [{"message": {"content": content}, "finish_reason": "stop"}]}))
    one, two, text, kept = decoder.reply.turn().blocks

    assert (one, text.text) == (Thinking("hm", one.residue), "yes")  # type: ignore[union-attr]
    assert one.residue is not None and two.residue is not None
    assert one.residue.data == {"thinking_chunk": {"signature": "s", "closed": True}}
    assert two.residue.data == {"thinking_chunk": {}}
    assert isinstance(kept, Opaque) and kept.residue is not None and kept.residue.data == {"part": reference}


def test_s_91_think_tags_are_thinking_only_where_the_dialect_says_so() -> None:
    """Plain OpenAI leaves them in the text."""
    pieces = [delta(content=piece) for piece in ("<th", "ink>hm</th", "ink>yes")]
    ends = [delta("stop"), DONE]
    told, plain = turn(chat("local", think_tags="think"), *pieces, *ends), turn(chat(), *pieces, *ends)

    assert (told.thinking, told.text) == ("hm", "yes")
    assert (plain.thinking, plain.text) == ("", "<think>hm</think>yes")


def test_s_91_a_template_may_have_opened_the_thinking_already() -> None:
    """The reply begins in the middle of it."""
    pieces = [delta(content=piece) for piece in ("h", "m</think>", "\n\nyes")]
    ended = turn(chat("local", think_tags="think", think_opened=True), *pieces, delta("stop"), DONE)

    assert (ended.thinking, ended.text) == ("hm", "yes")


def test_s_91_thinking_whose_opening_tag_is_missing_is_thinking_in_the_turn() -> None:
    """It was passed on as text before anyone could know; the turn has it right, from events too."""
    decoder = chat("local", think_tags="think")
    events = stream(
        decoder, *[delta(content=text) for text in ("h", "m</thi", "nk>", "yes")], delta("stop"), DONE
    )
    again = ReplyBuilder(origin("local"), "t.1")
    for event in events:
        again.feed(event)

    assert decoder.reply.turn().blocks == (Thinking("hm"), Text("yes"))
    assert again.turn().blocks == decoder.reply.turn().blocks


def test_words_before_a_stray_closing_tag_stay_visible() -> None:
    """Nothing follows the tag, so the words are the answer; before a call they are the thinking."""
    said = [delta(content=text) for text in ("Hel", "lo</thi", "nk>", "\n")]
    call = delta(tool_calls=[fragment(0, "a", "add", "{}")])
    alone = turn(chat("local", think_tags="think"), *said, delta("stop"), DONE)
    before_a_call = turn(chat("local", think_tags="think"), *said, call, delta("tool_calls"), DONE)

    assert (alone.text, alone.thinking) == ("Hello", "")
    assert (before_a_call.text, before_a_call.thinking) == ("", "Hello")
    assert len(before_a_call.tool_calls) == 1
