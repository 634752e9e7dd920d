"""Messages as items of Responses: reasoning, text, calls and outputs in one list.

Stateless requests carry no item ids: an id ties its item to reasoning that may be missing
(OAR-09). Items that OpenAI knows only by id go back with all of that reasoning, or else as text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ...history.client_items import has_tied_id
from ...ids import IdProjection
from ...model import Media, Message, Opaque, Thinking, ToolCall, ToolResponse, block_text
from ..request import Setting
from ..shared.body import encode
from ..shared.content import base64_url, is_blank, response_parts, response_text, text_of_blocks
from ..shared.growing_bytes import Wire
from ..shared.residues import PHASES, fields_of, reasoning_item, responses_part, text_field
from .client_forms import CUSTOM, TIED, call_item, can_answer, form_of, is_damaged, output_item, own_item

NOTHING_STORED: Mapping[str, str] = {}
REASONING_ID = re.compile(r"(rs|tco)_[A-Za-z0-9_-]{1,120}")  # xAI has longer ones, and begins some with tco
DETAILS = ("auto", "low", "high", "original")
MAX_OUTPUT = 10_485_760  # characters of one output (OAR-12)


class ItemWriter:
    """Messages as input items. Remembers the forms of calls, and which outputs were shortened."""

    def __init__(self, setting: Setting, ids: IdProjection, keeps_thinking: bool) -> None:
        self.setting = setting
        self.ids = ids
        self.called: dict[str, None] = {}
        self._keeps_thinking = keeps_thinking
        self._forms: dict[str, tuple[ToolCall, str]] = {}  # calls that are not function calls, and their form
        self._replayed: set[str] = set()  # ids of items that went back as they were
        self.shortened: dict[str, str] = {}  # outputs that did not fit, by call: what was done

    @property
    def replays_ids(self) -> bool:
        return bool(self._replayed)

    def choose_forms(self, called: Message, answered: Message) -> None:
        """A call takes the form that OpenAI gave it, if its result can take that form too."""
        responses = {response.call_id: response for response in answered.responses}
        for call in called.tool_calls:
            form, response = form_of(call), responses.get(call.id)
            is_tied = form == TIED and not self._keeps_ids(called)
            if form and response is not None and can_answer(form, response) and not is_tied:
                self._forms[call.id] = (call, form)

    def items(
        self, message: Message, changes: list[str], stored: Mapping[str, str] = NOTHING_STORED
    ) -> Iterator[Wire]:
        match message.role:
            case "model":
                yield from self._model_items(message, changes)
            case "tool":
                for response in message.responses:
                    yield self._output(response, stored.get(response.call_id, ""))
            case "system":
                for blocks in self._between_items(message.blocks):
                    if isinstance(blocks, dict):
                        yield blocks
                    elif text := text_of_blocks(blocks):
                        yield {"type": "message", "role": "developer", "content": text}
            case _:
                for blocks in self._between_items(message.blocks):
                    if isinstance(blocks, dict):
                        yield blocks
                    elif (content := _content(blocks)) is not None:
                        yield {"type": "message", "role": "user", "content": content}

    def _between_items(self, blocks: Sequence[Any]) -> Iterator[list[Any] | Wire]:
        """Blocks that form one message, and separate items, in their order."""
        together: list[Any] = []
        for block in blocks:
            item = own_item(block)
            answered = item.get("approval_request_id", "") if item else ""
            if item and (not answered or answered in self._replayed):
                yield together
                yield item
                together = []
            else:
                together.append(block)
        yield together

    def _model_items(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        """The model's items, text before calls; reasoning right before the item that it led to.

        Text after a call is moved before it: some hosts of this API refuse anything between a call
        and its output.
        """
        words: list[Wire] = []
        calls: list[Wire] = []
        reasoning: list[Wire] = []
        keeps_ids = self._keeps_ids(message)
        is_free = self._is_own(message)  # items before the first thinking are not tied to reasoning
        for block in message.blocks:
            if isinstance(block, Thinking):
                reasoning += self._reasoning_items(block, changes, keeps_ids)
                is_free = False
            elif (item := self._item(block, changes, keeps_ids or is_free)) is not None:
                (calls if isinstance(block, ToolCall) else words).extend((*reasoning, item))
                reasoning = []
        yield from words
        yield from calls

    def _keeps_ids(self, message: Message) -> bool:
        """Whether items that OpenAI knows by their ids can go back.

        OAR-09: an id ties its item to the reasoning before it, so all of that must go back too.
        Recorded as accepted with store false: such items with reasoning, then text without an id.
        """
        if not any(_is_tied(block) for block in message.blocks):
            return False
        thoughts = [block for block in message.blocks if isinstance(block, Thinking)]
        functions = [call for call in message.tool_calls if form_of(call) != TIED]
        whole = all(self._reasoning_items(block, []) and _reasoning_id(block) for block in thoughts)
        return self._is_own(message) and not functions and whole

    def _is_own(self, message: Message) -> bool:
        return message.origin is not None and message.origin.matches(self.setting.origin)

    def _reasoning_items(self, block: Thinking, changes: list[str], keeps_ids: bool = False) -> list[Wire]:
        item = reasoning_item(block.residue, changes) if self._keeps_thinking else None
        if item is None:
            return []
        return [{**item, "id": _reasoning_id(block)}] if keeps_ids else [item]

    def _item(self, block: Any, changes: list[str], keeps_ids: bool) -> Wire | None:
        match block:
            case ToolCall():
                return self._call_item(block)
            case Opaque() if (item := own_item(block)) and (keeps_ids or not has_tied_id(item)):
                self._replayed |= {str(item["id"])} if item.get("id") else set()
                return item
            case Opaque() if own_item(block):
                changes.append(f"OAR-09 {block.kind} sent as text: its reasoning cannot go back with it")
                return _assistant_message(block)
            case _:
                if is_damaged(block):
                    changes.append(f"{block.kind} sent as text: it is damaged")
                return _assistant_message(block)

    def _call_item(self, call: ToolCall) -> Wire:
        call_id, space = self.ids[call.id], self._namespace(call)
        name = call.name.removeprefix(f"{space}.") if space else self.ids.name(call.name)
        place = {"namespace": space} if space else {}
        if call.id in self._forms:
            return {**call_item(call, self._forms[call.id][1], call_id, name), **place}
        if not space:  # else it was declared in its namespace, or loaded by an item of this input
            self.called[call.name] = None
        arguments = encode(call.arguments).decode()
        return {"type": "function_call", "call_id": call_id, "name": name, "arguments": arguments, **place}

    def _namespace(self, call: ToolCall) -> str:
        """The namespace of a call, if the API accepts it and the name inside it."""
        space = text_field(call.residue, "namespace")
        is_sound = self.ids.names.accepts(space) and self.ids.names.accepts(
            call.name.removeprefix(f"{space}.")
        )
        return space if space and is_sound else ""

    def _output(self, response: ToolResponse, stored_id: str) -> Wire:
        parts = response_parts(response)
        text = self._fit_output(response.call_id, response_text(response, marks_errors=True, without=parts))
        call_id = stored_id or self.ids[response.call_id]
        call, form = self._forms.get(response.call_id, (None, ""))
        if call is not None and form != CUSTOM:
            return output_item(call, form, response, call_id, text)
        output: Any = (
            [{"type": "input_text", "text": text}, *(_part(block) for block in parts)] if parts else text
        )
        kind = "custom_tool_call_output" if form == CUSTOM else "function_call_output"
        return {"type": kind, "call_id": call_id, "output": output}

    def _fit_output(self, call_id: str, text: str) -> str:
        if len(text) <= MAX_OUTPUT:
            return text
        self.shortened[call_id] = (
            f"OAR-12 the output of {call_id} is cut to {MAX_OUTPUT} of {len(text)} characters"
        )
        mark = f"\n[cut: the first of {len(text)} characters]"
        return text[: MAX_OUTPUT - len(mark)] + mark


def _reasoning_id(block: Thinking) -> str:
    """The id that ties reasoning to the item it led to; "" if it is damaged (OAR-07)."""
    item = fields_of(block.residue).get("item")
    own_id = item.get("id") if isinstance(item, dict) else None
    return own_id if isinstance(own_id, str) and REASONING_ID.fullmatch(own_id) else ""


def has_forms(message: Message) -> bool:
    return any(form_of(call) for call in message.tool_calls)


def _is_tied(block: Any) -> bool:
    return "id" in own_item(block) or (isinstance(block, ToolCall) and form_of(block) == TIED)


def _assistant_message(block: Any) -> Wire | None:
    if is_blank(text := block_text(block)):
        return None
    item: Wire = {"type": "message", "role": "assistant", "content": text}
    if phase := text_field(block.residue, "phase", PHASES):
        item["phase"] = phase
    return item


def is_models_own(item: Wire) -> bool:
    """Whether this is output of the model, so that a request must not end with it."""
    kind = str(item.get("type", ""))
    return item.get("role") == "assistant" or (kind.endswith("_call") and "call_id" not in item)


def _content(blocks: Sequence[Any]) -> Any:
    """A text, or parts; None if there is nothing to send."""
    parts = [
        part for part in map(_part, blocks) if part["type"] != "input_text" or not is_blank(part["text"])
    ]
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
