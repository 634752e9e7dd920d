"""What the four protocols share: the options of a request, the facts of a model, the request itself.

An encoder is fed sealed messages once and keeps their bytes. A request is the join of
those bytes, the encoded open tail, and the fields around them, so the bytes already sent
stay a prefix of the bytes sent next.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import msgspec
from msgspec import Struct

from ..diagnostic import Diagnostic
from ..model import Message, Origin, ToolSpec
from ..rendering.report import Rendered, Report
from .options import Options

# One constant text each: they are syntax, so they never reach the log and always look the same.
FIRST_FILLER = "(The conversation goes on from here.)"
LAST_FILLER = "Please continue."
TEXT_FILLER = "(no text)"
JSON_REMINDER = "Answer in JSON."

encode = msgspec.json.Encoder().encode

Pieces = Sequence[bytes | bytearray]
"""Bytes that lie in several pieces, one after the other."""


class ModelFacts(Struct, frozen=True, kw_only=True):
    """What a model can do, as data. The defaults are what an unknown model gets."""

    context: int = 128_000
    output: int = 8_192
    thinking: tuple[str, ...] = ()  # the switches it takes: manual, adaptive, off, effort, always
    efforts: tuple[str, ...] = ()
    sampling: bool = True
    media: tuple[str, ...] = ("image/png", "image/jpeg", "image/webp", "image/gif")
    tools: bool = True
    forced_tools: bool = True
    chat_tools: str = ""  # "no_reasoning": function tools on Chat only with reasoning_effort none
    signatures: bool = False  # Gemini 3: every step's first call must be signed
    system_turns: bool = False  # Claude 4.8+: system messages in mid conversation
    verbosity: bool = False  # can be told how much to say
    known: bool = True


class Setting(Struct, frozen=True, kw_only=True):
    """One target as the encoders see it."""

    origin: Origin
    facts: ModelFacts

    @property
    def model(self) -> str:
        return self.origin.model


class WireRequest(Struct, frozen=True, kw_only=True):
    """One request, ready to send but for the key."""

    url: str
    headers: dict[str, str]
    body: bytes
    protocol: str
    target: Origin
    source: Rendered
    changes: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()  # of the request itself; the report has the others too
    tools: tuple[str, ...] = ()  # by their own names
    method: str = "POST"

    @property
    def report(self) -> Report:
        """What was resolved on the way; made when asked for."""
        return self.source.reported(self.changes, self.diagnostics)

    @property
    def ids(self) -> dict[str, str]:
        """Canonical call ids, and what the target knows them as."""
        return {emitted.call_id: emitted.projected for emitted in self.report.calls}

    @property
    def names(self) -> dict[str, str]:
        """Tools by the names that this request gave them, and their own: the way back for a call."""
        return {sent: tool for tool, sent in self.source.ids.tool_names(self.tools).items()}

    @property
    def json(self) -> dict[str, Any]:
        """The body as a Python value."""
        return msgspec.json.decode(self.body)  # type: ignore[no-any-return]

    @property
    def params(self) -> dict[str, Any]:
        """The body as keyword arguments of the provider's own SDK."""
        from .shared.sdk import params  # only those who keep their SDK need it

        return params(self)


class Encoder(Protocol):
    """Sealed messages in, request bytes out."""

    called: dict[str, None]  # names of the tools that the history calls, in order

    def feed(self, message: Message) -> None: ...

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        """The request body, and what had to be added, dropped or weakened."""


def body_bytes(fields: Mapping[str, Any], name: str, parts: Iterable[Pieces]) -> bytes:
    """One JSON object: the fields, then the long array, joined from bytes that were kept."""
    head = encode(fields)
    opening = head[:-1] + (b"," if len(head) > 2 else b"") + b'"' + name.encode() + b'":['
    return b"".join((opening, *_separated(parts), b"]}"))


def says_json(*parts: Pieces) -> bool:
    """Whether the messages speak of JSON: OpenAI refuses to answer with any object when they do not."""
    return any(b"json" in piece.lower() for part in parts for piece in part)


def _separated(parts: Iterable[Pieces]) -> Iterator[bytes | bytearray]:
    first = True
    for part in parts:
        if any(part):
            if not first:
                yield b","
            yield from part
            first = False
