"""Whether two requests are the same: ids by their pattern, what was redacted by its surroundings."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.testing.cassette_file import RecordedRequest
from turnout.testing.request_match import describe_mismatch, differences_between, find_match


def request(body: Any, url: str = "https://example.test/v1") -> RecordedRequest:
    return RecordedRequest("POST", url, {}, body)


def call(id: str, result: str) -> dict[str, Any]:
    return {
        "messages": [{"type": "tool_use", "id": id, "input": {}}, {"tool_use_id": result, "content": "x"}]
    }


SAME = [
    ({"a": 1}, {"a": 1}),
    (call("toolu_1", "toolu_1"), call("toolu_2", "toolu_2")),
    ({"text": "key [redacted] end"}, {"text": "key \nabc end"}),
    ({"user_prompt_id": "1"}, {"user_prompt_id": "2"}),
    ("plain", "plain"),
]
DIFFERENT = [
    ({"a": 1}, {"a": 2}, "body.a: recorded 1, sent 2"),
    ({"a": 1}, {"a": True}, "body.a: recorded 1, sent true"),
    ({"a": [1, 2]}, {"a": [1]}, "body.a: 2 recorded, 1 sent"),
    ({"a": 1}, {}, "body.a: recorded 1, not sent"),
    ({}, {"a": 1}, "body.a: sent 1, not recorded"),
    (call("a", "a"), call("a", "b"), 'body.messages[1].tool_use_id: recorded "<id 1>", sent "<id 2>"'),
    ({"t": "key [redacted]!"}, {"t": "key abc"}, 'body.t: recorded "key [redacted]!", sent "key abc"'),
    ({"t": "x" * 500 + "a"}, {"t": "x" * 500 + "b"}, 'xa", sent …"'),
]


@pytest.mark.parametrize(("left", "right"), SAME, ids=str)
def test_what_counts_as_the_same(left: Any, right: Any) -> None:
    """Nothing differs, and the first one that fits is found."""
    assert list(differences_between(request(left), request(right), ())) == []
    assert (
        find_match(request(right), [(3, request("other")), (5, request(left)), (6, request(left))], ()) == 5
    )


@pytest.mark.parametrize(("left", "right", "words"), DIFFERENT, ids=str)
def test_what_differs_is_one_line(left: Any, right: Any, words: str) -> None:
    """The line names the place and both values, cut where they are long."""
    (line,) = differences_between(request(left), request(right), ())
    assert words in line and len(line) < 400


def test_the_nearest_is_described() -> None:
    """Of several recorded requests the one with the fewest differences; many lines are cut."""
    near = {"model": "m", "text": "a"}
    recorded = [(0, request({str(n): n for n in range(30)})), (1, request(near))]
    lines = describe_mismatch(request({"model": "m", "text": "b"}), recorded, ())
    assert lines[0] == "the nearest is exchange 2, which differs:" and len(lines) == 2
    lines = describe_mismatch(request(near), recorded[:1], ())
    assert lines[-1] == "  … and 24 more"
