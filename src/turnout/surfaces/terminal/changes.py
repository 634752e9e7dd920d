"""What a call would change in a file, line by line, from its arguments and the current file."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any, TypeAlias

from .pieces import ChangedLine

Look: TypeAlias = Callable[[str], str | None]
"""The text of a file of the workspace; None if it cannot be shown."""

AROUND = 2
MOST = 4_000
"""Lines that are compared; a larger change is shown as all old lines, then all new ones."""


def change_of(name: str, arguments: Mapping[str, Any], look: Look) -> tuple[ChangedLine, ...]:
    """The change that a call of a writing tool would make; empty for any other tool."""
    if name == "apply_patch" and isinstance(patch := arguments.get("patch"), str):
        return tuple(_patch_lines(patch))
    path = arguments.get("path")
    if not isinstance(path, str):
        return ()
    if name == "write_file" and isinstance(new := arguments.get("content"), str):
        return compare_texts(look(path) or "", new)
    old, new = arguments.get("old_text"), arguments.get("new_text")
    if name == "edit_file" and isinstance(old, str) and isinstance(new, str):
        before = look(path)
        if before is None or not old or old not in before:
            return compare_texts(old, new)
        return compare_texts(before, before.replace(old, new))
    return ()


def _patch_lines(patch: str) -> Iterator[ChangedLine]:
    """The lines of a patch, which shows its changes itself."""
    for line in patch.strip("\n").split("\n"):
        if line.startswith(("+", "-")) and not line.startswith(("+++", "---")):
            yield ChangedLine("+" if line[0] == "+" else "-", 0, line[1:])
        else:
            yield ChangedLine(" ", 0, line)


def compare_texts(before: str, after: str) -> tuple[ChangedLine, ...]:
    """Two texts as lines kept, removed and added, with some context around each change."""
    old, new = before.splitlines(), after.splitlines()
    head = _count_equal(old, new)
    tail = _count_equal(old[head:][::-1], new[head:][::-1])
    inner_old, inner_new = old[head : len(old) - tail], new[head : len(new) - tail]
    if not inner_old and not inner_new:
        return ()
    lines = [ChangedLine(" ", at + 1, old[at]) for at in range(max(0, head - AROUND), head)]
    lines += _inner_lines(inner_old, inner_new, head)
    rest = old[len(old) - tail :][:AROUND]
    lines += [ChangedLine(" ", head + len(inner_new) + at + 1, text) for at, text in enumerate(rest)]
    return tuple(lines)


def _count_equal(old: Sequence[str], new: Sequence[str]) -> int:
    """The number of equal lines at the start of both."""
    pairs = zip(old, new, strict=False)
    return next((at for at, (one, other) in enumerate(pairs) if one != other), min(len(old), len(new)))


def _inner_lines(old: Sequence[str], new: Sequence[str], offset: int) -> Iterator[ChangedLine]:
    if len(old) + len(new) > MOST:
        yield from _replaced_lines(old, new, offset, offset)
        return
    groups = SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(AROUND)
    for number, group in enumerate(groups):
        if number:
            yield ChangedLine("~", 0, "")
        for kind, start, end, new_start, new_end in group:
            if kind == "equal":
                for at, text in enumerate(old[start:end]):
                    yield ChangedLine(" ", offset + new_start + at + 1, text)
            else:
                yield from _replaced_lines(
                    old[start:end], new[new_start:new_end], offset + start, offset + new_start
                )


def _replaced_lines(
    old: Sequence[str], new: Sequence[str], at_old: int, at_new: int
) -> Iterator[ChangedLine]:
    yield from (ChangedLine("-", at_old + at + 1, text) for at, text in enumerate(old))
    yield from (ChangedLine("+", at_new + at + 1, text) for at, text in enumerate(new))
