"""A JSON Schema made into a check, with nothing fetched for it.

Schemas come from outside: from MCP servers, and from files. The validator's package would
fetch what a `$ref` points to, from any address or file; ours looks only into the schema.
"""

from __future__ import annotations

from typing import Any, NoReturn

import jsonschema_rs

from ..errors import UsageError


def validator_of(schema: dict[str, Any] | bool) -> Any:
    """The check for a schema; raises UsageError when it is none, or refers to something outside."""
    asked: list[str] = []

    def refuse(reference: str) -> NoReturn:
        asked.append(reference)
        raise ValueError("nothing is fetched for a schema")

    try:
        return jsonschema_rs.validator_for(schema, retriever=refuse)
    except (ValueError, jsonschema_rs.ValidationError, jsonschema_rs.ReferencingError) as error:
        if asked:
            place = asked[0][:200]
            message = f"it refers to {place!r}, which is not in it; put that in $defs, nothing is fetched"
        else:
            message = f"it is no JSON Schema: {str(error).splitlines()[0]}"
        raise UsageError(message) from error
