"""Foreign or damaged message lists become histories. Only this step accepts damage.

    messages -> snapshot -> read (one reader a format) -> resolve -> write

A list in which nothing needs resolving takes the straight path, which gives the same.
Damage is resolved once, with diagnostics, and never raises. Only input that is not the named
format at all raises.
"""

from __future__ import annotations

from typing import Any

import msgspec
from msgspec import Struct

from ...diagnostic import Diagnostic
from ...model import Origin, Settled, ToolSpec, joined_text
from ...plain import clean_text
from ..log import History
from . import parts, responses
from .body import Body, open_body, parse_body
from .formats import RESPONSES, Format, find_format
from .issued import Issued, issued_of
from .message_parts import ReadContext, ReaderFinding
from .messages import read_messages
from .resolve import resolve_messages
from .source import Source, source_of
from .straight import StepAside, StraightReader
from .tools import FIELDS as TOOL_FIELDS
from .tools import declared_tools
from .write import write_resolved


def ingest(
    messages: Any,
    format: str = "openai-chat",
    origin: str | Origin | None = None,
    *,
    key: str = "ingest",
    onto: History | None = None,
    issued: Any = None,
) -> History:
    """The history of these messages, also of damaged ones.

    `messages` is a list of messages or a whole request body, as Python or SDK objects, JSON
    text or bytes. What was resolved is in `history.diagnostics`.

    `onto` is the history that an earlier request of the same client was read into. Where these
    messages begin with those of that request (they have the same JSON) and the rest can be read by
    itself, only the rest is read and appended to `onto`, and `onto` is returned, with the system text,
    tools and diagnostics of this body. In every other case the whole is read into a new history with
    the key of `onto`, which stays as it is: an earlier message was edited or removed, the format or the
    model is another one, something was written to `onto` since, or results are missing or out of order.
    Both ways the history is equal to that of a whole read, so use the one that is returned.

    `issued` names the ids of calls that you gave to the client, or is an object that knows them and
    the replies behind them (`history.ingest.issued.Issued`): those calls keep their canonical ids.
    """
    read = ingest_body(messages, format, origin, key, (onto,), issued_of(issued))
    if unread := [name for name, value in read.fields.items() if value is not None and name != "model"]:
        detail = f"{', '.join(unread)}; read_request() keeps what a request asks for"
        read.history.diagnostics.append(Diagnostic("history", "unread_fields", "", detail))
    return read.history


class ReadBody(Struct, frozen=True):
    """A request body as it was read: the history, and the fields that do not belong to one."""

    history: History
    fields: dict[str, Any]
    origin: Origin  # the provider and model that it was written for
    api: str  # the protocol it was written in
    held: dict[str, str]  # the part of the conversation that the provider holds already
    given: Body
    heads: tuple[str, ...]  # fields of the body that belong to the history

    @property
    def marked_values(self) -> list[Any]:
        """Its messages, system text and tools as they were, where they may have cache markers."""
        heads = [self.given.fields.get(name) for name in self.heads]
        names = ("cache_control", "cachePoint")
        return [*(item for name in names for item in self.given.messages_that_name(name)), *heads]


class _BodyReading(Struct, frozen=True):
    """How a body is read: for whom, under which key, onto what, and with which ids of ours."""

    form: Format
    provider: str
    origin: str | Origin | None
    key: str
    onto: tuple[History | None, ...] = ()
    issued: Issued | None = None


def ingest_body(
    messages: Any,
    format: str,
    origin: str | Origin | None,
    key: str,
    onto: tuple[History | None, ...] = (),
    issued: Issued | None = None,
) -> ReadBody:
    """The history and the other fields of a body; what was resolved is in the diagnostics.

    `onto` are histories of the same client; the first that the messages continue is used.
    """
    form, provider = find_format(format)
    reading = _BodyReading(form, provider, origin, key, onto, issued)
    try:
        return _read_opened(open_body(messages, form), reading)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        if not isinstance(messages, str | bytes | bytearray | memoryview):
            raise
        return _read_opened(parse_body(messages, form), reading)


def _read_opened(body: Body, reading: _BodyReading) -> ReadBody:
    form, issued = reading.form, reading.issued
    whose = _origin_of(body.fields, reading.origin, reading.provider)
    held = responses.state_held_by_provider(body.fields, []) if form is RESPONSES else {}
    head = _read_head(body.fields, form, whose)
    known = [each for each in reading.onto if each is not None]
    key = known[0].key if known else reading.key
    history = None
    if not held:
        continued = (_read_onto(each, body, form, head, issued) for each in known)
        history = next((each for each in continued if each is not None), None)
        history = history or _read_straight(body, form, head, key, issued)
    if history is None:
        held = responses.state_held_by_provider(body.fields, body.messages) if form is RESPONSES else {}
        history = _read_carefully(body, form, head, key, held, issued)
    fields = {name: value for name, value in body.fields.items() if name not in form.fields}
    return ReadBody(history, fields, whose, form.api, held, body, (*form.heads, *TOOL_FIELDS))


class _Head(Struct, frozen=True):
    """What a body says beside its messages, and what was found in that."""

    origin: Origin
    system: str
    tools: list[ToolSpec]
    found_first: list[ReaderFinding]  # in the system text
    found_last: list[ReaderFinding]  # in the tools

    def system_with(self, more: list[str]) -> str:
        return "\n\n".join(text for text in (self.system, *more) if text)

    def diagnostics_with(self, found: list[ReaderFinding]) -> list[Diagnostic]:
        findings = (*self.found_first, *found, *self.found_last)
        return [Diagnostic("history", finding.code, "", finding.detail) for finding in findings]


def _read_head(body: dict[str, Any], form: Format, origin: Origin) -> _Head:
    first, last = ReadContext(origin, form.unit), ReadContext(origin, form.unit)
    system = _system_text(form.system(body), first)
    tools = declared_tools(body, form.api, last)
    return _Head(origin, system, tools, first.findings, last.findings)


def _read_onto(onto: History, body: Body, form: Format, head: _Head, issued: Issued | None) -> History | None:
    """`onto` with what is new; None where it is not the beginning of this conversation."""
    source: Source | None = onto.source
    if source is None or source.entries != len(onto.entries):
        return None
    if (more := source.read_more(body.text, form, head.origin, issued)) is None:
        return None
    source, entries = more
    for entry in entries:
        if isinstance(entry, Settled):
            onto.settle(entry.call_id, entry.outcome)
        else:
            onto.append(entry)
    onto.system, onto.tools = clean_text(head.system_with(source.reader.system)), tuple(head.tools)
    onto.diagnostics = head.diagnostics_with(source.reader.context.findings)
    onto.source = source
    return onto


def _read_straight(body: Body, form: Format, head: _Head, key: str, issued: Issued | None) -> History | None:
    """The history of a list in which nothing needs resolving; None for any other list."""
    reader = StraightReader(form, head.origin, key, issued)
    try:
        entries = reader.read(body.messages)
    except StepAside:
        return None
    history = History.replay(entries, key, system=head.system_with(reader.system), tools=head.tools)
    history.diagnostics = head.diagnostics_with(reader.context.findings)
    history.source = source_of(form, reader, body.text, len(entries))
    return history


def _read_carefully(
    body: Body, form: Format, head: _Head, key: str, held: dict[str, str], issued: Issued | None
) -> History:
    context = ReadContext(head.origin, form.unit)
    heard = responses.join_pieces(read_messages(body.messages, form, context))
    resolved = resolve_messages(heard, head.origin, held)
    history = History(key, system=head.system_with(resolved.system), tools=head.tools)
    history.diagnostics = head.diagnostics_with(context.findings)
    if held.keys() - {"items"}:  # single items have a note of their own
        history.note("held_by_provider", held)
    write_resolved(history, resolved, issued)
    return history


# Around the messages


def _origin_of(body: dict[str, Any], origin: str | Origin | None, provider: str) -> Origin:
    """The origin of messages that do not name one."""
    given = Origin.parse(origin) if origin is not None else Origin.parse(provider)
    model = body.get("model") or body.get("modelId")  # boto3 has the latter among its arguments
    if given.model and isinstance(model, str) and model in (str(given), given.model):
        return given  # a gateway's clients name a model as provider:model
    if not isinstance(model, str) or not model:
        return given
    return Origin(given.provider, given.endpoint, model.rpartition("/models/")[2].removeprefix("models/"))


def _system_text(value: Any, context: ReadContext) -> str:
    return joined_text(parts.contents_of(parts.items_of(value, context)))
