"""A validator from a JSON Schema, with nothing fetched for it.

Schemas come from outside: from MCP servers, and from files. By default jsonschema-rs fetches what a
`$ref` points to, from any address or file; ours looks only into the schema. Patterns are matched in
linear time where possible. Those with lookaround or back references need a backtracking engine,
which is stopped after some steps.
"""

from __future__ import annotations

from typing import Any, NoReturn

import jsonschema_rs

from ...errors import UsageError

LINEAR = jsonschema_rs.RegexOptions()
BACKTRACKING = jsonschema_rs.FancyRegexOptions(backtrack_limit=10_000)


def validator_of(schema: dict[str, Any] | bool) -> Any:
    """The validator of a schema; raises UsageError when it is not one, or refers to something outside."""
    return validator_and_engine(schema)[0]


def validator_and_engine(schema: dict[str, Any] | bool) -> tuple[Any, bool]:
    """The validator, and whether its patterns may backtrack."""
    try:
        return _compile_schema(schema, LINEAR), False
    except UsageError:
        return _compile_schema(schema, BACKTRACKING), True


def _compile_schema(schema: dict[str, Any] | bool, patterns: Any) -> Any:
    asked: list[str] = []

    def refuse_reference(reference: str) -> NoReturn:
        asked.append(reference)
        raise ValueError("nothing is fetched for a schema")

    try:
        return jsonschema_rs.validator_for(schema, retriever=refuse_reference, pattern_options=patterns)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        if asked:
            place = asked[0][:200]
            message = f"it refers to {place!r}, which is not in it; put that in $defs, nothing is fetched"
        else:
            message = f"it is not a JSON Schema: {str(error).splitlines()[0]}"
        raise UsageError(message) from error
