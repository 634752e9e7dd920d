"""Scripts of a simulated model: its replies, independent of the provider, and their faults.

A script is a list of steps, one for each request that is answered. A step is a reply (its
parts, in order), or something in its place: an HTTP error, a dropped connection, a body that
is not a reply. Faults and oddities are written among the parts:

    [Think("It may rain."), Call("weather", {"city": "Paris"}), Truncate()]

`step` reads a text, a part, or a list of parts.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from ..errors import FailureKind, UsageError
from ..model import Stop, Usage
from ..wire.shared.reply import Call, Hosted, Part, ReplyParts, Say, Think


class Ends(Struct, frozen=True, tag="ends"):
    """Why the reply ends, where that does not follow from its parts."""

    stop: Stop


# Faults of a reply after its start. `after` counts events of the stream; without it only the end
# of the reply is missing.


class Stall(Struct, frozen=True, tag="stall"):
    """A pause in the middle of a stream."""

    seconds: float
    after: int | None = None


class Delay(Struct, frozen=True, tag="delay"):
    """A pause before the first byte."""

    seconds: float


class Pings(Struct, frozen=True, tag="pings"):
    """Keep-alive events without content, one every `every` seconds."""

    count: int = 10
    every: float = 0.0
    after: int | None = None


class Truncate(Struct, frozen=True, tag="truncate"):
    """The body ends too early, without an error."""

    after: int | None = None


class Reset(Struct, frozen=True, tag="reset"):
    """The connection breaks."""

    after: int | None = None


class MidStreamError(Struct, frozen=True, tag="stream_error"):
    """The provider reports a failure in the middle of the stream, in its own form."""

    kind: FailureKind = "overloaded"
    after: int | None = None
    message: str = ""


class Garble(Struct, frozen=True, tag="garble"):
    """An event whose payload is not JSON, or not text."""

    after: int | None = None
    bytes: bool = False  # not even UTF-8


class Repeat(Struct, frozen=True, tag="repeat"):
    """One event comes twice."""

    at: int = 1


class Split(Struct, frozen=True, tag="split"):
    """The bytes come in chunks of this size; 0 is all in one."""

    size: int = 1


Fault: TypeAlias = Stall | Delay | Pings | Truncate | Reset | MidStreamError | Garble | Repeat | Split


class Odd(Struct, frozen=True, tag="odd"):
    """Ways of real servers to write a stream that are in no specification."""

    ways: tuple[str, ...]

    def __post_init__(self) -> None:
        if unknown := [way for way in self.ways if way not in ODDITIES]:
            raise UsageError(f"there is no oddity {unknown[0]!r}; use one of {', '.join(ODDITIES)}")


ODDITIES: dict[str, str] = {
    "crlf": "lines end with CR LF",
    "cr": "lines end with CR alone",
    "bom": "the stream begins with a byte order mark",
    "comments": "comments between the events",
    "no_space": "no space after `data:`",
    "two_lines": "a payload over two `data:` lines",
    "no_last_line": "no blank line after the last event",
    "padding": "spaces inside the payloads",
    "no_index": "Chat: calls without an index",
    "index_0": "Chat: every call at index 0",
    "name_repeated": "Chat: id and name on every fragment",
    "whole_calls": "Chat: each call in one chunk",
    "arguments_object": "Chat: arguments as an object",
    "stop_for_calls": "Chat: finish_reason stop although there are calls",
    "no_done": "Chat: no [DONE]",
    "no_usage": "no token counts",
    "null_delta": "Chat: a chunk whose delta is null",
    "two_choices": "Copilot: text and calls in different choices",
    "think_tags": "Chat: thinking inside the text, in <think>",
    "input_at_start": "Anthropic: the arguments at the start of the block",
    "no_block_stop": "Anthropic: the last block does not stop",
    "no_deltas": "Responses: whole values only",
    "items_only": "Responses: finished items only",
    "rotating_ids": "Responses: another item id on every event, as at Copilot",
    "completed_twice": "Responses: the last event comes twice",
    "one_chunk": "Gemini: everything in one chunk",
    "repeated_call": "Gemini: a signed call comes again with the next chunk",
}


# Steps


class Reply(ReplyParts, frozen=True, tag="reply"):
    """The reply of the model to one request, and its faults."""

    faults: tuple[Fault, ...] = ()


class HttpError(Struct, frozen=True, tag="http_error"):
    """The provider answers with an error, with its own status, envelope and text."""

    kind: FailureKind = "server"
    status: int = 0  # 0: the usual status of this provider for the kind
    message: str = ""
    retry_after: float | str | None = None  # seconds, or a date as HTTP writes it


class Drop(Struct, frozen=True, tag="drop"):
    """No answer at all: the connection is refused or lost."""


class Raw(Struct, frozen=True, tag="raw"):
    """A body that is not a reply: a web page, an empty body, an error with status 200."""

    body: str = ""
    status: int = 200
    content_type: str = "text/html"


Step: TypeAlias = Reply | HttpError | Drop | Raw
Item: TypeAlias = Part | Ends | Usage | Fault | Odd

PARTS = (Say, Think, Call, Hosted)
FAULTS = (Stall, Delay, Pings, Truncate, Reset, MidStreamError, Garble, Repeat, Split)


def step(given: Any) -> Step:
    """A step from a text, a part, a list of parts, or a step."""
    if isinstance(given, Reply | HttpError | Drop | Raw):
        return given
    items = [given] if isinstance(given, str | Struct | Mapping) else given
    if not isinstance(items, Iterable):
        raise UsageError(f"{given!r} is not a step of a script; write a text, a part or a list of parts")
    return _reply_of_items([_item_of(item) for item in items])


def script(steps: Iterable[Any]) -> tuple[Step, ...]:
    """The steps of a script, each in any form that `step` reads."""
    return tuple(step(given) for given in steps)


def read_script(source: bytes | str) -> tuple[Step, ...]:
    """A script from JSON: a list of texts, objects with a `type`, and lists of those."""
    try:
        values = msgspec.json.decode(source)
    except msgspec.DecodeError as error:
        raise UsageError(f"the script is not JSON ({error}); write a JSON list of steps") from None
    if not isinstance(values, list):
        raise UsageError("the script is not a list; write a JSON list of steps")
    return script(_named_step(value) for value in values)


def _reply_of_items(items: list[Item]) -> Reply:
    ends = [item.stop for item in items if isinstance(item, Ends)]
    usages = [item for item in items if isinstance(item, Usage)]
    return Reply(
        parts=tuple(item for item in items if isinstance(item, PARTS)),
        stop=ends[-1] if ends else None,
        usage=usages[-1] if usages else None,
        faults=tuple(item for item in items if isinstance(item, FAULTS)),
        odd=tuple(way for item in items if isinstance(item, Odd) for way in item.ways),
    )


def _item_of(given: Any) -> Item:
    if isinstance(given, str):
        return Say(given)
    if isinstance(given, Mapping):
        return _convert_value(given, Item)  # type: ignore[no-any-return]
    if isinstance(given, (*PARTS, *FAULTS, Ends, Usage, Odd)):
        return given
    raise UsageError(f"{given!r} is not a part of a reply; use Say, Think, Call, a fault or an oddity")


def _named_step(value: Any) -> Any:
    if isinstance(value, Mapping) and value.get("type") in ("reply", "http_error", "drop", "raw"):
        return _convert_value(value, Step)
    return value


def _convert_value(value: Mapping[str, Any], kind: Any) -> Any:
    try:
        return msgspec.convert(dict(value), kind)
    except msgspec.ValidationError as error:
        raise UsageError(
            f"{value!r} is not a part of a script ({error}); use a type such as say, think, call or reply"
        ) from None
