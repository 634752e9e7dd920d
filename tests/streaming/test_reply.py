"""A reply is put together in block order, from a decoder's verbs or from events alone."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.replies import ORIGIN, rebuilt, said

from turnout.errors import ProviderError, StreamError
from turnout.model import Code, Media, Opaque, Residue, Text, Thinking, ToolCall, Usage
from turnout.streaming.events import (
    Done,
    Error,
    OpaqueBlock,
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallStart,
)
from turnout.streaming.reply import ReplyBuilder


@pytest.fixture
def reply() -> ReplyBuilder:
    return ReplyBuilder(ORIGIN, "turn")


def kinds(reply: ReplyBuilder) -> list[type]:
    return [type(block) for block in reply.turn().blocks]


def test_text_grows_in_one_block(reply: ReplyBuilder) -> None:
    """Pieces of text that follow each other are one block, and each piece is an event."""
    events = [*reply.text("One "), *reply.text("two.")]

    assert events == [TextDelta("One "), TextDelta("two.")]
    assert reply.turn().blocks == (Text("One two."),)


def test_nothing_said_is_no_event(reply: ReplyBuilder) -> None:
    """Empty deltas, which servers send to keep a stream alive, are passed over."""
    assert [*reply.text(""), *reply.thinking(""), *reply.end_thinking()] == []
    assert reply.turn().blocks == ()


def test_text_ends_the_thinking_before_it(reply: ReplyBuilder) -> None:
    """Servers without an end of thinking just go on with text."""
    events = [*reply.thinking("Hm."), *reply.text("Yes.")]

    assert events == [ThinkingDelta("Hm."), ThinkingEnd(None), TextDelta("Yes.")]
    assert reply.turn().blocks == (Thinking("Hm."), Text("Yes."))


def test_a_call_ends_the_thinking_before_it(reply: ReplyBuilder) -> None:
    """So that a user interface never shows a call inside a thought."""
    events = [*reply.thinking("Hm."), *reply.whole_call("a", "look", {})]

    assert [type(event) for event in events[:3]] == [ThinkingDelta, ThinkingEnd, ToolCallStart]


def test_residue_rides_on_the_thinking_it_came_with(reply: ReplyBuilder) -> None:
    """Interleaved thoughts keep their own signatures and their places."""
    reply.thinking("First.")
    reply.end_thinking({"signature": "1"})
    reply.text("So.")
    reply.thinking("Second.")
    reply.end_thinking({"signature": "2"})

    assert reply.turn().blocks == (
        Thinking("First.", Residue(ORIGIN, {"signature": "1"})),
        Text("So."),
        Thinking("Second.", Residue(ORIGIN, {"signature": "2"})),
    )


def test_hidden_thinking_is_an_empty_block_with_residue(reply: ReplyBuilder) -> None:
    """Redacted reasoning has no text, and still has to be sent back."""
    assert [*reply.end_thinking({"redacted": "x"})] == [ThinkingEnd(Residue(ORIGIN, {"redacted": "x"}))]
    assert reply.turn().blocks == (Thinking("", Residue(ORIGIN, {"redacted": "x"})),)


def test_unfinished_thinking_has_no_residue(reply: ReplyBuilder) -> None:
    """An aborted stream has no signature, so its thinking is never sent back as signed."""
    reply.thinking("Half a th")
    reply.fail("network", "connection reset")

    assert reply.turn().blocks == (Thinking("Half a th"),)


def test_a_call_stands_where_it_started(reply: ReplyBuilder) -> None:
    """Text that comes while a call's arguments still stream stands behind the call."""
    reply.text("Before.")
    reply.start_call(0, "a", "look")
    reply.append_args(0, '{"at":')
    reply.text("Between.")
    reply.start_call(1, "b", "look")
    reply.complete_call(1)
    reply.append_args(0, " 1}")
    reply.complete_call(0)

    assert kinds(reply) == [Text, ToolCall, Text, ToolCall]
    assert [call.arguments for call in reply.turn().tool_calls] == [{"at": 1}, {}]


def test_an_unfinished_call_never_was_one(reply: ReplyBuilder) -> None:
    """S-103: a stream that breaks off leaves whole calls only, in a turn that is marked interrupted."""
    reply.whole_call("a", "look", {})
    reply.start_call(1, "b", "write")
    reply.append_args(1, '{"path": "x"}')
    reply.fail("truncated", "the stream ended")

    turn = reply.turn()
    assert [call.raw_id for call in turn.tool_calls] == ["a"]
    assert turn.stop == "interrupted"


def test_a_turn_that_has_not_ended_is_interrupted(reply: ReplyBuilder) -> None:
    """Whoever asks before the end gets what there is, and can tell."""
    reply.text("One")

    assert reply.turn().stop == "interrupted"


@pytest.mark.parametrize(
    ("stop", "calls", "normal"),
    [
        ("end", 1, "tool_calls"),
        ("other", 1, "tool_calls"),
        ("tool_calls", 1, "tool_calls"),
        ("tool_calls", 0, "end"),
        ("length", 1, "length"),
        ("paused", 1, "paused"),
        ("end", 0, "end"),
    ],
)
def test_calls_are_counted(reply: ReplyBuilder, stop: Any, calls: int, normal: str) -> None:
    """S-98: servers say stop although there are calls, and tool_calls although there are none."""
    for number in range(calls):
        reply.whole_call(str(number), "look", {})

    assert reply.done(stop, "raw")[-1] == Done(normal, "raw")  # type: ignore[arg-type]
    assert (reply.turn().stop, reply.turn().raw_stop) == (normal, "raw")


def test_nothing_follows_the_end(reply: ReplyBuilder) -> None:
    """After Done or Error every verb is silent and the turn stays as it is."""
    draft = reply.open_text()
    reply.text("One.")
    reply.start_call(0, "a", "look")
    reply.done("end", "stop")
    before = reply.turn()

    reply.resume(draft)
    later = [
        *reply.text("x"),
        *reply.thinking("x"),
        *reply.end_thinking({"signature": "x"}),
        *reply.start_call(1, "b", "look"),
        *reply.append_args(0, "{}"),
        *reply.fragment(2, "c", "look", "{}"),
        *reply.set_args(0, {}),
        *reply.complete_call(0),
        *reply.whole_call("d", "look", {}),
        *reply.complete_all(),
        *reply.opaque(Opaque("x")),
        *reply.usage(Usage(1)),
        *reply.done("end"),
        *reply.fail("server", "x"),
    ]
    reply.mark_text({"x": 1})
    assert later == []
    assert reply.turn() == before


def test_usage_is_given_out_once(reply: ReplyBuilder) -> None:
    """Some servers count in every chunk; the last word stands and comes before the end."""
    assert [*reply.usage(Usage(1, 1)), *reply.usage(Usage(1, 5))] == []
    assert list(reply.done("end")) == [Usage(1, 5), Done("end", "", Usage(1, 5))]
    assert reply.turn().usage == Usage(1, 5)


def test_usage_that_is_counted_late_is_there_when_asked_for(reply: ReplyBuilder) -> None:
    """A decoder may put off the counting; a reply that fails elsewhere still has it."""
    reply.count = lambda: Usage(7)

    assert reply.turn().usage == Usage(7)
    assert list(reply.fail("network", "reset")) == [Usage(7), Error("network", "reset")]


def test_what_is_counted_after_the_end_does_not_count(reply: ReplyBuilder) -> None:
    """The turn says what its last event said."""
    counted: list[Usage] = []
    reply.count = lambda: counted[-1] if counted else None
    reply.fail("malformed", "not JSON")
    counted.append(Usage(7))

    assert reply.turn().usage is None


def test_a_failure_carries_the_turn_so_far(reply: ReplyBuilder) -> None:
    """What had arrived is not lost with the exception."""
    reply.text("Once upon")
    reply.fail("truncated", "cut")

    assert isinstance(reply.failure, StreamError)
    assert reply.failure.kind == "truncated"
    assert reply.failure.turn == reply.turn()
    assert reply.turn().text == "Once upon"


def test_a_provider_s_own_failure_is_kept(reply: ReplyBuilder) -> None:
    """An error inside a stream is the provider's, with its code and kind."""
    cause = ProviderError("Overloaded", kind="overloaded", code="overloaded_error")
    reply.fail(cause.kind, cause.message, cause)

    assert reply.failure is cause
    assert cause.turn is not None


def test_marks_go_to_their_blocks(reply: ReplyBuilder) -> None:
    """Residue of a text, of a call and of the whole reply."""
    reply.text("Said.")
    reply.mark_text({"citations": [1]})
    reply.whole_call("a", "look", {}, key="k")
    reply.mark_call("k", {"thought_signature": "s"})
    reply.mark_call("unknown", {"thought_signature": "t"})
    reply.mark_reply({"id": "r"})
    turn = reply.turn()

    text, call = turn.blocks
    assert text.residue == Residue(ORIGIN, {"citations": [1]})
    assert call.residue == Residue(ORIGIN, {"thought_signature": "s"})
    assert turn.residue == Residue(ORIGIN, {"id": "r"})


def test_a_mark_without_text_makes_an_empty_block(reply: ReplyBuilder) -> None:
    """Gemini ends some replies with an empty part that only carries a signature."""
    reply.whole_call("a", "look", {})
    reply.mark_text({"thought_signature": "s"})

    assert reply.turn().blocks[-1] == Text("", Residue(ORIGIN, {"thought_signature": "s"}))


def test_an_empty_text_between_thoughts_stays(reply: ReplyBuilder) -> None:
    """Signed thoughts are counted by position; elsewhere an empty block is left out."""
    reply.open_text()
    reply.thinking("a")
    reply.end_thinking({"signature": "1"})
    reply.open_text()
    reply.thinking("b")
    reply.end_thinking({"signature": "2"})
    reply.open_text()

    assert kinds(reply) == [Thinking, Text, Thinking]


def test_whole_blocks_keep_their_place(reply: ReplyBuilder) -> None:
    """Media, code and blocks of one provider stand where they came."""
    blocks = (Opaque("search", "q"), Media("image/png", "aGk="), Code("1+1", "python", "2"))
    events = []
    for block in blocks:
        reply.text("-")
        events += reply.opaque(block)

    assert events == [OpaqueBlock(block) for block in blocks]
    assert kinds(reply) == [Text, Opaque, Text, Media, Text, Code]


def test_text_that_no_server_takes_is_cleaned(reply: ReplyBuilder) -> None:
    """NUL and lone surrogates are replaced where they enter."""
    assert list(reply.text("a\0b")) == [TextDelta("a\ufffdb")]
    reply.text("\ud800")

    reply.turn().text.encode()


text = st.text(max_size=5)
keys = st.integers(0, 2)
verbs = st.one_of(
    st.tuples(st.just("text"), text),
    st.tuples(st.just("thinking"), text),
    st.tuples(st.just("end_thinking"), st.none() | st.just({"signature": "s"})),
    st.tuples(
        st.just("start_call"), keys, st.sampled_from(["", "id1", "id2"]), st.sampled_from(["", "a", "b"])
    ),
    st.tuples(st.just("append_args"), keys, st.sampled_from(["{", '"x": 1', "}", "{}", "null", "\0"])),
    st.tuples(st.just("complete_call"), keys),
    st.tuples(st.just("whole_call"), st.sampled_from(["", "id3"]), st.just("c"), st.just({"y": 2})),
    st.tuples(st.just("opaque"), st.just(Opaque("k", "t"))),
    st.tuples(st.just("usage"), st.just(Usage(1, 2))),
)
ends = st.one_of(
    st.tuples(st.just("done"), st.sampled_from(["end", "tool_calls", "length"]), st.just("raw")),
    st.tuples(st.just("fail"), st.just("network"), st.just("reset")),
)


@given(st.lists(verbs, max_size=20), ends)
@example([("start_call", 0, "", "a"), ("complete_call", 0)], ("done", "length", "raw"))
def test_events_alone_give_the_same_turn(script: list[tuple[Any, ...]], end: tuple[Any, ...]) -> None:
    """Whoever sees only the events puts the same text, thinking and calls together, in the same order."""
    reply = ReplyBuilder(ORIGIN, "turn")
    events = [event for verb, *given in [*script, end] for event in getattr(reply, verb)(*given)]

    assert said(rebuilt(events)) == said(reply.turn())
    assert [type(block) for block in rebuilt(events).blocks] == kinds(reply)


@given(st.lists(verbs, max_size=20), ends)
def test_a_reply_ends_once(script: list[tuple[Any, ...]], end: tuple[Any, ...]) -> None:
    """Exactly one Done or Error, and it is the last event."""
    reply = ReplyBuilder(ORIGIN, "turn")
    events = [
        event for verb, *given in [*script, end, *script, end] for event in getattr(reply, verb)(*given)
    ]

    assert [isinstance(event, Done | Error) for event in events] == [False] * (len(events) - 1) + [True]


def test_events_alone_hold_the_blocks_and_their_residues(reply: ReplyBuilder) -> None:
    """Two texts side by side, a signed empty text, a signed call and the reply's own id survive."""
    events = [
        *reply.text("one"),
        *(reply.open_text() and ()),
        *reply.text("two"),
        *reply.end_text({"citations": [1]}),
        *reply.end_text({"thought_signature": "s"}),
        *reply.whole_call("a", "look", {"x": 1}, data={"thought_signature": "t"}),
    ]
    reply.mark_reply({"id": "r"})
    events += reply.done("end", "STOP")
    copy = ReplyBuilder(reply.origin, reply.turn_key)
    for event in events:
        copy.feed(event)
    call = reply.turn().tool_calls[0]

    assert len(reply.turn().blocks) == 4
    assert copy.turn().blocks[:3] == reply.turn().blocks[:3]
    assert copy.turn().tool_calls[0].residue == call.residue is not None
    assert copy.turn().residue == reply.turn().residue is not None
