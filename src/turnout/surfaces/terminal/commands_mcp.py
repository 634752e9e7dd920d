"""/mcp: the state of the MCP servers, and trust, distrust and restart for each."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..shared.mcp_servers import status_text
from .pieces import Notice, Rows

if TYPE_CHECKING:
    from ...tools.mcp.servers import McpServers
    from .talk import Talk

ServerAction = Callable[["Talk", "McpServers", str], Coroutine[Any, Any, None]]


def manage_mcp_servers(talk: Talk, rest: str) -> None:
    servers = talk.servers
    if servers is None:
        place = talk.config.places.config / "mcp.json"
        talk.edge.show(Notice(f"No MCP server is configured; add servers in {place}."))
        return
    verb, _, name = rest.partition(" ")
    if not verb:
        rows = [(status.name, f"{status_text(status)}  ({status.described})") for status in servers.status()]
        talk.edge.show(Rows(tuple(rows), "MCP servers; /mcp trust NAME reviews one and starts to use it"))
        return
    if verb not in ACTIONS or not name:
        raise UsageError(f"/mcp takes a verb and a name; write /mcp {'|'.join(ACTIONS)} NAME, or /mcp alone")
    if talk.idle():
        talk.begin(ACTIONS[verb](talk, servers, name.strip()))


def mcp_choices(talk: Talk) -> list[str]:
    names = [status.name for status in talk.servers.status()] if talk.servers is not None else []
    return [f"{verb} {name}" for verb in ACTIONS for name in names]


async def _trust_server(talk: Talk, servers: McpServers, name: str) -> None:
    """Ask step by step: first how the server is started, then which tools it offers."""
    while (review := servers.review(name)) is not None:
        talk.edge.show(Notice(review.text, "plain"))
        if review.changes:
            talk.edge.show(Notice("Changed since you last agreed:\n" + "\n".join(review.changes), "warn"))
        asked = "start it" if review.stage == "launch" else "use its tools"
        if (await talk.edge.inquire(f"{asked}? (yes/no)") or "").lower() not in ("y", "yes"):
            talk.edge.show(Notice(f"{name} is unchanged."))
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


ACTIONS: dict[str, ServerAction] = {
    "trust": _trust_server,
    "distrust": _distrust_server,
    "restart": _restart_server,
}
