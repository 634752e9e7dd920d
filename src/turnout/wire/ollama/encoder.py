"""Write Ollama's own chat: calls with objects as arguments, results by name, images beside the text.

Calls have no ids here: a result belongs to the call at its place. Texts go through the chat template
of the model, so neighbours of one role are joined and system text comes first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ...ids import IdProjection
from ...model import Media, Message, Thinking, ToolCall, ToolResponse, ToolSpec, block_text
from ..options import Options
from ..request import Setting
from ..shared.content import as_reminder, nonblank, note_once, response_media, response_text
from ..shared.growing_bytes import Roll, Wire
from ..shared.role_encoder import RoleEncoder
from .dialect import OllamaDialect
from .fields import OllamaFields


class OllamaEncoder(RoleEncoder):
    """Messages as Ollama's own API wants them."""

    opening_roles = ("user", "system")

    def __init__(
        self, dialect: OllamaDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        super().__init__(setting, ids, thinking, Roll(_join_neighbours))
        self.dialect = dialect
        self._fields = OllamaFields(dialect, setting, ids)

    # Messages

    def _wire(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        match message.role:
            case "model":
                return self._assistant(message, changes)
            case "tool":
                return self._results(message.responses, changes)
            case "system":
                text = "\n\n".join(block_text(block) for block in nonblank(message.blocks))
                return iter([{"role": "user", "content": as_reminder(text)}] if text else [])
            case _:
                return _spoken_messages("user", nonblank(message.blocks), changes)

    def _assistant(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        said = [block for block in nonblank(message.blocks) if not isinstance(block, ToolCall | Thinking)]
        text = "\n\n".join(map(block_text, said))
        wire: Wire = {"role": "assistant", "content": text}
        thoughts = "".join(block.text for block in message.blocks if isinstance(block, Thinking))
        if thoughts and self._keeps_thinking:
            wire["thinking"] = thoughts
        elif thoughts:
            note_once(changes, "thinking left out: thinking is off in this request")
        if calls := [self._call_entry(call) for call in message.tool_calls]:
            wire["tool_calls"] = calls
        if text or calls or "thinking" in wire:
            yield wire

    def _call_entry(self, call: ToolCall) -> Wire:
        self.called[call.name] = None
        return {"function": {"name": self.ids.name(call.name), "arguments": call.arguments}}

    def _results(self, responses: Sequence[ToolResponse], changes: list[str]) -> Iterator[Wire]:
        for response in responses:
            text = response_text(response, marks_errors=True)
            yield {"role": "tool", "content": text, "tool_name": self.ids.name(response.name)}
        for response in responses:  # templates show images of the user only
            if media := response_media(response):
                name = self.ids.name(response.name)
                for wire in _spoken_messages("user", media, changes):
                    yield {**wire, "content": "\n\n".join(filter(None, (f"From {name}:", wire["content"])))}

    # Request

    def _request_fields(self, tools: Sequence[ToolSpec], options: Options, changes: list[str]) -> Wire:
        return self._fields.of(tools, options, changes)


def _spoken_messages(role: str, blocks: Iterable[Any], changes: list[str]) -> Iterator[Wire]:
    """A message of texts and images. Ollama opens no links, so a link is written as text."""
    texts: list[str] = []
    images: list[str] = []
    for block in blocks:
        if isinstance(block, Media) and block.data:
            images.append(block.data)
            continue
        if isinstance(block, Media):
            note_once(changes, "links to images written as text: this API takes images only as bytes")
        texts.append(block_text(block))
    if texts or images:
        wire: Wire = {"role": role, "content": "\n\n".join(text for text in texts if text)}
        yield {**wire, "images": images} if images else wire


def _join_neighbours(last: Wire, following: Wire) -> bool:
    """Join neighbours of one role: chat templates require alternation."""
    role = last["role"]
    if role != following["role"] or role not in ("user", "assistant") or "tool_calls" in last:
        return False
    last["content"] = "\n\n".join(text for text in (last["content"], following["content"]) if text)
    if "images" in following:
        last["images"] = [*last.get("images", ()), *following["images"]]
    if "thinking" in following:
        last["thinking"] = "\n\n".join(filter(None, (last.get("thinking"), following["thinking"])))
    if "tool_calls" in following:
        last["tool_calls"] = following["tool_calls"]
    return True
