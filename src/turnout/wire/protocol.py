"""What the four protocols share: the options of a request, the facts of a model, the request itself.

An encoder is fed sealed messages once and keeps their bytes. A request is the join of
those bytes, the encoded open tail, and the fields around them, so the bytes already sent
stay a prefix of the bytes sent next.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import is_
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct, field

from ..errors import UsageError
from ..ids import IdProjection
from ..model import Message, Origin, ToolSpec
from ..rendering.report import Rendered, Report

EFFORTS = ("none", "minimal", "low", "medium", "high", "xhigh", "max")
CHOICES = ("auto", "none", "required")

# One constant text each: they are syntax, so they never reach the log and always look the same.
FIRST_FILLER = "(The conversation goes on from here.)"
LAST_FILLER = "Please continue."
TEXT_FILLER = "(no text)"
STUB_DESCRIPTION = "This tool is no longer available. Do not call it."

encode = msgspec.json.Encoder().encode


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a request asks for, in neutral words; each protocol maps them to its own."""

    max_tokens: int | None = None
    thinking: bool | None = None
    effort: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    top_k: int | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    tool_choice: str | None = None  # "auto", "none", "required", or a tool's name
    parallel: bool | None = None
    stream: bool = False
    strict: bool = False
    schema: dict[str, Any] | None = None
    cache: bool = True
    chain: bool = False
    extra: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Options:
        try:
            read = msgspec.convert(_with_listed_stops(options), cls)
        except msgspec.ValidationError as error:
            known = ", ".join(cls.__struct_fields__)
            raise UsageError(f"options: {error}. The options are {known}") from None
        if read.effort is not None and read.effort not in EFFORTS:
            raise UsageError(f"effort {read.effort!r} is not one of {', '.join(EFFORTS)}")
        if read.max_tokens is not None and read.max_tokens < 1:
            raise UsageError(f"max_tokens {read.max_tokens} leaves no room for an answer; give 1 or more")
        if read.temperature is not None and not read.temperature >= 0:
            raise UsageError(f"temperature {read.temperature} is below 0, which no API takes")
        if read.top_p is not None and not 0 <= read.top_p <= 1:
            raise UsageError(f"top_p {read.top_p} is no share; give 0 to 1")
        if read.thinking and read.effort == "none":
            raise UsageError("thinking=True and effort='none' contradict each other; give one of them")
        if read.thinking is None and read.effort is not None:
            return msgspec.structs.replace(read, thinking=read.effort != "none")
        return read


def _with_listed_stops(options: Mapping[str, Any]) -> dict[str, Any]:
    """One stop word may be given by itself."""
    stop = options.get("stop", ())
    return {**options, "stop": (stop,)} if isinstance(stop, str) else dict(options)


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
    tools: tuple[str, ...] = ()  # by their own names
    method: str = "POST"

    @property
    def report(self) -> Report:
        """What was resolved on the way; made when asked for."""
        return self.source.reported(self.changes)

    @property
    def ids(self) -> dict[str, str]:
        """Canonical call ids, and what the target knows them as."""
        return {emitted.call_id: emitted.projected for emitted in self.report.calls}

    @property
    def names(self) -> dict[str, str]:
        """Tools by the names that this request gave them, and their own: the way back for a call."""
        return {self.source.ids.name(tool): tool for tool in self.tools}

    @property
    def json(self) -> dict[str, Any]:
        """The body as a Python value."""
        return msgspec.json.decode(self.body)  # type: ignore[no-any-return]

    @property
    def params(self) -> dict[str, Any]:
        """The body as keyword arguments of the provider's own SDK."""
        from .sdk import params  # only those who keep their SDK need it

        return params(self)


class Encoder(Protocol):
    """Sealed messages in, request bytes out."""

    called: dict[str, None]  # names of the tools that the history calls, in order

    def feed(self, message: Message) -> None: ...

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        """The request body, and what had to be added, dropped or weakened."""


def body_bytes(fields: Mapping[str, Any], name: str, parts: Iterable[bytes | bytearray]) -> bytes:
    """One JSON object: the fields, then the long array, joined from bytes that were kept."""
    head = encode(fields)
    opening = head[:-1] + (b"," if len(head) > 2 else b"") + b'"' + name.encode() + b'":['
    return b"".join((opening, *_separated(parts), b"]}"))


def _separated(parts: Iterable[bytes | bytearray]) -> Iterator[bytes | bytearray]:
    first = True
    for part in parts:
        if part:
            if not first:
                yield b","
            yield part
            first = False


def declared(
    tools: Sequence[ToolSpec], called: Iterable[str], changes: list[str], ids: IdProjection, limit: int = 128
) -> list[ToolSpec]:
    """The tools of a request: those given, and stubs for those that only the history knows.

    What counts is the name on the wire: a history that came back from elsewhere may know a
    tool by the name that it was once projected to.
    """
    taken: dict[str, str] = {}
    for tool in tools:
        if (spoken := ids.name(tool.name)) in taken:
            raise UsageError(f"tool {tool.name!r} is given twice; names must be unique")
        taken[spoken] = tool.name
    if len(tools) > limit:
        raise UsageError(f"{len(tools)} tools are more than the {limit} that this API takes; enable fewer")
    for name in called:
        if len(taken) < limit:
            taken.setdefault(ids.name(name), name)
    stubs = list(taken.values())[len(tools) :]
    if stubs:
        changes.append(f"stub declarations for tools that only the history knows: {', '.join(stubs)}")
    return [*tools, *map(_stub, stubs)]


@lru_cache(maxsize=512)
def _stub(name: str) -> ToolSpec:
    return ToolSpec(name, STUB_DESCRIPTION, {"type": "object", "properties": {}})


class Declarations:
    """The tools of the last request, encoded: they seldom change from one request to the next."""

    def __init__(self, make: Callable[[Sequence[ToolSpec], Options, list[str]], list[Any]]) -> None:
        self._make = make
        self._tools: Sequence[ToolSpec] = ()
        self._asked = (False, False)
        self._changes: list[str] = []
        self._encoded = Raw()

    def of(self, tools: Sequence[ToolSpec], options: Options, changes: list[str]) -> Raw:
        """What `make` makes of these tools, and what it had to weaken."""
        asked = (options.strict, options.cache)
        if asked != self._asked or not _are_same(tools, self._tools):
            weakened: list[str] = []
            self._encoded = Raw(encode(self._make(tools, options, weakened)))
            self._tools, self._asked, self._changes = tools, asked, weakened
        changes += self._changes
        return self._encoded


def _are_same(tools: Sequence[ToolSpec], others: Sequence[ToolSpec]) -> bool:
    """Whether these are the very same values: equal ones may differ in JSON, where 1 is not true."""
    return len(tools) == len(others) and all(map(is_, tools, others))


def chosen(options: Options, tools: Sequence[ToolSpec], all_tools: Sequence[ToolSpec]) -> str:
    """The tool choice that applies: auto, none, required, a tool's name, or "" to leave it out."""
    choice = options.tool_choice
    if choice in ("required",) and not tools:
        raise UsageError("tool_choice 'required' needs tools; give some or leave the choice out")
    if choice and choice not in CHOICES and choice not in {tool.name for tool in tools}:
        raise UsageError(f"tool_choice names {choice!r}, which is not among the tools")
    if not tools:
        return "none" if all_tools else ""  # stubs are declared to be valid, never to be called
    return choice or ""


def forced(choice: str) -> bool:
    return choice not in ("", "auto", "none")
