"""A protocol as a value: one API family, with everything that reads or writes it.

Each protocol is a folder. It defines one `Protocol` in its `protocol.py`; its line in `PROTOCOLS` makes it
known. A protocol is loaded when it is first asked for, so a program loads only those that it speaks.
"""

from __future__ import annotations

import sys
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import quote

from msgspec import Struct

from ..errors import UsageError
from ..ids import IdProjection
from ..model import Message, Origin, ToolSpec
from ..streaming.events import StreamEvent
from ..streaming.reply import ReplyBuilder
from .options import Options
from .request import Setting
from .shared.reply import ReplyForms

if TYPE_CHECKING:
    from .check.problem import Problem  # the rules are loaded when a request is checked

PROTOCOLS = {
    "chat": "turnout.wire.chat.protocol",
    "responses": "turnout.wire.responses.protocol",
    "anthropic": "turnout.wire.anthropic.protocol",
    "gemini": "turnout.wire.gemini.protocol",
    "ollama": "turnout.wire.ollama.protocol",
    "cohere": "turnout.wire.cohere.protocol",
    "converse": "turnout.wire.converse.protocol",
    "invoke": "turnout.wire.invoke.protocol",
}
"""The modules that define a `PROTOCOL`, by its name. A new protocol is a folder and a line here."""


class Encoder(typing.Protocol):
    """Feed sealed messages once; it keeps their bytes."""

    called: dict[str, None]  # names of the tools that the history calls, in order

    def feed(self, message: Message) -> None: ...

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        """The request body, and what had to be added, dropped or weakened."""


class Decoder(typing.Protocol):
    """Feed the payloads of one reply; get events."""

    reply: ReplyBuilder

    def feed(self, event: str, data: bytes) -> Iterable[StreamEvent]: ...

    def whole(self, body: Any) -> Iterable[StreamEvent]: ...

    def close(self) -> Iterable[StreamEvent]: ...


class ReadOptions(Struct, frozen=True):
    """What the caller wants of the text of a reply; only Chat servers leave these things in it."""

    think_tags: bool | None = None  # thinking stands in <think>; None: as the dialect says
    text_tools: bool = False  # calls may stand in the text


# The first argument is the protocol's own dialect. Only the protocol itself knows its type.
MakeEncoder: TypeAlias = Callable[[Any, Setting, IdProjection, bool | None], Encoder]
MakeDecoder: TypeAlias = Callable[[Any, Origin, str, ReadOptions], Decoder]
Checker: TypeAlias = "Callable[[Mapping[str, Any], str], Iterator[Problem]]"
RequestHeaders: TypeAlias = Callable[[Sequence[ToolSpec], Options], Mapping[str, str]]


class Protocol(Struct, frozen=True, kw_only=True):
    """One API family.

    `path` follows the base URL; `{model}` in it is replaced. A server that streams at another path has
    a `stream_path`. The `encoder` is None where requests are sent in another protocol, the `checker` is
    None where there are no rules.
    """

    name: str
    path: str
    stream_path: str = ""
    encoder: MakeEncoder | None
    decoder: MakeDecoder
    reply: ReplyForms
    checker: Checker | None
    headers: RequestHeaders | None = None  # comma-separated values that these tools and options need
    arguments_are_objects: bool = False  # in replies; else they are JSON text
    quotes_model: bool = False  # the model's name is quoted in the path: ARNs have slashes

    def url(self, base: str, model: str, *, stream: bool = False, names_model: bool = True) -> str:
        """Where a request goes. Without `names_model` the path leaves the model out."""
        path = self.stream_path if stream and self.stream_path else self.path
        if not names_model:
            path = path.rpartition("{model}")[2]
        if path.startswith(("/v1/", "/api/")):  # people write the base URL with and without it
            base = base.removesuffix("/v1")
        return base + path.replace("{model}", quote(model, safe="") if self.quotes_model else model)


def find_protocol(name: str) -> Protocol:
    """The protocol of that name."""
    if name not in PROTOCOLS:
        known = ", ".join(PROTOCOLS)
        raise UsageError(f"no protocol is called {name!r}; known are {known}. Add its module to PROTOCOLS")
    place = PROTOCOLS[name]
    module = sys.modules.get(place) or import_module(place)  # asked three times for each request
    return module.PROTOCOL  # type: ignore[no-any-return]
