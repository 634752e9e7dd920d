"""Records that each name the one before them, and the path to where the session stands.

Programs append to one file, so a line can be lost: the disk was full, two processes wrote at
once. A record whose parent is not in the file follows the line before it. Everything before
the gap would be lost with the one line otherwise.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct


class Link(Struct, frozen=True):
    """A record of the file by its id, and the id of the one that it follows ("" for a first one)."""

    id: str
    parent: str


class Path(Struct, frozen=True):
    """The ids from the first record to the last one, and the parents that were not in the file."""

    ids: frozenset[str]
    missing: tuple[str, ...] = ()


def path_to_last(links: Sequence[Link]) -> Path:
    """The way back from the last record. Ids may repeat; a circle ends the way."""
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
            if parent:  # what a first record follows lies in another file
                missing.append(unknown)
        at = parent
    return Path(frozenset(walked), tuple(reversed(missing)))
