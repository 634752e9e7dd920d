"""OpenAI Responses: a flat list of items, paired by call id over the whole input.

Stateless requests carry calls, outputs and encrypted reasoning, and never an item id: ids
would tie items to reasoning that may not be there. A chained request carries only what came
after the response it goes on from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..ids import IdProjection
from ..model import (
    Media,
    Message,
    Opaque,
    Text,
    Thinking,
    ToolCall,
    ToolResponse,
    ToolSpec,
    block_text,
)
from .content import base64_url, blank, joined, response_parts, response_text
from .options import Options
from .protocol import FIRST_FILLER, JSON_REMINDER, LAST_FILLER, Setting, body_bytes, encode, says_json
from .residues import PHASES, reasoning_item, responses_part, text_field
from .responses_fields import ResponsesDialect, ResponsesFields
from .roll import Roll, Wire

NOTHING_STORED: Mapping[str, str] = {}


DETAILS = ("auto", "low", "high", "original")
MAX_OUTPUT = 10_485_760  # characters of one output (OAR-12)


class ResponsesEncoder:
    """Messages as input items."""

    def __init__(
        self, dialect: ResponsesDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        self.dialect = dialect
        self.setting = setting
        self.ids = ids
        self.called: dict[str, None] = {}
        self._keeps_thinking = thinking is not False
        self._roll = Roll()
        self._fields = ResponsesFields(dialect, setting, ids)
        self._response_id = ""
        self._since: list[Message] = []  # what came after that response
        self._shortened: dict[str, str] = {}  # outputs that did not fit, by call: what was done
        self._changes: list[str] = []  # what had to be left out of messages that were fed
        self._stored: dict[str, str] = {}  # its calls, under the ids that the server knows them by

    def feed(self, message: Message) -> None:
        self._response_id, self._since = self._chained(message, self._response_id, self._since)
        for item in self._items(message, self._changes):
            self._roll.add(item)

    def _chained(self, message: Message, response_id: str, since: list[Message]) -> tuple[str, list[Message]]:
        if message.role == "model" and (own := text_field(message.residue, "response_id")):
            self._stored |= {call.id: call.raw_id for call in message.tool_calls if call.raw_id}
            return own, []
        if message.tool_calls:  # another model's: a chained request may hold no calls
            return "", []
        since.append(message)
        return response_id, since

    # Messages

    def _items(
        self, message: Message, changes: list[str], stored: Mapping[str, str] = NOTHING_STORED
    ) -> Iterator[Wire]:
        match message.role:
            case "model":
                yield from self._said(message, changes)
            case "tool":
                for response in message.responses:
                    yield self._output(response, stored.get(response.call_id, ""))
            case "system":
                if text := joined(message.blocks):
                    yield {"type": "message", "role": "developer", "content": text}
            case _:
                if (content := _content(message.blocks)) is not None:
                    yield {"type": "message", "role": "user", "content": content}

    def _said(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        """The model's items, words before calls; reasoning right before what it led to, if to anything.

        What a model says after a call stands before it here: nothing may come between a call and
        its output, which hosts of this API refuse.
        """
        words: list[Wire] = []
        calls: list[Wire] = []
        reasoning: list[Wire] = []
        for block in message.blocks:
            if isinstance(block, Thinking):
                reasoning += self._reasoning(block, changes)
            elif (item := self._item(block)) is not None:
                (calls if isinstance(block, ToolCall) else words).extend((*reasoning, item))
                reasoning = []
        yield from words
        yield from calls

    def _reasoning(self, block: Thinking, changes: list[str]) -> list[Wire]:
        item = reasoning_item(block.residue, changes) if self._keeps_thinking else None
        return [] if item is None else [item]

    def _item(self, block: Any) -> Wire | None:
        match block:
            case ToolCall():
                self.called[block.name] = None
                return {
                    "type": "function_call",
                    "call_id": self.ids[block.id],
                    "name": self.ids.name(block.name),
                    "arguments": encode(block.arguments).decode(),
                }
            case Opaque() if block.residue is not None:
                return None  # hosted tools cannot be replayed without the ids that statelessness forbids
            case Text() if blank(block.text):
                return None
            case _:
                item: Wire = {"type": "message", "role": "assistant", "content": block_text(block)}
                if phase := text_field(block.residue, "phase", PHASES):
                    item["phase"] = phase
                return item

    def _output(self, response: ToolResponse, stored_id: str) -> Wire:
        parts = response_parts(response)
        text = self._fitting(response.call_id, response_text(response, marks_errors=True, without=parts))
        output: Any = (
            [{"type": "input_text", "text": text}, *(_part(block) for block in parts)] if parts else text
        )
        call_id = stored_id or self.ids[response.call_id]
        return {"type": "function_call_output", "call_id": call_id, "output": output}

    def _fitting(self, call_id: str, text: str) -> str:
        if len(text) <= MAX_OUTPUT:
            return text
        self._shortened[call_id] = (
            f"OAR-12 the output of {call_id} is cut to {MAX_OUTPUT} of {len(text)} characters"
        )
        mark = f"\n[cut: the first of {len(text)} characters]"
        return text[: MAX_OUTPUT - len(mark)] + mark

    # Request

    def body(
        self, tail: Sequence[Message], system: str, tools: Sequence[ToolSpec], options: Options
    ) -> tuple[bytes, list[str]]:
        changes = list(self._changes)
        response_id, since = self._response_id, list(self._since) if options.chain else []
        for message in tail:
            response_id, since = self._chained(message, response_id, since)
        chained = options.chain and self.dialect.stores and bool(response_id)
        roll = Roll() if chained else self._roll.branch()
        for message in since if chained else tail:
            for item in self._items(message, changes, self._stored if chained else NOTHING_STORED):
                roll.add(item)
        if roll.last is None and not (chained and self._roll.last):
            changes.append("first-role filler: there was nothing to send")
            roll.add({"type": "message", "role": "user", "content": FIRST_FILLER})
        elif roll.last is None or roll.last_role == "assistant":
            changes.append("last-role filler: a request must not end with the model's own words")
            roll.add({"type": "message", "role": "user", "content": LAST_FILLER})
        changes += self._shortened.values()
        kept = b"" if chained else self._roll.closed
        if options.json and not says_json(kept, roll.bytes()):
            changes.append("a word about JSON added: this API wants it said where the answer must be JSON")
            roll.add({"type": "message", "role": "developer", "content": JSON_REMINDER})
        called = () if chained else self.called  # what is stored needs no stubs
        fields = self._fields.of(called, system, tools, options, changes)
        if options.chain and self.dialect.stores and not chained and self._stored:
            changes.append("not chained: since then another model made calls, so the whole history is sent")
        if chained:
            fields |= {"previous_response_id": response_id, "store": True}
            changes.append(f"chained to {response_id}: what that response holds is not sent again")
        return body_bytes(fields, "input", (kept, roll.bytes())), changes


def _content(blocks: Sequence[Any]) -> Any:
    """A text, or parts; None where nothing is said."""
    parts = [part for part in map(_part, blocks) if part["type"] != "input_text" or not blank(part["text"])]
    if len(parts) == 1 and parts[0]["type"] == "input_text":
        return parts[0]["text"]
    return parts or None


def _part(block: Any) -> Wire:
    if isinstance(block, Opaque) and (part := responses_part(block.residue)):
        return part
    if not isinstance(block, Media):
        return {"type": "input_text", "text": block_text(block)}
    url = block.uri or base64_url(block)
    if block.mime.startswith("image/"):
        detail = text_field(block.residue, "detail", DETAILS) or "auto"
        return {"type": "input_image", "image_url": url, "detail": detail}
    if block.uri:
        return {"type": "input_file", "file_url": block.uri}
    return {"type": "input_file", "filename": block.name or "file", "file_data": url}
