"""Events on their way to listeners, without the secrets that the process holds.

The deltas of a stream may cut a secret in two. So if a delta ends with what may be the start
of a secret, that end waits for the next delta. The history keeps the text as it is: a model
that edits a file with a key in it must be able to name that key.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ..model import Outcome, Text
from ..streaming.events import Error, TextDelta, ThinkingDelta, ToolCallDelta
from ..tools.declare.events import ToolProgress, ToolResult, ToolState
from ..world.secrets import MARK, Secrets, without_spellings
from .events import Cancelled, Failed, Nested, SessionEvent, Status

LETTERS = 4
"""How many first letters of a secret are looked up together."""
DELTAS = (TextDelta, ThinkingDelta, ToolCallDelta)
_TEXTS: dict[type, tuple[str, ...]] = {
    Status: ("detail",),
    Cancelled: ("detail",),
    Error: ("message",),
    ToolState: ("detail",),
    ToolProgress: ("text", "output"),
}


class EventRedactor:
    """Feed events as they happen; get what may be shown, in the same order."""

    def __init__(self, secrets: Secrets) -> None:
        self._secrets = secrets
        self._spellings: tuple[str, ...] = ()
        self._starting: dict[str, list[str]] = {}  # spellings by their first letters, one to `LETTERS`
        self._held: dict[Any, Any] = {}  # the delta whose end waits, by what it is a piece of

    def feed(self, event: SessionEvent) -> Sequence[SessionEvent]:
        self._update_spellings()
        if not self._spellings:
            return (event,)
        if isinstance(event, DELTAS):
            return self._feed_delta(event)
        return (*self._take_held_deltas(), self._redacted_event(event))

    def _update_spellings(self) -> None:
        """Take in the keys that were read since the last event."""
        spellings = self._secrets.spellings
        if spellings is not self._spellings:
            self._spellings = spellings
            self._starting = {}
            for spelling in spellings:
                for count in range(1, LETTERS + 1):
                    self._starting.setdefault(spelling[:count], []).append(spelling)

    def _feed_delta(self, event: Any) -> Sequence[SessionEvent]:
        piece_of = (type(event), getattr(event, "id", ""))
        held = self._held.pop(piece_of, None)
        given = _delta_text(event)
        text, cut = self._hide_secrets(_delta_text(held) + given if held else given)
        if cut < len(text):
            self._held[piece_of] = _with_text(event, text[cut:])
        shown = text[:cut]
        if shown == given:
            return (event,) if given else ()
        return (_with_text(event, shown),) if shown else ()

    def _hide_secrets(self, text: str) -> tuple[str, int]:
        """The text with whole secrets hidden, and where an end begins that may be the start of another.

        One look-up a letter, for any number of secrets: deltas are short and come often.
        """
        starting, at = self._starting, 0
        while at < len(text):
            for spelling in starting.get(text[at : at + LETTERS], ()):
                if text.startswith(spelling, at):
                    text = f"{text[:at]}{MARK}{text[at + len(spelling) :]}"
                    at += len(MARK) - 1
                    break
                if len(text) - at < len(spelling) and spelling.startswith(text[at:]):
                    return text, at
            at += 1
        return text, len(text)

    def _take_held_deltas(self) -> Iterable[SessionEvent]:
        held, self._held = self._held, {}
        return held.values()

    def _redacted_event(self, event: Any) -> Any:
        if (names := _TEXTS.get(type(event))) is not None:
            return self._with_hidden(event, names)
        match event:
            case ToolResult(_, _, outcome):
                hidden = self._outcome(outcome)
                return event if hidden is outcome else replace(event, outcome=hidden)
            case Nested(_, inner) if not isinstance(inner, DELTAS):
                hidden = self._redacted_event(inner)
                return event if hidden is inner else replace(event, event=hidden)
            case Failed(error):
                self._secrets.clean_error(error)
        return event

    def _with_hidden(self, event: Struct, names: tuple[str, ...]) -> Struct:
        texts = {name: getattr(event, name) for name in names}
        hidden = {name: without_spellings(text, self._spellings) for name, text in texts.items()}
        return event if hidden == texts else replace(event, **hidden)

    def _outcome(self, outcome: Outcome) -> Outcome:
        content = tuple(
            replace(block, text=without_spellings(block.text, self._spellings))
            if isinstance(block, Text)
            else block
            for block in outcome.content
        )
        return outcome if content == outcome.content else replace(outcome, content=content)


def _delta_text(delta: Any) -> str:
    text: str = delta.args_delta if isinstance(delta, ToolCallDelta) else delta.text
    return text


def _with_text(delta: Any, text: str) -> Any:
    name = "args_delta" if isinstance(delta, ToolCallDelta) else "text"
    return replace(delta, **{name: text})
