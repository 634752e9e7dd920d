"""Fields of a request that tools of the provider need beside their declaration."""

from __future__ import annotations

from collections.abc import Iterable

from ...hosted_tools import joined_request_fields
from ...model import ToolSpec
from .added_fields import merge_fields, with_joined_lists
from .growing_bytes import Wire


def with_tool_fields(fields: Wire, tools: Iterable[ToolSpec]) -> Wire:
    """The fields, and those that these tools need: `include` of Responses, `mcp_servers` of Anthropic."""
    needed = joined_request_fields(tool for tool in tools if not tool.is_function)
    return merge_fields(fields, with_joined_lists(needed, fields)) if needed else fields
