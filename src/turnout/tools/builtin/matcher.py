"""The process in which grep matches, so that a pattern that takes too long can be stopped.

Python's regular expressions can take exponential time and cannot be interrupted in a thread. This
file runs as a separate program and needs only the standard library. It reads frames from its input
and answers each on its output: four bytes of length, then the frame. The first frame is the question
as JSON; every other one is a piece of text in UTF-8, answered with its matches as JSON.
"""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO

LONGEST = 120  # seconds that this process may live
WIDTH = 240  # characters of a line that are shown, around the match


def main() -> None:
    signal.alarm(LONGEST)  # in case our side was killed while a pattern took too long
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    question = json.loads(read_frame(source) or b"{}")
    try:
        find_match = finder(question)
    except (re.error, OverflowError, RecursionError) as error:
        write_frame(sink, {"error": str(error)})
        return
    write_frame(sink, {"error": ""})
    while (data := read_frame(source)) is not None:
        write_frame(sink, matches_in(data, find_match, question))


def finder(question: dict[str, Any]) -> Callable[[str], int]:
    """A function from a line to where it matches, or -1."""
    pattern, folded = question["pattern"], question["ignore_case"]
    if question["literal"]:
        wanted = pattern.lower() if folded else pattern
        return (lambda line: line.lower().find(wanted)) if folded else (lambda line: line.find(wanted))
    search = re.compile(pattern, re.IGNORECASE if folded else 0).search

    def find_match(line: str) -> int:
        found = search(line)
        return found.start() if found else -1

    return find_match


def matches_in(data: bytes, find_match: Callable[[str], int], question: dict[str, Any]) -> dict[str, Any]:
    text = data.decode(errors="replace")
    if question["literal"] and find_match(text) < 0:
        return {"count": 0, "lines": []}
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()  # what follows the last line feed is not a line
    found = {at: place for at, line in enumerate(lines) if (place := find_match(line.rstrip("\r"))) >= 0}
    shown = list(found)[: question["limit"]]
    return {"count": len(found), "lines": list(with_context(lines, found, shown, question["context"]))}


def with_context(
    lines: list[str], found: dict[int, int], shown: list[int], context: int
) -> Iterator[tuple[int, bool, str]]:
    """Matching lines and those around them: number from 0, whether it matches, what to show."""
    last = -1
    for at in shown:
        for near in range(max(at - context, last + 1), min(at + context + 1, len(lines))):
            yield near, near in found, clip_line(lines[near].rstrip("\r"), found.get(near, 0))
            last = near


def clip_line(line: str, at: int) -> str:
    if len(line) <= WIDTH:
        return line
    start = max(0, min(at - WIDTH // 3, len(line) - WIDTH))
    before, after = "…" if start else "", "…" if start + WIDTH < len(line) else ""
    return f"{before}{line[start : start + WIDTH]}{after}"


def read_frame(source: BinaryIO) -> bytes | None:
    head = source.read(4)
    return source.read(int.from_bytes(head)) if len(head) == 4 else None


def write_frame(sink: BinaryIO, value: Any) -> None:
    data = json.dumps(value).encode()
    sink.write(len(data).to_bytes(4) + data)
    sink.flush()


if __name__ == "__main__":
    main()
