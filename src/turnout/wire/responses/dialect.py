"""How a host of the Responses API differs from OpenAI's own."""

from __future__ import annotations

from typing import ClassVar

from ..dialect import Dialect


class ResponsesDialect(Dialect, frozen=True, kw_only=True):
    """How a host of the Responses API differs from OpenAI's own."""

    api: ClassVar[str] = "responses"

    stores: bool = True  # can keep responses, so that requests can be chained

    def has_tool(self, kind: str) -> bool:
        """OpenAI runs most of the types that no API claims."""
        return True
