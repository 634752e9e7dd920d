"""Which result answers which call, where ids repeat, differ, are missing or come too early."""

from __future__ import annotations

from typing import Any

import pytest
from tests.history.ingest.telling import (
    assistant,
    call,
    codes,
    function_call,
    function_response,
    parts,
    tool,
    user,
)

from turnout.history.ingest import ingest
from turnout.history.log import History


def named(name: str, said: str, raw_id: Any = "") -> dict[str, Any]:
    """A result under a name, with or without an id."""
    return tool(raw_id, said, name=name)


def answers(history: History) -> list[str]:
    """What each call was answered with, in the order of the calls; "-" for nothing."""
    return [
        item.outcome.text if item.outcome and not item.outcome.synthetic else "-" for item in history.ledger
    ]


def told(*messages: dict[str, Any]) -> list[str]:
    return answers(ingest([user("go"), *messages]))


# Under ids


def test_an_id_that_was_used_again_answers_the_nearest_call_that_waits() -> None:
    """Then the one before it: no call stays without a result because its id was taken."""
    both = [assistant(None, call("a", arguments={"p": 1})), assistant(None, call("a", arguments={"p": 2}))]
    assert told(*both, tool("a", "first"), tool("a", "second")) == ["second", "first"]
    assert told(both[0], tool("a", "one"), both[1], tool("a", "two")) == ["one", "two"]


def test_two_calls_of_one_turn_with_one_id_are_answered_in_order() -> None:
    """Each gets one of the results."""
    twins = assistant(None, call("a", arguments={"p": 1}), call("a", arguments={"p": 2}))
    assert told(twins, tool("a", "one"), tool("a", "two")) == ["one", "two"]


def test_ids_are_heard_before_names() -> None:
    """So a result without one takes the call that is left, wherever it stands."""
    turn = assistant(None, call("a"), call("b"))
    assert told(turn, tool("", "rest"), tool("a", "mine")) == ["mine", "rest"]
    assert told(turn, tool("b", "mine"), tool("", "rest")) == ["rest", "mine"]


def test_ids_that_differ_by_spaces_are_one() -> None:
    """Proxies add and strip spaces."""
    history = ingest([user("go"), assistant(None, call("a"), call("b")), tool(" a ", "A"), tool("b", "B")])
    assert answers(history) == ["A", "B"] and codes(history) == ["spaced_id"]


def test_a_result_may_stand_before_its_call() -> None:
    """By its id, or by its name where it has none."""
    for early in (tool("a", "A"), named("read", "A")):
        history = ingest([user("go"), early, assistant(None, call("a"), call("b", "list")), tool("b", "B")])
        assert answers(history) == ["A", "B"] and "early_result" in codes(history)


def test_a_second_result_that_came_too_early_is_counted_at_its_call() -> None:
    """An id says whose it is even when that call has an answer; a name alone does not."""
    call_a = assistant(None, call("a"))
    by_id = ingest([user("go"), tool("a", "one"), tool("a", "two"), call_a])
    assert answers(by_id) == ["one"] and "duplicate_outcome" in codes(by_id)
    by_name = ingest([user("go"), named("read", "one"), named("read", "two"), call_a])
    assert answers(by_name) == ["one"] and "orphaned_result" in codes(by_name)


# Under names


def test_results_without_ids_go_by_their_names() -> None:
    """Each goes to the open call of its name."""
    turn = assistant(None, call("a", "read"), call("b", "list"), call("c", "read"))
    said = [named("list", "L"), named("read", "R1"), named("read", "R2")]
    assert told(turn, *said) == ["R1", "L", "R2"]


def test_results_without_anything_go_in_order() -> None:
    """The first result goes to the first open call."""
    turn = assistant(None, call("a"), call("b", "list"))
    assert told(turn, tool("", "1"), tool("", "2")) == ["1", "2"]


def test_a_name_means_the_nearest_calls_that_wait() -> None:
    """Those made since somebody spoke; then those before."""
    first, second = assistant(None, call("a")), assistant(None, call("b"))
    assert told(first, user("and"), second, named("read", "new"), named("read", "old")) == ["old", "new"]


def test_another_name_is_taken_where_a_call_waits_for_it() -> None:
    """A tool that was renamed on the way; not for a call that others spoke after."""
    history = ingest([user("go"), assistant(None, call("a", "read")), named("read_file", "R")])
    assert answers(history) == ["R"] and "name_mismatch" in codes(history)
    earlier = ingest(
        [
            user("go"),
            assistant(None, call("a", "read")),
            user("and"),
            assistant(None, call("b", "list")),
            tool("b", "L"),
            named("write", "W"),
        ]
    )
    assert answers(earlier) == ["-", "L"] and "orphaned_result" in codes(earlier)


def test_a_second_result_under_a_name_is_the_same_calls() -> None:
    """While nobody spoke; the first stands."""
    history = ingest([user("go"), assistant(None, call("a")), named("read", "one"), named("read", "two")])
    assert answers(history) == ["one"] and "duplicate_outcome" in codes(history)
    later = ingest(
        [
            user("go"),
            assistant(None, call("a")),
            named("read", "one"),
            user("and"),
            assistant(None, call("b", "list")),
            named("list", "L"),
            named("read", "two"),
        ]
    )
    assert answers(later) == ["one", "L"] and "orphaned_result" in codes(later)


# Under an id that no call has


def test_an_unknown_id_goes_by_the_name_and_the_place() -> None:
    """Gateways give results ids of their own; the call that was open there has the name."""
    turn = assistant(None, call("a", "read"), call("b", "list"))
    assert told(turn, named("list", "L", "x1"), named("read", "R", "x2")) == ["R", "L"]
    orphan = ingest([user("go"), turn, named("write", "W", "x1")])
    assert answers(orphan) == ["-", "-"] and "orphaned_result" in codes(orphan)


def test_an_unknown_id_may_answer_a_call_without_one() -> None:
    """There is no id to disagree with; a name that disagrees is enough to refuse it."""
    bare = assistant(None, call("", "read"))
    assert told(bare, tool("x1", "R")) == ["R"]
    assert told(bare, named("read", "R", "x1")) == ["R"]
    assert told(bare, named("list", "L", "x1")) == ["-"]
    assert told(assistant(None, call("a", "read")), tool("x1", "R")) == ["-"]


def test_an_unknown_id_does_not_answer_what_was_open_elsewhere() -> None:
    """Only a call of the same stretch: somebody spoke between them."""
    messages = [
        assistant(None, call("a", "read")),
        user("and"),
        assistant(None, call("b", "list")),
        tool("b", "L"),
    ]
    assert told(*messages, named("read", "R", "x1")) == ["-", "L"]


# Where they stood


def test_results_that_stand_apart_are_said_to() -> None:
    """A result right after its turn is where it belongs."""
    near = ingest([user("go"), assistant(None, call("a"), call("b")), tool("a"), tool("b")])
    assert codes(near) == []
    apart = ingest([user("go"), assistant(None, call("a")), user("wait"), tool("a")])
    assert codes(apart) == ["misplaced_result"]


@pytest.mark.parametrize("length", [64, 65])
def test_an_id_that_is_longer_than_any_is_named(length: int) -> None:
    """No provider writes ids of more than 64 characters."""
    history = ingest([user("go"), assistant(None, call("x" * length)), tool("x" * length)])
    assert codes(history) == (["long_id"] if length > 64 else [])


def test_gemini_results_go_by_name_and_order_without_a_word() -> None:
    """The format gives no ids, so there is nothing odd about it."""
    history = ingest(
        [
            parts("user", {"text": "go"}),
            parts("model", function_call("read", p=1), function_call("list"), function_call("read", p=2)),
            parts(
                "user",
                *(
                    function_response(name, output=said)
                    for name, said in [("read", "1"), ("list", "L"), ("read", "2")]
                ),
            ),
        ],
        "gemini",
    )
    assert answers(history) == ["1", "L", "2"] and codes(history) == []
