"""Fragments of calls become whole calls, under every key and in every disorder seen on real servers."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from turnout import ids
from turnout.diagnostic import CODES
from turnout.model import ToolCall
from turnout.streaming.events import StreamEvent, ToolCallComplete, ToolCallDelta, ToolCallStart
from turnout.streaming.tracker import ToolCallTracker

SOAK = bool(os.environ.get("TURNOUT_SOAK"))


def tracker() -> ToolCallTracker:
    return ToolCallTracker("openai", "t.1")


def chat(*fragments: tuple[Any, ...]) -> ToolCallTracker:
    """Chat fragments (index, id, name, arguments, position), and then the end of the reply."""
    calls = tracker()
    for fragment in fragments:
        calls.fragment(*fragment)
    calls.complete_all()
    return calls


def summary(calls: ToolCallTracker) -> list[tuple[str, str, dict[str, Any]]]:
    return [(call.raw_id, call.name, call.arguments) for call in calls.whole_calls()]


def codes(calls: ToolCallTracker) -> list[str]:
    return [note.code for note in calls.notes]


# -- laws

argument_values = st.dictionaries(
    st.sampled_from(["a", "b", "}{", "é"]),
    st.integers(0, 9) | st.text(st.sampled_from('{}"\\ é'), max_size=4) | st.lists(st.booleans(), max_size=2),
    max_size=3,
)


@st.composite
def split(draw: st.DrawFn, text: str) -> list[str]:
    places = sorted(draw(st.lists(st.integers(0, len(text)), max_size=4)))
    return [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]


@st.composite
def call_lists(draw: st.DrawFn) -> list[tuple[str, str, dict[str, Any], list[str]]]:
    """Calls with different ids: id, name, arguments, and the pieces their text comes in."""
    names = draw(st.lists(st.sampled_from(["read", "write", "ls"]), min_size=1, max_size=4))
    calls = []
    for number, name in enumerate(names):
        arguments = draw(argument_values)
        text = draw(st.just("") if not arguments else st.just(json.dumps(arguments)))
        calls.append((f"call_{number}", name, arguments, draw(split(text))))
    return calls


@st.composite
def chat_streams(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], list[tuple[str, str, dict[str, Any]]]]:
    """Fragments as some server sends them, and the calls that were meant."""
    calls = draw(call_lists())
    indexes = draw(st.sampled_from(["own", "zero", "none"]))
    repeats_id = draw(st.booleans())
    repeats_name = draw(st.booleans())
    empty = draw(st.sampled_from(["", None]))
    lanes = []
    for number, (raw_id, name, _, pieces) in enumerate(calls):
        index = {"own": number, "zero": 0, "none": None}[indexes]
        head = draw(heads(index, raw_id, name))
        tail_id, tail_name = raw_id if repeats_id else empty, name if repeats_name else empty
        lanes.append([head] + [[(index, tail_id, tail_name, piece)] for piece in pieces])
    meant = [(raw_id, name, arguments) for raw_id, name, arguments, _ in calls]
    if indexes == "own" or (repeats_id and indexes == "none"):
        lanes = [draw(interleaved(lanes))]
    return [fragment for lane in lanes for step in lane for fragment in step], meant


@st.composite
def heads(draw: st.DrawFn, index: int | None, raw_id: str, name: str) -> list[tuple[Any, ...]]:
    """How a call is announced: all at once, or name after id where the index tells whose it is."""
    whole = [(index, raw_id, name, "")]
    late_name = [(index, raw_id, None, None), (index, None, name, None)]
    pieces = [(index, raw_id, name[:1], None), (index, "", name[1:], "")]
    late_id = [(index, "", name, None), (index, raw_id, "", None)]
    return draw(st.sampled_from([whole, late_name, pieces, late_id] if index else [whole, [*whole, *whole]]))


@st.composite
def interleaved(draw: st.DrawFn, lanes: list[list[Any]]) -> list[Any]:
    """Any order in which each lane keeps its own; lanes begin in their order."""
    mixed: list[Any] = []
    begun = 0
    waiting = [list(lane) for lane in lanes]
    while any(waiting):
        ready = [n for n in range(min(begun + 1, len(waiting))) if waiting[n]]
        number = draw(st.sampled_from(ready)) if ready else begun
        begun = max(begun, number + 1)
        mixed.append(waiting[number].pop(0))
    return mixed


@st.composite
def shared_streams(draw: st.DrawFn) -> tuple[list[tuple[Any, ...]], list[tuple[str, dict[str, Any]]]]:
    """Fragments with an index of their own in any interleaving; ids are shared, repeated, late or missing.

    And the calls as they were meant: name and arguments, in the order in which they begin.
    """
    lanes, meant = [], []
    for index in range(draw(st.integers(1, 4))):
        name, values = draw(st.sampled_from(["read", "ls"])), draw(argument_values)
        raw_id = draw(st.sampled_from(["c1", "c1", "c2", None]))
        repeats_id, repeats_name = draw(st.booleans()), draw(st.booleans())
        tail_id, tail_name = raw_id if repeats_id else None, name if repeats_name else None
        head = [(index, raw_id if draw(st.booleans()) else None, name, draw(st.sampled_from(["", None])))]
        pieces = [piece for piece in draw(split(json.dumps(values) if values else "")) if piece]
        lanes.append([head, *([(index, tail_id, tail_name, piece)] for piece in pieces)])
        meant.append((name, values))
    return [fragment for step in draw(interleaved(lanes)) for fragment in step], meant


def by_index(fragments: Iterable[tuple[Any, ...]]) -> list[tuple[str, dict[str, Any]]]:
    """What the fragments say to a reader who looks at nothing but the index."""
    names: dict[int, str] = {}
    texts: dict[int, str] = {}
    for index, _, name, piece in fragments:
        names.setdefault(index, name)
        texts[index] = texts.get(index, "") + (piece or "")
    return [(names[index], json.loads(texts[index] or "{}")) for index in names]


@settings(max_examples=5000 if SOAK else 500, deadline=None)
@given(shared_streams())
def test_calls_with_indexes_of_their_own_are_told_apart_whatever_their_ids(
    stream: tuple[list[Any], list[Any]],
) -> None:
    """Servers that derive ids from tool names give two calls one id; the index tells them apart."""
    fragments, meant = stream
    calls = chat(*fragments)

    assert [(call.name, call.arguments) for call in calls.whole_calls()] == by_index(fragments) == meant
    assert len({call.id for call in calls.whole_calls()}) == len(meant)


def assert_orderly(events: Iterable[StreamEvent], calls: list[ToolCall], exact: bool = True) -> None:
    """Each call starts once, then grows, then completes once; starts come in the order of the calls."""
    texts: dict[str, str] = {}
    complete: list[str] = []
    for event in events:
        match event:
            case ToolCallStart(id):
                assert id not in texts
                texts[id] = ""
            case ToolCallDelta(id, text):
                assert id not in complete
                assert text
                texts[id] += text
            case ToolCallComplete(id):
                assert id in texts and id not in complete
                complete.append(id)
    whole = [call.id for call in calls]
    assert set(whole) == set(complete)
    assert [id for id in texts if id in complete] == whole
    if exact:
        assert [texts[call.id] for call in calls] == [call.raw for call in calls]


@settings(max_examples=5000 if SOAK else 500, deadline=None)
@given(chat_streams())
def test_chat_fragments_become_the_calls_that_were_meant(stream: tuple[list[Any], list[Any]]) -> None:
    """Own, shared or missing indexes, repeated ids and names, split or late names, any interleaving."""
    fragments, meant = stream
    calls = tracker()

    events = [event for fragment in fragments for event in calls.fragment(*fragment)]
    assert calls.whole_calls() == []
    events += calls.complete_all()

    assert summary(calls) == meant
    assert_orderly(events, calls.whole_calls())
    assert not calls.notes


@st.composite
def keyed_streams(draw: st.DrawFn) -> tuple[list[tuple[str, Any, Any]], list[Any]]:
    """Verbs under a trusted key. Deltas may come before the start."""
    calls = draw(call_lists())
    lanes = []
    for number, (raw_id, name, arguments, pieces) in enumerate(calls):
        start = ("start", number, (raw_id, name))
        deltas: list[tuple[str, Any, Any]] = [("append", number, piece) for piece in pieces]
        late = draw(st.integers(0, len(deltas)))
        text = "".join(pieces)
        ends = [[("set", number, text)], [], [("set", number, text), ("set", number, arguments or None)]]
        end = [*draw(st.sampled_from(ends)), ("complete", number, None)]
        lanes.append([*deltas[:late], start, *deltas[late:], *end])
    return draw(interleaved(lanes)), [(raw_id, name, arguments) for raw_id, name, arguments, _ in calls]


@settings(max_examples=3000 if SOAK else 300, deadline=None)
@given(keyed_streams())
def test_keyed_fragments_become_the_calls_that_were_meant(stream: tuple[list[Any], list[Any]]) -> None:
    """Any interleaving; deltas before their start; full arguments repeated at the end are not doubled."""
    verbs, meant = stream
    calls = tracker()
    events: list[StreamEvent] = []
    for verb, key, value in verbs:
        match verb:
            case "start":
                events += calls.start_call(key, *value)
            case "append":
                events += calls.append_args(key, value)
            case "set":
                events += calls.set_args(key, value)
            case _:
                events += calls.complete_call(key)

    found = summary(calls)
    assert sorted(found, key=str) == sorted(meant, key=str)
    assert_orderly(events, calls.whole_calls())


odd_fragments = st.tuples(
    st.sampled_from([None, 0, 1, 2, "0", 1.5, []]),
    st.sampled_from([None, "", "a", "b", "null", 7]),
    st.sampled_from([None, "", "f", "g", "h", 7]),
    st.sampled_from([None, "", "{}", '{"a":', "1}", "[1]", "null", {"a": 1}, {}, [1], 3, "\ud800", "\0"]),
    st.integers(0, 1),
)


@settings(max_examples=5000 if SOAK else 500, deadline=None)
@given(st.lists(odd_fragments, max_size=12), st.integers(0, 12))
def test_no_fragments_break_the_order_of_events(fragments: list[Any], end: int) -> None:
    """Whatever comes, calls start once, complete once, in order, and only whole ones are calls."""
    calls = tracker()
    events: list[StreamEvent] = []
    for at, fragment in enumerate(fragments):
        events += calls.fragment(*fragment)
        if at == end:
            events += calls.complete_all()
    events += calls.complete_all()

    assert_orderly(events, calls.whole_calls(), exact=False)
    assert not set(codes(calls)) - set(CODES)
    assert len({call.id for call in calls.whole_calls()}) == len(calls.whole_calls())


verbs = st.sampled_from(["start_call", "append_args", "set_args", "complete_call", "whole_call", "all"])
odd_texts = st.sampled_from(["", "a", "b", "{}", '{"a":', "1}"])


@settings(max_examples=3000 if SOAK else 300, deadline=None)
@given(st.lists(st.tuples(verbs, st.integers(0, 2), odd_texts, odd_texts), max_size=12))
def test_no_order_of_verbs_breaks_the_order_of_events(steps: list[tuple[str, int, str, str]]) -> None:
    """The same for keyed verbs in any order: stops without starts, overlapping starts, repeats."""
    calls = tracker()
    events: list[StreamEvent] = []
    for verb, key, one, two in steps:
        match verb:
            case "start_call":
                events += calls.start_call(key, one, two, arguments={"a": 1}, alias=one)
            case "append_args" | "set_args":
                events += getattr(calls, verb)(key, one, two)
            case "complete_call":
                events += calls.complete_call(key, one, two, arguments=one or None)
            case "whole_call":
                events += calls.whole_call(one, two, {"a": key})
            case _:
                events += calls.complete_all()
    events += calls.complete_all()

    assert_orderly(events, calls.whole_calls(), exact=False)


# -- facts

HEAD = (0, "a", "read", "")


def test_seed_use_under_item_ids() -> None:
    """The three verbs, as a Responses decoder uses them: announced, streamed, complete."""
    calls = tracker()
    call_id = ids.call_id("openai", "call_1", "read", "t.1", 0)

    assert list(calls.start_call("fc_1", "call_1", "read")) == [ToolCallStart(call_id, "read")]
    assert list(calls.append_args("fc_1", '{"path"')) == [ToolCallDelta(call_id, '{"path"')]
    assert list(calls.append_args("fc_1", ': "a"}')) == [ToolCallDelta(call_id, ': "a"}')]
    assert list(calls.complete_call("fc_1")) == [ToolCallComplete(call_id)]
    assert calls.whole_calls() == [ToolCall(call_id, "read", {"path": "a"}, "call_1", '{"path": "a"}')]
    assert calls.id_of("fc_1") == call_id
    assert calls.id_of("fc_2") == ""


def test_an_unfinished_call_is_never_a_call() -> None:
    """A stream that dies before the end leaves nothing behind, whole as the text may look."""
    calls = tracker()
    calls.start_call(0, "a", "read")
    calls.append_args(0, "{}")

    assert calls.whole_calls() == []


def test_new_ids_without_indexes_open_new_calls() -> None:
    """Gemini's Chat endpoint and some gateways send no index; no id continues the latest call."""
    calls = chat((None, "a", "read", '{"x":'), (None, None, None, "1}"), (None, "b", "read", "{}"))

    assert summary(calls) == [("a", "read", {"x": 1}), ("b", "read", {})]


def test_new_ids_at_index_zero_open_new_calls() -> None:
    """Ollama and some proxies send index 0 for every parallel call."""
    calls = chat((0, "a", "read", "{}"), (0, "b", "read", '{"x":'), (0, "", "", "1}"))

    assert summary(calls) == [("a", "read", {}), ("b", "read", {"x": 1})]


def test_whole_calls_without_ids_are_told_apart_by_their_text() -> None:
    """With one index and no ids, an object after a whole object begins a new call."""
    calls = chat((0, None, "read", '{"x":1}'), (0, None, "read", '{"x":2}'), (0, None, "ls", "{}"))

    assert summary(calls) == [("", "read", {"x": 1}), ("", "read", {"x": 2}), ("", "ls", {})]


def test_entries_of_one_list_are_different_calls() -> None:
    """Two entries of one delta without ids and indexes are two calls."""
    calls = chat((None, None, "read", "", 0), (None, None, "read", "", 1))

    assert summary(calls) == [("", "read", {}), ("", "read", {})]


def test_one_id_for_two_calls() -> None:
    """Some servers derive ids from the tool's name: another index and a whole object tell."""
    calls = chat((0, "a", "read", '{"x":1}'), (1, "a", "read", '{"x":2}'), (2, "a", "ls", "{}"))

    assert summary(calls) == [("a", "read", {"x": 1}), ("a", "read", {"x": 2}), ("a", "ls", {})]
    assert len({call.id for call in calls.whole_calls()}) == 3
    assert summary(chat((0, "a", "read", '{"x":'), (1, "a", "ls", "{}"), (0, None, None, "1}"))) == [
        ("a", "read", {"x": 1}),
        ("a", "ls", {}),
    ]


def test_two_calls_that_share_an_id_and_stream_their_arguments_are_two() -> None:
    """The second one's name comes without arguments; neither call runs with the other's."""
    one = chat(
        (0, "c1", "read", ""),
        (0, None, None, '{"p":"a"}'),
        (1, "c1", "read", ""),
        (1, None, None, '{"p":"b"}'),
    )
    mixed = chat(
        (0, "c1", "read", ""),
        (1, "c1", "read", ""),
        (1, "c1", None, '{"p":"b"}'),
        (0, "c1", None, '{"p":"a"}'),
    )

    assert summary(one) == summary(mixed) == [("c1", "read", {"p": "a"}), ("c1", "read", {"p": "b"})]


def test_an_id_counts_more_than_an_index_that_names_nobody() -> None:
    """Without a name nothing begins: such a fragment continues the call of its id."""
    counted_up = chat((0, "c1", "read", ""), (1, "c1", None, '{"p":'), (2, "c1", None, '"a"}'))
    all_zero = chat(
        (0, "a", "read", '{"p":'), (0, "b", "read", '{"q":'), (0, "a", None, "1}"), (0, "b", None, "2}")
    )

    assert summary(counted_up) == [("c1", "read", {"p": "a"})]
    assert summary(all_zero) == [("a", "read", {"p": 1}), ("b", "read", {"q": 2})]


def test_the_same_call_sent_again_is_one_call() -> None:
    """Id, name and arguments agree: nothing new was said."""
    made = chat(*[(0, "a", "read", '{"x":1}')] * 20)
    assert summary(made) == [("a", "read", {"x": 1})] and codes(made) == []


def test_a_new_id_and_name_without_index_are_a_new_call() -> None:
    """Also when the call before has neither id nor arguments."""
    assert summary(chat((None, None, "read", ""), (None, "b", "ls", ""))) == [
        ("", "read", {}),
        ("b", "ls", {}),
    ]


def test_what_comes_after_the_end_changes_nothing() -> None:
    """Servers repeat fragments with the usage chunk; a call that is whole stays as it is."""
    calls = chat((0, "a", "read", '{"x":1}'))
    for fragment in ((0, None, None, "{}"), (0, "a", "read", {"x": 2}), (0, None, "read", '{"x":2}')):
        assert not calls.fragment(*fragment)
    assert not calls.complete_all()

    assert summary(calls) == [("a", "read", {"x": 1})]


def test_arguments_at_a_wrong_index_go_to_the_sole_open_call() -> None:
    """Nebius and Cerebras count the index up with every delta."""
    calls = chat(HEAD, (1, None, None, '{"x":'), (2, None, None, "1}"))

    assert summary(calls) == [("a", "read", {"x": 1})]
    assert codes(calls) == ["misplaced_arguments"]


def test_arguments_after_a_whole_object_wait_for_their_own_call() -> None:
    """At an unknown index, a new object is not more of one that is whole."""
    calls = chat((0, "a", "read", "{}"), (1, None, None, '{"x":'), (1, "b", "ls", "1}"))

    assert summary(calls) == [("a", "read", {}), ("b", "ls", {"x": 1})]


def test_arguments_that_could_be_anyones_are_nobodys() -> None:
    """With two calls open, stray arguments leave the call without any marked, so that it is not run."""
    calls = chat((0, "a", "read", "{}"), (1, "b", "ls", ""), (2, None, None, '{"x":1}'))

    assert [(call.name, call.fault) for call in calls.whole_calls()] == [("read", ""), ("ls", "ambiguous")]
    assert codes(calls) == ["nameless_call", "ambiguous_arguments"]


def test_arguments_may_come_before_the_name() -> None:
    """The start is held until the name is known, and what came meanwhile follows it."""
    calls = tracker()

    assert not calls.fragment(0, "a", None, '{"x":')
    start, delta = calls.fragment(0, None, "read", "1}")
    assert isinstance(start, ToolCallStart) and start.name == "read"
    assert isinstance(delta, ToolCallDelta) and delta.args_delta == '{"x":1}'


def test_a_repeated_name_is_not_a_piece_of_it() -> None:
    """Names repeated in every delta stay; pieces of a name are joined until arguments begin."""
    repeated = chat((0, "a", "read", ""), (0, "a", "read", '{"x"'), (0, "a", "read", ":1}"))
    pieces = chat((0, "a", "re", None), (0, None, "ad", None), (0, None, "", "{}"))

    assert summary(repeated) == [("a", "read", {"x": 1})]
    assert summary(pieces) == [("a", "read", {})]


def test_an_id_may_change_or_come_in_pieces() -> None:
    """An id without a name is no new call once arguments flow; before, it is more of the id."""
    changed = chat((0, "a", "read", ""), (0, "b", None, '{"x":'), (0, "c", None, "1}"), (0, "d", None, ""))
    announced = chat(
        (0, "a", "read", '{"x":'), (0, "b", None, ""), (0, None, None, "1"), (0, None, None, "}")
    )
    pieces = chat((0, "call_", "read", None), (0, "17", None, None), (0, None, None, "{}"))

    assert summary(changed) == [("a", "read", {"x": 1})]
    assert summary(announced) == [("a", "read", {"x": 1})]
    assert summary(pieces) == [("call_17", "read", {})]


def test_a_new_call_may_give_its_id_before_its_name() -> None:
    """At a shared index, a new id without arguments waits for the name."""
    calls = chat(
        (0, "a", "read", "{}"), (0, "b", None, None), (0, None, "ls", None), (0, None, None, '{"x":1}')
    )

    assert summary(calls) == [("a", "read", {}), ("b", "ls", {"x": 1})]


def test_null_is_no_id() -> None:
    """Older Mistral models write the word where they have no id."""
    calls = chat((0, "null", "read", "{}"), (1, "null", "ls", "{}"))

    assert summary(calls) == [("", "read", {}), ("", "ls", {})]


@pytest.mark.parametrize(
    ("pieces", "arguments", "fault"),
    [
        ([""], {}, ""),
        ([None], {}, ""),
        ([], {}, ""),
        (["", "{}"], {}, ""),
        (["null"], {}, ""),
        ([{"x": 1}], {"x": 1}, ""),
        ([{"x": 1}, {"x": 1}], {"x": 1}, ""),
        (['"{\\"x\\": 1}"'], {"x": 1}, "double_encoded"),
        (['{"x": "\\ud800"}'], {"x": "\ufffd"}, ""),
        (['{"x": "half'], {}, "truncated"),
        (["{x: 1}"], {}, "not_json"),
    ],
)
def test_what_arguments_mean(pieces: list[Any], arguments: dict[str, Any], fault: str) -> None:
    """Text, objects, null and nothing; what is no object is marked, so that it is not run."""
    (call,) = chat((0, "a", "read", None), *((0, None, None, piece) for piece in pieces)).whole_calls()

    assert (call.arguments, call.fault) == (arguments, fault)


def test_the_text_of_arguments_is_kept() -> None:
    """What the model wrote stays as it was, JSON or not."""
    (call,) = chat(HEAD, (0, None, None, "{x: "), (0, None, None, "1}")).whole_calls()

    assert call.raw == "{x: 1}"


def test_the_text_of_arguments_can_be_sent_again() -> None:
    """NUL and lone surrogates, which servers refuse, do not survive in it."""
    (call,) = chat(HEAD, (0, None, None, "{\0\ud800")).whole_calls()

    assert call.raw == "{\ufffd\ufffd"


def test_arguments_that_are_no_object_are_marked() -> None:
    """A list is JSON and still no arguments."""
    (call,) = chat(HEAD, (0, None, None, "[1]")).whole_calls()

    assert call.fault == "not_object"


def test_full_arguments_at_the_end_are_not_doubled() -> None:
    """The last word adds what is missing, replaces what differs, and repeats nothing."""
    calls = tracker()
    calls.start_call(0, "a", "read")
    calls.append_args(0, '{"x"')
    (rest,) = calls.set_args(0, '{"x":1}')

    assert isinstance(rest, ToolCallDelta) and rest.args_delta == ":1}"
    assert not calls.set_args(0, '{"x":1}')
    assert not calls.set_args(0, "")
    (complete,) = calls.complete_call(0, "a", "read", arguments='{"x":2}')
    assert isinstance(complete, ToolCallComplete)
    assert not calls.complete_call(0, "a", "read", arguments='{"x":2}')
    assert summary(calls) == [("a", "read", {"x": 2})]
    assert codes(calls) == ["replaced_arguments"]


def test_the_last_word_may_come_after_the_end() -> None:
    """What a later event says of a whole call stands, and nothing is emitted twice."""
    calls = tracker()
    calls.start_call(0, "a", "read")
    calls.append_args(0, '{"x"')
    calls.complete_call(0)
    assert calls.whole_calls()[0].fault == "truncated"

    assert not calls.complete_call(0, arguments='{"x":1}')
    assert summary(calls) == [("a", "read", {"x": 1})]


def test_arguments_as_objects_under_a_key() -> None:
    """An object where text is expected is taken as the whole."""
    calls = tracker()
    calls.start_call(0, "a", "read")
    calls.append_args(0, {"x": 1})  # type: ignore[arg-type]
    calls.complete_call(0)

    assert summary(calls) == [("a", "read", {"x": 1})]


def test_a_call_known_only_by_its_end() -> None:
    """`output_item.done` alone gives start, arguments and end."""
    events = tracker().complete_call(3, "call_1", "read", arguments='{"x":1}')

    assert [type(event) for event in events] == [ToolCallStart, ToolCallDelta, ToolCallComplete]


def test_a_second_key_finds_the_same_call() -> None:
    """Known by output index and item id: either will do."""
    calls = tracker()
    calls.start_call(0, "call_1", "read", alias="fc_1")
    calls.append_args("fc_1", "{")
    calls.append_args(9, '"x":1}', alias="fc_1")
    calls.complete_call(0)

    assert summary(calls) == [("call_1", "read", {"x": 1})]


def test_arguments_named_at_the_start_count_if_none_follow() -> None:
    """Anthropic writes `input: {}` at the start of every block and streams the real one (seed 002)."""
    calls = tracker()
    calls.start_call(0, "a", "read", arguments={})
    calls.append_args(0, '{"x":1}')
    calls.complete_call(0)
    calls.start_call(1, "b", "read", arguments={"x": 2})
    events = calls.complete_call(1)
    calls.start_call(2, "c", "read", arguments={"x": 3})
    calls.append_args(2, '{"x":4}')
    calls.complete_call(2)

    assert summary(calls) == [("a", "read", {"x": 1}), ("b", "read", {"x": 2}), ("c", "read", {"x": 4})]
    assert [type(event) for event in events] == [ToolCallDelta, ToolCallComplete]


def test_a_stop_without_a_start_is_nothing() -> None:
    """Unknown keys complete nothing, and arguments that never get a name are no call."""
    calls = tracker()
    assert not calls.complete_call(0)
    calls.append_args(1, "{}")
    calls.complete_call(1)

    assert calls.whole_calls() == []
    assert codes(calls) == ["nameless_call"]


def test_a_start_at_an_occupied_key_is_another_call() -> None:
    """Overlapping block indexes: the later block owns the key; the earlier never stopped."""
    calls = tracker()
    calls.start_call(0, "a", "read")
    calls.start_call(0, "b", "ls")
    calls.append_args(0, '{"x":1}')
    calls.complete_call(0)

    assert summary(calls) == [("b", "ls", {"x": 1})]


def test_whole_calls_repeated_under_one_id_are_one() -> None:
    """Gemini may send a call again in the next chunk; other arguments make it another call."""
    calls = tracker()
    calls.whole_call("a", "read", {"x": 1})
    assert not calls.whole_call("a", "read", {"x": 1})
    calls.whole_call("a", "read", {"x": 2})
    calls.whole_call("", "read", {"x": 1})
    calls.whole_call("", "read", {"x": 1})

    assert [call.arguments["x"] for call in calls.whole_calls()] == [1, 2, 1, 1]


def test_starts_keep_the_order_of_the_calls() -> None:
    """A later call waits for an earlier one that has no name yet."""
    calls = tracker()
    assert not calls.fragment(0, "a", None, None)
    assert not calls.fragment(1, "b", "ls", "{}")
    events = calls.fragment(0, None, "read", "{}")

    assert [event.name for event in events if isinstance(event, ToolCallStart)] == ["read", "ls"]


def test_a_name_is_whole_when_the_next_call_begins() -> None:
    """A call without arguments is announced once another follows it."""
    calls = tracker()
    assert not calls.fragment(0, "a", "read", "")
    (start,) = calls.fragment(1, "b", "ls", "")

    assert isinstance(start, ToolCallStart) and start.name == "read"


def test_canonical_ids_follow_from_the_call() -> None:
    """Provider, raw id, name, turn key and place among the calls: the same stream, the same ids."""
    first, second = chat(HEAD, (1, "b", "ls", "{}")).whole_calls()

    assert first.id == ids.call_id("openai", "a", "read", "t.1", 0)
    assert second.id == ids.call_id("openai", "b", "ls", "t.1", 1)


@pytest.mark.parametrize(
    "fragment",
    [
        pytest.param((0, None, None, "{}"), id="plain"),
        pytest.param((0, "a", "read", "{}"), id="with id and name every time"),
        pytest.param((9, None, None, "{}"), id="astray"),
        pytest.param((0, None, "read", "{}"), id="with a name every time"),
        pytest.param((0, None, None, {"x": 1}), id="as objects"),
    ],
)
def test_many_fragments_cost_their_number(fragment: tuple[Any, ...]) -> None:
    """Ten times the fragments take about ten times as long, odd ones too."""

    def seconds(count: int) -> float:
        calls = tracker()
        calls.fragment(0, "a", "read", '{"x": "' + "y" * 50 * count)
        start = time.process_time()
        for _ in range(count):
            calls.fragment(*fragment)
        return time.process_time() - start

    assert min(seconds(20_000) for _ in range(2)) < 40 * min(seconds(2_000) for _ in range(3)) + 0.05
