"""Whose a fragment is, case by case: what the laws of the tracker allow but do not say."""

from __future__ import annotations

from typing import Any

import pytest
from tests.streaming.test_tracker import chat, codes, summary, tracker

A, B = {"p": "a"}, {"q": "b"}


def calls_of(*fragments: tuple[Any, ...]) -> list[tuple[str, dict[str, Any]]]:
    """Names and arguments of the calls that these fragments make."""
    return [(name, arguments) for _, name, arguments in summary(chat(*fragments))]


@pytest.mark.parametrize("second", [(1, None, "ls"), (1, "c2", None)])
def test_a_name_or_an_id_at_a_new_index_begins_a_call(second: tuple[Any, ...]) -> None:
    """Though the first call is still under way: what follows is not put into that one."""
    named = [] if second[2] else [(1, None, "ls", None)]
    made = chat(
        (0, "c1", "read", '{"p":'),
        (*second, None),
        *named,
        (1, None, None, '{"q":"b"}'),
        (0, None, None, '"a"}'),
    )
    assert [(name, values) for _, name, values in summary(made)] == [("read", A), ("ls", B)]
    assert codes(made) == []


def test_a_name_that_is_repeated_without_an_index_is_the_same_call() -> None:
    """While its arguments are not whole; at the first place of the list there is nothing to tell it apart."""
    assert calls_of((None, None, "read", '{"p":'), (None, None, "read", '"a"}')) == [("read", A)]


def test_two_places_of_one_list_are_two_calls_only_without_an_index() -> None:
    """With one, the index tells; a name that is repeated there begins nothing."""
    assert calls_of(
        (0, None, "read", '{"p":', 0),
        (1, None, "ls", '{"q":', 1),
        (0, None, "read", '"a"}', 0),
        (1, None, "ls", '"b"}', 1),
    ) == [("read", A), ("ls", B)]
    assert calls_of((None, None, "read", '{"p":"a"}', 0), (None, None, "read", '{"q":"b"}', 1)) == [
        ("read", A),
        ("read", B),
    ]


def test_arguments_without_anything_continue_the_latest_call() -> None:
    """That is where they belong, so nothing is noted."""
    made = chat((None, "c1", "read", "{}"), (None, "c2", "ls", '{"q":'), (None, None, None, '"b"}'))
    assert [(name, values) for _, name, values in summary(made)] == [("read", {}), ("ls", B)]
    assert codes(made) == []


def test_a_shared_id_goes_by_its_index() -> None:
    """Also where the fragments that follow repeat it."""
    assert calls_of(
        (0, "c1", "read", '{"p":'),
        (1, "c1", "read", '{"q":'),
        (1, "c1", None, '"b"}'),
        (0, "c1", None, '"a"}'),
    ) == [("read", A), ("read", B)]


@pytest.mark.parametrize(
    ("again", "calls"),
    [
        ('{"p":"a"}', [("read", A)]),  # the same once more
        ('{"q":"b"}', [("read", A), ("read", B)]),  # a server that makes ids of names
    ],
)
def test_an_id_that_is_used_again_with_whole_arguments(again: str, calls: list[Any]) -> None:
    """Without an index and with the same one."""
    assert calls_of((None, "c1", "read", '{"p":"a"}'), (None, "c1", "read", again)) == calls
    assert calls_of((0, "c1", "read", '{"p":"a"}'), (0, "c1", "read", again)) == calls


@pytest.mark.parametrize(
    ("first", "then", "calls"),
    [
        ('{"p":', '"a"}', [("read", A)]),
        ('{"p":"a"}', "", [("read", A)]),
        ('{"p":{}', "}", [("read", {"p": {}})]),  # ends with a brace, but is not whole
        ('{"p":"}', '{"}', [("read", {"p": "}{"})]),
    ],
)
def test_a_repeated_id_and_name_continue_arguments_that_are_not_whole(
    first: str, then: str, calls: list[Any]
) -> None:
    """Braces inside a text neither end nor begin anything."""
    assert calls_of((0, "c1", "read", first), (0, "c1", "read", then)) == calls


@pytest.mark.parametrize("index", [0, None])
@pytest.mark.parametrize("raw_id", ["c1", ""])
@pytest.mark.parametrize("start", ["", None])
def test_a_name_after_whole_arguments_begins_a_call_only_if_arguments_follow(
    index: int | None, raw_id: str, start: str | None
) -> None:
    """The second call may stand at the first one's index, under its id, and stream its arguments."""
    begin = (index, raw_id, "read", start)
    first = [begin, (index, None, None, '{"p":'), (index, None, None, '"a"}')]
    second = [begin, (index, None, None, " "), (index, None, None, '{"q":'), (index, None, None, '"b"}')]
    assert calls_of(*first, *second) == [("read", A), ("read", B)]
    assert calls_of(*first, begin, begin) == [("read", A)]
    assert calls_of(*first, *second, *first) == [("read", A), ("read", B), ("read", A)]


def test_an_id_that_changes_is_noted() -> None:
    """Its arguments continue the call that was there; the first id stands."""
    made = chat((0, "c1", "read", '{"p":'), (0, "c2", None, '"a"}'))
    assert summary(made) == [("c1", "read", A)]
    assert [(note.code, note.detail) for note in made.notes] == [("changed_id", "c2")]


def test_an_id_without_a_name_or_arguments_waits_for_what_follows() -> None:
    """A name makes it a call; arguments alone continue the one before, under its first id."""
    named = chat((0, "c1", "read", '{"p":"a"}'), (0, "c2", None, None), (0, None, "ls", '{"q":"b"}'))
    assert summary(named) == [("c1", "read", A), ("c2", "ls", B)] and codes(named) == []
    bare = chat((0, "c1", "read", '{"p":'), (0, "c2", None, None), (0, None, None, '"a"}'))
    assert summary(bare) == [("c1", "read", A)]
    assert [(note.code, note.detail) for note in bare.notes] == [("changed_id", "c2")]
    assert bare.complete_all() == []  # nothing is left open


# Under a key that can be trusted


def test_a_second_key_that_nobody_knows_does_not_hide_the_first() -> None:
    calls = tracker()
    calls.start_call("item", "c1", "read")
    calls.append_args("item", '{"p":', alias="other")
    calls.set_args("item", '{"p":"a"}', alias="another")
    calls.complete_call("item", alias="a third")
    assert summary(calls) == [("c1", "read", A)]


@pytest.mark.parametrize(("raw_id", "name"), [("c1", ""), ("", "read")])
def test_an_end_that_names_its_call_begins_it(raw_id: str, name: str) -> None:
    """By its id or its name alone; a call without a name never was one."""
    calls = tracker()
    calls.complete_call(0, raw_id, name, arguments=A)
    assert summary(calls) == ([("", "read", A)] if name else [])
    assert codes(calls) == ([] if name else ["nameless_call"])


@pytest.mark.parametrize(("raw_id", "name"), [("c2", "read"), ("c1", "ls"), ("c2", ""), ("", "ls")])
def test_a_start_that_contradicts_the_call_at_its_key_is_another(raw_id: str, name: str) -> None:
    """By its id or by its name."""
    calls = tracker()
    calls.start_call(0, "c1", "read")
    calls.start_call(0, raw_id, name)
    calls.start_call(0, raw_id, name)  # and is not a third
    calls.append_args(0, "{}")
    calls.complete_all()
    named = [("c1", "read")] if not name else [("c1", "read"), (raw_id, name)]
    assert [(found[0], found[1]) for found in summary(calls)] == named


def test_what_says_nothing_makes_no_events() -> None:
    """Every verb gives back events, if only none."""
    calls = tracker()
    assert list(calls.set_args(0, None)) == list(calls.append_args(0, "")) == []
    calls.whole_call("c1", "read", A)
    assert list(calls.whole_call("c1", "read", A)) == []
    assert list(calls.complete_call("nobody")) == []
    late = tracker()
    late.fragment(0, "c1", "read", "{}")
    late.complete_all()
    assert list(late.fragment(0, "c1", "read", "more")) == []
