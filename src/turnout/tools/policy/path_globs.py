"""Globs of paths, as rules write them: `*` stays within a name, `**` crosses folders.

A pattern without `/` matches the last name. A pattern that denies ignores case and how accents
are composed: on some file systems `.ENV` opens `.env`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase
from unicodedata import normalize

from ..declare.footprint import LONGEST_PATH


def path_matches(pattern: str, path: str) -> bool:
    """Whether a glob matches a path: part by part, in bounded time."""
    if "/" not in pattern:
        return fnmatchcase(path.rpartition("/")[2], pattern)
    wanted, parts = pattern.strip("/").split("/"), path.strip("/").split("/")
    if pattern.startswith("/") != path.startswith("/") and wanted[0] != "**":
        return False
    reached = {0}  # how many parts of the pattern may have matched so far
    for part in parts:
        reached = advance_match(reached, wanted, part)
        if not reached:
            return False
    return is_whole(reached, wanted)


def advance_match(reached: set[int], wanted: Sequence[str], part: str) -> set[int]:
    """How many parts of a pattern may have matched after one more part of a path."""
    reached = _past_stars(reached, wanted)
    stay = {at for at in reached if at < len(wanted) and wanted[at] == "**"}
    return stay | {at + 1 for at in reached if at < len(wanted) and fnmatchcase(part, wanted[at])}


def is_whole(reached: set[int], wanted: Sequence[str]) -> bool:
    """Whether the whole pattern may have matched."""
    return len(wanted) in _past_stars(reached, wanted)


def _past_stars(reached: set[int], wanted: Sequence[str]) -> set[int]:
    found = set(reached)
    for at in sorted(reached):
        while at < len(wanted) and wanted[at] == "**":
            at += 1
            found.add(at)
    return found


def covers(pattern: str, path: str) -> bool:
    """Whether an allowing glob matches this path exactly."""
    return len(path) <= LONGEST_PATH and path_matches(pattern, path)


def meets(pattern: str, path: str) -> bool:
    """Whether a denying glob matches the path or a folder above it, in any case of its letters."""
    if len(path) > LONGEST_PATH:
        return True
    pattern, path = plain_letters(pattern), plain_letters(path)
    while path:
        if path_matches(pattern, path):
            return True
        path = path.rpartition("/")[0]
    return False


def plain_letters(text: str) -> str:
    """A name as file systems compare it that ignore case and the composition of accents."""
    return text if text.isascii() and text.islower() else normalize("NFC", normalize("NFC", text).casefold())


def relative_pattern(roots: Iterable[str], pattern: str) -> str:
    """A pattern for the paths of a workspace, which are relative to its root."""
    for root in roots:
        folder = root.rstrip("/") + "/"
        if root and pattern.startswith(folder):
            pattern = pattern.removeprefix(folder)
    while pattern.startswith("./"):
        pattern = pattern.removeprefix("./")
    return pattern.removeprefix("/") if pattern.startswith("/**") else pattern
