"""Whether a result fits the output schema of its tool, checked in bounded time.

The MCP package would run a validator on the event loop that follows any schema and any pattern for as
long as it takes. Ours measures first. A result whose check could take long is not checked, since only
the model reads it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ... import plain
from ...errors import UsageError
from ...json_size import values_at_most
from ..declare.problems import shorten_text
from ..declare.schema_cost import COSTLY, SchemaCost
from ..declare.validator import validator_and_engine
from .pins import OfferedTool

SHOWN = 300


class ResultCheck:
    """The output schema of one tool."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._cost = SchemaCost(schema)
        self._validator, self._cost.backtracks = validator_and_engine(schema)

    def fault_of(self, value: Any) -> str:
        """What does not fit, in a few words; "" if all does, or if the check would take too long."""
        text = plain.dumps(value)
        depth = plain.depth_of(value, self._cost.levels)
        if self._cost.most_steps(values_at_most(text, len(text)), depth, len(text)) > COSTLY:
            return ""
        if self._validator.is_valid(value):
            return ""
        try:
            self._validator.validate(value)
        except ValueError as error:
            return shorten_text(str(error).splitlines()[0], SHOWN)
        return ""


class ResultChecks:
    """The output schemas of one server's tools, each compiled when it is first needed."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[dict[str, Any], ResultCheck]] = {}

    def check(self, tools: Iterable[OfferedTool], name: str, result: Any) -> None:
        """Raise RuntimeError, as the MCP package does, for a result that breaks its tool's schema."""
        schema = next((tool.output for tool in tools if tool.name == name), None)
        if schema is None or result.is_error:
            return
        if result.structured_content is None:
            raise RuntimeError(f"{name} promises structured content and gave none")
        try:
            fault = self._check_of(name, schema).fault_of(result.structured_content)
        except UsageError as error:
            raise RuntimeError(f"the schema of what {name} gives back cannot be used: {error}") from error
        if fault:
            raise RuntimeError(f"{name} gave structured content that breaks its own schema: {fault}")

    def _check_of(self, name: str, schema: dict[str, Any]) -> ResultCheck:
        known = self._known.get(name)
        if known is None or known[0] != schema:
            known = self._known[name] = (schema, ResultCheck(schema))
        return known[1]
