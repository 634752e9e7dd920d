"""MCP servers as users configure them: the common `mcpServers` JSON, read but not yet started.

`${NAME}` and `${NAME:-else}` are filled in from the user's environment only, just before a server is
started, so that the pin and the review hold the text of the file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from ...errors import UsageError

_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")
_SECRET = re.compile(r"KEY|TOKEN|SECRET|PASS|CREDENTIAL|AUTH|COOKIE|SESSION", re.IGNORECASE)
_HTTP = ("", "http", "streamable-http", "streamableHttp", "streamable_http")


class McpServer(Struct, frozen=True):
    """One server: a command to start, or an address to reach. `source` is the file that names it."""

    name: str
    source: str = ""
    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    disabled: bool = False
    cwd: str = ""
    type: str = ""

    @property
    def summary(self) -> str:
        """Its command or address, without the values of its variables and headers, which may be secrets."""
        place = without_password(self.url) or " ".join((self.command, *self.args))
        return f"{place} (disabled)" if self.disabled else place


class _Written(Struct, frozen=True):
    """A server in a file; fields that we do not know are ignored."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    url: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    disabled: bool = False
    cwd: str = ""
    type: str = ""


class _ServersFile(Struct, frozen=True):
    mcpServers: dict[str, _Written] = field(default_factory=dict)


def read_servers(data: bytes, source: str) -> dict[str, McpServer]:
    """The servers of one file."""
    try:
        written = msgspec.json.decode(data, type=_ServersFile).mcpServers
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise UsageError(f"{source}: correct this file of MCP servers: {error}") from None
    return {name: _server(name, source, each) for name, each in written.items()}


def _server(name: str, source: str, written: _Written) -> McpServer:
    if bool(written.command) == bool(written.url):
        raise UsageError(f"{source}: the server {name!r} needs either a command or a url; give one of them")
    return McpServer(name, source, **msgspec.structs.asdict(written))


def expand_references(server: McpServer, environment: Mapping[str, str]) -> McpServer:
    """The server with its references filled in; raises UsageError where that is not possible or not safe.

    Secrets belong in variables and headers. Everyone on the machine can see arguments (`ps`), and
    addresses end up in logs.
    """
    _check_address(server)
    anywhere = _filler(server, environment)
    openly = _filler(server, environment, secrets=False)
    return replace(
        server,
        command=openly(server.command),
        args=tuple(openly(word) for word in server.args),
        cwd=openly(server.cwd),
        url=openly(server.url),
        env={name: anywhere(value) for name, value in server.env.items()},
        headers={name: anywhere(value) for name, value in server.headers.items()},
    )


def _check_address(server: McpServer) -> None:
    if not server.url:
        return
    if server.type not in _HTTP:
        raise UsageError(f"the server {server.name!r} is of type {server.type!r}; use stdio or http")
    if urlsplit(server.url).scheme not in ("http", "https") and not server.url.startswith("${"):
        raise UsageError(f"the server {server.name!r} has an address of another kind; use http or https")


def _filler(
    server: McpServer, environment: Mapping[str, str], *, secrets: bool = True
) -> Callable[[str], str]:
    def value_of(found: re.Match[str]) -> str:
        name, otherwise = found[1], found[2]
        if not secrets and name in server.env:
            return found[0]  # the server gets this variable and fills it in itself
        if not secrets and is_secret(name):
            raise UsageError(
                f"the server {server.name!r} would show {name} in its command or address; "
                "pass it in env or headers"
            )
        value = environment.get(name) or otherwise
        if value is None:
            raise UsageError(f"the server {server.name!r} needs the variable {name}; set it")
        return value

    return lambda text: _REFERENCE.sub(value_of, text)


def references(server: McpServer) -> tuple[str, ...]:
    """The variables of the user's environment that the server is given, in order."""
    texts: tuple[Any, ...] = (server.command, *server.args, server.cwd, server.url)
    texts += (*server.env.values(), *server.headers.values())
    return tuple(dict.fromkeys(found[1] for text in texts for found in _REFERENCE.finditer(text)))


def is_secret(name: str) -> bool:
    """Whether a variable or header of this name is likely to hold a secret."""
    return bool(_SECRET.search(name))


def without_password(url: str) -> str:
    """An address as it may be shown: without a user name and password before the host."""
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"
