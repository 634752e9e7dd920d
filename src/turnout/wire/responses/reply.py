"""Write a reply as OpenAI's Responses: a list of output items, as numbered events or whole.

Codex takes every item from `response.output_item.done` and needs `response.completed` at the end; other
clients read the deltas. A call goes back in the form in which the request declared its tool.
"""

from __future__ import annotations

from typing import Any

from ...errors import ProviderError, StreamError
from ...model import ModelTurn, Opaque, Usage, block_text
from ...plain import dict_in
from ..failure.error_words import responses_error
from ..shared.growing_bytes import Wire
from ..shared.reply_blocks import (
    BlockStream,
    OpenBlock,
    ReplyFacts,
    json_bytes,
    json_text,
    stop_word,
    whole_blocks,
)
from .client_forms import CUSTOM
from .declared_forms import DeclaredForms
from .decoder import STOPS

WORDS = {"end": "completed", "length": "incomplete:max_output_tokens", "refused": "incomplete:content_filter"}
ECHOED = (
    "max_output_tokens",
    "metadata",
    "parallel_tool_calls",
    "previous_response_id",
    "prompt_cache_key",
    "reasoning",
    "service_tier",
    "store",
    "temperature",
    "text",
    "tool_choice",
    "top_p",
    "truncation",
)
"""Fields of the request that a response repeats. Instructions and tools are long: they are not."""
_DELTAS = {
    "text": ("response.output_text.delta", b'"content_index":0,"logprobs":[],'),
    "thinking": ("response.reasoning_summary_text.delta", b'"summary_index":0,'),
    "call": ("response.function_call_arguments.delta", b""),
}


class ResponsesReply(BlockStream):
    """Feed events; get the events of a response."""

    def __init__(self, facts: ReplyFacts) -> None:
        super().__init__(facts)
        self._forms = DeclaredForms(facts.request.get("tools"))
        self._number = 0
        self._output: list[Wire] = []
        self._abandoned: set[int] = set()

    def start(self) -> bytes:
        response = self._response("in_progress", [], None)
        return self._event("response.created", response=response) + self._event(
            "response.in_progress", response=response
        )

    # -- items as events

    def open_block(self, block: OpenBlock) -> bytes:
        item = self._begun_item(block)
        if item is None:
            return b""
        index = block.wire["index"] = len(self._output)
        self._output.append(item)
        block.wire["id"] = item.get("id", "")
        if item.get("type") == "function_call" or block.kind in ("text", "thinking"):
            self._set_head(block, index, block.wire["id"])
        out = self._event("response.output_item.added", output_index=index, item=item)
        at = {"item_id": block.wire["id"], "output_index": index}
        if block.kind == "text":
            part = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
            out += self._event("response.content_part.added", **at, content_index=0, part=part)
        elif block.kind == "thinking" and block.pieces:
            part = {"type": "summary_text", "text": ""}
            out += self._event("response.reasoning_summary_part.added", **at, summary_index=0, part=part)
        return out

    def _set_head(self, block: OpenBlock, index: int, id: str) -> None:
        kind, place = _DELTAS[block.kind]
        head = b'event: %s\ndata: {"type":"%s","item_id":%s,"output_index":%d,' % (
            kind.encode(),
            kind.encode(),
            json_text(id),
            index,
        )
        block.head = head + place + b'"delta":'

    def grow_block(self, block: OpenBlock, piece: str) -> bytes:
        if not block.head or not piece:
            return b""
        self._number += 1
        return block.head + json_text(piece) + b',"sequence_number":%d}\n\n' % (self._number - 1)

    def close_block(self, block: OpenBlock) -> bytes:
        if "index" not in block.wire:
            return b""
        item, index = self._item(block), block.wire["index"]
        self._output[index] = item
        at = {"item_id": item.get("id", ""), "output_index": index}
        return self._last_parts(block, item, at) + self._event(
            "response.output_item.done", output_index=index, item=item
        )

    def _last_parts(self, block: OpenBlock, item: Wire, at: Wire) -> bytes:
        if item["type"] == "message":
            return self._message_end(block, item["content"][0], at)
        if item["type"] == "reasoning" and item["summary"]:
            part = item["summary"][0]
            more = {**at, "summary_index": 0}
            return self._event(
                "response.reasoning_summary_text.done", **more, text=part["text"]
            ) + self._event("response.reasoning_summary_part.done", **more, part=part)
        if item["type"] == "function_call":
            said = {"name": item["name"], "arguments": item["arguments"]}
            return self._event("response.function_call_arguments.done", **at, **said)
        if item["type"] == CUSTOM:
            delta = self._event("response.custom_tool_call_input.delta", **at, delta=item["input"])
            return delta + self._event("response.custom_tool_call_input.done", **at, input=item["input"])
        return b""

    def _message_end(self, block: OpenBlock, part: Wire, at: Wire) -> bytes:
        more = {**at, "content_index": 0}
        out = b""
        if block.kind == "other":  # its text was not streamed
            empty = {**part, "text": ""}
            out += self._event("response.content_part.added", **more, part=empty)
            out += self._event("response.output_text.delta", **more, delta=part["text"], logprobs=[])
        out += self._event("response.output_text.done", **more, text=part["text"], logprobs=[])
        return out + self._event("response.content_part.done", **more, part=part)

    def abandon_block(self, block: OpenBlock) -> None:
        if "index" in block.wire:
            self._abandoned.add(block.wire["index"])

    @property
    def _whole_output(self) -> list[Wire]:
        return [item for place, item in enumerate(self._output) if place not in self._abandoned]

    # -- the end

    def end(self) -> bytes:
        ended = self.done
        word = _status_word(ended.stop, ended.raw_stop) if ended else "completed"
        status = word.partition(":")[0]
        response = self._response(word, self._whole_output, self.usage)
        return self._event(f"response.{status}", response=response)

    def fail(self, error: ProviderError | StreamError) -> bytes:
        """Nothing may follow this event: Codex asks again after it, if nothing does."""
        self.failed = True
        response = self._response("failed", self._whole_output, self.usage)
        return self._event("response.failed", response={**response, "error": responses_error(error)})

    def whole(self, turn: ModelTurn) -> bytes:
        output: list[Wire] = []
        for block in whole_blocks(turn):
            block.wire["id"] = ""
            if (item := self._whole_item(block, len(output))) is not None:
                output.append(item)
        word = _status_word(turn.stop, turn.raw_stop)
        return json_bytes(self._response(word, output, self.shown_usage(turn.usage)))

    def _response(self, word: str, output: list[Wire], usage: Usage | None) -> Wire:
        facts = self.facts
        status, _, reason = word.partition(":")
        echoed = {name: facts.request[name] for name in ECHOED if name in facts.request}
        return {
            "id": facts.id,
            "object": "response",
            "created_at": facts.created,
            "status": status,
            "background": False,
            "error": None,
            "incomplete_details": {"reason": reason} if reason else None,
            "instructions": None,
            "model": facts.model,
            "output": output,
            "parallel_tool_calls": True,
            "tool_choice": "auto",
            "tools": [],
            **echoed,
            "usage": usage_counts(usage) if usage is not None else None,
        }

    def _event(self, kind: str, **fields: Any) -> bytes:
        payload = {"type": kind, **fields, "sequence_number": self._number}
        self._number += 1
        return b"event: %s\ndata: %s\n\n" % (kind.encode(), json_bytes(payload))

    # -- items

    def _begun_item(self, block: OpenBlock) -> Wire | None:
        """An item as it is announced; None where there is nothing to show."""
        place = len(self._output)
        match block.kind:
            case "text" if not block.done or block.pieces:
                return {**self._message_item("", place), "status": "in_progress", "content": []}
            case "thinking" if not block.done or block.pieces:
                return {"id": self._id("rs_", place), "type": "reasoning", "summary": []}
            case "call":
                item = self._forms.call_item(block, self._id("fc_", place), is_begun=True)
                return {**item, "status": "in_progress"}
        return self._whole_item(block, place)

    def _item(self, block: OpenBlock) -> Wire:
        item = self._whole_item(block, block.wire["index"])
        assert item is not None
        return item

    def _whole_item(self, block: OpenBlock, place: int) -> Wire | None:
        match block.kind:
            case "text":
                item = self._message_item(block.text, place)
                if phase := block.data.get("phase"):
                    item["phase"] = phase
                return item if block.pieces else None
            case "thinking":
                return self._reasoning_item(block, place)
            case "call":
                return self._forms.call_item(block, self._id("fc_", place))
        own = dict_in(block.data.get("item"))
        if isinstance(block.block, Opaque) and own.get("type"):
            return {"id": self._id("it_", place), **own}
        text = block_text(block.as_block())
        return self._message_item(text, place) if text else None

    def _message_item(self, text: str, place: int) -> Wire:
        part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
        return {
            "id": self._id("msg_", place),
            "type": "message",
            "status": "completed",
            "role": "assistant",
            "content": [part],
        }

    def _reasoning_item(self, block: OpenBlock, place: int) -> Wire | None:
        summary = [{"type": "summary_text", "text": block.text}] if block.pieces else []
        item: Wire = {"id": self._id("rs_", place), "type": "reasoning", "summary": summary}
        if token := self.carried_string(block, _own_reasoning):
            item["encrypted_content"] = token
        return item if summary or token else None

    def _id(self, prefix: str, place: int) -> str:
        return self.facts.derived_id(prefix, place)


def _status_word(stop: Any, raw: str) -> str:
    """The status of the response and why it is incomplete. One with calls is completed, like any other."""
    word = stop_word(STOPS, WORDS, "end" if stop == "tool_calls" else stop, raw)
    return word if word.startswith("incomplete:") else "completed"


def _own_reasoning(data: dict[str, Any]) -> Any:
    return dict_in(data.get("item")).get("encrypted_content")


def usage_counts(usage: Usage) -> Wire:
    """Token counts under the names of Responses."""
    details: Wire = {"cached_tokens": usage.cached_input or 0}
    if usage.cache_write is not None:
        details["cache_write_tokens"] = usage.cache_write
    total = (usage.input or 0) + (usage.output or 0)
    return {
        "input_tokens": usage.input or 0,
        "input_tokens_details": details,
        "output_tokens": usage.output or 0,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning or 0},
        "total_tokens": total if usage.total is None else usage.total,
    }
