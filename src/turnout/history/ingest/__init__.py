"""A foreign or damaged message list becomes a history: forgiving here, strict ever after.

    messages -> snapshot -> read (one translator a format) -> resolve -> write

Damage is resolved once, with diagnostics, and never raises. Only what is not the named
format at all does.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from msgspec import Struct

from ...diagnostic import Diagnostic
from ...errors import UsageError
from ...model import Origin, joined_text
from ..log import History
from . import parts, responses
from .formats import FORMATS, RESPONSES, Format, named, reader_of
from .heard import Door, Heard, HeardNote, text_of
from .resolve import resolve
from .snapshot import opened, parsed, snapshot
from .tools import FIELDS as TOOL_FIELDS
from .tools import declared_tools
from .write import write


def ingest(
    messages: Any, format: str = "openai-chat", origin: str | Origin | None = None, *, key: str = "ingest"
) -> History:
    """The history that these messages tell of, whatever state they are in.

    `messages` is a list of messages or a whole request body, as Python or SDK objects, JSON
    text or bytes. What was resolved is in `history.diagnostics`.
    """
    read = read_body(messages, format, origin, key)
    if unread := [name for name, value in read.fields.items() if value is not None and name != "model"]:
        told = f"{', '.join(unread)}; read_request() keeps what a request asks for"
        read.history.diagnostics.append(Diagnostic("history", "unread_fields", "", told))
    return read.history


class ReadBody(Struct, frozen=True):
    """A request body as it was read: the history, and the fields that are no part of one."""

    history: History
    fields: dict[str, Any]
    origin: Origin  # whom it was written for
    api: str  # the protocol it was written in
    held: dict[str, str]  # what the provider holds of the conversation already
    marked: list[Any]  # its messages, system text and tools as they were, where their markers stand


def read_body(messages: Any, format: str, origin: str | Origin | None, key: str) -> ReadBody:
    """The history, with what the body says besides; what was resolved is in its diagnostics."""
    form, provider = named(format)
    body, listed = _body(messages, form)
    door = Door(_origin(body, origin, provider), form.unit)
    system = _system(form.system(body), door)
    heard = responses.joined(_hear(listed, form, door))
    held = responses.held(body, listed) if form is RESPONSES else {}
    resolved = resolve(heard, door.origin, held)

    preamble = [text for text in (system, *resolved.system) if text]
    tools = declared_tools(body, form.api, door)
    history = History(key, system="\n\n".join(preamble), tools=tools)
    history.diagnostics.extend(Diagnostic("history", found.code, "", found.detail) for found in door.findings)
    if held.keys() - {"items"}:  # single items have a note of their own
        history.note("held_by_provider", held)
    write(history, resolved)
    fields = {name: value for name, value in body.items() if name not in form.fields}
    marked = [*listed, *(body.get(name) for name in (*form.heads, *TOOL_FIELDS))]
    return ReadBody(history, fields, door.origin, form.api, held, marked)


# What was given


def _body(given: Any, form: Format) -> tuple[dict[str, Any], list[Any]]:
    """The request body ({} when there is none) and the messages themselves."""
    if isinstance(given, str | bytes | bytearray | memoryview):
        given = parsed(given if isinstance(given, str) else bytes(given))
    if hasattr(given, "read"):
        raise UsageError(f"{type(given).__name__} is an open file; give what it holds: file.read()")
    if not isinstance(given, Mapping | list | tuple):
        given = opened(given)
    if isinstance(given, Mapping):
        return _from_body(given, form)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return {}, list(given)
    raise UsageError(
        f"{type(given).__name__} is not {form.name}; give a list of messages or a body with {form.lists[0]!r}"
    )


def _from_body(body: Mapping[str, Any], form: Format) -> tuple[dict[str, Any], list[Any]]:
    config = body.get("config")
    around = (
        {**config, **body} if isinstance(config, Mapping) else body
    )  # Gemini's SDK puts some one level down
    name = next((name for name in form.lists if name in body), None)
    if name is None:
        raise UsageError(_unlike(body, form))
    listed = body[name]
    if not isinstance(listed, list | tuple):
        listed = [] if listed is None else [listed]  # one message, or the text that Responses allows
    rest, _ = snapshot({key: value for key, value in around.items() if key != name})
    return (rest if isinstance(rest, dict) else {}), list(listed)


def _unlike(body: Mapping[str, Any], form: Format) -> str:
    seen = next((other for other in FORMATS if other.lists[0] in body), None)
    missing = f"this body has no {form.lists[0]!r}, so it is not {form.name}"
    if seen is not None:
        return f"{missing}; it has {seen.lists[0]!r}: say format={seen.name!r}"
    return f"{missing}; a single message goes in a list"


def _origin(body: dict[str, Any], origin: str | Origin | None, provider: str) -> Origin:
    """Who spoke, where a message does not say it itself."""
    given = Origin.parse(origin) if origin is not None else Origin(provider)
    model = body.get("model")
    if not isinstance(model, str) or not model:
        return given
    return Origin(given.provider, given.endpoint, model.rpartition("/models/")[2].removeprefix("models/"))


def _system(value: Any, door: Door) -> str:
    return joined_text(parts.said(parts.items_of(value, door)))


# Message by message


def _hear(listed: list[Any], form: Format, door: Door) -> Iterator[Heard]:
    for number, given in enumerate(listed):
        message, is_same = snapshot(given)
        if not is_same:
            door.found("unplain_value", f"message {number}")
        try:
            yield from list(_read(message, form, door, number))
        except RecursionError:
            door.found("unplain_value", f"message {number} is nested too deep to be read")
            yield Heard("user", (HeardNote("unreadable_message", message),), door.origin)


def _read(message: Any, form: Format, door: Door, number: int) -> Iterator[Heard]:
    if isinstance(message, dict):
        reader = reader_of(message, form)
        if reader is not form.read:
            door.found("mixed_shapes", f"message {number} is not {form.name}")
        yield from reader(message, door)
        return
    if not isinstance(message, str) and message is not None:
        door.found("unknown_role", f"message {number} is {type(message).__name__}")
    yield Heard("user", tuple(parts.items_of(text_of(message), door)), door.origin)
