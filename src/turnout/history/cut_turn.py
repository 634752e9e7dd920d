"""Truncates turns that are too long, and says how much was left out.

A reply that never ends can have any length; one server sent 28 MB before it broke off. Without
a limit, all of it would be sent with every request, and to the model that summarises.
"""

from __future__ import annotations

from typing import TypeVar

from msgspec.structs import replace

from ..model import Block, Code, Opaque, Text, Thinking, Turn, with_fields

AnyTurn = TypeVar("AnyTurn", bound=Turn)

LONGEST_PARTIAL = 500_000
"""Characters that are kept of a reply that broke off. Whole replies of any model are shorter."""


def cut_turn(turn: AnyTurn, limit: int = LONGEST_PARTIAL) -> tuple[AnyTurn, int]:
    """The turn with texts of at most so many characters, and how many were left out."""
    total = sum(map(_length, turn.blocks))
    if total <= limit:
        return turn, 0
    blocks: list[Block] = []
    room = limit
    for block in turn.blocks:
        blocks.append(_cut_block(block, room))
        room = max(0, room - _length(block))
    return replace(turn, blocks=tuple(blocks)), total - limit


def _length(block: Block) -> int:
    match block:
        case Text(text) | Thinking(text) | Code(text) | Opaque(text=text):
            return len(text)
    return 0


def _cut_block(block: Block, room: int) -> Block:
    if _length(block) <= room:
        return block
    match block:
        case Text(text) | Thinking(text) | Opaque(text=text):
            # The signature or id of the provider belongs to the whole text, so it is dropped.
            return with_fields(block, text=_cut_text(text, room), residue=None)
        case Code(source):
            return with_fields(block, source=_cut_text(source, room), residue=None)
    return block


def _cut_text(text: str, room: int) -> str:
    return f"{text[:room]}\n[{len(text) - room:,} more characters were left out]"
