"""Patches as values: the text of a model parsed into changes, and changes applied to lines.

Two formats are read: the one that begins with `*** Begin Patch`, and unified diffs. A place is found
by the lines around a change, never by a line number alone, which models get wrong; a number only
chooses among several places. A place that does not exist, or exists more than once with nothing to
choose by, is an error; nothing is guessed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Literal

from msgspec import Struct

Kind = Literal["add", "update", "delete"]
_RANGE = re.compile(r"@@+ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@+ ?(.*)")


class PatchError(ValueError):
    """The patch cannot be read or does not fit; the message says where."""


class Hunk(Struct, frozen=True):
    """Lines to replace, and the new ones. `line` is where the patch says they are; `anchor` a line above."""

    old: tuple[str, ...]
    new: tuple[str, ...]
    line: int = 0
    anchor: str = ""


class Change(Struct, frozen=True):
    """What happens to one file; `to` is its new path when it moves."""

    kind: Kind
    path: str
    hunks: tuple[Hunk, ...] = ()
    to: str = ""
    ends_open: bool = False  # the new file has no line feed at its end

    @property
    def paths(self) -> tuple[str, ...]:
        return (self.path, self.to) if self.to else (self.path,)


def parse_patch(text: str) -> list[Change]:
    """The changes of a patch in either format."""
    lines = text.replace("\r\n", "\n").split("\n")
    if lines and not lines[-1]:
        lines.pop()
    marked = any(line.startswith("*** Begin Patch") for line in lines)
    changes = list(_marked_changes(lines) if marked else _unified_changes(lines))
    if not changes:
        raise PatchError("it holds no change; begin it with '*** Begin Patch' or with '--- a/path'")
    return changes


# *** Begin Patch


def _marked_changes(lines: Sequence[str]) -> Iterator[Change]:
    heads = [at for at, line in enumerate(lines) if line.startswith("*** ")]
    start = next(at for at in heads if lines[at].startswith("*** Begin Patch"))
    sections = [
        at for at in heads if at > start and not lines[at].startswith(("*** Move to:", "*** End of File"))
    ]
    for at, end in pairwise([*sections, len(lines)]):
        head, body = lines[at], list(lines[at + 1 : end])
        if head.startswith("*** End Patch"):
            return
        yield _section(head, body)
    raise PatchError("it does not end with '*** End Patch'")


def _section(head: str, body: list[str]) -> Change:
    verb, _, path = head.removeprefix("*** ").partition(": ")
    path = path.strip()
    if not path:
        raise PatchError(f"{head!r} names no file")
    match verb:
        case "Add File":
            if odd := next((line for line in body if not line.startswith("+")), None):
                raise PatchError(
                    f"every line of the new file {path} must begin with '+', not as {odd[:60]!r}"
                )
            return Change("add", path, (Hunk((), tuple(line[1:] for line in body)),))
        case "Delete File":
            return Change("delete", path)
        case "Update File":
            to = body.pop(0).partition(": ")[2].strip() if body and body[0].startswith("*** Move to:") else ""
            return Change("update", path, tuple(_hunks(body, path)), to)
        case _:
            raise PatchError(
                f"{head!r} is not a section; use '*** Add File: ', '*** Update File: ' or '*** Delete File: '"
            )


def _hunks(body: Sequence[str], path: str) -> Iterator[Hunk]:
    """The hunks of one file: each begins with `@@`, which the first may leave out."""
    old: list[str] = []
    new: list[str] = []
    line, anchor = 0, ""
    for text in body:
        if text.startswith("@@"):
            if old or new:
                yield Hunk(tuple(old), tuple(new), line, anchor)
            old, new = [], []
            found = _RANGE.match(text)
            line, anchor = (int(found[1]), "") if found else (0, text.removeprefix("@@").strip(" @"))
        elif text.startswith(("*** End of File", "\\ No newline")):
            continue
        elif text[:1] in (" ", "-", "+", ""):
            old += [text[1:]] if text[:1] != "+" else []
            new += [text[1:]] if text[:1] != "-" else []
        else:
            raise PatchError(f"in {path} a line begins with neither ' ', '-' nor '+': {text[:60]!r}")
    if old or new:
        yield Hunk(tuple(old), tuple(new), line, anchor)


# Unified diffs


def _unified_changes(lines: Sequence[str]) -> Iterator[Change]:
    heads = [at for at in range(len(lines) - 1) if _is_head(lines, at)]
    for at, end in pairwise([*heads, len(lines)]):
        before, after = _name_in(lines[at]), _name_in(lines[at + 1])
        body = list(_body_lines(lines[at + 2 : end]))
        hunks = tuple(_hunks(body, after))
        ends_open = _ends_open(body)
        if before == "/dev/null":
            yield Change("add", after, hunks, ends_open=ends_open)
        elif after == "/dev/null":
            yield Change("delete", before)
        else:
            yield Change("update", before, hunks, after if after != before else "", ends_open)


def _is_head(lines: Sequence[str], at: int) -> bool:
    return lines[at].startswith("--- ") and lines[at + 1].startswith("+++ ")


def _body_lines(lines: Sequence[str]) -> Iterator[str]:
    """The hunks after a head, without what git writes before the next one."""
    inside = False
    for line in lines:
        inside = (inside or line.startswith("@@")) and not line.startswith("diff --git ")
        if inside:
            yield line


def _name_in(head: str) -> str:
    name = head[4:].split("\t")[0].strip()
    return name if name == "/dev/null" else re.sub(r"^[ab]/", "", name)


def _ends_open(body: Sequence[str]) -> bool:
    """Whether the patch says that the new text ends without a line feed."""
    return any(mark.startswith("\\ No newline") and line[:1] in ("+", " ") for line, mark in pairwise(body))


# Applying


def apply_hunks(lines: Sequence[str], hunks: Sequence[Hunk], ending: str = "") -> list[str]:
    """The lines of a file with every hunk applied, in order; raises when one does not fit.

    Lines that stay keep the white space at their end; new ones get `ending`.
    """
    result, cursor = list(lines), 0
    for number, hunk in enumerate(hunks, 1):
        at = _place_of_hunk(result, hunk, cursor, number)
        end = at + len(hunk.old)
        standing = dict(zip(hunk.old, result[at:end], strict=True))
        result[at:end] = new = [standing.get(line, line + ending) for line in hunk.new]
        cursor = at + len(new)
    return result


def _place_of_hunk(lines: Sequence[str], hunk: Hunk, cursor: int, number: int) -> int:
    start = _line_after_anchor(lines, hunk.anchor, cursor, number)
    if not hunk.old:
        return min(max(hunk.line - 1, 0), len(lines)) if hunk.line else start if hunk.anchor else len(lines)
    for same in (_without_return, str.rstrip):
        places = list(_places(lines, [same(line) for line in hunk.old], start, same))
        if len(places) == 1 or (places and (hunk.line or hunk.anchor)):
            return min(places, key=lambda at: abs(at + 1 - hunk.line)) if hunk.line else places[0]
        if places:
            found = ", ".join(str(at + 1) for at in places[:5])
            raise PatchError(
                f"hunk {number} fits at {len(places)} places (lines {found}); add lines around it"
            )
    raise PatchError(
        f"hunk {number} does not fit: these lines are not in the file:\n" + "\n".join(hunk.old[:10])
    )


def _places(
    lines: Sequence[str], wanted: Sequence[str], start: int, same: Callable[[str], str]
) -> Iterator[int]:
    for at in range(start, len(lines) - len(wanted) + 1):
        if all(same(lines[at + step]) == line for step, line in enumerate(wanted)):
            yield at


def _without_return(line: str) -> str:
    return line.removesuffix("\r")


def _line_after_anchor(lines: Sequence[str], anchor: str, cursor: int, number: int) -> int:
    if not anchor:
        return cursor
    for at in range(cursor, len(lines)):
        if lines[at].strip() == anchor.strip():
            return at + 1
    for at in range(cursor, len(lines)):
        if anchor.strip() in lines[at]:
            return at
    raise PatchError(f"hunk {number} does not fit: there is no line {anchor[:80]!r} after line {cursor}")
