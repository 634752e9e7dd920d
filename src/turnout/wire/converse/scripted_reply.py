"""Write a reply as Converse does: a message of content blocks, whole or as an event stream.

The whole message is made first. The stream is the same message, block by block; the counts of
tokens come after the stop.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from ...model import Stop, Usage
from ...plain import dumps
from ..shared.framing import Frame, Stream, frame, pieces
from ..shared.growing_bytes import Wire
from ..shared.reply import Call, Hosted, Part, ReplyAuthor, ReplyEncoder, ReplyParts, Say, Think, stop_word

STOPS: dict[Stop, str] = {
    "end": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "refused": "content_filtered",
    "error": "malformed_model_output",
}
RAW = "_raw"  # what the model wrote in place of JSON: only a stream can hold it
LATENCY = {"latencyMs": 512}


def whole(reply: ReplyParts, author: ReplyAuthor, request: Wire | None = None) -> Wire:
    """The reply as it comes when it is not streamed."""
    content = [
        block for place, part in enumerate(reply.parts) for block in _blocks_of_part(part, place, author)
    ]
    return {
        "metrics": LATENCY,
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": stop_word(STOPS, reply, "Converse"),
        "usage": _usage_counts(author.count_tokens(reply)),
    }


def _blocks_of_part(part: Part, place: int, author: ReplyAuthor) -> Iterator[Wire]:
    match part:
        case Say():
            yield {"text": part.text}
        case Think(hidden=True):
            yield {"reasoningContent": {"redactedContent": author.sign("anthropic", "redacted")}}
        case Think():
            shown: Wire = {"text": part.text}
            if author.family == "claude":  # only Claude signs what it thinks
                shown["signature"] = author.sign("anthropic", part.text)
            yield {"reasoningContent": {"reasoningText": shown}}
        case Call():
            id = author.call_id(part.name, place, part.id)
            raw = {} if part.raw is None else {RAW: part.raw}
            yield {"toolUse": {"toolUseId": id, "name": part.name, "input": part.arguments, **raw}}
        case Hosted():
            yield from _hosted_blocks(part, author)


def _hosted_blocks(part: Hosted, author: ReplyAuthor) -> Iterator[Wire]:
    """A tool that Nova ran itself, and what it found."""
    id = author.draw("tooluse_", 22)
    use = {"toolUseId": id, "name": part.name, "input": part.arguments, "type": "server_tool_use"}
    yield {"toolUse": use}
    found = {"toolUseId": id, "content": [{"json": {"found": part.result}}], "status": "success"}
    yield {"toolResult": {**found, "type": f"{part.name}_result"}}


def _usage_counts(usage: Usage) -> Wire:
    counts: Wire = {
        "inputTokens": usage.input or 0,
        "outputTokens": usage.output or 0,
        "totalTokens": usage.total or (usage.input or 0) + (usage.output or 0),
    }
    if usage.cached_input is not None:
        counts["cacheReadInputTokens"] = usage.cached_input
    if usage.cache_write is not None:
        counts["cacheWriteInputTokens"] = usage.cache_write
    return counts


def body(message: Wire) -> Wire:
    """The reply without raw text of calls: a whole body can hold only valid JSON."""
    held = message["output"]["message"]
    content = [
        {name: _without_raw(value) if name == "toolUse" else value for name, value in block.items()}
        for block in held["content"]
    ]
    return {**message, "output": {"message": {**held, "content": content}}}


def _without_raw(call: Wire) -> Wire:
    return {name: value for name, value in call.items() if name != RAW}


def stream(message: Wire, author: ReplyAuthor, odd: Collection[str] = ()) -> Stream:
    """The same reply as events."""
    frames = [frame({"role": "assistant"}, "messageStart")]
    content = message["output"]["message"]["content"]
    for index, block in enumerate(content):
        frames += _block_events(index, block)
        if not ("no_block_stop" in odd and index == len(content) - 1):
            frames.append(_frame("contentBlockStop", contentBlockIndex=index))
    ending = (
        _frame("messageStop", stopReason=message["stopReason"]),
        _frame("metadata", usage=message["usage"], metrics=message["metrics"]),
    )
    return Stream(tuple(frames), ending, framing="eventstream")


def _block_events(index: int, block: Wire) -> Iterator[Frame]:
    kind, value = next(iter(block.items()))
    if kind in ("toolUse", "toolResult"):
        start = {name: value[name] for name in ("toolUseId", "name", "type", "status") if name in value}
        yield _frame("contentBlockStart", start={kind: start}, contentBlockIndex=index)
    for delta in _deltas(kind, value):
        yield _frame("contentBlockDelta", delta=delta, contentBlockIndex=index)


def _deltas(kind: str, value: Any) -> Iterator[Wire]:
    match kind:
        case "text":
            yield from ({"text": piece} for piece in pieces(value))
        case "toolUse":
            yield from ({"toolUse": {"input": piece}} for piece in ("", *_arguments(value)))
        case "toolResult":
            yield {"toolResult": value["content"]}
        case "reasoningContent" if "redactedContent" in value:
            yield {"reasoningContent": value}
        case "reasoningContent":
            shown = value["reasoningText"]
            yield from ({"reasoningContent": {"text": piece}} for piece in pieces(shown["text"]))
            if "signature" in shown:
                yield {"reasoningContent": {"signature": shown["signature"]}}


def _arguments(call: Wire) -> list[str]:
    if call.get(RAW) is not None:
        return pieces(call[RAW])
    return pieces(dumps(call["input"])) if call["input"] else []


def _frame(kind: str, **fields: Any) -> Frame:
    return frame(fields, kind)


REPLY = ReplyEncoder(whole, stream, body)
