"""Plain JSON values: copies without sharing, cycles, bad text or too much depth."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.plain import (
    MAX_DEPTH,
    arguments,
    clean_text,
    depth_of,
    dumps,
    is_plain,
    limit_depth,
    loads,
    plain,
)


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("value", "copy"),
    [
        ((1, "a"), [1, "a"]),
        ({1: (2,)}, {"1": [2]}),
        (float("nan"), None),
        ("a\ud800", "a\ufffd"),
        ({"a": "\0"}, {"a": "\ufffd"}),
    ],
)
def test_any_value_becomes_json(value: Any, copy: Any) -> None:
    """Tuples, keys, NaN, lone surrogates and NUL have a plain form."""
    assert plain(value) == copy


def test_a_copy_shares_nothing() -> None:
    """The caller may change its object afterwards."""
    given = {"a": [1]}
    copy = plain(given)
    given["a"].append(2)
    assert copy == {"a": [1]}


def test_a_cycle_is_cut() -> None:
    """It is named in its place."""
    value: list[Any] = [1]
    value.append(value)
    assert plain(value) == [1, "[circular]"]


def test_no_value_is_deeper_than_the_limit() -> None:
    """Deeper parts become JSON text, and a value within the limit stays the same object."""
    assert depth_of(plain(nested(MAX_DEPTH + 20)), 1000) == MAX_DEPTH
    shallow = nested(3)
    assert limit_depth(shallow) is shallow


def test_clean_text_stays_the_same() -> None:
    """Only what servers refuse is replaced."""
    assert clean_text("Grüße 🙂") == "Grüße 🙂"


def test_json_of_real_servers_is_read() -> None:
    """Lone surrogate escapes and NaN are in real answers."""
    assert loads('{"a": "\\ud800", "b": NaN}') == {"a": "\ufffd", "b": None}
    assert loads(dumps({"a": [1, None]})) == {"a": [1, None]}
    assert is_plain({"a": 1}) and not is_plain((1,))


@pytest.mark.parametrize(
    ("raw", "value", "fault"),
    [
        ('{"a": 1}', {"a": 1}, ""),
        ("", {}, ""),
        ('{"a": ', {}, "truncated"),
        ("nonsense", {}, "not_json"),
        ("[1]", {"value": [1]}, "not_object"),
        ('"{\\"a\\": 1}"', {"a": 1}, "double_encoded"),
    ],
)
def test_arguments_are_an_object_with_a_fault(raw: str, value: Any, fault: str) -> None:
    """Every API needs an object; the fault says what was wrong with the text."""
    assert arguments(raw) == (value, fault)


def test_arguments_that_are_too_large_are_an_excerpt() -> None:
    """They are not decoded."""
    value, fault = arguments("[" + "1," * 3000 + "1]", longest=1000)
    assert fault == "too_large" and value["json"].endswith("characters in all]")
