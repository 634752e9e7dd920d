"""/mcp: how the servers stand, and the user's word on each: trust, distrust, restart."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..shared.mcp_servers import status_text
from .pieces import Notice, Rows

if TYPE_CHECKING:
    from ...tools.mcp.servers import McpServers
    from .talk import Talk

Deed = Callable[["Talk", "McpServers", str], Coroutine[Any, Any, None]]


def manage_mcp_servers(talk: Talk, rest: str) -> None:
    servers = talk.servers
    if servers is None:
        place = talk.config.places.config / "mcp.json"
        talk.edge.show(Notice(f"No MCP server is configured; {place} is the place."))
        return
    verb, _, name = rest.partition(" ")
    if not verb:
        rows = [(status.name, f"{status_text(status)}  ({status.described})") for status in servers.status()]
        talk.edge.show(Rows(tuple(rows), "MCP servers; /mcp trust NAME looks at one and begins to use it"))
        return
    if verb not in DEEDS or not name:
        raise UsageError(f"say /mcp {'|'.join(DEEDS)} NAME, or /mcp alone")
    if talk.idle():
        talk.begin(DEEDS[verb](talk, servers, name.strip()))


def mcp_choices(talk: Talk) -> list[str]:
    names = [status.name for status in talk.servers.status()] if talk.servers is not None else []
    return [f"{verb} {name}" for verb in DEEDS for name in names]


async def _trust_server(talk: Talk, servers: McpServers, name: str) -> None:
    """Show what there is to agree to, step by step: how it is started, then what it offers."""
    while (review := servers.review(name)) is not None:
        talk.edge.show(Notice(review.text, "plain"))
        if review.changes:
            talk.edge.show(Notice("Since you last agreed:\n" + "\n".join(review.changes), "warn"))
        asked = "start it" if review.stage == "launch" else "use its tools"
        if (await talk.edge.inquire(f"{asked}? (yes/no)") or "").lower() not in ("y", "yes"):
            talk.edge.show(Notice(f"{name} stays as it is."))
            return
        await servers.trust(review)
    _show_server(talk, servers, name)


async def _distrust_server(talk: Talk, servers: McpServers, name: str) -> None:
    await servers.distrust(name)
    _show_server(talk, servers, name)


async def _restart_server(talk: Talk, servers: McpServers, name: str) -> None:
    await servers.restart(name)
    _show_server(talk, servers, name)


def _show_server(talk: Talk, servers: McpServers, name: str) -> None:
    servers.update(talk.session.scheduler.registry)
    status = next(status for status in servers.status() if status.name == name)
    talk.edge.show(Notice(f"{name} is {status_text(status)}"))


DEEDS: dict[str, Deed] = {"trust": _trust_server, "distrust": _distrust_server, "restart": _restart_server}
