"""The same bytes through the vendors' own SDKs, in process: Anthropic's and Google's read what we read.

Streams are made up: parallel calls, interleaved thoughts, any text, arguments cut anywhere.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import anthropic
import httpx2
import pytest
from google import genai
from google.genai import types
from tests.corpus import ROTATION, SOAK
from tests.replies import turn_of

from turnout.model import ModelTurn, Text, Thinking, ToolCall
from turnout.wire.anthropic.decoder import AnthropicDecoder
from turnout.wire.gemini.decoder import GeminiDecoder

COUNT = 100
MANY = 2000
ALPHABET = "ab 1\"\\/{}[]:,\n\té四😀\u2028\u0085'<>&"


class Dice(random.Random):
    """Chance, in the shapes that streams are made of."""

    def text(self, longest: int = 12) -> str:
        return "".join(self.choices(ALPHABET, k=self.randint(1, longest)))

    def pieces(self, text: str) -> list[str]:
        cuts = sorted(self.randint(0, len(text)) for _ in range(self.randint(0, 4)))
        return [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]

    def value(self, depth: int = 0) -> Any:
        leaf: list[Callable[[], Any]] = [
            lambda: self.randint(-9, 9),
            lambda: self.choice([None, True, False, 0.5, ""]),
            self.text,
        ]
        inner = [
            lambda: [self.value(depth + 1) for _ in range(self.randint(0, 2))],
            lambda: self.object(depth + 1),
        ]
        return self.choice(leaf if depth > 1 else leaf + inner)()

    def object(self, depth: int = 0) -> dict[str, Any]:
        return {self.text(4): self.value(depth) for _ in range(self.randint(0, 3))}


# -- Anthropic


def anthropic_stream(dice: Dice) -> bytes:
    events: list[dict[str, Any]] = [{"type": "message_start", "message": anthropic_message()}]
    kinds = dice.choices(["text", "thinking", "redacted_thinking", "tool_use"], k=dice.randint(0, 6))
    for index, kind in enumerate(kinds):
        start, deltas = anthropic_block(dice, kind, index)
        events.append(
            {"type": "content_block_start", "index": index, "content_block": {"type": kind, **start}}
        )
        for delta in deltas:
            events.append({"type": "content_block_delta", "index": index, "delta": delta})
            events += [{"type": "ping"}] * (dice.random() < 0.1)
        events.append({"type": "content_block_stop", "index": index})
    stop = (
        "tool_use"
        if "tool_use" in kinds
        else dice.choice(["end_turn", "max_tokens", "refusal", "pause_turn"])
    )
    usage = {"output_tokens": dice.randint(1, 999)}
    events.append(
        {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage}
    )
    events.append({"type": "message_stop"})
    ascii = dice.random() < 0.5
    return "".join(
        f"event: {event['type']}\ndata: {json.dumps(event, ensure_ascii=ascii)}\n\n" for event in events
    ).encode()


def anthropic_message() -> dict[str, Any]:
    usage = {"input_tokens": 7, "output_tokens": 1, "cache_read_input_tokens": 3}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude", "content": []}
    return {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}


def anthropic_block(dice: Dice, kind: str, index: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    match kind:
        case "text":
            return {"text": ""}, [{"type": "text_delta", "text": piece} for piece in dice.pieces(dice.text())]
        case "thinking":
            thoughts = [{"type": "thinking_delta", "thinking": piece} for piece in dice.pieces(dice.text())]
            signed = {"type": "signature_delta", "signature": f"sig{index}"}
            return {"thinking": "", "signature": ""}, [*thoughts, signed]
        case "redacted_thinking":
            return {"data": f"data{index}"}, []
    written = dice.choice(["", json.dumps(dice.object(), ensure_ascii=dice.random() < 0.5)])
    deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in dice.pieces(written)]
    return {"id": f"toolu_{index}", "name": f"tool_{index}", "input": {}}, deltas


@cache
def anthropic_client() -> anthropic.Anthropic:
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=SERVED[0])
    )
    return anthropic.Anthropic(api_key="x", http_client=httpx2.Client(transport=transport), max_retries=0)


SERVED = [b""]


def anthropic_reading(body: bytes) -> Any:
    SERVED[0] = body
    user: Any = {"role": "user", "content": "x"}
    with anthropic_client().messages.stream(model="claude", max_tokens=9, messages=[user]) as stream:
        message = stream.get_final_message()
    blocks: list[Any] = []
    for block in message.content:
        match block.type:
            case "text":
                blocks.append(("text", block.text))
            case "thinking":
                blocks.append(("thinking", block.thinking, block.signature))
            case "redacted_thinking":
                blocks.append(("redacted", block.data))
            case "tool_use":
                blocks.append(("call", block.id, block.name, block.input))
    usage = message.usage
    return (
        blocks,
        message.stop_reason,
        (usage.input_tokens, usage.output_tokens, usage.cache_read_input_tokens),
    )


def our_anthropic_reading(turn: ModelTurn) -> Any:
    blocks: list[Any] = []
    for block in turn.blocks:
        match block:
            case Text(text):
                blocks.append(("text", text))
            case Thinking(text, residue):
                data = residue.data if residue else {}
                signed = ("thinking", text, data.get("signature"))
                blocks.append(("redacted", data["redacted"]) if "redacted" in data else signed)
            case ToolCall():
                blocks.append(("call", block.raw_id, block.name, block.arguments))
    assert turn.usage is not None
    return blocks, turn.raw_stop, (turn.usage.input, turn.usage.output, turn.usage.cached_input)


# -- Gemini


def gemini_stream(dice: Dice) -> bytes:
    parts = [gemini_part(dice, number) for number in range(dice.randint(0, 8))]
    chunks: list[dict[str, Any]] = []
    while parts:
        taken, parts = parts[:2], parts[2:]
        chunks.append({"candidates": [{"content": {"parts": taken, "role": "model"}, "index": 0}]})
    finish = dice.choice(["STOP", "MAX_TOKENS", "SAFETY"])
    usage = {"promptTokenCount": 7, "candidatesTokenCount": dice.randint(1, 99), "totalTokenCount": 200}
    ending = {"content": {"parts": [{"text": ""}], "role": "model"}, "finishReason": finish, "index": 0}
    chunks.append({"candidates": [ending], "usageMetadata": usage})
    ascii = dice.random() < 0.5
    frames = "".join(f"data: {json.dumps(chunk, ensure_ascii=ascii)}\r\n\r\n" for chunk in chunks)
    # Google's SDK takes these two for line ends, against the rules of event streams.
    return frames.replace("\u2028", "\\u2028").replace("\u0085", "\\u0085").encode()


def gemini_part(dice: Dice, number: int) -> dict[str, Any]:
    signed = {"thoughtSignature": "c2ln"} if dice.random() < 0.2 else {}
    match dice.choice(["text", "text", "thought", "call"]):
        case "text":
            return {"text": dice.text(), **signed}
        case "thought":
            return {"text": dice.text(), "thought": True}
    given = {"args": dice.object()} if dice.random() < 0.8 else {}
    return {"functionCall": {"name": f"tool_{number}", "id": f"id{number}", **given}}


@cache
def gemini_client() -> genai.Client:
    transport = httpx2.MockTransport(
        lambda request: httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=SERVED[0])
    )
    options = types.HttpOptions(httpx_client=httpx2.Client(transport=transport))
    return genai.Client(api_key="x", http_options=options)


def gemini_reading(body: bytes) -> Any:
    SERVED[0] = body
    said: list[Any] = []
    finish, usage = None, None
    for chunk in gemini_client().models.generate_content_stream(model="gemini", contents="x"):
        candidate = (chunk.candidates or [None])[0]
        for part in (candidate.content.parts if candidate and candidate.content else None) or []:
            if part.function_call:
                call = part.function_call
                said.append(("call", call.id, call.name, call.args or {}))
            elif part.text:
                said.append(("thinking" if part.thought else "text", part.text))
        finish = (candidate and candidate.finish_reason) or finish
        usage = chunk.usage_metadata or usage
    counts = usage and (usage.prompt_token_count, usage.candidates_token_count, usage.total_token_count)
    return joined(said), finish and finish.name, counts


def our_gemini_reading(turn: ModelTurn) -> Any:
    said: list[Any] = []
    for block in turn.blocks:
        match block:
            case Text(text) if text:
                said.append(("text", text))
            case Thinking(text):
                said.append(("thinking", text))
            case ToolCall():
                said.append(("call", block.raw_id, block.name, block.arguments))
    assert turn.usage is not None
    return joined(said), turn.raw_stop, (turn.usage.input, turn.usage.output, turn.usage.total)


def joined(said: list[Any]) -> list[Any]:
    """Neighbours of one kind as one: chunks say nothing of where a text begins."""
    found: list[Any] = []
    for item in said:
        if found and item[0] != "call" and found[-1][0] == item[0]:
            found[-1] = (item[0], found[-1][1] + item[1])
        else:
            found.append(item)
    return found


# -- the comparison


def agree_on_anthropic(seeds: range) -> None:
    for seed in seeds:
        body = anthropic_stream(Dice(seed))
        assert our_anthropic_reading(turn_of(AnthropicDecoder, body)) == anthropic_reading(body), seed


def agree_on_gemini(seeds: range) -> None:
    for seed in seeds:
        body = gemini_stream(Dice(seed))
        assert our_gemini_reading(turn_of(GeminiDecoder, body)) == gemini_reading(body), seed


def test_anthropic_s_sdk_reads_the_same() -> None:
    """Blocks in order, signatures, arguments, the reason for stopping, usage."""
    agree_on_anthropic(range(ROTATION * COUNT, ROTATION * COUNT + COUNT))


def test_google_s_sdk_reads_the_same() -> None:
    """Parts in order, arguments, the finish reason, usage."""
    agree_on_gemini(range(ROTATION * COUNT, ROTATION * COUNT + COUNT))


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="thousands of streams: set TURNOUT_SOAK")
def test_the_sdks_read_the_same_on_thousands_of_streams() -> None:
    """The same, on two thousand streams each."""
    agree_on_anthropic(range(MANY))
    agree_on_gemini(range(MANY))
