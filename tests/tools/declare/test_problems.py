"""Problems with arguments, in words that a model can act on."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnout.tools.declare.problems import (
    SHOWN,
    ArgumentProblem,
    path_text,
    problems_in,
    schema_in_words,
    tool_error,
    value_at,
    value_in_words,
)
from turnout.tools.declare.validator import validator_of

SCHEMA = {
    "type": "object",
    "properties": {"path": {"type": "string"}, "lines": {"type": "array", "items": {"type": "integer"}}},
    "required": ["path"],
    "additionalProperties": False,
}


def found(value: Any) -> list[ArgumentProblem]:
    return [each for error in validator_of(SCHEMA).iter_errors(value) for each in problems_in(error, SCHEMA)]


def test_a_missing_argument_is_named_with_its_type() -> None:
    """The model can write the call again from this alone."""
    assert found({}) == [ArgumentProblem("path", "string (required)", "nothing")]


def test_an_unknown_argument_lists_the_known_ones() -> None:
    """So a wrong name can be corrected."""
    [problem] = found({"path": "a", "file": "b"})
    assert (problem.path, problem.got) == ("file", 'string "b"')
    assert problem.expected == "no such argument; known are: path, lines"


def test_a_wrong_value_is_named_by_its_place() -> None:
    """The path leads into lists and objects."""
    assert found({"path": "a", "lines": [1, "x"]}) == [ArgumentProblem("lines[1]", "integer", 'string "x"')]


@pytest.mark.parametrize(
    ("schema", "words"),
    [
        ({"type": "integer"}, "integer"),
        ({"enum": ["a", "b"]}, 'one of "a", "b"'),
        ({"type": "array", "items": {"type": "string"}}, "array of string"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "string or null"),
        (True, "a value"),
    ],
)
def test_a_schema_is_a_few_words(schema: Any, words: str) -> None:
    """As they stand in the usage of a tool."""
    assert schema_in_words(schema) == words


def test_a_large_value_is_shown_in_a_few_words() -> None:
    """However large it is."""
    assert len(value_in_words("x" * 1_000_000)) < SHOWN + 20
    assert value_in_words([0] * 1_000_000) == "array of 1000000"


def test_a_path_is_written_and_followed() -> None:
    """`items[3].name`; where it leads nowhere, there is None."""
    assert path_text(["items", 3, "name"]) == "items[3].name"
    assert (value_at({"a": [1]}, ["a", 0]), value_at({}, ["a", 0])) == (1, None)


def test_our_own_errors_have_one_form() -> None:
    """JSON with the kind, the tool and a message."""
    assert json.loads(tool_error("timeout", "f", "It took long.", seconds=1)) == {
        "tool_error": {"kind": "timeout", "tool": "f", "message": "It took long.", "seconds": 1}
    }
