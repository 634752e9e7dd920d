"""What encoders share whose messages are objects with a role: Cohere's and Ollama's own.

A conversation begins with the user and does not end with the model; what that takes is named in the changes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar

from ...ids import IdProjection
from ...model import Message, ToolSpec
from ..options import Options
from ..request import Setting
from .body import FIRST_FILLER, LAST_FILLER, body_bytes, encode
from .content import is_blank
from .growing_bytes import Roll, Wire


class RoleEncoder:
    """Messages with roles; a protocol says how one message and the fields around them are written."""

    opening_roles: ClassVar[tuple[str, ...]] = ("user",)

    def __init__(self, setting: Setting, ids: IdProjection, thinking: bool | None, roll: Roll) -> None:
        self.setting = setting
        self.ids = ids
        self.called: dict[str, None] = {}
        self._keeps_thinking = thinking is not False
        self._roll = roll
        self._fillers: list[str] = []

    def feed(self, message: Message) -> None:
        self._add_message(self._roll, message, self._fillers)

    def _add_message(self, roll: Roll, message: Message, changes: list[str]) -> None:
        for wire in self._wire(message, changes):
            if roll.empty and wire["role"] not in self.opening_roles:
                changes.append("first-role filler: the conversation must start with the user")
                roll.add({"role": "user", "content": FIRST_FILLER})
            roll.add(wire)

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._fillers)
        roll = self._roll.branch()
        for message in tail:
            self._add_message(roll, message, changes)
        if roll.last is None or roll.last_role == "assistant":
            changes.append("last-role filler: a request must not end with a message of the model")
            roll.add({"role": "user", "content": LAST_FILLER if roll.last else FIRST_FILLER})
        opening = b"" if is_blank(system) else encode({"role": "system", "content": system})
        fields = self._request_fields(tools, options, changes)
        return body_bytes(fields, "messages", ([opening], self._roll.closed_pieces, [roll.bytes()])), changes

    # What a protocol writes

    def _wire(self, message: Message, changes: list[str]) -> Iterable[Wire]:
        raise NotImplementedError

    def _request_fields(self, tools: Sequence[ToolSpec], options: Options, changes: list[str]) -> Wire:
        raise NotImplementedError
