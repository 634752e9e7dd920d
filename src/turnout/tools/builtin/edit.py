"""edit_file: exact replacement, counted, in one step; with help when the text is not found.

A model sees lines without their endings and without a byte order mark, so neither is compared: the
text is searched with plain line feeds, and the places found are mapped back to the file. All that is
not replaced stays as it was.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator
from difflib import SequenceMatcher

from ...model import Outcome
from ..confine.file_names import escape_name
from ..confine.file_text import DecodedText, decode_text, is_binary
from ..declare.context import ToolContext
from ..declare.result import error_outcome
from ..declare.tool import tool
from .explain import explain_error, workspace_of

LIMIT = 16 * 1024 * 1024
AROUND = 2  # lines of context in the answer
COMPARED = 20_000  # lines that are compared to find a similar text
SNIPPET = 40
_NUMBERED = re.compile(r" *\d+\t")


@tool(risk="write", groups=("files",))
def edit_file(ctx: ToolContext, path: str, old_text: str, new_text: str, count: int = 1) -> Outcome | str:
    """Replace an exact piece of a file's text. Nothing is written unless it occurs exactly `count` times.

    Args:
        path: File inside the workspace, relative to its root.
        old_text: The text to replace, exactly as it stands in the file (without the line numbers of
            read_file). Include enough lines around the change to make it unique.
        new_text: What to put in its place.
        count: How often old_text occurs; every one of them is replaced.
    """
    workspace = workspace_of(ctx)
    if problem := _misuse(old_text, new_text, count):
        return error_outcome(problem)
    try:
        data, stamp = workspace.read(path, LIMIT)
        if is_binary(data):
            return error_outcome(f"{escape_name(path)} is binary; edit_file changes text only.")
        page = EditedText(decode_text(data))
        places = page.places(old_text)
        if len(places) != count:
            return error_outcome(
                f"{escape_name(path)} was not changed: {_wrong_count(page, places, old_text, count)}"
            )
        text = page.replace_places(places, old_text, new_text)
        workspace.write(path, page.file.encode(text), expected=stamp)
    except UnicodeEncodeError as error:
        unknown = error.object[error.start]
        return error_outcome(
            f"{escape_name(path)} was not changed: it is {page.file.encoding_note}, which has no "
            f"{unknown!r}. Use other characters, or rewrite the file with write_file."
        )
    except OSError as error:
        return explain_error(error, path, workspace)
    return "\n".join(_report_edit(path, text, page, places, new_text))


def _misuse(old: str, new: str, count: int) -> str:
    if not old:
        return "old_text is empty. Give the text to replace; to create or rewrite a file use write_file."
    if old == new:
        return "old_text and new_text are the same, so there is nothing to change."
    return "" if count >= 1 else "count says how often old_text occurs; it must be at least 1."


class EditedText:
    """A file's text with plain line feeds, and the way back to the real text."""

    def __init__(self, file: DecodedText) -> None:
        self.file = file
        self.text = file.text.replace("\r\n", "\n")
        self._windows = list(_windows_newlines(file.text)) if "\r\n" in file.text else []

    def places(self, old: str) -> list[int]:
        """Where a text occurs, without overlaps."""
        old = _plain_newlines(old)
        found, at = [], self.text.find(old)
        while at >= 0:
            found.append(at)
            at = self.text.find(old, at + len(old))
        return found

    def replace_places(self, places: list[int], old: str, new: str) -> str:
        """The file's text with the replacement made, its new lines ending as the file's do."""
        new = _plain_newlines(new).replace("\n", self.file.newline)
        size, at, parts = len(_plain_newlines(old)), 0, []
        for place in places:
            parts += [self.file.text[at : self._real(place)], new]
            at = self._real(place + size)
        return "".join([*parts, self.file.text[at:]])

    def _real(self, place: int) -> int:
        return place + bisect_right(self._windows, place - 1)


def _plain_newlines(text: str) -> str:
    return text.replace("\r\n", "\n")


def _windows_newlines(text: str) -> Iterator[int]:
    """Where the line feeds of CRLF stand once the carriage returns are gone."""
    at, gone = text.find("\r\n"), 0
    while at >= 0:
        yield at - gone
        gone += 1
        at = text.find("\r\n", at + 2)


def _wrong_count(page: EditedText, places: list[int], old: str, count: int) -> str:
    if not places:
        return f"old_text does not occur in it.{_near_miss(page.text, _plain_newlines(old))}"
    lines = ", ".join(str(page.text.count("\n", 0, place) + 1) for place in places[:10])
    more = " and more" if len(places) > 10 else ""
    return (
        f"old_text occurs {len(places)} times, not {count} (at lines {lines}{more}). "
        f"Add lines around it to make it unique, or set count={len(places)} to replace all."
    )


def _near_miss(text: str, old: str) -> str:
    """The most similar lines of the file, and how they differ."""
    if all(_NUMBERED.match(line) for line in old.strip("\n").split("\n")):
        return " It begins with the line numbers that read_file shows; leave them out."
    wanted, lines = old.strip("\n").split("\n"), text.split("\n")
    start, likeness = _closest(lines, wanted)
    if likeness < 0.5:
        return " Nothing in it looks similar; read the file again, the text may have changed."
    found = lines[start : start + len(wanted)]
    shown_lines = "\n".join(f"{number}\t{line}" for number, line in enumerate(found[:SNIPPET], start + 1))
    return f" {_difference(found, wanted)} The closest lines are:\n{shown_lines}"


def _closest(lines: list[str], wanted: list[str]) -> tuple[int, float]:
    """Where a run of lines is most similar to the wanted ones, and how similar, from 0 to 1."""
    if len(lines) > COMPARED:
        return 0, 0.0
    offsets: dict[str, list[int]] = {}
    for offset, line in enumerate(map(_without_blanks, wanted[:SNIPPET])):
        if len(line) > 3:  # a lone brace is similar to any other
            offsets.setdefault(line, []).append(offset)
    starts = Counter(
        at - offset for at, line in enumerate(lines) for offset in offsets.get(_without_blanks(line), ())
    )
    if not starts:
        return _closest_line(lines, wanted)
    start = max(starts, key=lambda at: (starts[at], -at))
    return max(start, 0), max(starts[start] / sum(map(len, offsets.values())), 0.5)


def _without_blanks(line: str) -> str:
    return "".join(line.split())


def _closest_line(lines: list[str], wanted: list[str]) -> tuple[int, float]:
    """No line is equal: where the longest wanted line is most similar to one."""
    index, longest = max(enumerate(wanted), key=lambda pair: len(pair[1].strip()))
    matcher = SequenceMatcher(autojunk=False)
    matcher.set_seq2(longest.strip()[:200])
    best, start = 0.0, 0
    for at, line in enumerate(lines[:2000]):
        matcher.set_seq1(line.strip()[:200])
        if (
            matcher.real_quick_ratio() > best
            and matcher.quick_ratio() > best
            and (ratio := matcher.ratio()) > best
        ):
            best, start = ratio, at - index
    return max(start, 0), best if best >= 0.7 else 0.0


def _difference(found: list[str], wanted: list[str]) -> str:
    if [line.split() for line in found] == [line.split() for line in wanted]:
        if [line.rstrip() for line in found] == [line.rstrip() for line in wanted]:
            return "Only spaces at the ends of lines differ."
        tabs = any("\t" in line for line in found) != any("\t" in line for line in wanted)
        return f"Only white space differs{' (tabs and spaces)' if tabs else ' (look at the indentation)'}."
    for number, (line, other) in enumerate(zip(found, wanted, strict=False), 1):
        if line != other:
            return f"They differ first at line {number} of old_text: {other.strip()[:120]!r}."
    return "The file ends before old_text does."


def _report_edit(path: str, text: str, page: EditedText, places: list[int], new: str) -> Iterator[str]:
    """The answer: what was done, and the new text at the first place."""
    times = "1 replacement" if len(places) == 1 else f"{len(places)} replacements"
    yield f"Edited {escape_name(path)}: {times}. Now it reads:"
    first = page.text.count("\n", 0, places[0])
    start, end = max(first - AROUND, 0), first + _plain_newlines(new).count("\n") + 1 + AROUND
    lines = _plain_newlines(text).split("\n")[start:end]
    for number, line in enumerate(lines[:SNIPPET], start + 1):
        yield f"{number}\t{line[:200]}"
    if len(lines) > SNIPPET:
        yield f"[{len(lines) - SNIPPET} more lines]"
