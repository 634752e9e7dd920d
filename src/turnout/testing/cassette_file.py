"""A cassette as a file: exchanges in the order in which they were sent, as JSON that people can read.

A request body is JSON, not a text that holds JSON. A streamed reply is a list of chunks as they came,
usually an event each, so a change is a change of a line.
"""

from __future__ import annotations

import json
import os
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from ..errors import UsageError

VERSION = 1


class RecordedRequest(Struct, frozen=True):
    """A request without its keys. `body` is JSON, or a text where it was not JSON."""

    method: str
    url: str
    headers: dict[str, str]
    body: Any = None


class RecordedResponse(Struct, frozen=True, omit_defaults=True):
    """What came back: a whole JSON `body`, or `chunks`. `ends` says how, where it did not end well."""

    status: int = 0  # 0: no answer at all
    headers: dict[str, str] = {}
    body: Any = msgspec.UNSET
    chunks: tuple[Any, ...] = ()
    ends: str = ""

    @property
    def bytes_in_chunks(self) -> list[bytes]:
        """The chunks as they came."""
        if self.body is not msgspec.UNSET:
            return [json.dumps(self.body, ensure_ascii=False).encode()]
        return [_bytes_of(chunk) for chunk in self.chunks]


class RecordedExchange(Struct, frozen=True):
    """One request and what came back."""

    request: RecordedRequest
    response: RecordedResponse


class CassetteFile(Struct, frozen=True):
    """All that a cassette holds."""

    turnout_cassette: int
    exchanges: tuple[RecordedExchange, ...]


def read_cassette(path: Path) -> list[RecordedExchange]:
    """The exchanges of a file; raises `UsageError` where it is not a cassette."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=CassetteFile)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path} is not a cassette: {error}; delete it and record again") from None
    if found.turnout_cassette > VERSION:
        raise UsageError(f"{path} was recorded by a later version of turnout; update, or record again")
    return list(found.exchanges)


def write_cassette(path: Path, exchanges: Iterable[RecordedExchange]) -> None:
    """Write the file whole or not at all: a run that is killed leaves the old one."""
    value = msgspec.to_builtins(CassetteFile(VERSION, tuple(exchanges)))
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    beside.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    beside.replace(path)


def body_of(chunks: Sequence[bytes], content_type: str) -> dict[str, Any]:
    """How the body of an answer is written down, as fields of `RecordedResponse`."""
    if "json" in content_type and "ndjson" not in content_type and "stream" not in content_type:
        try:
            return {"body": json.loads(b"".join(chunks))}
        except ValueError:  # a body that broke off, or that is not what its header says
            pass
    return {"chunks": tuple(_text_of(chunk) for chunk in chunks)}


def _text_of(chunk: bytes) -> Any:
    try:
        return chunk.decode()
    except UnicodeDecodeError:  # cut within a letter, or not text at all: Bedrock's streams are binary
        return {"base64": b64encode(chunk).decode()}


def _bytes_of(chunk: Any) -> bytes:
    return b64decode(chunk["base64"]) if isinstance(chunk, dict) else str(chunk).encode()
