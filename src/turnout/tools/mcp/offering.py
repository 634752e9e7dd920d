"""A server's tool made into one of ours: named, bounded, and with a schema that refers to nothing outside.

A schema comes from outside, and goes to models and their servers. If it refers to a place outside of
itself, some server may fetch that place, so such a tool is left out.

Models call it `mcp__server__tool`, in letters that every provider accepts. Two different tools never
share a name: a name that had to be changed, or is ambiguous, gets a hash of the whole at its end. The
prefix keeps servers from taking the names of built-in tools.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from hashlib import sha256
from typing import Any, TypeAlias

import msgspec

from ...errors import UsageError
from ...model import Outcome
from ..declare.context import ToolContext
from ..declare.schema_cost import SchemaCost
from ..declare.tool import Tool, tool
from .pins import OfferedTool

Call: TypeAlias = Callable[[OfferedTool, Mapping[str, Any], ToolContext], Awaitable[Outcome]]

LONGEST_DESCRIPTION = 20_000
LARGEST_SCHEMA = 100_000
TOUCHED = ("path", "paths", "file_path", "repo_path", "destination")
"""Arguments that name files, so that rules about paths hold for servers' tools too."""

PREFIX = "mcp__"
LONGEST_NAME = 64  # OAC-07, BDK-05: at most 64 of [a-zA-Z0-9_-]; ANT-08 allows 128
_MARK = 8
_ODD = re.compile(r"[^A-Za-z0-9_-]")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")
_DRAFTS = tuple(f"{scheme}://json-schema.org/{draft}" for scheme in ("http", "https") for draft in (
    "draft-04/schema", "draft-06/schema", "draft-07/schema", "draft/2019-09/schema", "draft/2020-12/schema"
))  # fmt: skip


def make_tool(server: str, offered: OfferedTool, call: Call, timeout: float) -> Tool:
    """The tool that is offered to the model; raises UsageError when it cannot be."""
    _check_size(offered)

    async def ask_server(*, turnout_context: ToolContext, **arguments: Any) -> Outcome:
        return await call(offered, arguments, turnout_context)

    return tool(
        ask_server,
        name=tool_name(server, offered.name),
        description=offered.description or offered.title,
        parameters=_closed_schema(offered.parameters),
        risk="read" if offered.reads_only else "risky",
        timeout=timeout,
        parallel=offered.reads_only,  # the effects of two calls on each other are unknown
        paths=TOUCHED,
        groups=("mcp", f"mcp:{server}"),
        leaves=not offered.stays_inside,
        source="mcp",
    )


def _check_size(offered: OfferedTool) -> None:
    if len(offered.description) > LONGEST_DESCRIPTION:
        raise UsageError(
            f"its description has {len(offered.description):,} characters; "
            f"{LONGEST_DESCRIPTION:,} are the limit"
        )
    size = len(msgspec.json.encode(offered.parameters))
    if size > LARGEST_SCHEMA:
        raise UsageError(f"its parameters take {size:,} bytes; {LARGEST_SCHEMA:,} are the limit")
    if offered.output is not None:
        _check_promise(offered.output)


def _check_promise(schema: dict[str, Any]) -> None:
    """Refuse a tool with an output schema that costs too much to check."""
    if (size := len(msgspec.json.encode(schema))) > LARGEST_SCHEMA:
        raise UsageError(f"the schema of its results takes {size:,} bytes; {LARGEST_SCHEMA:,} are the limit")
    try:
        SchemaCost(schema)
    except UsageError as error:
        raise UsageError(f"change the schema of its results, which cannot be used: {error}") from error


def _closed_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema, if nothing in it points outside."""
    found = {key: _closed_value(key, value) for key, value in schema.items() if not _is_odd_draft(key, value)}
    properties = found.get("properties")
    return found if isinstance(properties, dict) else {**found, "properties": {}}


def _is_odd_draft(key: str, value: Any) -> bool:
    return key == "$schema" and isinstance(value, str) and value.rstrip("#") not in _DRAFTS


def _closed_value(key: str, value: Any) -> Any:
    if key in _REFERENCES and isinstance(value, str) and not value.startswith("#"):
        raise UsageError(f"its parameters refer to {value[:200]!r}, outside of themselves; use $defs")
    if isinstance(value, dict):
        return {
            name: _closed_value(name, each) for name, each in value.items() if not _is_odd_draft(name, each)
        }
    if isinstance(value, list):
        return [_closed_value("", each) for each in value]
    return value


def tool_name(server: str, tool: str) -> str:
    """The name of a server's tool, the same in every session."""
    whole = f"{PREFIX}{server}__{tool}"
    written = _ODD.sub("_", whole)
    # If the server's name holds or ends in the separator, `a__b` + `c` would look like `a` + `b__c`.
    ambiguous = "__" in server or server.endswith("_")
    if written == whole and not ambiguous and tool and len(whole) <= LONGEST_NAME:
        return whole
    mark = sha256(f"{server}\0{tool}".encode(errors="surrogatepass")).hexdigest()[:_MARK]
    return f"{written[: LONGEST_NAME - _MARK - 1]}_{mark}"
