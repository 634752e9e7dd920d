"""Pins on disk: one small file of the user's own, readable by nobody else.

A file that cannot be read, or an entry whose hash does not fit it, is no pin: then the user
is asked again. Servers are known by the file that names them and by their name in it.
"""

from __future__ import annotations

import os
from pathlib import Path

import msgspec
from msgspec import Struct, field

from .config import McpServer
from .pin import Launch, Offer, Pin


class _File(Struct, frozen=True):
    servers: dict[str, Pin] = field(default_factory=dict)


class Pins:
    """What the user has trusted of MCP servers."""

    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._file = Path(file)
        self._known = self._read()

    def of(self, server: McpServer) -> Pin | None:
        """What was trusted of this server last, if anything."""
        return self._known.get(_key(server))

    def trusts_launch(self, server: McpServer) -> bool:
        pin = self.of(server)
        return pin is not None and pin.launch == Launch.of(server)

    def trusts(self, server: McpServer, offer: Offer | None) -> bool:
        """Whether the user has seen this very launch and this very offer."""
        pin = self.of(server)
        return self.trusts_launch(server) and pin is not None and offer is not None and pin.offer == offer

    def trust(self, server: McpServer, pin: Pin) -> None:
        self._write({**self._read(), _key(server): pin})

    def forget(self, server: McpServer) -> None:
        self._write({key: pin for key, pin in self._read().items() if key != _key(server)})

    def _read(self) -> dict[str, Pin]:
        try:
            found = msgspec.json.decode(self._file.read_bytes(), type=_File).servers
        except (OSError, msgspec.DecodeError, msgspec.ValidationError, RecursionError):
            return {}
        return {key: pin for key, pin in found.items() if pin.is_whole}

    def _write(self, servers: dict[str, Pin]) -> None:
        self._known = servers
        for folder in reversed([place for place in self._file.parents if not place.exists()]):
            folder.mkdir(mode=0o700, exist_ok=True)
        draft = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        draft.unlink(missing_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
        with open(os.open(draft, flags, 0o600), "wb") as file:
            file.write(msgspec.json.format(msgspec.json.encode(_File(servers))))
            file.flush()
            os.fsync(file.fileno())
        os.replace(draft, self._file)


def _key(server: McpServer) -> str:
    return f"{server.source}#{server.name}"
