"""A typed answer from a model whose API takes no schema: the arguments of a tool that it must call.

The call never reaches the history. It becomes the text of the answer, so the conversation looks the
same whichever provider gave it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from ..model import Block, ModelTurn, Text, ToolCall, ToolSpec
from ..plain import dumps
from ..providers.answer_forms import answer_form
from ..streaming.events import (
    Done,
    StreamEvent,
    TextDelta,
    TextEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
)
from ..targets.family import can_force_tools
from ..targets.target import Target

NAME = "give_answer"
DESCRIPTION = "Give your final answer to the user in this form. Call it once, when you know the answer."


class AnswerTool:
    """The tool of one request, and the way back from its call to text."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self._spec = ToolSpec(NAME, DESCRIPTION, schema)
        self._ids: set[str] = set()
        self._other_calls = False
        self._spoke = False

    @classmethod
    def for_request(
        cls, target: Target, options: Mapping[str, Any], tools: Sequence[ToolSpec]
    ) -> AnswerTool | None:
        """None where the target takes the schema itself, or cannot be forced to call a tool."""
        if (schema := options.get("schema")) is None or not target.facts.tools:
            return None
        if not can_force_tools(target):
            return None
        form = answer_form(target.provider.name, target.model, has_tools=bool(tools))
        return cls(schema) if form == "tool" else None

    def options_with(self, options: Mapping[str, Any], tools: Sequence[ToolSpec]) -> dict[str, Any]:
        """The options of the request: this tool in place of the schema. Alone, it must be called."""
        kept = {name: value for name, value in options.items() if not name.startswith("schema")}
        return {**kept, "tool_choice": "required" if tools else NAME}

    def tools_with(self, tools: Sequence[ToolSpec]) -> tuple[ToolSpec, ...]:
        return (*tools, self._spec)

    def events_of(self, event: StreamEvent) -> Iterator[StreamEvent]:
        """The events with the call as text."""
        match event:
            case ToolCallStart(call_id, name) if name == NAME:
                self._ids.add(call_id)
                if self._spoke:
                    yield TextEnd()  # the answer is a text of its own
            case ToolCallDelta(call_id, text) if call_id in self._ids:
                yield TextDelta(text)
            case ToolCallComplete(call_id) if call_id in self._ids:
                pass
            case ToolCallStart():
                self._other_calls = True
                yield event
            case TextDelta():
                self._spoke = True
                yield event
            case Done("tool_calls") if self._ids and not self._other_calls:
                yield replace(event, stop="end")
            case _:
                yield event

    def turn_of(self, turn: ModelTurn) -> ModelTurn:
        """The turn with the call as text."""
        blocks = tuple(map(_as_text, turn.blocks))
        calls = any(isinstance(block, ToolCall) for block in blocks)
        stop = "end" if turn.stop == "tool_calls" and not calls else turn.stop
        return replace(turn, blocks=blocks, stop=stop)


def _as_text(block: Block) -> Block:
    if not isinstance(block, ToolCall) or block.name != NAME:
        return block
    return Text(block.raw or dumps(block.arguments))
