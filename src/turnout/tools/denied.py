"""What rules deny, as files: to deny a path is to deny its content, whatever name it is reached by.

A rule is a glob, and a file can have more names than the one that the rule knows: a hard link,
or the place that a denied link leads to. So the workspace is walked for what the globs name.
File tools ask before they hand out what they opened, and commands get these places covered
(see `sandbox`).

For file tools what was found is kept for a few seconds: they know a denied name without it, and
nothing that runs through us can give a denied file another name, since commands do not see it.
For a command the walk is made anew.
"""

from __future__ import annotations

import os
import re
import stat
import time
from collections.abc import Callable, Iterable, Iterator
from fnmatch import translate
from threading import Lock

from msgspec import Struct, field

from .path_globs import below, further, is_whole, meets, plain_letters

MOST = 1_000_000  # entries of a workspace that are looked at
UNNAMED = ".git"  # holds no file under its own name
KEPT = 5.0  # seconds for which what was found is good
_WILD = re.compile(r"[*?\[]")

Inode = tuple[int, int]
Reach = tuple[set[int], ...]  # of each glob, how much of it is used up


class Found(Struct):
    """The denied places of a workspace, by their paths, and the inodes of files that have other names."""

    places: list[str] = field(default_factory=list)
    targets: list[str] = field(default_factory=list)  # where denied links lead, relative to the workspace
    inodes: set[Inode] = field(default_factory=set)
    whole: bool = True  # False when there was too much to look at


class Denied:
    """Globs that rules deny, and what they come to in one workspace."""

    def __init__(self, patterns: Iterable[str], root: str) -> None:
        self.root, self._real_root = root, os.path.realpath(root)
        roots = (self.root, self._real_root)
        self.patterns = tuple(dict.fromkeys(below(roots, pattern) for pattern in patterns))
        self._names = _matcher_of_names(self.patterns)
        self._is_anywhere = any(not _has_place(each) for each in self.patterns)
        placed = [each.rstrip("/") for each in self.patterns if _has_place(each)]
        self._globs = tuple(tuple(plain_letters(each).split("/")) for each in placed)
        self._lock = Lock()
        self._found: tuple[float, Found] | None = None

    def names(self, path: str) -> bool:
        """Whether a rule names a path or a folder above it."""
        return any(meets(pattern, path) for pattern in self.patterns)

    def holds(self, place: str, status: os.stat_result) -> bool:
        """Whether what was opened is denied: by where it lies, or because it is another name of what is."""
        if self.names(place):
            return True
        found = self._current()
        is_target = any(place == target or place.startswith(f"{target}/") for target in found.targets)
        return is_target or (status.st_dev, status.st_ino) in found.inodes

    @property
    def has_other_names(self) -> bool:
        """Whether a name alone does not tell what is denied."""
        found = self._current()
        return bool(found.targets or found.inodes)

    def places(self) -> tuple[list[str], bool]:
        """Every path that must be covered now, and whether these are all."""
        with self._lock:
            self._found = None
        found = self._current()
        if not found.inodes:
            return found.places, found.whole
        others = list(_paths_of(self.root, found.inodes))
        return list(dict.fromkeys((*found.places, *others[:MOST]))), found.whole and len(others) <= MOST

    def folders_to_hold(self, places: Iterable[str]) -> list[str]:
        """The folders around denied places that may not get another name: it would free what is in them.

        Where a rule is only about the last name, a folder may be moved: its files stay denied.
        """
        found: set[str] = set()
        for place in places:
            if self._names(plain_letters(os.path.basename(place))) is None:
                folder = os.path.dirname(place)
                while folder.startswith(f"{self.root}/") and folder not in found:
                    found.add(folder)
                    folder = os.path.dirname(folder)
        return sorted(found)

    def _current(self) -> Found:
        with self._lock:
            if self._found is None or time.monotonic() - self._found[0] > KEPT:
                self._found = (time.monotonic(), self._look())
            return self._found[1]

    def _look(self) -> Found:
        found, looked = Found(places=list(self._outside())), 0
        waiting: list[tuple[str, Reach, bool]] = [(self.root, tuple({0} for _ in self._globs), False)]
        while waiting:
            folder, reach, inside = waiting.pop()
            for entry in _entries(folder):
                looked += 1
                if looked > MOST:
                    found.whole = False
                    return found
                name = plain_letters(entry.name)
                now = self._further(reach, name)
                named = inside or self._names(name) is not None or any(map(is_whole, now, self._globs))
                if named:
                    self._take(entry, found, inside)
                if name == UNNAMED and not named:
                    continue
                if entry.is_dir(follow_symlinks=False) and (named or self._is_anywhere or any(now)):
                    waiting.append((entry.path, now, named))
        return found

    def _further(self, reach: Reach, name: str) -> Reach:
        if not any(reach):
            return reach  # none of them can be met below this folder
        return tuple(
            further(at, glob, name) if at else at for at, glob in zip(reach, self._globs, strict=True)
        )

    def _take(self, entry: os.DirEntry[str], found: Found, inside: bool) -> None:
        """Note what a denied name stands for; what is in a denied folder is covered with it."""
        try:
            status = entry.stat(follow_symlinks=False)
        except OSError:
            return
        if stat.S_ISLNK(status.st_mode):
            if not inside:
                self._take_target(entry.path, found)
            return
        if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
            found.inodes.add((status.st_dev, status.st_ino))
        if not inside:
            found.places.append(entry.path)

    def _take_target(self, link: str, found: Found) -> None:
        """The content of a link is elsewhere, and denied there too; but never the folders around the link."""
        target = os.path.relpath(os.path.realpath(link), self._real_root)
        place = os.path.join(self.root, target)
        around = target == "." or link.startswith(f"{place}/")
        if not around and not target.startswith("..") and os.path.lexists(place):
            found.targets.append(target)
            found.places.append(place)

    def _outside(self) -> Iterator[str]:
        """Places of the system that a rule names in full."""
        for pattern in self.patterns:
            if pattern.startswith("/") and not _WILD.search(pattern) and os.path.lexists(pattern):
                yield os.path.realpath(pattern)


def _has_place(pattern: str) -> bool:
    """Whether a glob says where in the workspace, and not only what the last name is."""
    return "/" in pattern.removeprefix("**/") and not pattern.startswith("/")


def _matcher_of_names(patterns: Iterable[str]) -> Callable[[str], object]:
    """One expression for all globs that are only about the last name: most are, and it is asked often."""
    names = [plain_letters(each.removeprefix("**/")) for each in patterns if not _has_place(each)]
    return re.compile("|".join(map(translate, names)) if names else r"(?!)").match


def _entries(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            yield from found
    except OSError:
        return


def _paths_of(root: str, inodes: set[Inode]) -> Iterator[str]:
    """Every name below a folder of files that are known by inode."""
    waiting, numbers = [root], {number for _, number in inodes}
    while waiting:
        for entry in _entries(waiting.pop()):
            if entry.is_dir(follow_symlinks=False):
                waiting += [entry.path] if entry.name != UNNAMED else []
            elif entry.inode() in numbers and entry.is_file(follow_symlinks=False):
                yield entry.path
