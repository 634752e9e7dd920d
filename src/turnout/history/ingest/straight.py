"""The straight path: lists in which every result stands right behind its call, in order.

    messages -> read -> turns and outcomes, at once

Such a list needs no resolving, so nothing is drafted, matched and ranked. At the first message
that would need it, this path steps aside (`StepAside`), and `resolve` and `write` read the whole
list. Both give the same entries and the same findings: a law of the tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from copy import copy
from typing import Any, Literal

import msgspec

from ... import ids
from ...model import (
    CONTENT,
    Block,
    Entry,
    ModelTurn,
    Origin,
    Settled,
    SystemTurn,
    Text,
    Thinking,
    ToolCall,
    UserTurn,
    call_with_arguments,
    clean_block,
)
from ...plain import MAX_DEPTH
from . import responses
from .anthropic import was_paused
from .formats import RESPONSES, Format
from .issued import Issued
from .match import is_empty
from .message_parts import Heard, HeardCall, HeardResult, ReadContext
from .messages import read_message
from .plain_shapes import PLAIN_READERS
from .resolve import LONGEST_ID

BLOCKS = (*CONTENT, Thinking)
_decode_object = msgspec.json.Decoder(dict[str, Any]).decode

NUL = "\\u0000"
"""How JSON writes a NUL, which no text of a history holds."""


class StepAside(Exception):
    """This list is for the careful path."""


class StraightReader:
    """Reads messages in order. What it has read so far it can continue, see `copy_for_more`."""

    def __init__(self, form: Format, origin: Origin, key: str, issued: Issued | None = None) -> None:
        self._issued = issued
        self.context = ReadContext(origin, form.unit)
        self.system: list[str] = []  # the system text before the first turn
        self._entries: list[Entry] = []
        self.count = 0  # how many messages were read
        self._form = form
        self._key = key
        self._turns = 0
        self._ids: set[str] = set()  # every id that a call has had
        self._open: list[tuple[HeardCall, str]] = []  # calls that wait for their results, in order
        self._last: Heard | None = None

    def copy_for_more(self, issued: Issued | None = None) -> StraightReader:
        """A reader of the messages that follow; this one stays as it is."""
        reader = copy(self)
        reader._issued = issued
        reader.context = ReadContext(self.context.origin, self._form.unit, list(self.context.findings))
        reader.context.hosted = set(self.context.hosted)
        reader.system, reader._entries = list(self.system), []
        reader._ids, reader._open = set(self._ids), list(self._open)
        return reader

    def read(self, listed: list[Any]) -> list[Entry]:
        """The entries of these messages. Raises `StepAside`."""
        heard = self._read_each(listed)
        self._add_all(responses.join_pieces(heard) if self._form is RESPONSES else heard)
        self.count += len(listed)
        entries, self._entries = self._entries, []
        return entries

    def _read_each(self, listed: list[Any]) -> Iterator[Heard]:
        form, context = self._form, self.context
        read_plain = PLAIN_READERS.get(form.name)
        if read_plain is None:
            raise StepAside
        for number, given in enumerate(listed, self.count):
            if (heard := read_plain(given, context)) is not None:
                yield heard
            else:
                yield from read_message(number, given, form, context)

    def _add_all(self, messages: Iterable[Heard]) -> None:
        before, joins = self._last, self._form is RESPONSES
        for heard in messages:
            if heard.joins and (not joins or (before is not None and before.joins)):
                raise StepAside  # a piece of a reply that was read already
            before = None
            if not heard.items or heard.turn_id:
                raise StepAside
            match heard.speaker:
                case "model":
                    self._add_reply(heard)
                case "tool":
                    self._add_results(heard.items)
                case _:
                    self._add_speech(heard)
            self._last = heard

    # Turns

    def _add_reply(self, heard: Heard) -> None:
        key = self._next_key()
        blocks: list[Block] = []
        for item in heard.items:
            if isinstance(item, HeardCall):
                call = self._call_of(item, heard.origin, key, len(self._open))
                self._open.append((item, call.id))
                blocks.append(call)
            elif isinstance(item, BLOCKS) and not is_empty(item):
                blocks.append(item)
            else:
                raise StepAside
        if isinstance(blocks[-1], Thinking) and all(isinstance(block, Thinking) for block in blocks):
            raise StepAside  # it may belong to the turn that follows
        turn = _as_stored(blocks)
        stop: Literal["paused", ""] = "paused" if was_paused(turn) else ""
        made = ModelTurn(key, heard.origin, turn, None, stop)
        self._entries.append(made if self._issued is None else self._issued.restored_turn(made))

    def _add_speech(self, heard: Heard) -> None:
        if heard.speaker == "system" and not self._turns:
            self._add_system_text(heard)
            return
        spoken = [item for item in heard.items if not isinstance(item, HeardResult)]
        if len(spoken) < len(heard.items):
            self._add_results([item for item in heard.items if isinstance(item, HeardResult)])
        if not spoken:
            return
        if any(is_empty(item) or not isinstance(item, CONTENT) for item in spoken):
            raise StepAside
        kind = SystemTurn if heard.speaker == "system" else UserTurn
        self._entries.append(kind(self._next_key(), _as_stored(spoken)))

    def _add_system_text(self, heard: Heard) -> None:
        for item in heard.items:
            if not isinstance(item, Text) or is_empty(item):
                raise StepAside
            self.system.append(item.text)

    def _next_key(self) -> str:
        """The key of the next turn. Every call before it must have its result."""
        if self._open:
            raise StepAside
        self._turns += 1
        return f"{self._key}.{self._turns}"

    # Calls and results

    def _call_of(self, heard: HeardCall, origin: Origin, key: str, index: int) -> ToolCall:
        raw_id, given = heard.raw_id, heard.arguments
        own = self._issued.canonical_id(raw_id) if self._issued is not None and raw_id else ""
        if raw_id:
            if raw_id in self._ids or raw_id != raw_id.strip():
                raise StepAside
            if raw_id.startswith(ids.PREFIX) and not own:
                raise StepAside
            if len(raw_id) > LONGEST_ID:
                raise StepAside
            self._ids.add(raw_id)
        elif not heard.unnumbered:
            raise StepAside
        arguments = _parse_object(given) if isinstance(given, str) else given
        if not isinstance(arguments, dict):
            raise StepAside
        call_id = own or ids.call_id(origin.provider, raw_id, heard.name, key, index)
        if own:
            if own in self._ids and own != raw_id:
                raise StepAside
            self._ids.add(own)
        raw_id = "" if raw_id == call_id else raw_id  # an id of ours is not that of a provider
        return call_with_arguments(
            arguments, id=call_id, name=heard.name, raw_id=raw_id, residue=heard.residue
        )

    def _add_results(self, items: Iterable[Any]) -> None:
        """Each result belongs to the first call that waits, or this is not a plain list."""
        for item in items:
            if not isinstance(item, HeardResult) or not self._open:
                raise StepAside
            call, call_id = self._open.pop(0)
            is_answer = item.raw_id == call.raw_id or (not call.raw_id and item.raw_id == call_id)
            if not is_answer or not _names_the_same(item, call):
                raise StepAside
            self._entries.append(Settled(call_id, item.outcome))


def _as_stored(blocks: list[Any]) -> tuple[Block, ...]:
    """The blocks as a history keeps them: private state that is nested too deep is cut."""
    return tuple([block if block.residue is None else clean_block(block) for block in blocks])


def _parse_object(text: str) -> dict[str, Any] | None:
    """The arguments of a call, where their text is an object as it should be."""
    if NUL in text or text.count("{") + text.count("[") > MAX_DEPTH:
        return None
    try:
        return _decode_object(text)
    except ValueError:
        return None


def _names_the_same(result: HeardResult, call: HeardCall) -> bool:
    """Whether a result names the tool that was called. Only one with an id may leave the name out."""
    return result.name == call.name or (not result.name and bool(result.raw_id))
