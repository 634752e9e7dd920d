"""Records that name the record before them, and the path to the last one.

Programs append to one file, so a line can be lost: the disk was full, or two processes wrote at
once. A record whose parent is not in the file follows the line before it. Otherwise everything
before the gap would be lost with that line.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct


class RecordLink(Struct, frozen=True):
    """The id of a record, and the id of its parent ("" for a first record)."""

    id: str
    parent: str


class RecordPath(Struct, frozen=True):
    """The ids from the first record to the last one, and the parents that were not in the file."""

    ids: frozenset[str]
    missing: tuple[str, ...] = ()


def path_to_last(links: Sequence[RecordLink]) -> RecordPath:
    """The path back from the last record. Ids may repeat; a cycle ends the path."""
    parents = {link.id: link.parent for link in links}
    line_before = {link.id: before.id for before, link in pairwise(links)}
    walked: set[str] = set()
    missing: list[str] = []
    at = links[-1].id if links else ""
    while at and at not in walked:
        walked.add(at)
        parent = parents[at]
        if parent and parent not in parents:
            parent, unknown = line_before.get(at, ""), parent
            if parent:  # the parent of a first record is in another file
                missing.append(unknown)
        at = parent
    return RecordPath(frozenset(walked), tuple(reversed(missing)))
