"""Write a reply as Chat Completions, in the style of the server.

The whole completion is made first. The stream is the same message: thinking, text, calls.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...model import Stop, Usage
from ...plain import dumps
from ..shared.framing import Frame, Stream, frame, pieces
from ..shared.growing_bytes import Wire
from ..shared.reply import CREATED, Call, Hosted, ReplyAuthor, ReplyForms, ReplyParts, stop_word
from .reply_style import FORMATS, ChatStyle, style_of

STOPS: dict[Stop, str] = {
    "end": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "refused": "content_filter",
}
SEAL_OF_FORMAT = {
    "anthropic-claude-v1": "anthropic",
    "google-gemini-v1": "gemini",
    "openai-responses-v1": "openai",
}


def whole(reply: ReplyParts, author: ReplyAuthor, request: Wire | None = None) -> Wire:
    """The completion as it comes when it is not streamed."""
    finish = stop_word(STOPS, reply, "Chat")
    said = style_of(author.provider)
    message = _reply_message(reply, author, said)
    if "stop_for_calls" in reply.odd and reply.calls:
        finish = "stop"
    completion: Wire = {
        "id": author.draw(*said.id),
        "object": "chat.completion",
        "created": CREATED,
        "model": author.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
    }
    if "no_usage" not in reply.odd:
        completion["usage"] = _usage_counts(author.count_tokens(reply))
    return completion


def _reply_message(reply: ReplyParts, author: ReplyAuthor, said: ChatStyle) -> Wire:
    calls = [
        _call_entry(call, author.call_id(call.name, place, call.id), reply.odd)
        for place, call in enumerate(reply.calls)
    ]
    message: Wire = {"role": "assistant", "content": reply.text or None if calls else reply.text}
    if thought := reply.thinking:
        _add_reasoning(message, thought, calls, author, said, reply.odd)
    if calls:
        message["tool_calls"] = calls
    hosted = [part for part in reply.parts if isinstance(part, Hosted)]
    if hosted and author.provider == "groq":
        message["executed_tools"] = [_executed_tool(part, at) for at, part in enumerate(hosted)]
    if author.provider != "groq" and (found := [part for part in hosted if part.url]):
        message["annotations"] = [_url_citation(part) for part in found]
    return message


def _url_citation(part: Hosted) -> Wire:
    return {"type": "url_citation", "url_citation": {"url": part.url, "title": part.result}}


def _call_entry(call: Call, id: str, odd: Collection[str]) -> Wire:
    written = dumps(call.arguments) if call.raw is None else call.raw
    arguments: Any = call.arguments if "arguments_object" in odd and call.raw is None else written
    return {"id": id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _executed_tool(part: Hosted, index: int) -> Wire:
    return {"index": index, "type": part.name, "arguments": dumps(part.arguments), "output": part.result}


def _add_reasoning(
    message: Wire, thought: str, calls: list[Wire], author: ReplyAuthor, said: ChatStyle, odd: Collection[str]
) -> None:
    if "think_tags" in odd:
        message["content"] = f"<think>{thought}</think>{message['content'] or ''}"
        return
    match said.reasoning:
        case "chunks":
            chunk = {"type": "thinking", "thinking": [{"type": "text", "text": thought}]}
            text = [{"type": "text", "text": message["content"]}] if message["content"] else []
            message["content"] = [chunk, *text]
        case "details":
            message["reasoning"] = thought
            message["reasoning_details"] = _details(thought, calls, author)
        case "opaque":
            message["reasoning_text"] = thought
            message["reasoning_opaque"] = author.sign("openai", "opaque")
        case "":
            pass  # this server does not show its thinking
        case field:
            message[field] = thought


def _details(thought: str, calls: list[Wire], author: ReplyAuthor) -> list[Wire]:
    """OpenRouter's reasoning_details, as the family behind it signs them."""
    form = FORMATS.get(author.family, "unknown")
    text: Wire = {"type": "reasoning.text", "text": thought, "format": form, "index": 0}
    match form:
        case "anthropic-claude-v1":
            return [{**text, "signature": author.sign("anthropic", thought)}]
        case "google-gemini-v1":
            id = {"id": calls[0]["id"]} if calls else {}
            cipher = author.sign("gemini", "details")
            return [text, {"type": "reasoning.encrypted", "data": cipher, "format": form, "index": 1, **id}]
        case "openai-responses-v1":
            summary = {"type": "reasoning.summary", "summary": thought, "format": form, "index": 0}
            cipher = author.sign("openai", "details")
            return [summary, {"type": "reasoning.encrypted", "data": cipher, "format": form, "index": 1}]
        case _:
            return [text]


def _usage_counts(counts: Usage) -> Wire:
    details = {"cached_tokens": counts.cached_input or 0}
    if counts.cache_write is not None:
        details["cache_write_tokens"] = counts.cache_write
    total = (counts.input or 0) + (counts.output or 0)
    return {
        "prompt_tokens": counts.input or 0,
        "completion_tokens": counts.output or 0,
        "total_tokens": total if counts.total is None else counts.total,
        "prompt_tokens_details": details,
        "completion_tokens_details": {"reasoning_tokens": counts.reasoning or 0},
    }


# Streamed


def stream(completion: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same completion in chunks."""
    said, choice = style_of(author.provider), completion["choices"][0]
    chunks = _Chunks(completion, said, odd)
    frames = [Frame(comment=said.comment)] if said.comment else []
    if said.prelude:
        frames.append(chunks.without_choice())
    for delta in _deltas(choice["message"], said, odd):
        frames.append(chunks.of(delta))
    if "null_delta" in odd:
        frames.append(chunks.of(None))
    ending = [*chunks.last_frames(choice["finish_reason"], author.usage)]
    if "no_done" not in odd:
        ending.append(Frame(b"[DONE]"))
    return Stream(tuple(frames), tuple(ending))


class _Chunks:
    """The envelope of every chunk."""

    def __init__(self, completion: Wire, said: ChatStyle, odd: Collection[str]) -> None:
        self._base = {name: completion[name] for name in ("id", "created", "model")}
        self._base["object"] = "chat.completion.chunk"
        self._counts = completion.get("usage")
        self._said = said
        self._splits = "two_choices" in odd

    def of(self, delta: Wire | None, finish: str | None = None, **more: Any) -> Frame:
        index = 1 if self._splits and delta and "tool_calls" in delta else 0
        choice = {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish}
        if self._said.usage == "every" and "usage" not in more:
            more["usage"] = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
        return frame({**self._base, "choices": [choice], **more})

    def without_choice(self, **more: Any) -> Frame:
        return frame({**self._base, "choices": [], **more})

    def last_frames(self, finish: str, asked: bool) -> Iterator[Frame]:
        """Why it ends, and the counts where this server has them."""
        counts = {"usage": self._counts} if self._counts else {}
        match self._said.usage:
            case "trailing":
                yield self.of({}, finish)
                if counts and asked:
                    yield self.without_choice(**counts)
            case "choice":
                choice = {"index": 0, "delta": {}, "finish_reason": finish, **counts}
                yield frame({**self._base, "choices": [choice]})
            case "second_finish":
                yield self.of({"role": "assistant", "content": ""}, finish)
                yield self.of({"role": "assistant", "content": ""}, finish, **counts)
            case _:
                yield self.of({}, finish, **counts)


def _deltas(message: Wire, said: ChatStyle, odd: Collection[str]) -> Iterator[Wire]:
    yield {"role": "assistant", "content": ""}
    yield from _reasoning_deltas(message)
    content = message["content"]
    for part in content if isinstance(content, list) else [content]:
        if isinstance(part, dict) and part["type"] == "thinking":
            for piece in pieces(part["thinking"][0]["text"]):
                yield {"content": [{"type": "thinking", "thinking": [{"type": "text", "text": piece}]}]}
        else:
            yield from (
                {"content": piece} for piece in pieces(part["text"] if isinstance(part, dict) else part or "")
            )
    yield from _call_deltas(message, said, odd)
    yield from ({"executed_tools": [tool]} for tool in message.get("executed_tools", ()))
    if "annotations" in message:
        yield {"annotations": message["annotations"]}


def _reasoning_deltas(message: Wire) -> Iterator[Wire]:
    for field in ("reasoning_content", "reasoning", "reasoning_text"):
        if field in message:
            details = message.get("reasoning_details")
            for piece in pieces(message[field]):
                yield {
                    field: piece,
                    **({"reasoning_details": [_detail_piece(details[0], piece)]} if details else {}),
                }
    for detail in message.get("reasoning_details", ()):
        yield from _detail_without_text(detail)
    if "reasoning_opaque" in message:
        yield {"content": None, "reasoning_opaque": message["reasoning_opaque"]}


def _detail_piece(detail: Wire, piece: str) -> Wire:
    name = "summary" if "summary" in detail else "text"
    return {"type": detail["type"], name: piece, "format": detail["format"], "index": detail["index"]}


def _detail_without_text(detail: Wire) -> Iterator[Wire]:
    """The fields of a detail beside its text: they come once, after the text."""
    rest = {name: value for name, value in detail.items() if name not in ("text", "summary")}
    if "signature" in rest or "data" in rest:
        yield {"content": "", "reasoning_details": [rest]}


def _call_deltas(message: Wire, said: ChatStyle, odd: Collection[str]) -> Iterator[Wire]:
    calls = message.get("tool_calls", ())
    whole = (
        said.whole_calls or said.calls_together or {"whole_calls", "arguments_object", "no_index"} & {*odd}
    )
    placed = [_with_index(call, at, odd) for at, call in enumerate(calls)]
    if said.calls_together and placed:
        yield {"tool_calls": placed}
        return
    for call in placed:
        yield from [{"tool_calls": [call]}] if whole else _fragments(call, odd)


def _with_index(call: Wire, at: int, odd: Collection[str]) -> Wire:
    if "no_index" in odd:
        return call
    return {"index": 0 if "index_0" in odd else at, **call}


def _fragments(call: Wire, odd: Collection[str]) -> Iterator[Wire]:
    function = call["function"]
    yield {"tool_calls": [{**call, "function": {"name": function["name"], "arguments": ""}}]}
    repeated = {"id": call["id"], "type": "function"} if "name_repeated" in odd else {}
    named = {"name": function["name"]} if "name_repeated" in odd else {}
    for piece in pieces(function["arguments"]):
        fragment = {"index": call["index"], **repeated, "function": {**named, "arguments": piece}}
        yield {"tool_calls": [fragment]}


REPLY = ReplyForms(whole, stream)
