"""The tool loop at the end of a request, for rules that depend on it (ANT-16, ORT-02)."""

from __future__ import annotations

from msgspec import Struct

from ...model import Message


class Loop(Struct, frozen=True):
    """The state of the last run of calls and results."""

    open: bool = False  # the model's last words were calls
    thinks: bool = True  # every message that opened (or reopened) the run began with a thought
    spoken: bool = False  # the user said something since
    paused: bool = False

    def after(self, message: Message, thinks: bool) -> Loop:
        if message.role != "model":
            spoken = self.spoken or message.role == "user"
            return Loop(self.open, self.thinks, spoken)
        if not message.tool_calls:
            return Loop(paused=message.paused)
        goes_on = self.open and not self.spoken
        return Loop(open=True, thinks=self.thinks if goes_on else thinks and (self.thinks or not self.open))
