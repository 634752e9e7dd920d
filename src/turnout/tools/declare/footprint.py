"""What a call touches, and whether two calls clash: this decides the order between calls.

Two calls clash when one of them changes a path that the other touches. A folder and what is in it
are the same place. A command may read anything, so every call that changes something clashes with
it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

LONGEST_PATH = 4096
"""No file has a longer path; a longer one has no folders above it here."""


class Footprint(Struct, frozen=True):
    """What a call touches: paths by their one name, whether it changes them, whether it runs alone.

    `everywhere` marks a call that may touch any path, such as a command. `counted` is False
    for a call that only waits for a subagent: it takes no slot from the calls it waits for.
    """

    paths: tuple[str, ...] = ()
    changes: bool = False
    alone: bool = False
    everywhere: bool = False
    counted: bool = True


UNTOUCHED = Footprint()


class TakenPlaces:
    """Paths that are taken, asked for overlap: the same place, one above it, or one below it."""

    def __init__(self, footprints: Iterable[Footprint] = ()) -> None:
        self._read: set[str] = set()
        self._changed: set[str] = set()
        self._above_read: set[str] = set()
        self._above_changed: set[str] = set()
        self._anything_changes = False
        self._everywhere_read = self._everywhere_changed = False
        for footprint in footprints:
            self.add(footprint)

    def add(self, footprint: Footprint) -> None:
        self._anything_changes |= footprint.changes
        self._everywhere_read |= footprint.everywhere
        self._everywhere_changed |= footprint.everywhere and footprint.changes
        taken, above = (
            (self._changed, self._above_changed) if footprint.changes else (self._read, self._above_read)
        )
        for path in footprint.paths:
            taken.add(path)
            above.update(_folders_above(path))

    def clash(self, footprint: Footprint) -> bool:
        if footprint.everywhere and self._anything_changes:
            return True
        if footprint.changes and (self._everywhere_read or (footprint.everywhere and self._read)):
            return True
        if not footprint.paths:
            return False
        if self._everywhere_changed:
            return True
        return any(self._meets(path, footprint.changes) for path in footprint.paths)

    def _meets(self, path: str, changes: bool) -> bool:
        if _overlaps(path, self._changed, self._above_changed):
            return True
        return changes and _overlaps(path, self._read, self._above_read)


def clash_across_sessions(one: Footprint, two: Footprint) -> bool:
    """Whether two calls of different sessions of a tree must not run at the same time.

    Between sessions there is no order to keep, but changes must not overlap. So a call that runs
    alone in its batch excludes calls that change things and others that run alone; reading continues.
    """
    if one.alone or two.alone:
        return (one.alone or one.changes) and (two.alone or two.changes)
    return TakenPlaces((one,)).clash(two)


def _overlaps(path: str, taken: set[str], above: set[str]) -> bool:
    return bool(taken) and (path in taken or path in above or any(up in taken for up in _folders_above(path)))


def _folders_above(path: str) -> Iterator[str]:
    """The folders that hold a path, "." for everything that is not absolute."""
    if path in (".", "/") or len(path) > LONGEST_PATH:
        return
    at = path.rfind("/")
    while at > 0:
        yield path[:at]
        at = path.rfind("/", 0, at)
    yield "/" if at == 0 else "."
