"""What a foreign transcript tells, collected piece by piece and written as a history.

A reader of one format only translates: it says who spoke, what was called and what came of it,
in the words that the ingest shares. Pairing and damage are resolved there, once. What a reader
does not know is kept as a note in its place, and counted, so that nothing vanishes unsaid.
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
from ...history.ingest.heard import Door, Heard, HeardNote, Item, Speaker
from ...history.ingest.parts import items_of
from ...history.ingest.resolve import resolve
from ...history.ingest.write import write
from ...history.log import History
from ...model import Origin
from ...plain import plain
from .lines import TORN, UNREADABLE
from .titles import title_of

CODES_OF_KINDS = {TORN: "torn_tail", UNREADABLE: "unreadable_entry"}
"""Kinds of records that mean damage; the others are the program's own business."""


class Foreign(Struct, frozen=True):
    """A session of another program: its history, its name for itself, what it could not be told as."""

    history: History
    title: str = ""
    id: str = ""
    kept: dict[str, int] = {}
    """Records that are kept as notes, by kind."""


class Compacted(Struct, frozen=True):
    """From here on a summary stands for what came before, but for what was kept of it."""

    summary: str
    kept_from: str = ""  # the turn id of the first that stays


class Telling:
    """Told a transcript in order; gives the history at the end."""

    def __init__(self, program: str, origin: Origin) -> None:
        self.program = program
        self.door = Door(origin)
        self.title = ""
        self.id = ""
        self.system: list[str] = []
        self.kept: Counter[str] = Counter()
        self.passed_over: Counter[str] = Counter()
        self._told: list[Heard | Compacted] = []

    def message(
        self, form: Format, message: dict[str, Any], origin: Origin | None = None, turn_id: str = ""
    ) -> None:
        """A message in one of the formats that the ingest knows."""
        door = self.door if origin is None else self.door.speaking_as(origin)
        for heard in form.read(plain(message), door):
            self._told.append(replace(heard, turn_id=turn_id) if turn_id else heard)

    def say(
        self,
        speaker: Speaker,
        *items: Item,
        origin: Origin | None = None,
        turn_id: str = "",
        joins: bool = False,
    ) -> None:
        """Something said, called or reported; `joins`: it is one piece of a reply among others."""
        if items:
            self._told.append(Heard(speaker, items, origin or self.door.origin, turn_id, joins))

    def parts(self, content: Any, origin: Origin | None = None) -> list[Item]:
        """The pieces of a content that is written in a known family's parts."""
        return list(items_of(plain(content), self.door if origin is None else self.door.speaking_as(origin)))

    def keep(self, kind: str, record: Any) -> None:
        """A record that no turn can be made of: a note in its place."""
        self.kept[kind] += 1
        note = HeardNote(f"{self.program}:{kind}", plain(record))
        self._told.append(Heard("user", (note,), self.door.origin))

    def pass_over(self, kind: str) -> None:
        """A record that only repeats what others say, or says nothing of the conversation: counted."""
        self.passed_over[kind] += 1

    def compacted(self, summary: str, kept_from: str = "") -> None:
        self._told.append(Compacted(summary, kept_from))

    def finished(self, key: str) -> Foreign:
        """The history that all of it makes."""
        history = History(key, system="\n\n".join(self.system))
        for heard, cut in self._stretches():
            resolved = resolve(responses.joined(iter(heard)), self.door.origin, {})
            for text in resolved.system:
                history.note_system(text)
            write(history, resolved)
            if cut is not None:
                _compact(history, cut)
        history.diagnostics.extend(self._diagnostics())
        title = self.title or title_of(history.entries)
        return Foreign(history, title, self.id, dict(self.kept))

    def _diagnostics(self) -> Iterator[Diagnostic]:
        for found in self.door.findings:
            yield Diagnostic("history", found.code, "", found.detail)
        for kind, count in self.kept.items():
            code = CODES_OF_KINDS.get(kind, "foreign_record")
            yield Diagnostic("history", code, "", f"{count} of kind {kind!r}")
        if self.passed_over:
            counts = ", ".join(f"{count} {kind}" for kind, count in self.passed_over.items())
            yield Diagnostic("history", "passed_over", "", counts)

    def _stretches(self) -> Iterator[tuple[list[Heard], Compacted | None]]:
        """What was said between two compactions, and the one that ends it."""
        heard: list[Heard] = []
        for told in self._told:
            if isinstance(told, Heard):
                heard.append(told)
            else:
                yield heard, told
                heard = []
        yield heard, None


def _compact(history: History, cut: Compacted) -> None:
    """Let the summary stand for what it covers. Where that is not known, it is said and hides nothing."""
    keys = [turn.key for turn in history.turns]
    if cut.kept_from and cut.kept_from not in keys:
        history.diagnostics.append(Diagnostic("history", "missing_record", "", f"{cut.kept_from}: {UNCUT}"))
        history.user(f"[Summary of the conversation so far]\n{cut.summary}")
        return
    through = keys.index(cut.kept_from) - 1 if cut.kept_from else len(keys) - 1
    if through >= 0:
        history.compact(keys[through], cut.summary)


UNCUT = "the first record that a summary left in place; everything is left in place"


def origin_of(provider: Any, model: Any) -> Origin:
    """Who spoke, under our own name for the provider where we have one."""
    name = provider if isinstance(provider, str) and provider else "unknown"
    found = NAMES.get(name.lower().replace("_", "-"))
    return Origin(found[1] if found else name, "", model if isinstance(model, str) else "")


def text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def fields(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}
