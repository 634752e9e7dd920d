"""Replies as the four protocols stream them: thinking, text, and five calls in small pieces.

Written after real ones: the fields around a delta, the events between deltas and the line
ends are those of the servers. `size` is about how many bytes the stream has.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any

import msgspec

Payload = dict[str, Any]

encode = msgspec.json.Encoder().encode
WORDS = (
    "The",
    " quick",
    " brown",
    ' "fox"',
    " jumps",
    " over",
    " naïve",
    " dogs",
    ".\n",
    " 漢字",
    " and",
    " on",
)
CALLS = 5
NAME = "write_file"
SIGNATURE = "EqQBCkYIBBgCKkCx" * 20


def words(count: int) -> Iterator[str]:
    return islice(cycle(WORDS), count)


def written(count: int) -> Iterator[str]:
    """The arguments of one call in so many pieces."""
    yield '{"path": "notes.md", "text": "'
    for word in words(count):
        yield encode(word).decode()[1:-1]
    yield '"}'


# Chat Completions


def chat(size: int) -> bytes:
    count = size // 344
    return b"".join(b"data: " + encode(chunk) + b"\n\n" for chunk in _chat(count)) + b"data: [DONE]\n\n"


def _chat(count: int) -> Iterator[Payload]:
    yield _chunk({"role": "assistant", "content": "", "refusal": None})
    for word in words(count * 3 // 10):
        yield _chunk({"reasoning_content": word})
    for word in words(count * 3 // 10):
        yield _chunk({"content": word})
    for index in range(CALLS):
        function = {"name": NAME, "arguments": ""}
        start = {
            "index": index,
            "id": f"call_{index}Yv4wWqzFbA8rTn",
            "type": "function",
            "function": function,
        }
        yield _chunk({"tool_calls": [start]})
        for piece in written(count * 4 // 10 // CALLS):
            yield _chunk({"tool_calls": [{"index": index, "function": {"arguments": piece}}]})
    yield _chunk({}, "tool_calls")
    counts = {"prompt_tokens": 812, "completion_tokens": count, "total_tokens": count + 812}
    yield {**_chunk({}), "choices": [], "usage": counts}


def _chunk(delta: Payload, finish: str | None = None) -> Payload:
    return {
        "id": "chatcmpl-CYp3sL2f0nQxJt9aV5mRk7Hd",
        "object": "chat.completion.chunk",
        "created": 1_762_000_000,
        "model": "gpt-5.1-2025-11-13",
        "service_tier": "default",
        "system_fingerprint": "fp_50cad350e4",
        "choices": [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}],
        "usage": None,
        "obfuscation": "a8Kd02kLm3",
    }


# Responses


def responses(size: int) -> bytes:
    return b"".join(
        b"event: "
        + event["type"].encode()
        + b"\ndata: "
        + encode({**event, "sequence_number": number})
        + b"\n\n"
        for number, event in enumerate(_responses(size // 231))
    )


def _responses(count: int) -> Iterator[Payload]:
    yield {"type": "response.created", "response": _response("in_progress", [])}
    items: list[Payload] = []
    for make in (_reasoning, _message, *(_call,) * CALLS):
        yield from make(count, len(items), items)
    yield {"type": "response.completed", "response": _response("completed", items)}


def _response(status: str, output: list[Payload]) -> Payload:
    counts = {
        "input_tokens": 812,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 100,
        "output_tokens_details": {"reasoning_tokens": 10},
        "total_tokens": 912,
    }
    return {
        "id": "resp_0c1d2e3f4a5b6c7d",
        "object": "response",
        "created_at": 1_762_000_000,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": "gpt-5.1-2025-11-13",
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": counts if output else None,
    }


def _reasoning(count: int, place: int, items: list[Payload]) -> Iterator[Payload]:
    item = {"id": f"rs_{place}a1b2c3", "type": "reasoning", "summary": []}
    where = {"item_id": item["id"], "output_index": place, "summary_index": 0}
    yield {"type": "response.output_item.added", "output_index": place, "item": item}
    text = "".join(words(count * 3 // 10))
    empty, whole = ({"type": "summary_text", "text": said} for said in ("", text))
    yield {"type": "response.reasoning_summary_part.added", **where, "part": empty}
    for word in words(count * 3 // 10):
        yield {"type": "response.reasoning_summary_text.delta", **where, "delta": word, "obfuscation": "kQ3"}
    yield {"type": "response.reasoning_summary_text.done", **where, "text": text}
    yield {"type": "response.reasoning_summary_part.done", **where, "part": whole}
    items.append({**item, "summary": [whole], "encrypted_content": SIGNATURE})
    yield {"type": "response.output_item.done", "output_index": place, "item": items[-1]}


def _message(count: int, place: int, items: list[Payload]) -> Iterator[Payload]:
    item = {"id": f"msg_{place}a1b2c3", "type": "message", "role": "assistant", "status": "in_progress"}
    where = {"item_id": item["id"], "output_index": place, "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": place, "item": {**item, "content": []}}
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": ""}
    yield {"type": "response.content_part.added", **where, "part": part}
    for word in words(count * 3 // 10):
        delta = {"delta": word, "logprobs": [], "obfuscation": "kQ3w"}
        yield {"type": "response.output_text.delta", **where, **delta}
    text = "".join(words(count * 3 // 10))
    yield {"type": "response.output_text.done", **where, "text": text, "logprobs": []}
    yield {"type": "response.content_part.done", **where, "part": {**part, "text": text}}
    items.append({**item, "status": "completed", "content": [{**part, "text": text}]})
    yield {"type": "response.output_item.done", "output_index": place, "item": items[-1]}


def _call(count: int, place: int, items: list[Payload]) -> Iterator[Payload]:
    item = {"id": f"fc_{place}a1b2c3", "type": "function_call", "call_id": f"call_{place}Yv4w", "name": NAME}
    where = {"item_id": item["id"], "output_index": place}
    started = {**item, "status": "in_progress", "arguments": ""}
    yield {"type": "response.output_item.added", "output_index": place, "item": started}
    pieces = list(written(count * 4 // 10 // CALLS))
    for piece in pieces:
        delta = {"delta": piece, "obfuscation": "kQ3w9"}
        yield {"type": "response.function_call_arguments.delta", **where, **delta}
    arguments = "".join(pieces)
    yield {"type": "response.function_call_arguments.done", **where, "arguments": arguments, "name": NAME}
    items.append({**item, "status": "completed", "arguments": arguments})
    yield {"type": "response.output_item.done", "output_index": place, "item": items[-1]}


# Anthropic Messages


def anthropic(size: int) -> bytes:
    return b"".join(
        b"event: " + event["type"].encode() + b"\ndata: " + encode(event) + b"\n\n"
        for event in _anthropic(size // 128)
    )


def _anthropic(count: int) -> Iterator[Payload]:
    usage = {"input_tokens": 812, "output_tokens": 1, "service_tier": "standard"}
    yield {
        "type": "message_start",
        "message": {
            "id": "msg_01Yv4wWqzFbA8rTn",
            "type": "message",
            "role": "assistant",
            "model": "claude-sonnet-4-5-20250929",
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        },
    }
    thinking = ({"type": "thinking_delta", "thinking": word} for word in words(count * 3 // 10))
    signed = {"type": "signature_delta", "signature": SIGNATURE}
    yield from _block(0, {"type": "thinking", "thinking": "", "signature": ""}, (*thinking, signed))
    yield {"type": "ping"}
    said = ({"type": "text_delta", "text": word} for word in words(count * 3 // 10))
    yield from _block(1, {"type": "text", "text": ""}, said)
    for call in range(CALLS):
        pieces = written(count * 4 // 10 // CALLS)
        deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in pieces)
        start = {"type": "tool_use", "id": f"toolu_0{call}Yv4wWqzFbA8rTn", "name": NAME, "input": {}}
        yield from _block(2 + call, start, deltas)
    ending = {"stop_reason": "tool_use", "stop_sequence": None}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": count}}
    yield {"type": "message_stop"}


def _block(index: int, start: Payload, deltas: Any) -> Iterator[Payload]:
    yield {"type": "content_block_start", "index": index, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": index, "delta": delta}
    yield {"type": "content_block_stop", "index": index}


# Gemini: every chunk is a response of its own, and calls come whole


def gemini(size: int) -> bytes:
    return b"".join(b"data: " + encode(chunk) + b"\r\n\r\n" for chunk in _gemini(size // 340))


def _gemini(count: int) -> Iterator[Payload]:
    for word in words(count * 5 // 10):
        yield _candidate([{"text": word, "thought": True}])
    for word in words(count * 5 // 10):
        yield _candidate([{"text": word}])
    for call in range(CALLS):
        arguments = {"path": f"notes_{call}.md", "text": "".join(words(500))}
        signed = {"thoughtSignature": SIGNATURE} if call == 0 else {}
        yield _candidate([{"functionCall": {"name": NAME, "args": arguments}, **signed}])
    yield _candidate([{"text": ""}], finishReason="STOP")


def _candidate(parts: list[Payload], **ending: str) -> Payload:
    counts = {
        "promptTokenCount": 812,
        "candidatesTokenCount": 31,
        "totalTokenCount": 1_201,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": 812}],
        "thoughtsTokenCount": 358,
    }
    return {
        "candidates": [{"content": {"parts": parts, "role": "model"}, **ending, "index": 0}],
        "usageMetadata": counts,
        "modelVersion": "gemini-2.5-pro",
        "responseId": "5tQAacaoF9uH7M8P",
    }


STREAMS: dict[str, Callable[[int], bytes]] = {
    "openai": chat,
    "openai-responses": responses,
    "anthropic": anthropic,
    "gemini": gemini,
}


def payloads(data: bytes) -> int:
    """How many events with a JSON payload a stream has."""
    return data.count(b"data: {")


def cut(data: bytes, size: int) -> list[bytes]:
    return [data[at : at + size] for at in range(0, len(data), size)]


def one_event(size: int) -> bytes:
    """A reply whose whole text comes in a single event."""
    ending = b"data: " + encode(_chunk({}, "stop")) + b"\n\ndata: [DONE]\n\n"
    return b"data: " + encode(_chunk({"content": "word " * (size // 5)})) + b"\n\n" + ending
