"""Files of JSON lines, also damaged ones."""

from __future__ import annotations

from turnout.interchange.foreign.lines import TORN, UNREADABLE, records_of_lines


def test_whole_lines_are_records() -> None:
    """Blank lines and a byte order mark are skipped."""
    assert records_of_lines(b'\xef\xbb\xbf{"a": 1}\n\n{"b": 2}\n') == [{"a": 1}, {"b": 2}]


def test_a_last_line_without_its_end_is_torn() -> None:
    """Any other broken line is unreadable; both stay in their places."""
    assert records_of_lines(b'{"a": 1}\n{"b": ') == [{"a": 1}, {"type": TORN, "line": '{"b":'}]
    assert records_of_lines(b'oops\n{"a": 1}\n') == [{"type": UNREADABLE, "line": "oops"}, {"a": 1}]


def test_a_record_behind_a_torn_one_is_found() -> None:
    """A program that was killed left a line open, and the next one wrote right behind it."""
    found = records_of_lines(b'{"id": 1, "text": "a"}\n{"id": 2, "te{"id": 3, "text": "b"}\n')
    assert found[0]["id"] == 1 and found[-1] == {"id": 3, "text": "b"}
    assert found[1]["type"] == UNREADABLE
