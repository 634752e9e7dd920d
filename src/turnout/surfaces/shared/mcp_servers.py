"""The MCP servers of a session. Those that the user trusts are started and used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...world.config import Config
from .clean_text import one_line, visible

if TYPE_CHECKING:
    from ...tools.mcp.servers import McpServers, McpStatus

PINS = "mcp-pins.json"


def servers_of(config: Config, on_change: Callable[[], None] | None = None) -> McpServers | None:
    """The configured servers, not started yet; None if there are none."""
    named = config.mcp_servers()
    if not named:
        return None
    from ...tools.mcp.servers import McpServers

    return McpServers(
        named.values(),
        pins=config.places.state / PINS,
        environment=config.environment,
        folder=config.folder,
        on_change=on_change,
    )


UNUSED = ("untrusted", "unapproved", "failed", "waiting", "starting")


def unused_server_lines(servers: McpServers, *states: str) -> Iterator[str]:
    """A line for each server that is not used (in one of these states), with what to do about it."""
    for status in servers.status():
        name = visible(status.name)
        if status.state not in (states or UNUSED):
            continue
        why = f" ({one_line(status.detail)})" if status.detail else ""
        if status.state in ("untrusted", "unapproved"):
            yield f"MCP server {name} is not used{why}: review it with /mcp trust {name} in `turnout`"
        else:
            yield f"MCP server {name} is not used: {status_text(status)}"


def status_text(status: McpStatus) -> str:
    """The state of a server, its tools and its error, in one line."""
    tools = f", {len(status.tools)} tools" if status.tools else ""
    detail = f": {one_line(status.detail)}" if status.detail else ""
    return f"{status.state}{tools}{detail}"
