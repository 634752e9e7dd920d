"""The tool calls of a turn on the screen: subject, state and outcome of each."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from msgspec.structs import replace

from ...model import Outcome
from ...plain import arguments as parsed
from ...plain import dict_in, dumps, list_in, text_in
from ...session.events import Nested
from ...streaming.events import ToolCallStart
from ...tools.declare.events import ToolProgress, ToolState
from ..shared.clean_text import one_line, printable, visible
from .changes import Look, change_of
from .pieces import ChangedLine, FinishedCall, RunningCall

PREVIEW = 6
"""Lines of a result that are shown."""
MOST_OPENED = 5_000
"""Lines of a result that ctrl+o shows."""
LONGEST_LINE = 240
LONGEST_SUBJECT = 400
KEPT_OUTPUT = 8_000
LIVE_LINES = 4
MOST_STEPS = 30
MARKS = {"pending": "[ ]", "in_progress": "[>]", "done": "[x]"}
DRAWN = frozenset({"todo", "ask_user"})
"""Tools whose arguments are drawn: their JSON is not shown while it streams."""
QUIET = frozenset({"read_file"})
"""Tools whose results the user already has: only the size is shown."""

_PATCHED = re.compile(r"^(?:\*\*\* (?:Add|Update|Delete) File: |\+\+\+ (?:b/)?)(.+?)\s*$", re.MULTILINE)

WORDS = {
    "validating": "checking",
    "awaiting_approval": "waiting for you",
    "scheduled": "waiting",
    "executing": "running",
}


class CallOnScreen:
    """One call, from its first character to its outcome."""

    def __init__(self, name: str, now: float) -> None:
        self.name = name
        self.state = "writing"
        self.arguments: dict[str, Any] = {}
        self.used: FinishedCall | None = None
        self.whole: FinishedCall | None = None  # the same with every line, if `used` leaves lines out
        self._raw: list[str] = []
        self._began = now
        self._change: tuple[ChangedLine, ...] = ()
        self._output = ""
        self._step = ""
        self._fraction: float | None = None
        self._below = 0

    def add_raw_arguments(self, piece: str) -> None:
        self._raw.append(piece)

    def finish_arguments(self, look: Look) -> None:
        """The arguments are complete. The file is read now, before the tool can change it."""
        self.set_arguments(parsed("".join(self._raw))[0], look)
        self.state = "waiting"

    def set_arguments(self, arguments: dict[str, Any], look: Look) -> None:
        """Set the arguments, from the model or from the user."""
        self.arguments = arguments
        self._change = change_of(self.name, arguments, look)

    def set_state(self, event: ToolState, now: float) -> None:
        self.state = WORDS.get(event.state, event.state)
        if event.state == "executing":
            self._began = now

    def add_progress(self, event: ToolProgress) -> None:
        if event.output:
            self._output = (self._output + event.output)[-KEPT_OUTPUT:]
        if event.text:
            self._step = event.text
        if event.fraction is not None:
            self._fraction = event.fraction

    def add_nested(self, event: Nested) -> None:
        """Take an event of the subagent that this call started."""
        if isinstance(event.event, ToolCallStart):
            self._below += 1
            self._step = f"{self._below} calls, now {event.event.name}"

    def set_outcome(self, outcome: Outcome, now: float) -> None:
        text = printable(outcome.text).strip("\n")
        lines = text.split("\n") if text else []
        changed = bool(self._change) and outcome.status == "complete"
        if self.name == "todo" and outcome.status == "complete":
            lines = todo_lines(self.arguments)
        limit = MOST_STEPS if self.name == "todo" else PREVIEW
        shown = [] if changed or (self.name in QUIET and outcome.status == "complete") else lines[:limit]
        self.used = FinishedCall(
            self.name,
            call_subject(self.name, self.arguments),
            outcome.status,
            now - self._began,
            tuple(line[:LONGEST_LINE] for line in shown),
            0 if changed else len(lines) - len(shown),
            self._change if changed else (),
        )
        if self.used.is_folded:
            whole = tuple(line[:LONGEST_LINE] for line in lines[:MOST_OPENED])
            self.whole = replace(self.used, lines=() if changed else whole, more=0, open=True)

    def running_piece(self, now: float) -> RunningCall:
        lines = [*printable(self._output).rstrip("\n").split("\n")[-LIVE_LINES:]] if self._output else []
        lines += [one_line(self._step)] if self._step else []
        state = self.state if self.used is None else self.used.status
        about = call_subject(self.name, self.arguments)
        if not about and self.name not in DRAWN:
            about = one_line("".join(self._raw)[-LONGEST_SUBJECT:])
        return RunningCall(self.name, about, state, now - self._began, self._fraction, tuple(lines))


def call_subject(name: str, arguments: Mapping[str, Any]) -> str:
    """What a call is about, in one line; of a list of steps, how many are done."""
    if name == "todo" and arguments:
        steps = [dict_in(step) for step in list_in(arguments.get("items"))]
        done = sum(step.get("status") == "done" for step in steps)
        return f"{done} of {len(steps)} done"
    return subject(arguments)


def todo_lines(arguments: Mapping[str, Any]) -> list[str]:
    """A list of steps as it is drawn, one line a step."""
    steps = [dict_in(step) for step in list_in(arguments.get("items"))]
    marks = [MARKS.get(text_in(step.get("status")), MARKS["pending"]) for step in steps]
    texts = [one_line(text_in(step.get("text")), 200) for step in steps]
    return [f"{mark} {text}" for mark, text in zip(marks, texts, strict=True)]


def subject(arguments: Mapping[str, Any]) -> str:
    """What a call is about, in one line: its command, its path, the files of its patch, or its arguments."""
    if isinstance(patch := arguments.get("patch"), str) and (files := _PATCHED.findall(patch)):
        return one_line(visible(" ".join(files)), LONGEST_SUBJECT)
    for name in ("command", "path", "pattern", "prompt", "question", "url"):
        if isinstance(value := arguments.get(name), str):
            return one_line(visible(value), LONGEST_SUBJECT)
    return one_line(visible(dumps(arguments)), LONGEST_SUBJECT) if arguments else ""
