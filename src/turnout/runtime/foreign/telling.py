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

from ...diagnostic import Diagnostic
from ...history.ingest import responses
from ...history.ingest.formats import NAMES, Format
from ...history.ingest.heard import Door, Heard, HeardNote, Item, Speaker
from ...history.ingest.parts import items_of
from ...history.ingest.resolve import resolve
from ...history.ingest.write import write
from ...history.log import History
from ...model import Origin
from ...plain import loads, plain

TORN = "torn line"


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
        self._told: list[Heard | Compacted] = []

    def message(self, form: Format, message: dict[str, Any], origin: Origin | None = None) -> None:
        """A message in one of the formats that the ingest knows."""
        door = self.door if origin is None else self.door.speaking_as(origin)
        self._told.extend(form.read(plain(message), door))

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
        findings = (Diagnostic("history", found.code, "", found.detail) for found in self.door.findings)
        history.diagnostics.extend(findings)
        for kind, count in self.kept.items():
            code = "torn_tail" if kind == TORN else "foreign_record"
            history.diagnostics.append(Diagnostic("history", code, "", f"{count} of kind {kind!r}"))
        return Foreign(history, self.title, self.id, dict(self.kept))

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
    keys = [turn.key for turn in history.turns]
    through = keys.index(cut.kept_from) - 1 if cut.kept_from in keys else len(keys) - 1
    if through >= 0:
        history.compact(keys[through], cut.summary)


# Reading files


def records(data: bytes, telling: Telling) -> Iterator[dict[str, Any]]:
    """The JSON objects of a file of lines. What is none is kept; a last line that is cut is said to be."""
    lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = loads(line)
        except (ValueError, RecursionError):
            record = None
        if isinstance(record, dict):
            yield record
        elif number == len(lines):
            telling.keep(TORN, line.decode(errors="replace"))
        else:
            telling.keep("unreadable line", line.decode(errors="replace"))


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
