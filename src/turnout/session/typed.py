"""Typed answers: a JSON Schema or a type in, a value out.

APIs take only objects as the shape of an answer. A list, a union or a number is therefore asked for
inside an object with one field, and taken out of it again.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, Union, get_args, get_origin

import msgspec
from msgspec import Struct

from ..errors import UsageError
from ..plain import dumps, loads
from ..tools.declare.validator import validator_of

FENCED = re.compile(r"```(?:json)?\s*\n(.*?)\n```", re.DOTALL)
FIELD = "value"
"""The field of the object that a value which is not an object is asked for in."""
SHOWN = 500
Read = Callable[[Any], Any]


class AnswerProblem(UsageError):
    """An answer that does not fit; `text` is what the model said."""

    def __init__(self, problem: str, text: str) -> None:
        super().__init__(
            f"the answer does not fit what was asked for: {problem}; ask again, or change output=. "
            f"It was: {text[:200]}"
        )
        self.problem = problem


class Shape(Struct, frozen=True):
    """What an answer should look like, and how to read it."""

    schema: dict[str, Any]
    read_value: Read
    wrapped: bool = False  # the value is a field of the object that is asked for

    @classmethod
    def of(cls, wanted: Any) -> Shape | None:
        if wanted is None:
            return None
        schema, read = _schema_and_reader(wanted)
        if _is_object(schema):
            return cls(schema, read)
        definitions = schema.pop("$defs", None)
        around = {
            "type": "object",
            "properties": {FIELD: schema},
            "required": [FIELD],
            "additionalProperties": False,
        }
        return cls({**around, "$defs": definitions} if definitions else around, read, wrapped=True)

    def read(self, text: str) -> Any:
        """The value in an answer; fenced JSON is read too. Raises `AnswerProblem` where it does not fit."""
        try:
            return self.read_value(self.unwrap(_json_in(text)))
        except (ValueError, TypeError, msgspec.ValidationError) as error:
            raise AnswerProblem(str(error), text) from None

    def unwrap(self, value: Any) -> Any:
        """The value itself. Some models leave out the object around it."""
        if self.wrapped and isinstance(value, dict) and list(value) == [FIELD]:
            return value[FIELD]
        return value

    def correction(self, problem: AnswerProblem) -> str:
        """What a model is told whose answer did not fit."""
        return (
            f"Your answer does not fit the schema: {problem.problem[:SHOWN]}\n"
            f"Answer again, with only the JSON. The schema: {dumps(self.schema)}"
        )


def _schema_and_reader(wanted: Any) -> tuple[dict[str, Any], Read]:
    if isinstance(wanted, Mapping):
        return dict(wanted), _validating_reader(dict(wanted))
    if hasattr(wanted, "model_json_schema"):  # pydantic, without importing it
        return wanted.model_json_schema(), wanted.model_validate
    if members := _members_of_union(wanted):
        return _schema_and_reader_of_union(members)
    try:
        schema = _inline_definition(msgspec.json.schema(wanted))
        return schema, lambda value: msgspec.convert(value, wanted)
    except TypeError as error:
        if (adapter := _pydantic_adapter(wanted)) is not None:
            return adapter.json_schema(), adapter.validate_python
        raise UsageError(f"{wanted!r} cannot describe an answer: {error}; give a JSON Schema") from None


def _validating_reader(schema: dict[str, Any]) -> Read:
    validator = validator_of(schema)

    def read_checked(value: Any) -> Any:
        if (error := next(validator.iter_errors(value), None)) is not None:
            place = "/".join(map(str, error.instance_path)) or "the answer"
            raise ValueError(f"{place}: {str(error).splitlines()[0]}")
        return value

    return read_checked


def _members_of_union(wanted: Any) -> tuple[Any, ...]:
    return get_args(wanted) if get_origin(wanted) in (Union, types.UnionType) else ()


def _schema_and_reader_of_union(members: tuple[Any, ...]) -> tuple[dict[str, Any], Read]:
    """One of several types: the first that the value fits. msgspec alone takes only one class of a union."""
    listed = [_schema_and_reader(member) for member in members]
    definitions: dict[str, Any] = {}
    for schema, _ in listed:
        definitions |= schema.pop("$defs", {})

    def read_first_fit(value: Any) -> Any:
        problems = []
        for _, read_member in listed:
            try:
                return read_member(value)
            except (ValueError, TypeError, msgspec.ValidationError) as error:
                problems.append(str(error))
        raise ValueError("; or ".join(problems))

    union: dict[str, Any] = {"anyOf": [schema for schema, _ in listed]}
    return ({**union, "$defs": definitions} if definitions else union), read_first_fit


def _pydantic_adapter(wanted: Any) -> Any:
    """For types that hold pydantic models. Who has such a type has imported pydantic."""
    pydantic = sys.modules.get("pydantic")
    if pydantic is None:
        return None
    try:
        return pydantic.TypeAdapter(wanted)
    except pydantic.PydanticUserError:
        return None


def _json_in(text: str) -> Any:
    """The JSON of an answer: all of it, a fenced part, or what follows a sentence."""
    if found := FENCED.search(text):
        return loads(found.group(1))
    try:
        return loads(text)
    except ValueError:
        start = min((at for at in map(text.find, "{[") if at >= 0), default=-1)
        if start <= 0:
            raise
        return loads(text[start:])


def _is_object(schema: Mapping[str, Any]) -> bool:
    return schema.get("type") == "object" or ("properties" in schema and "type" not in schema)


def _inline_definition(schema: dict[str, Any]) -> dict[str, Any]:
    """The schema itself where msgspec only points to it."""
    reference = schema.get("$ref", "")
    if not isinstance(reference, str) or not reference.startswith("#/$defs/"):
        return schema
    definitions = schema["$defs"]
    return {**definitions[reference.removeprefix("#/$defs/")], "$defs": definitions}
