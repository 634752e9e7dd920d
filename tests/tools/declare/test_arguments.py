"""Guardrails: arguments fit, or every problem is named; few repairs, all of them visible."""

from __future__ import annotations

import json
import time
from typing import Any, Literal

import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout import plain
from turnout.model import ToolCall
from turnout.tools.declare.arguments import (
    Checked,
    check_arguments,
    check_call,
    decode_arguments,
    explanation,
)
from turnout.tools.declare.tool import Tool, tool


@tool
def read_file(
    path: str,
    offset: int = 1,
    limit: int | None = None,
    marks: list[int] = [],  # noqa: B006
    mode: Literal["a", "b"] = "a",
) -> None:
    """Read."""


@tool
def refresh() -> None:
    """No arguments at all."""


def written(raw: str, made: Tool = read_file) -> Checked:
    """The guardrails on what a model wrote."""
    arguments, fault = plain.arguments(raw)
    return check_call(made, ToolCall("c", made.name, arguments, raw=raw, fault=fault))


def error(raw: str, made: Tool = read_file) -> dict[str, Any]:
    checked = written(raw, made)
    assert not checked.ok
    found: dict[str, Any] = json.loads(explanation(made, checked))["tool_error"]
    return found


REPAIRS = [
    ("", refresh, {}, ("empty",)),
    ("  \n", refresh, {}, ("empty",)),
    ('"{\\"path\\": \\"a\\"}"', read_file, {"path": "a"}, ("double_encoded",)),
    ('```json\n{"path": "a"}\n```', read_file, {"path": "a"}, ("fenced",)),
    ('```\n{"path": "a"}```', read_file, {"path": "a"}, ("fenced",)),
    ('{"path": "a",}', read_file, {"path": "a"}, ("trailing_comma",)),
    (
        '{"path": "a, ]", "marks": [1, 2, ], }',
        read_file,
        {"path": "a, ]", "marks": [1, 2]},
        ("trailing_comma",),
    ),
    ('```json\n{"path": "a",}\n```', read_file, {"path": "a"}, ("fenced", "trailing_comma")),
    ('{"path": "a", "offset": "12"}', read_file, {"path": "a", "offset": 12}, ("number at offset",)),
    ('{"path": "a", "offset": "3.0"}', read_file, {"path": "a", "offset": 3.0}, ("number at offset",)),
    ('{"path": "a", "limit": " 5 "}', read_file, {"path": "a", "limit": 5}, ("number at limit",)),
    ('{"path": "a", "marks": [1, "2"]}', read_file, {"path": "a", "marks": [1, 2]}, ("number at marks[1]",)),
    ('{"path": "a", "marks": "[1]"}', read_file, {"path": "a", "marks": [1]}, ("double_encoded at marks",)),
]


@pytest.mark.parametrize(("raw", "made", "wanted", "repairs"), REPAIRS, ids=[raw for raw, *_ in REPAIRS])
def test_safe_repairs_are_made_and_named(raw: str, made: Tool, wanted: Any, repairs: Any) -> None:
    """The named repairs give the arguments that were meant, and each is counted."""
    checked = written(raw, made)
    assert (checked.ok, checked.arguments, checked.repairs) == (True, wanted, repairs)


def test_what_needs_no_repair_is_not_touched() -> None:
    """Arguments that fit are the call's own, and nothing is reported."""
    checked = written('{"path": "5", "offset": 2}')
    assert checked == Checked({"path": "5", "offset": 2})


@pytest.mark.parametrize(
    ("raw", "kind"),
    [
        ('{"path": "a', "truncated_arguments"),
        ('{"path": "a", "marks": [1, 2', "truncated_arguments"),
        ('{"path": "a", "marks": [1,], "mode": ', "truncated_arguments"),
        ('```json\n{"path": "a', "unreadable_arguments"),
        ("[1, 2]", "unreadable_arguments"),
        ("null", "unreadable_arguments"),
        ("path=a", "unreadable_arguments"),
        ("```\n```", "unreadable_arguments"),
        ("{'path': 'a'}", "unreadable_arguments"),
        ('{"path": "a"} {"path": "b"}', "unreadable_arguments"),
    ],
)
def test_what_cannot_be_read_is_never_run(raw: str, kind: str) -> None:
    """Cut off or unreadable arguments are refused, and never become an empty object."""
    assert error(raw)["kind"] == kind
    assert not written(raw, refresh).ok


def test_missing_fields_are_listed() -> None:
    """`{}` for a tool that needs more says what is missing and how to call it."""
    found = error("{}")
    assert found["kind"] == "invalid_arguments"
    assert found["missing"] == ["path"]
    assert found["problems"] == [{"path": "path", "expected": "string (required)", "got": "nothing"}]
    assert found["usage"].startswith("read_file(path: string, offset?: integer, limit?: integer or null")


def test_every_problem_is_named() -> None:
    """Where it is, what was expected, what came: for each of them at once."""
    found = error('{"path": 3, "offset": "x", "limit": [], "mode": "c", "nowhere": true, "marks": [1, null]}')
    problems = {problem["path"]: (problem["expected"], problem["got"]) for problem in found["problems"]}
    assert problems == {
        "path": ("string", "number 3"),
        "offset": ("integer", 'string "x"'),
        "limit": ("integer or null", "array of 0"),
        "mode": ('one of "a", "b"', 'string "c"'),
        "marks[1]": ("integer", "null"),
        "nowhere": ("no such argument; known are: path, offset, limit, marks, mode", "true"),
    }


@pytest.mark.parametrize("text", ["5.5", "five", "0x10", "1_000", "٣", "", "NaN", "--5", "9" * 100])
def test_only_a_string_that_spells_the_number_becomes_one(text: str) -> None:
    """Nothing is rounded, guessed or read in another notation."""
    assert error(json.dumps({"path": "a", "offset": text}))["problems"][0]["path"] == "offset"


def test_a_string_is_kept_where_a_string_may_stand() -> None:
    """`"5"` for text, or for text or number, is text."""

    @tool
    def either(text: str, both: str | int) -> None: ...

    assert written('{"text": "5", "both": "7"}', either) == Checked({"text": "5", "both": "7"})


def test_a_string_is_not_read_as_a_number_where_some_strings_may_stand() -> None:
    """`"5"` for one of a few words or a number may be a wrong word: nothing is guessed."""

    @tool
    def pick(which: Literal["first", "last"] | int) -> None: ...

    assert error('{"which": "5"}', pick)["problems"][0]["path"] == "which"


def test_the_call_itself_is_not_changed_by_a_repair() -> None:
    """Repairs are made on a copy: the history keeps what the model wrote."""
    call = ToolCall("c", "read_file", {"path": "a", "marks": ["1"]})
    assert check_call(read_file, call).arguments["marks"] == [1]
    assert call.arguments["marks"] == ["1"]


def test_a_value_its_type_refuses_is_a_problem_like_any_other() -> None:
    """A rule that only the Python type knows is told to the model with its path."""

    class Even(pydantic.BaseModel):
        number: int

        @pydantic.field_validator("number")
        @classmethod
        def even(cls, value: int) -> int:
            if value % 2:
                raise ValueError("must be even")
            return value

    @tool
    def halve(even: Even) -> None: ...

    _, checked = decode_arguments(halve, check_arguments(halve, {"even": {"number": 3}}))
    assert checked.kind == "invalid_arguments"
    assert checked.problems[0].path == "even.number"
    assert "must be even" in checked.problems[0].expected


HOSTILE = {
    "commas": "{" + ", " * 500_000,
    "escaped quotes": '{"' + '\\"' * 500_000,
    "fence of spaces": "```\n" + " " * 1_000_000 + "x",
    "open brackets": "[" * 1_000_000,
    "open objects": '{"a":' * 200_000,
    "digits": '{"path": ' + "9" * 1_000_000 + "}",
    "wrong items": '{"path": "a", "marks": [' + ",".join(['"x"'] * 250_000) + "]}",
    "trailing commas": '{"path": "a", "marks": [' + "1," * 500_000 + "],}",
    "unknown keys": "{" + ",".join(f'"k{n}":1' for n in range(100_000)) + "}",
    "nested strings": '{"path": "a", "marks": "[' + "1," * 500_000 + '1]"}',
    "backslashes": '{"path": "' + "\\" * 999_999,
    "commas and spaces": '{"path": "a"' + (", " + " " * 50) * 20_000 + "}",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_megabyte_of_anything_is_answered_in_bounded_time(name: str) -> None:
    """No input makes the guardrails quadratic, and no answer repeats the input."""
    before = time.process_time()
    checked = written(HOSTILE[name])
    told = explanation(read_file, checked) if checked.kind else ""
    assert time.process_time() - before < 1
    assert len(told) < 20_000


def test_thousands_of_problems_are_counted_and_some_are_named() -> None:
    """The first are named with their paths, the rest are a number."""
    found = error('{"path": "a", "marks": [' + ",".join(['"x"'] * 2_000) + "]}")
    assert found["problems"][0] == {
        "path": "marks[0]",
        "expected": 'not of type "integer"',
        "got": 'string "x"',
    }
    assert found["more_problems"] + len(found["problems"]) == 2_000


def test_of_very_many_problems_the_first_is_named() -> None:
    """To look for all of them would hold up everything else; that there may be more is said."""
    found = error('{"path": "a", "marks": [' + ",".join(['"x"'] * 40_000) + "]}")
    assert found["problems"] == [{"path": "marks[0]", "expected": "integer", "got": 'string "x"'}]
    assert "Only the first problem is named" in found["note"]


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.text(max_size=5)
    | st.sampled_from(["1", "[2]", "2.5"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)
ARGUMENTS = st.fixed_dictionaries(
    {}, optional=dict.fromkeys(("path", "offset", "limit", "marks", "mode", "else"), JSON)
)


@given(ARGUMENTS)
def test_arguments_either_fit_the_schema_or_are_refused_with_problems(arguments: dict[str, Any]) -> None:
    """What comes out fits the schema and decodes; what does not is explained."""
    checked = check_arguments(read_file, arguments)
    if checked.ok:
        assert read_file.validator.is_valid(checked.arguments)
        assert set(decode_arguments(read_file, checked)[0]) == set(arguments)
    else:
        assert checked.problems
        assert json.loads(explanation(read_file, checked))


@given(ARGUMENTS)
def test_arguments_that_fit_are_left_alone(arguments: dict[str, Any]) -> None:
    """A repair happens only where the schema refuses."""
    if read_file.validator.is_valid(arguments):
        assert check_arguments(read_file, arguments) == Checked(arguments)


@given(st.text(alphabet='{}[]",:`\\ \n1ajson', max_size=60))
def test_whatever_a_model_writes_never_becomes_an_object_from_nothing(raw: str) -> None:
    """For a tool without arguments, only an empty object or no text at all passes."""
    if written(raw, refresh).ok:
        assert not raw.strip() or "{" in raw
