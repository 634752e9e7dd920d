"""The arguments of a call so far, for display while it streams. Never run a call with them.

Every character is read once. Containers are filled in place, and what is unfinished (a
string, a number, an escape) is remembered. A view costs only the string it ends in. That
string is joined again only after it has grown by a sixteenth.
"""

from __future__ import annotations

import json
import re
from typing import Any

from ..plain import clean_text
from .events import StreamEvent, ToolCallDelta, ToolCallStart

LIMIT = 1024 * 1024
MAX_DEPTH = 64
MAX_SCALAR = 64
ALWAYS_SHOWN = 4096  # unfinished strings up to this length are shown to their last character

SPACE = re.compile(r"[ \t\r\n]*+")
SCALAR = re.compile(r"[-+.0-9A-Za-z]++")
RUN = re.compile(r'(?:[^"\\]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+')
ESCAPE = 6  # the length of \uXXXX


class PartialArguments:
    """Feed the pieces of a call's arguments; ask for the object they make so far.

    Keys appear once their value begins, strings grow, numbers and words appear whole.
    Text that is not JSON, is too deep or too long stops the view where it stands.
    """

    def __init__(self, limit: int = LIMIT) -> None:
        self.stopped = False
        self._room = limit
        self._root: dict[str, Any] = {}
        self._stack: list[dict[str, Any] | list[Any]] = []
        self._want = "{"  # what may come next: { value key : , or end
        self._key = ""
        self._rest = ""  # too short to read: half a number or escape
        self._string: list[str] | None = None  # the unfinished string
        self._length = 0
        self._shown = 0
        self._in_key = False

    def feed(self, text: str) -> None:
        """More of the arguments."""
        self._room -= len(text)
        self.stopped = self.stopped or self._room < 0
        text, self._rest = self._rest + text, ""
        at = 0
        while at < len(text) and not self.stopped:
            at = self._read_token(text, at) if self._string is None else self._read_in_string(text, at)

    def view(self) -> dict[str, Any]:
        """The arguments so far. The same object grows as more is fed, so do not keep or change it."""
        if self._string is not None and not self._in_key:
            grown = self._length - self._shown
            if grown and (self._length <= ALWAYS_SHOWN or grown > self._shown // 16):
                self._show_string()
        return self._root

    # -- within a string

    def _read_in_string(self, text: str, at: int) -> int:
        assert self._string is not None
        end = _end_of_match(RUN, text, at)
        closed = text[end : end + 1] == '"'
        if not closed and _ends_in_half_a_pair(text, at, end):
            end -= ESCAPE
        self._string.append(_unescape_run(text[at:end]))
        self._length += len(self._string[-1])
        if closed:
            self._end_string()
            return end + 1
        self._rest = text[end:]
        self.stopped = len(self._rest) >= 2 * ESCAPE  # that was not an escape
        return len(text)

    def _end_string(self) -> None:
        assert self._string is not None
        if self._in_key:
            self._key = "".join(self._string)
            self._want = ":"
        else:
            self._show_string()
            self._want = ","
        self._string = None

    def _show_string(self) -> None:
        assert self._string is not None
        self._string = ["".join(self._string)]
        self._shown = self._length
        top = self._stack[-1]
        if isinstance(top, dict):
            top[self._key] = self._string[0]
        else:
            top[-1] = self._string[0]

    # -- between strings

    def _read_token(self, text: str, at: int) -> int:
        at = _end_of_match(SPACE, text, at)
        if at == len(text):
            return at
        match text[at], self._want:
            case '"', "key" | "key or }":
                self._begin_string(in_key=True)
            case '"', "value" | "value or ]":
                self._add_value("")
                self._begin_string(in_key=False)
            case ("{", "{" | "value" | "value or ]") | ("[", "value" | "value or ]"):
                self._open_container({} if text[at] == "{" else [])
            case (":", ":"):
                self._want = "value"
            case (",", ","):
                self._want = "key" if isinstance(self._stack[-1], dict) else "value"
            case ("}", "key or }" | ",") | ("]", "value or ]" | ","):
                self._close_container(text[at])
            case _, "value" | "value or ]":
                return self._read_scalar(text, at)
            case _:
                self.stopped = True
        return at + 1

    def _begin_string(self, in_key: bool) -> None:
        self._string, self._length, self._shown, self._in_key = [], 0, 0, in_key

    def _open_container(self, container: dict[str, Any] | list[Any]) -> None:
        if self._stack:
            self._add_value(container)
        elif isinstance(container, dict):
            self._root = container
        self._stack.append(container)
        self._want = "key or }" if isinstance(container, dict) else "value or ]"
        self.stopped = len(self._stack) > MAX_DEPTH

    def _close_container(self, bracket: str) -> None:
        self.stopped = isinstance(self._stack.pop(), dict) != (bracket == "}")
        self._want = "," if self._stack else "end"

    def _add_value(self, value: Any) -> None:
        top = self._stack[-1]
        if isinstance(top, dict):
            top[self._key] = value
        else:
            top.append(value)

    def _read_scalar(self, text: str, at: int) -> int:
        end = _end_of_match(SCALAR, text, at)
        if end - at > MAX_SCALAR:
            self.stopped = True
        elif end == len(text):
            self._rest = text[at:]
        else:
            self._add_scalar(text[at:end])
        return end

    def _add_scalar(self, word: str) -> None:
        self._want = ","
        try:
            self._add_value(json.loads(word))
        except ValueError:
            self.stopped = True


class PartialCalls:
    """The same for all calls of a reply: feed its events, ask by call id."""

    def __init__(self) -> None:
        self._calls: dict[str, PartialArguments] = {}

    def feed(self, event: StreamEvent) -> None:
        match event:
            case ToolCallStart(id):
                self._calls[id] = PartialArguments()
            case ToolCallDelta(id, text) if id in self._calls:
                self._calls[id].feed(text)

    def view(self, call_id: str) -> dict[str, Any]:
        """The arguments of the call so far; {} for a call that has not started."""
        call = self._calls.get(call_id)
        return call.view() if call is not None else {}


def _end_of_match(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _ends_in_half_a_pair(text: str, start: int, end: int) -> bool:
    """Whether the last escape is the first half of a surrogate pair whose second half is to come."""
    at = end - ESCAPE
    if at < start or text[at : at + 3].lower() != "\\ud" or text[at + 3] not in "89abAB":
        return False
    before = text[start:at]
    return (len(before) - len(before.rstrip("\\"))) % 2 == 0


def _unescape_run(run: str) -> str:
    return clean_text(json.loads(f'"{run}"', strict=False)) if "\\" in run else run
