"""A foreign transcript, collected piece by piece and written as a history.

A reader of one format only translates: who spoke, what was called, what the result was, in the
types of `history.ingest`. Pairing and damage are resolved there, once. A record that a reader
does not know is kept as a note in its place and counted, so nothing is lost in silence.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ...diagnostic import Diagnostic
from ...history.ingest import responses
from ...history.ingest.formats import NAMES, Format
from ...history.ingest.message_parts import Heard, HeardNote, Item, ReadContext, Speaker
from ...history.ingest.parts import items_of
from ...history.ingest.resolve import resolve_messages
from ...history.ingest.write import write_resolved
from ...history.log import History
from ...model import Origin
from ...plain import plain
from .lines import TORN, UNREADABLE
from .titles import title_of

CODES_OF_KINDS = {TORN: "torn_tail", UNREADABLE: "unreadable_entry"}
"""Kinds of records that mean damage. Other unknown kinds are normal."""


class ForeignSession(Struct, frozen=True):
    """A session of another program: its history, title and id, and what was kept as notes."""

    history: History
    title: str = ""
    id: str = ""
    kept: dict[str, int] = {}
    """Records that are kept as notes, by kind."""
    heard: tuple[Heard, ...] = ()
    """The messages that the program sends next, as they stand in its file: since its last summary."""


class ForeignCompaction(Struct, frozen=True):
    """From here on a summary replaces what came before, except what was kept."""

    summary: str
    kept_from: str = ""  # the id of the first turn that was kept


class TranscriptBuilder:
    """Takes a transcript in order; gives the history at the end."""

    def __init__(self, program: str, origin: Origin) -> None:
        self.program = program
        self.context = ReadContext(origin)
        self.title = ""
        self.id = ""
        self.system: list[str] = []
        self.kept: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()
        self._messages: list[Heard | ForeignCompaction] = []

    def add_message(
        self, form: Format, message: dict[str, Any], origin: Origin | None = None, turn_id: str = ""
    ) -> None:
        """A message in one of the formats that the ingest knows."""
        context = self.context if origin is None else self.context.speaking_as(origin)
        for heard in form.read(plain(message), context):
            self._messages.append(replace(heard, turn_id=turn_id) if turn_id else heard)

    def add_items(
        self,
        speaker: Speaker,
        *items: Item,
        origin: Origin | None = None,
        turn_id: str = "",
        joins: bool = False,
    ) -> None:
        """Add a message of texts, calls or results; `joins`: it is one of several pieces of a reply."""
        if items:
            self._messages.append(Heard(speaker, items, origin or self.context.origin, turn_id, joins))

    def read_parts(self, content: Any, origin: Origin | None = None) -> list[Item]:
        """The items of content that is written in the parts of a known format."""
        return list(
            items_of(plain(content), self.context if origin is None else self.context.speaking_as(origin))
        )

    def keep_record(self, kind: str, record: Any) -> None:
        """Keep a record that is not a turn, as a note in its place."""
        self.kept[kind] += 1
        note = HeardNote(f"{self.program}:{kind}", plain(record))
        self._messages.append(Heard("user", (note,), self.context.origin))

    def skip_record(self, kind: str) -> None:
        """Count a record that repeats others, or that is not about the conversation."""
        self.skipped[kind] += 1

    def add_compaction(self, summary: str, kept_from: str = "") -> None:
        self._messages.append(ForeignCompaction(summary, kept_from))

    def build_session(self, key: str) -> ForeignSession:
        """The session of everything that was added."""
        history = History(key, system="\n\n".join(self.system))
        for heard, cut in self._stretches():
            resolved = resolve_messages(responses.join_pieces(iter(heard)), self.context.origin, {})
            for text in resolved.system:
                history.note_system(text)
            write_resolved(history, resolved)
            if cut is not None:
                _compact_history(history, cut)
        history.diagnostics.extend(self._diagnostics())
        title = self.title or title_of(history.entries)
        return ForeignSession(history, title, self.id, dict(self.kept), self._sent_messages())

    def _sent_messages(self) -> tuple[Heard, ...]:
        heard = tuple(responses.join_pieces(each for each in self._messages if isinstance(each, Heard)))
        cuts = [each for each in self._messages if isinstance(each, ForeignCompaction)]
        if not cuts:
            return heard
        *_, (last, _) = self._stretches()
        return tuple(last)

    def _diagnostics(self) -> Iterator[Diagnostic]:
        for found in self.context.findings:
            yield Diagnostic("history", found.code, "", found.detail)
        for kind, count in self.kept.items():
            code = CODES_OF_KINDS.get(kind, "foreign_record")
            yield Diagnostic("history", code, "", f"{count} of kind {kind!r}")
        if self.skipped:
            counts = ", ".join(f"{count} {kind}" for kind, count in self.skipped.items())
            yield Diagnostic("history", "passed_over", "", counts)

    def _stretches(self) -> Iterator[tuple[list[Heard], ForeignCompaction | None]]:
        """The messages between two compactions, and the compaction that ends them."""
        heard: list[Heard] = []
        for each in self._messages:
            if isinstance(each, Heard):
                heard.append(each)
            else:
                yield heard, each
                heard = []
        yield heard, None


def _compact_history(history: History, cut: ForeignCompaction) -> None:
    """Replace what a summary covers. Where that is not known, the summary is added and nothing is hidden."""
    keys = [turn.key for turn in history.turns]
    if cut.kept_from and cut.kept_from not in keys:
        history.diagnostics.append(Diagnostic("history", "missing_record", "", f"{cut.kept_from}: {UNCUT}"))
        history.user(f"[Summary of the conversation so far]\n{cut.summary}")
        return
    through = keys.index(cut.kept_from) - 1 if cut.kept_from else len(keys) - 1
    if through >= 0:
        history.compact(keys[through], cut.summary)


UNCUT = "a summary keeps everything from this record on, but it is missing; everything is kept"


def origin_of(provider: Any, model: Any) -> Origin:
    """The origin of a reply, under our name for the provider where we have one."""
    name = provider if isinstance(provider, str) and provider else "unknown"
    found = NAMES.get(name.lower().replace("_", "-"))
    return Origin(found[1] if found else name, "", model if isinstance(model, str) else "")
