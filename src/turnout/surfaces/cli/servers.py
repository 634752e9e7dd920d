"""The MCP servers of a session: those that the user has trusted are started and used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from ...runtime.config import Config
from .clean import one_line, visible

if TYPE_CHECKING:
    from ...tools.mcp.servers import McpServers, McpStatus

PINS = "mcp-pins.json"


def servers_of(config: Config, stirred: Callable[[], None] | None = None) -> McpServers | None:
    """The servers that the configuration names; None if it names none. Nothing is started yet."""
    named = config.mcp_servers()
    if not named:
        return None
    from ...tools.mcp.servers import McpServers

    return McpServers(
        named.values(),
        pins=config.places.state / PINS,
        environment=config.environment,
        folder=config.folder,
        stirred=stirred,
    )


def left_out(servers: McpServers) -> Iterator[str]:
    """Which servers are not used, and what to do about it."""
    for status in servers.status():
        if status.state in ("untrusted", "unapproved"):
            yield f"MCP server {visible(status.name)} is not used: look at it with /mcp trust in `turnout`"
        elif status.state in ("failed", "waiting", "starting"):
            yield f"MCP server {visible(status.name)} is not used: {told(status)}"


def told(status: McpStatus) -> str:
    """How a server stands, in a line."""
    tools = f", {len(status.tools)} tools" if status.tools else ""
    detail = f": {one_line(status.detail)}" if status.detail else ""
    return f"{status.state}{tools}{detail}"
