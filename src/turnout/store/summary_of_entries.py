"""The summary of entries: turns, cost, the last model, a title. No IO."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import CorruptHistory
from ..history.codec import decode_entry
from ..history.waiting import waiting_call_of
from ..model import Entry, ModelTurn, Note, Rewind, Settled, SystemTurn, Text, UserTurn
from ..providers.cost import cost_of
from .ports import Tally

TITLE = 80
"""The longest title that is made from the first prompt."""


def tally_of(entries: Iterable[Entry]) -> Tally:
    """The summary of these entries for a list."""
    entries = tuple(entries)
    replies = [entry for entry in entries if isinstance(entry, ModelTurn)]
    return Tally(
        turns=sum(isinstance(entry, SystemTurn | UserTurn | ModelTurn) for entry in entries),
        cost=cost_of(replies) if replies else None,
        model=str(replies[-1].origin) if replies else "",
        title=next((title for entry in entries if (title := _title_of(entry))), ""),
        replied=bool(replies) or any(_is_discarded(entry) for entry in entries),
        waiting=tuple(found for entry in entries if (found := waiting_call_of(entry)) is not None),
        settled=tuple(entry.call_id for entry in entries if isinstance(entry, Settled)),
        rewound=any(isinstance(entry, Rewind) for entry in entries),
    )


def decode_or_none(data: bytes) -> Entry | None:
    """A stored entry; None where it cannot be read."""
    try:
        return decode_entry(data)
    except CorruptHistory:
        return None


def _title_of(entry: Entry) -> str:
    """The first line of the first text of the user."""
    if not isinstance(entry, UserTurn):
        return ""
    text = next((block.text for block in entry.blocks if isinstance(block, Text) and block.text.strip()), "")
    line = " ".join(text.strip().partition("\n")[0].split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"


def _is_discarded(entry: Entry) -> bool:
    return isinstance(entry, Note) and isinstance(entry.data, dict) and "turn_key" in entry.data
