"""MCP servers as users have them already: the common `mcpServers` JSON, read and not yet started."""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct, field

from ..errors import UsageError


class McpServer(Struct, frozen=True):
    """One server: a command to start, or an address to reach. `source` is the file that names it."""

    name: str
    source: str
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    disabled: bool = False

    @property
    def described(self) -> str:
        """What it is, without the values of its variables and headers: those may be secrets."""
        place = self.url or " ".join((self.command, *self.args))
        return f"{place} (disabled)" if self.disabled else place


class _Written(Struct, frozen=True):
    """A server as programs write it; fields that we do not know are theirs."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    disabled: bool = False


class _File(Struct, frozen=True):
    mcpServers: dict[str, _Written] = field(default_factory=dict)


def read_servers(data: bytes, source: str) -> dict[str, McpServer]:
    """The servers of one file."""
    try:
        written = msgspec.json.decode(data, type=_File).mcpServers
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{source}: {error}") from None
    return {name: _server(name, source, each) for name, each in written.items()}


def _server(name: str, source: str, written: Any) -> McpServer:
    if bool(written.command) == bool(written.url):
        raise UsageError(f"{source}: the server {name!r} needs a command or a url, and not both")
    return McpServer(name, source, **msgspec.structs.asdict(written))
