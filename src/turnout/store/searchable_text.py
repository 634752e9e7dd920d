"""The text of an entry that can be found, and the excerpt around what was found."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..model import Entry, ModelTurn, Settled, SystemTurn, Text, ToolCall, UserTurn, block_text
from ..plain import dumps
from .summary_of_entries import decode_or_none

LONGEST = 20_000
"""How many characters of one entry are indexed."""
AROUND = 60


def text_of(data: bytes) -> str:
    """The text of an entry that can be found."""
    entry = decode_or_none(data)
    return "\n".join(_texts_of(entry))[:LONGEST] if entry is not None else ""


def _texts_of(entry: Entry) -> Iterator[str]:
    match entry:
        case SystemTurn() | UserTurn() | ModelTurn():
            for block in entry.blocks:
                if isinstance(block, ToolCall):
                    yield f"{block.name} {dumps(block.arguments)}"
                elif isinstance(block, Text):
                    yield block.text
                else:
                    yield block_text(block)
        case Settled(_, outcome):
            yield outcome.text


def excerpt_around(data: bytes, words: list[str]) -> str:
    text = " ".join(text_of(data).split())
    found = re.search("|".join(map(re.escape, words)), text, re.IGNORECASE)
    at = found.start() if found else 0
    start, end = max(0, at - AROUND), min(len(text), at + 2 * AROUND)
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"
