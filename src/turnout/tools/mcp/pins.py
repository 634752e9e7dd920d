"""What the user trusts of a server: how it is launched and what it offers, word for word; and its file.

A pin holds the whole of it, with its hash: command, arguments, variables, address, the server's
name and version, and for every tool its name, description, schemas and hints. It is kept whole, so
that a change can be shown and not only noticed. Values of variables are kept as hashes: they may
be secrets, and they may also be code (`NODE_OPTIONS`).

Pins are in one small file that only the user can read. A file that cannot be read, or an entry with
a wrong hash, is not a pin: then the user is asked again. Servers are known by the file that names
them and by their name in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct, field

from ...plain import clean_text, plain
from .config import McpServer

_canonical = msgspec.json.Encoder(order="sorted").encode


class Launch(Struct, frozen=True):
    """How a server is started or reached, as its file has it."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: dict[str, str] = field(default_factory=dict)  # names, with a hash of each value
    url: str = ""
    headers: tuple[str, ...] = ()
    cwd: str = ""

    @classmethod
    def of(cls, server: McpServer) -> Launch:
        env = {clean_text(name): _hash_of(value) for name, value in server.env.items()}
        headers = tuple(sorted(clean_text(name) for name in server.headers))
        args = tuple(clean_text(word) for word in server.args)
        return cls(
            clean_text(server.command), args, env, clean_text(server.url), headers, clean_text(server.cwd)
        )


class OfferedTool(Struct, frozen=True):
    """A tool as its server describes it. `hints` are the server's claims about its effects."""

    name: str
    description: str = ""
    title: str = ""
    parameters: dict[str, Any] = field(default_factory=dict)
    output: dict[str, Any] | None = None
    hints: dict[str, Any] = field(default_factory=dict)

    @property
    def reads_only(self) -> bool:
        return self.hints.get("readOnlyHint") is True

    @property
    def stays_inside(self) -> bool:
        """Whether the server says that the tool contacts no other machine; by default it may."""
        return self.hints.get("openWorldHint") is False


class ServerOffer(Struct, frozen=True):
    """The name, version and tools of a server, as it lists them."""

    name: str = ""
    version: str = ""
    tools: tuple[OfferedTool, ...] = ()

    @classmethod
    def of(cls, name: str, version: str, listed: Iterable[Mapping[str, Any]]) -> ServerOffer:
        """From the tools as they came over the wire; their order means nothing."""
        tools = sorted((_tool(each) for each in listed), key=lambda tool: (tool.name, _canonical(tool)))
        return cls(clean_text(name), clean_text(version), tuple(tools))


class Pin(Struct, frozen=True):
    """What the user has trusted: a launch, and its offer, once the user has seen that too."""

    launch: Launch
    offer: ServerOffer | None = None
    sha256: str = ""

    @classmethod
    def of(cls, launch: Launch, offer: ServerOffer | None = None) -> Pin:
        return cls(launch, offer, sha256=pin_hash(launch, offer))

    @property
    def is_whole(self) -> bool:
        return self.sha256 == pin_hash(self.launch, self.offer)


def pin_hash(launch: Launch, offer: ServerOffer | None = None) -> str:
    """One hash over everything."""
    return sha256(_canonical({"launch": launch, "offer": offer})).hexdigest()


def repeated_names(tools: Iterable[OfferedTool]) -> Iterator[str]:
    """Names that a server gives to more than one tool."""
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            yield tool.name
        seen.add(tool.name)


# The file of pins


class _PinFile(Struct, frozen=True):
    servers: dict[str, Pin] = field(default_factory=dict)


class Pins:
    """The pins of all MCP servers, in their file."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._file = Path(file)
        self._known = self._read_file()

    def of(self, server: McpServer) -> Pin | None:
        """The last pin of this server, if there is one."""
        return self._known.get(_key_of(server))

    def trusts_launch(self, server: McpServer) -> bool:
        pin = self.of(server)
        return pin is not None and pin.launch == Launch.of(server)

    def trusts(self, server: McpServer, offer: ServerOffer | None) -> bool:
        """Whether the user has seen this very launch and this very offer."""
        pin = self.of(server)
        return self.trusts_launch(server) and pin is not None and offer is not None and pin.offer == offer

    def trust(self, server: McpServer, pin: Pin) -> None:
        self._write_file({**self._read_file(), _key_of(server): pin})

    def forget(self, server: McpServer) -> None:
        self._write_file({key: pin for key, pin in self._read_file().items() if key != _key_of(server)})

    def _read_file(self) -> dict[str, Pin]:
        try:
            found = msgspec.json.decode(self._file.read_bytes(), type=_PinFile).servers
        except (OSError, msgspec.DecodeError, msgspec.ValidationError, RecursionError):
            return {}
        return {key: pin for key, pin in found.items() if pin.is_whole}

    def _write_file(self, servers: dict[str, Pin]) -> None:
        self._known = servers
        for folder in reversed([place for place in self._file.parents if not place.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        draft = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(draft, flags, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(_PinFile(servers))))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self._file)


def _key_of(server: McpServer) -> str:
    return f"{server.source}#{server.name}"


def _tool(listed: Mapping[str, Any]) -> OfferedTool:
    described = plain(listed)
    return OfferedTool(
        name=_text_or_empty(described.get("name")),
        description=_text_or_empty(described.get("description")),
        title=_text_or_empty(described.get("title")),
        parameters=_object(described.get("inputSchema")) or {},
        output=_object(described.get("outputSchema")),
        hints=_object(described.get("annotations")) or {},
    )


def _text_or_empty(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _object(value: Any) -> dict[str, Any] | None:
    return value if isinstance(value, dict) else None


def _hash_of(value: str) -> str:
    return sha256(value.encode(errors="surrogatepass")).hexdigest()[:16]
