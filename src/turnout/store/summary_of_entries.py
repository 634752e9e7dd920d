"""What entries add up to: turns, cost, the last model, a title. No IO."""

from __future__ import annotations

from collections.abc import Iterable

from ..errors import CorruptHistory
from ..history.codec import decode_entry
from ..model import Entry, ModelTurn, Note, SystemTurn, Text, UserTurn
from ..providers.cost import cost_of
from .ports import Tally

TITLE = 80
"""Characters of a title that was taken from the first thing said."""


def tally_of(entries: Iterable[Entry]) -> Tally:
    """The line that a list shows of these entries."""
    entries = tuple(entries)
    replies = [entry for entry in entries if isinstance(entry, ModelTurn)]
    return Tally(
        turns=sum(isinstance(entry, SystemTurn | UserTurn | ModelTurn) for entry in entries),
        cost=cost_of(replies) if replies else None,
        model=str(replies[-1].origin) if replies else "",
        title=next((title for entry in entries if (title := _title(entry))), ""),
        replied=bool(replies) or any(_is_discarded(entry) for entry in entries),
    )


def readable(data: bytes) -> Entry | None:
    """An entry as it was stored; None where it cannot be read."""
    try:
        return decode_entry(data)
    except CorruptHistory:
        return None


def _title(entry: Entry) -> str:
    """The first line that the user said."""
    if not isinstance(entry, UserTurn):
        return ""
    said = next((block.text for block in entry.blocks if isinstance(block, Text) and block.text.strip()), "")
    line = " ".join(said.strip().partition("\n")[0].split())
    return line if len(line) <= TITLE else f"{line[: TITLE - 1]}…"


def _is_discarded(entry: Entry) -> bool:
    return isinstance(entry, Note) and isinstance(entry.data, dict) and "turn_key" in entry.data
