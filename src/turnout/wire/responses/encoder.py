"""Write OpenAI Responses: a flat list of items, paired by call id over the whole input.

A request carries the whole conversation. A chained one carries only what came after the
response that it continues. `items` writes the items, and says why they have no ids.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...ids import IdProjection
from ...model import Message, ToolSpec
from ..options import Options
from ..request import Setting
from ..shared.body import FIRST_FILLER, JSON_REMINDER, LAST_FILLER, Pieces, body_bytes, says_json
from ..shared.growing_bytes import Roll
from ..shared.residues import text_field
from .dialect import ResponsesDialect
from .fields import ResponsesFields
from .items import NOTHING_STORED, ItemWriter, has_forms, is_models_own


class ResponsesEncoder:
    """Messages as input items."""

    def __init__(
        self, dialect: ResponsesDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self._writer = ItemWriter(setting, ids, thinking is not False)
        self.called = self._writer.called
        self._roll = Roll()
        self._fields = ResponsesFields(dialect, setting, ids)
        self._response_id = ""
        self._since: list[Message] = []  # the messages after that response
        self._waiting: Message | None = None  # waits for its results, which decide the forms of its calls
        self._changes: list[str] = []  # what had to be left out of messages that were fed
        self._stored: dict[str, str] = {}  # its calls, under the ids that the server knows them by

    def feed(self, message: Message) -> None:
        self._response_id, self._since = self._chain_after(message, self._response_id, self._since)
        if has_forms(message):
            self._waiting = message
            return
        waiting, self._waiting = self._waiting, None
        if waiting is not None:
            self._writer.choose_forms(waiting, message)
            self._add_items(waiting)
        self._add_items(message)

    def _add_items(self, message: Message) -> None:
        for item in self._writer.items(message, self._changes):
            self._roll.add(item)

    def _chain_after(
        self, message: Message, response_id: str, since: list[Message]
    ) -> tuple[str, list[Message]]:
        if message.role == "model" and (own := text_field(message.residue, "response_id")):
            self._stored |= {call.id: call.raw_id for call in message.tool_calls if call.raw_id}
            return own, []
        if message.tool_calls:  # another model's: a chained request must not hold calls
            return "", []
        since.append(message)
        return response_id, since

    # Request

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._changes)
        response_id, since = self._response_id, list(self._since) if options.chain else []
        for message in tail:
            response_id, since = self._chain_after(message, response_id, since)
        for called, answered in pairwise(tail):
            if has_forms(called):
                self._writer.choose_forms(called, answered)
        chained = options.chain and self.dialect.stores and bool(response_id)
        roll = Roll() if chained else self._roll.branch()
        for message in since if chained else tail:
            for item in self._writer.items(message, changes, self._stored if chained else NOTHING_STORED):
                roll.add(item)
        if roll.last is None and not (chained and self._roll.last):
            changes.append("first-role filler: there was nothing to send")
            roll.add({"type": "message", "role": "user", "content": FIRST_FILLER})
        elif roll.last is None or is_models_own(roll.last):
            changes.append("last-role filler: a request must not end with a message of the model")
            roll.add({"type": "message", "role": "user", "content": LAST_FILLER})
        changes += self._writer.shortened.values()
        kept: Pieces = () if chained else self._roll.closed_pieces
        if options.json and not says_json(kept, [roll.bytes()]):
            changes.append("a sentence about JSON added: the API refuses JSON mode without the word JSON")
            roll.add({"type": "message", "role": "developer", "content": JSON_REMINDER})
        stubbed = () if chained else self.called  # what is stored needs no stubs
        fields = self._fields.of(stubbed, system, tools, options, changes)
        if options.chain and self.dialect.stores and not chained and self._stored:
            changes.append("not chained: since then another model made calls, so the whole history is sent")
        if options.chain and not chained and self._writer.replays_ids:
            # Recorded: with store, reasoning with an id before a message without one is a 400.
            fields["store"] = False
            changes.append("not stored: the input holds items by their ids")
        if chained:
            fields |= {"previous_response_id": response_id, "store": True}
            changes.append(f"chained to {response_id}: what that response holds is not sent again")
        return body_bytes(fields, "input", (kept, [roll.bytes()])), changes
