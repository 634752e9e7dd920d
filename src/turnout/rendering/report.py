"""What a render did, as a value: for whoever must explain a refusal.

Reports are made on demand from the transcript, so a render that nobody asks about costs
nothing for them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from msgspec import Struct

from ..diagnostic import Diagnostic
from ..ids import IdProjection
from ..model import Message, Origin, ToolResponse
from .policy import Reader


class Emitted(Struct, frozen=True):
    """One id that went out: ours, and the target's."""

    call_id: str
    projected: str


class Synthetic(Struct, frozen=True):
    """A result that was made because the real one never came."""

    call_id: str
    status: str
    reason: str


class Report(Struct, frozen=True):
    """The structured report of one render."""

    target: Origin
    format: str
    seen: tuple[str, ...]  # canonical ids of the calls that this transcript covers
    calls: tuple[Emitted, ...]
    results: tuple[Emitted, ...]
    deduplicated: tuple[Diagnostic, ...]
    synthetic: tuple[Synthetic, ...]
    diagnostics: tuple[Diagnostic, ...]
    changes: tuple[str, ...] = ()  # what had to be added, dropped or weakened for this target


DEDUPE_CODES = frozenset(
    {
        "duplicate_outcome",
        "repeated_outcome",
        "replaced_outcome",
        "late_outcome",
        "repeated_call",
        "reused_id",
    }
)


class Rendered(Struct, frozen=True, kw_only=True):
    """A transcript at one moment. Sealed messages never change, so a count is enough to hold them."""

    reader: Reader
    ids: IdProjection
    sealed: list[Message]
    count: int
    tail: tuple[Message, ...]
    notes: list[Diagnostic]
    noted: int
    tail_notes: list[Diagnostic]
    seen: Callable[[], Iterable[str]]
    deduplicated: Callable[[], Iterable[Diagnostic]]

    @property
    def messages(self) -> tuple[Message, ...]:
        """What the target reads: every call has exactly one result, in its place."""
        return (*self.sealed[: self.count], *self.tail)

    @property
    def report(self) -> Report:
        """What this render did; made when asked for."""
        return self.reported(())

    def reported(self, changes: Iterable[str], diagnostics: Iterable[Diagnostic] = ()) -> Report:
        """The report, with what the wire layer had to change and what was found beyond the messages."""
        messages, notes = self.messages, (*self.notes[: self.noted], *self.tail_notes)
        calls = [call.id for message in messages for call in message.tool_calls]
        responses = [response for message in messages for response in message.responses]
        return Report(
            target=self.reader.origin,
            format=self.reader.id_format,
            seen=tuple(self.seen()),
            calls=tuple(Emitted(call, self.ids[call]) for call in calls),
            results=tuple(Emitted(item.call_id, self.ids[item.call_id]) for item in responses),
            deduplicated=tuple(self.deduplicated()),
            synthetic=tuple(_synthetic(item) for item in responses if item.outcome.synthetic),
            diagnostics=(*notes, *diagnostics),
            changes=tuple(dict.fromkeys((*changes, *_media_changes(notes)))),
        )


def _media_changes(notes: Iterable[Diagnostic]) -> Iterable[str]:
    """What the target was not shown: an image that is too large, say."""
    return (f"{note.code} {note.detail}" for note in notes if note.code == "media_replaced")


def _synthetic(response: ToolResponse) -> Synthetic:
    return Synthetic(response.call_id, response.outcome.status, response.outcome.reason)
