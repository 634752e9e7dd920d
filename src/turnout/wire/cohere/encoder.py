"""Write Cohere's Chat, version 2.

An assistant message with calls has its words in `tool_plan`, as the model writes them. Citations go
back with the text that they are about. Results are texts; their images go in a message of the user.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ...ids import IdProjection
from ...model import Media, Message, Opaque, Text, Thinking, ToolCall, ToolResponse, ToolSpec, block_text
from ..options import Options
from ..request import Setting
from ..shared.body import TEXT_FILLER, encode
from ..shared.content import (
    as_reminder,
    base64_url,
    is_blank,
    nonblank,
    note_once,
    response_media,
    response_text,
    text_of_blocks,
)
from ..shared.growing_bytes import Roll, Wire
from ..shared.residues import fields_of
from ..shared.role_encoder import RoleEncoder
from .dialect import CohereDialect
from .fields import CohereFields

PLAN = "tool_plan"


class CohereEncoder(RoleEncoder):
    """Messages as Cohere wants them."""

    def __init__(
        self, dialect: CohereDialect, setting: Setting, ids: IdProjection, thinking: bool | None
    ) -> None:
        super().__init__(setting, ids, thinking, Roll())
        self.dialect = dialect
        self._fields = CohereFields(dialect, setting, ids)

    # Messages

    def _wire(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        match message.role:
            case "model":
                return self._assistant(message, changes)
            case "tool":
                return self._results(message.responses)
            case "system":
                text = text_of_blocks(message.blocks)
                return iter([{"role": "user", "content": as_reminder(text)}] if text else [])
            case _:
                return _spoken_messages(nonblank(message.blocks))

    def _assistant(self, message: Message, changes: list[str]) -> Iterator[Wire]:
        thoughts = self._thought_items(message, changes)
        said = [block for block in nonblank(message.blocks) if not isinstance(block, Thinking | ToolCall)]
        text = "\n\n".join(filter(None, map(block_text, said)))
        wire: Wire = {"role": "assistant"}
        if calls := [self._call_entry(call) for call in message.tool_calls]:
            wire["tool_calls"] = calls
            wire |= {PLAN: text} if text else {}
            wire |= {"content": thoughts} if thoughts else {}
        elif text or thoughts:
            words = {"type": "text", "text": text or TEXT_FILLER}
            wire["content"] = [*thoughts, words] if thoughts else text
        else:
            return
        if cited := _citations(said, "content" in wire and not calls, changes):
            wire["citations"] = cited
        yield wire

    def _thought_items(self, message: Message, changes: list[str]) -> list[Wire]:
        thoughts = [block.text for block in message.blocks if isinstance(block, Thinking) and block.text]
        if thoughts and not self._keeps_thinking:
            note_once(changes, "thinking left out: thinking is off in this request")
            return []
        return [{"type": "thinking", "thinking": text} for text in thoughts]

    def _call_entry(self, call: ToolCall) -> Wire:
        self.called[call.name] = None
        function = {"name": self.ids.name(call.name), "arguments": encode(call.arguments).decode()}
        return {"id": self.ids[call.id], "type": "function", "function": function}

    def _results(self, responses: Sequence[ToolResponse]) -> Iterator[Wire]:
        for response in responses:
            text = response_text(response, marks_errors=True)
            yield {"role": "tool", "tool_call_id": self.ids[response.call_id], "content": text}
        parts: list[Wire] = []
        for response in responses:
            if media := response_media(response):
                parts.append({"type": "text", "text": f"From {self.ids.name(response.name)}:"})
                parts += map(_part, media)
        if parts:
            yield {"role": "user", "content": parts}

    # Request

    def _request_fields(self, tools: Sequence[ToolSpec], options: Options, changes: list[str]) -> Wire:
        return self._fields.of(self.called, tools, options, changes)


def _spoken_messages(blocks: Sequence[Any]) -> Iterator[Wire]:
    parts = [_part(block) for block in blocks]
    parts = [part for part in parts if part["type"] != "text" or not is_blank(part["text"])]
    if all(part["type"] == "text" for part in parts):
        text = "\n\n".join(part["text"] for part in parts)
        yield from [{"role": "user", "content": text}] if text else []
    else:
        yield {"role": "user", "content": parts}


def _part(block: Any) -> Wire:
    if isinstance(block, Media) and block.mime.startswith("image/"):
        return {"type": "image_url", "image_url": {"url": block.uri or base64_url(block)}}
    return {"type": "text", "text": block_text(block)}


def _citations(said: Sequence[Any], has_place: bool, changes: list[str]) -> list[Wire]:
    """The citations of the text. Their places count letters, so they go only with one text alone."""
    found = [
        cited
        for block in said
        if isinstance(block, Text | Opaque)
        and isinstance(cited := fields_of(block.residue).get("citations"), list)
    ]
    sound = [each for cited in found for each in cited if _is_sound_citation(each)]
    if not found or (has_place and len(said) == 1 and len(sound) == len(found[0])):
        return sound
    note_once(changes, "citations left out: the text that they are about is not sent as it was")
    return []


def _is_sound_citation(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(value.get(name), int) for name in ("start", "end"))
