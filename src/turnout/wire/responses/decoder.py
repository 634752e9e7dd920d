"""Read OpenAI Responses: the events of a stream, or a whole response, become our events.

A response is a list of items. An item is announced, grows by deltas and is done. Only
`response.output_item.done` holds the final item, so the deltas are a preview: the finished
item adds what they lack. Items are known by their index in the output, because some servers
give an item another id on every event (Copilot). The last event holds the whole response
again; items that no event brought are read from there.

Nearly every event is a delta of text, thinking or arguments. Those are decoded straight
into one small struct. All others are read as plain dicts.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from ...history.client_items import CLIENT_ITEMS, arguments_in, has_tied_id, is_client_run, qualified_name
from ...history.opaque_text import words_of
from ...history.sources import sources_block
from ...model import Opaque, Origin, Residue, Stop, Usage
from ...plain import clean_text, count_in, dict_in, dumps, list_in, loads, text_in
from ...streaming.reply import NOTHING, Draft, Events, ReplyBuilder
from ..chat.chunk import detail_in, dicts, is_done
from ..failure.read_failure import is_failure, stream_failure, undecodable

Key: TypeAlias = int | str

STOPS: dict[str, Stop] = {
    "completed": "end",
    "complete": "end",
    "": "end",
    "cancelled": "interrupted",
    "in_progress": "paused",  # a background response that was asked for too early
    "queued": "paused",
    "incomplete:max_output_tokens": "length",
    "incomplete:max_tokens": "length",
    "incomplete:content_filter": "refused",
}

CUSTOM_HEAD = '{"input":"'
TERMINAL = (
    "response.completed",
    "response.incomplete",
    "response.failed",
    "response.cancelled",
    "response.done",
)


class _Delta(Struct, gc=False):
    type: str
    delta: Any = None
    output_index: Any = None
    item_id: Any = None


_decode_delta = msgspec.json.Decoder(_Delta).decode


class ResponsesDecoder:
    """Feed the events of one response; get our events. `reply` holds what has arrived so far."""

    def __init__(self, origin: Origin, turn_key: str) -> None:
        self.reply = ReplyBuilder(origin, turn_key)
        self._drafts: dict[Key, Draft] = {}  # the text or thinking of each item
        self._sources: dict[Key, str] = {}  # which deltas an item's thinking comes from
        self._speaking: Key | None = None  # the item whose draft is being written
        self._custom: set[Key] = set()
        self._names: dict[Key, str] = {}  # of the calls that were begun
        self._settled: set[Key] = set()  # items that are done, by place and by id
        self._refused = False
        self._deltas: dict[Any, Callable[[_Delta], Events]] = {
            "response.output_text.delta": self._text_delta,
            "response.function_call_arguments.delta": self._arguments_delta,
            "response.reasoning_summary_text.delta": self._thinking_delta,
            "response.reasoning_text.delta": self._thinking_delta,
            "response.custom_tool_call_input.delta": self._custom_delta,
            "response.refusal.delta": self._refusal_delta,
        }

    def feed(self, event: str, data: bytes) -> Events:
        """The events in one payload. `event` is a hint only: the payload names its type itself."""
        if event in self._deltas or not event:
            try:
                frame = _decode_delta(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return self._read_payload(event, data)
            if (delta := self._deltas.get(frame.type)) is not None:
                return delta(frame)
        return self._read_payload(event, data)

    def close(self) -> Events:
        """The end of the body. A response without its last event was cut off."""
        return self.reply.fail("truncated", "the stream ended before the response did")

    def whole(self, body: Any) -> Events:
        """The events of a response that was not streamed."""
        if isinstance(body, dict) and (isinstance(body.get("output"), list) or body.get("error")):
            return self._finish_response(body)
        if is_failure(body):
            return self._fail_reply(body)
        return self.reply.fail("malformed", f"the body is not a response: {dumps(body)[:200]}")

    def _read_payload(self, event: str, data: bytes) -> Events:
        try:
            payload = loads(data)
        except (ValueError, RecursionError):
            if is_done(data) or self.reply.ended:
                return NOTHING
            return self.reply.fail(*undecodable(data))
        if self.reply.ended:
            return NOTHING
        if not isinstance(payload, dict):
            return self.reply.fail("malformed", f"an event is not an object: {dumps(payload)[:200]}")
        return self._read_event(payload.get("type") or event, payload)

    def _read_event(self, kind: Any, payload: dict[str, Any]) -> Events:
        key = _item_key(payload.get("output_index"), payload.get("item_id"))
        match kind:
            case "response.output_item.added":
                return self._start_item(_key_of_event(payload), _item(payload))
            case "response.output_item.done":
                return self._finish_item(_key_of_event(payload), _item(payload))
            case "response.function_call_arguments.done":
                return self.reply.set_args(key, payload.get("arguments"))
            case "response.output_text.done":
                return self._unless_said(key, payload.get("text"), self._add_text)
            case "response.refusal.done":
                self._refused = True
                return self._unless_said(key, payload.get("refusal"), self._add_text)
            case "response.reasoning_summary_text.done" | "response.reasoning_text.done":
                return self._unless_said(key, payload.get("text"), self._add_thinking)
            case "error":
                return self._fail_reply(payload)
            case str() if kind in TERMINAL:
                return self._finish_response(dict_in(payload.get("response")))
            case str() if kind in self._deltas:
                return self._deltas[kind](
                    _Delta(kind, *map(payload.get, ("delta", "output_index", "item_id")))
                )
            case _ if payload.get("error") or (not kind and payload.keys() & {"output", "message", "detail"}):
                return self.whole(payload)  # in place of a stream
            case _:
                return NOTHING

    # -- deltas

    def _text_delta(self, frame: _Delta) -> Events:
        key = frame.output_index
        if key == self._speaking and type(frame.delta) is str and key is not None:
            return self.reply.text(frame.delta)
        return self._add_text(_item_key(key, frame.item_id), text_in(frame.delta))

    def _refusal_delta(self, frame: _Delta) -> Events:
        self._refused = True
        return self._text_delta(frame)

    def _thinking_delta(self, frame: _Delta) -> Events:
        """Thinking comes as a summary or in full. If a server sends both, the first one counts."""
        key = _item_key(frame.output_index, frame.item_id)
        if self._sources.setdefault(key, frame.type) != frame.type:
            return NOTHING
        return self._add_thinking(key, text_in(frame.delta))

    def _arguments_delta(self, frame: _Delta) -> Events:
        return self.reply.append_args(_item_key(frame.output_index, frame.item_id), text_in(frame.delta))

    def _custom_delta(self, frame: _Delta) -> Events:
        """A tool that takes free text: the same call with one argument, `input`."""
        key = _item_key(frame.output_index, frame.item_id)
        head = "" if key in self._custom else CUSTOM_HEAD
        self._custom.add(key)
        return self.reply.append_args(key, head + dumps(text_in(frame.delta))[1:-1])

    def _add_text(self, key: Key, text: str) -> Events:
        if not text or self.reply.ended or key in self._settled:
            return NOTHING
        ending = self._resume_draft(key, self.reply.open_text)
        return (*ending, *self.reply.text(text))

    def _add_thinking(self, key: Key, text: str) -> Events:
        if not text or self.reply.ended or key in self._settled:
            return NOTHING
        ending = self._resume_draft(key, self.reply.open_thinking)
        return (*ending, *self.reply.thinking(text))

    def _resume_draft(self, key: Key, begin: Callable[[], Draft]) -> Events:
        """Continue the draft of this item, or begin it."""
        if self._speaking == key:
            return NOTHING
        draft = self._drafts.get(key)
        ending = self.reply.end_thinking() if draft is None else NOTHING
        if draft is None:
            self._drafts[key] = begin()
        else:
            self.reply.resume(draft)
        self._speaking = key
        return ending

    def _unless_said(self, key: Key, text: Any, say: Callable[[Key, str], Events]) -> Events:
        return say(key, text_in(text)) if key not in self._drafts else NOTHING

    # -- items

    def _start_item(self, key: Key, item: dict[str, Any]) -> Events:
        if item.get("type") not in ("function_call", "custom_tool_call") and not is_client_run(item):
            return NOTHING
        self._speaking = None
        self._names[key] = _tool_of(item)
        return self.reply.start_call(key, text_in(item.get("call_id")), _tool_of(item), alias=_id(item))

    def _finish_item(self, key: Key, item: dict[str, Any]) -> Events:
        if key in self._settled or self.reply.ended:
            return NOTHING
        events = self._events_of_item(key, item)
        self._settled.update({key, _id(item) or key, text_in(item.get("call_id")) or key})
        self.reply.resume(None)
        self._speaking = None
        return events

    def _events_of_item(self, key: Key, item: dict[str, Any]) -> Events:
        match item.get("type"):
            case "message":
                return self._finish_message(key, item)
            case "reasoning":
                return self._finish_reasoning(key, item)
            case "function_call":
                return self._finish_call(key, item, item.get("arguments"), {})
            case "custom_tool_call":
                return self._finish_call(key, item, {"input": text_in(item.get("input"))}, {"custom": True})
            case _ if is_client_run(item):
                return self._finish_call(key, item, arguments_in(item), {"item": item})
            case kind:
                return self._opaque(text_in(kind) or "unknown", item)

    def _opaque(self, kind: str, item: dict[str, Any]) -> Events:
        """Tools that OpenAI ran, and unknown kinds: kept whole, for OpenAI only."""
        # OAR-09, OAR-10: reasoning goes back only to its own model, and so do the items tied to it.
        is_private = has_tied_id(item) or item.get("encrypted_content")
        residue = Residue(self.reply.origin, {"item": item}, "model" if is_private else "provider")
        return self.reply.opaque(Opaque(kind, words_of(kind, item), residue))

    def _finish_message(self, key: Key, item: dict[str, Any]) -> Events:
        parts = dicts(item.get("content"))
        self._refused = self._refused or any(part.get("type") == "refusal" for part in parts)
        text = "".join(text_in(part.get("text") or part.get("refusal")) for part in parts)
        events = self._add_text(key, self._rest(key, text))
        if item.get("phase") and key in self._drafts:  # commentary or final answer: it goes back
            self._resume_draft(key, self.reply.open_text)
            marks = {name: item[name] for name in ("id", "phase") if item.get(name)}
            events = (*events, *self.reply.end_text(marks))
        cited = [entry for part in parts for entry in list_in(part.get("annotations"))]
        return (*events, *self._add_sources(text, cited)) if cited else events

    def _add_sources(self, text: str, cited: list[Any]) -> Events:
        """The addresses that a text cites: the API does not take them back without the id of the text."""
        block = sources_block(text, cited, Residue(self.reply.origin, {"annotations": cited}, "provider"))
        return self.reply.opaque(block) if block is not None else NOTHING

    def _finish_reasoning(self, key: Key, item: dict[str, Any]) -> Events:
        summary = "".join(text_in(part.get("text")) for part in dicts(item.get("summary")))
        content = "".join(text_in(part.get("text")) for part in dicts(item.get("content")))
        text = content if self._sources.get(key) == "response.reasoning_text.delta" else summary or content
        events = self._add_thinking(key, self._rest(key, text))
        if key in self._drafts:
            self._resume_draft(key, self.reply.open_thinking)
        kept = {name: value for name, value in item.items() if value is not None and name != "status"}
        return (*events, *self.reply.end_thinking({"item": kept}))

    def _finish_call(self, key: Key, item: dict[str, Any], arguments: Any, marks: dict[str, Any]) -> Events:
        named = (key, text_in(item.get("call_id")), self._names.get(key) or _tool_of(item))
        events = self.reply.start_call(*named, alias=_id(item) or None) if named[1] or named[2] else NOTHING
        if item_id := _id(item):
            marks["item_id"] = item_id
        if item.get("namespace"):
            marks["namespace"] = item["namespace"]
        self.reply.mark_call(key, marks, "provider")
        if item.get("status") == "incomplete":  # the end of the response decides
            return (*events, *self.reply.set_args(key, arguments))
        return (*events, *self.reply.complete_call(key, arguments=arguments, alias=_id(item)))

    def _rest(self, key: Key, text: str) -> str:
        """The part of the whole text that the deltas did not bring."""
        draft = self._drafts.get(key)
        said = "".join(draft.pieces) if draft is not None else ""
        return text[len(said) :] if clean_text(text[: len(said)]) == said else ""

    # -- the end

    def _finish_response(self, response: dict[str, Any]) -> Events:
        """The response is over: read items that no event brought, the token counts and the stop reason."""
        if response.get("id") and response.get("store") is not False:  # only a stored response can be chained
            self.reply.mark_reply({"response_id": response["id"]})
        if usage := usage_of(response.get("usage")):
            self.reply.usage(usage)
        status = text_in(response.get("status"))
        if response.get("error") or status == "failed":
            return self._fail_reply(response)
        reason = text_in(dict_in(response.get("incomplete_details")).get("reason"))
        raw_stop = f"{status}:{reason}" if status == "incomplete" and reason else status
        stop = STOPS.get(raw_stop, "other")
        events = [event for item in self._unsettled_items(response) for event in self._finish_item(*item)]
        events += self.reply.complete_all(cut=status == "incomplete")
        return (*events, *self.reply.done("refused" if self._refused else stop, raw_stop))

    def _unsettled_items(self, response: dict[str, Any]) -> list[tuple[Key, dict[str, Any]]]:
        return [
            (place, item)
            for place, item in enumerate(dicts(response.get("output")))
            if not self._settled & {place, _id(item), text_in(item.get("call_id"))}
        ]

    def _fail_reply(self, payload: dict[str, Any]) -> Events:
        error = stream_failure(payload)
        return self.reply.fail(error.kind, error.message, error)


def usage_of(counts: Any) -> Usage | None:
    """Token counts, under the names of Responses."""
    if not isinstance(counts, dict):
        return None
    return Usage(
        input=count_in(counts.get("input_tokens")),
        output=count_in(counts.get("output_tokens")),
        total=count_in(counts.get("total_tokens")),
        cached_input=count_in(detail_in(counts.get("input_tokens_details"), "cached_tokens")),
        cache_write=count_in(detail_in(counts.get("input_tokens_details"), "cache_write_tokens")),
        reasoning=count_in(detail_in(counts.get("output_tokens_details"), "reasoning_tokens")),
    )


def _item_key(place: Any, item_id: Any) -> Key:
    """The index in the output, which never changes; the item's id if there is no index."""
    return place if type(place) is int else text_in(item_id)


def _key_of_event(payload: dict[str, Any]) -> Key:
    return _item_key(payload.get("output_index"), _id(_item(payload)) or payload.get("item_id"))


def _tool_of(item: dict[str, Any]) -> str:
    form = CLIENT_ITEMS.get(text_in(item.get("type")))
    return form.tool if form is not None else qualified_name(item)


def _item(payload: dict[str, Any]) -> dict[str, Any]:
    return dict_in(payload.get("item"))


def _id(item: dict[str, Any]) -> str:
    return text_in(item.get("id"))
