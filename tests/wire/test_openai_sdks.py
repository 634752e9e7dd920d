"""The same bytes through OpenAI's and Mistral's own SDKs, in process: they read what we read.

Streams are made up: interleaved parallel calls, thinking, any text, arguments cut anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from typing import Any

import httpx2
import openai
import pytest
from mistralai.client import Mistral
from tests.corpus import ROTATION, SOAK
from tests.decoding import Decoder, chat, decode, responses
from tests.wire.test_sdks import Dice

from turnout.model import ModelTurn, ToolCall

COUNT = 60
MANY = 2000
SERVED = [b""]

USAGE = {"prompt_tokens": 7, "completion_tokens": 5, "total_tokens": 12}
USER: Any = [{"role": "user", "content": "x"}]


def transport() -> httpx2.MockTransport:
    return httpx2.MockTransport(
        lambda request: httpx2.Response(200, headers={"content-type": "text/event-stream"}, content=SERVED[0])
    )


@cache
def openai_client() -> openai.OpenAI:
    client = httpx2.Client(transport=transport())
    return openai.OpenAI(api_key="x", base_url="http://localhost", http_client=client, max_retries=0)


@cache
def mistral_client() -> Mistral:
    return Mistral(api_key="x", client=httpx2.Client(transport=transport()))


def written(dice: Dice) -> str:
    return json.dumps(dice.object(), ensure_ascii=dice.random() < 0.5)


def shuffled(dice: Dice, runs: list[list[Any]]) -> list[Any]:
    """The runs interleaved, each in its own order."""
    woven: list[Any] = []
    while runs := [run for run in runs if run]:
        woven.append(dice.choice(runs).pop(0))
    return woven


def data(payloads: list[Any], dice: Dice) -> bytes:
    ascii = dice.random() < 0.5
    return "".join(f"data: {json.dumps(payload, ensure_ascii=ascii)}\n\n" for payload in payloads).encode()


# -- Chat


def chat_stream(dice: Dice) -> bytes:
    reasoning = [{"reasoning_content": piece} for piece in dice.pieces(dice.text())] * dice.randint(0, 1)
    said = [{"content": piece} for piece in dice.pieces(dice.text())] * dice.randint(0, 1)
    woven = shuffled(dice, [call_parts(dice, number) for number in range(dice.randint(0, 4))])
    order = list(dict.fromkeys(number for number, _ in woven))
    calls = [{"tool_calls": [{"index": order.index(number), **part}]} for number, part in woven]
    deltas = [{"role": "assistant", "content": ""}, *reasoning, *said, *calls]
    chunks = [chat_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    finish = "tool_calls" if calls else "stop"
    chunks.append(chat_chunk([{"index": 0, "delta": {}, "finish_reason": finish}]))
    if dice.random() < 0.7:
        chunks.append({**chat_chunk([]), "usage": USAGE})
    return data(chunks, dice) + b"data: [DONE]\n\n"


def call_parts(dice: Dice, number: int) -> list[tuple[int, Any]]:
    head = {
        "id": f"call_{number}",
        "type": "function",
        "function": {"name": f"tool_{number}", "arguments": ""},
    }
    pieces = [{"function": {"arguments": piece}} for piece in dice.pieces(written(dice))]
    return [(number, part) for part in [head, *pieces]]


def chat_chunk(choices: list[Any]) -> dict[str, Any]:
    return {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "gpt", "choices": choices}


def chat_reading(body: bytes) -> Any:
    SERVED[0] = body
    with openai_client().chat.completions.stream(model="gpt", messages=USER) as stream:
        completion = stream.get_final_completion()
    message = completion.choices[0].message
    calls = [(call.id, call.function.name, call.function.arguments) for call in message.tool_calls or []]
    thinking = (message.model_extra or {}).get("reasoning_content") or ""
    usage = completion.usage and (completion.usage.prompt_tokens, completion.usage.completion_tokens)
    return thinking, message.content or "", calls, completion.choices[0].finish_reason, usage


# -- Mistral


def mistral_stream(dice: Dice) -> bytes:
    thinking = [{"content": [thinking_part(piece)]} for piece in dice.pieces(dice.text())]
    said = [{"content": piece} for piece in dice.pieces(dice.text())] * dice.randint(0, 1)
    calls = [
        {
            "id": f"id{index}",
            "index": index,
            "function": {"name": f"tool_{index}", "arguments": written(dice)},
        }
        for index in range(dice.randint(0, 3))
    ]
    deltas = [{"role": "assistant", "content": ""}, *thinking * dice.randint(0, 1), *said]
    chunks = [chat_chunk([{"index": 0, "delta": delta, "finish_reason": None}]) for delta in deltas]
    last = {"content": "", "tool_calls": calls} if calls else {"content": ""}
    finish = "tool_calls" if calls else dice.choice(["stop", "length"])
    chunks.append({**chat_chunk([{"index": 0, "delta": last, "finish_reason": finish}]), "usage": USAGE})
    return data(chunks, dice) + b"data: [DONE]\n\n"


def thinking_part(text: str) -> dict[str, Any]:
    return {"type": "thinking", "thinking": [{"type": "text", "text": text}]}


def mistral_reading(body: bytes) -> Any:
    SERVED[0] = body
    thinking, text, calls, finish, usage = "", "", [], None, None
    for event in mistral_client().chat.stream(model="mistral", messages=USER):
        choice = event.data.choices[0]
        content = choice.delta.content
        for part in content if isinstance(content, list) else []:
            thinking += "".join(inner.text for inner in part.thinking)
        text += content if isinstance(content, str) else ""
        calls += [
            (call.id, call.function.name, call.function.arguments) for call in choice.delta.tool_calls or []
        ]
        finish = choice.finish_reason or finish
        usage = event.data.usage or usage
    return thinking, text, calls, finish, usage and (usage.prompt_tokens, usage.completion_tokens)


def our_chat_reading(turn: ModelTurn) -> Any:
    calls = [(call.raw_id, call.name, call.raw) for call in turn.tool_calls]
    usage = turn.usage and (turn.usage.input, turn.usage.output)
    return turn.thinking, turn.text, calls, turn.raw_stop, usage


# -- Responses


def responses_stream(dice: Dice) -> bytes:
    kinds = dice.choices(["reasoning", "message", "function_call"], k=dice.randint(0, 5))
    items = [response_item(dice, kind, place) for place, kind in enumerate(kinds)]
    payloads: list[dict[str, Any]] = [{"type": "response.created", "response": response("in_progress", [])}]
    for place, (item, deltas) in enumerate(items):
        empty = {**item, **{name: [] for name in ("content", "summary") if name in item}}
        empty |= {"arguments": ""} if "arguments" in item else {}
        payloads.append({"type": "response.output_item.added", "output_index": place, "item": empty})
        payloads += [{"output_index": place, "item_id": item["id"], **delta} for delta in deltas]
        payloads.append({"type": "response.output_item.done", "output_index": place, "item": item})
    usage = {"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}
    usage |= {"input_tokens_details": {"cached_tokens": 2}, "output_tokens_details": {"reasoning_tokens": 1}}
    final = {**response("completed", [item for item, _ in items]), "usage": usage}
    payloads.append({"type": "response.completed", "response": final})
    ascii = dice.random() < 0.5
    numbered = [{"sequence_number": at, **payload} for at, payload in enumerate(payloads)]
    return "".join(
        f"event: {payload['type']}\ndata: {json.dumps(payload, ensure_ascii=ascii)}\n\n"
        for payload in numbered
    ).encode()


def response(status: str, output: list[Any]) -> dict[str, Any]:
    fields = {"id": "resp_1", "object": "response", "created_at": 1, "model": "gpt", "status": status}
    return {**fields, "output": output, "parallel_tool_calls": True, "tool_choice": "auto", "tools": []}


def response_item(dice: Dice, kind: str, place: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    text = written(dice) if kind == "function_call" else dice.text()
    pieces = dice.pieces(text)
    match kind:
        case "message":
            return message_item(place, text, pieces)
        case "reasoning":
            return reasoning_item(place, text, pieces)
    item = {"type": kind, "id": f"fc_{place}", "call_id": f"call_{place}", "name": f"tool_{place}"}
    deltas = [{"type": "response.function_call_arguments.delta", "delta": piece} for piece in pieces]
    done = {"type": "response.function_call_arguments.done", "arguments": text, "name": item["name"]}
    return {**item, "arguments": text, "status": "completed"}, [*deltas, done]


def message_item(place: int, text: str, pieces: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": f"msg_{place}", "role": "assistant", "status": "completed"}
    kinds = "response.content_part.added", "response.output_text.delta", "response.output_text.done"
    deltas = [{"type": kinds[1], "content_index": 0, "delta": piece, "logprobs": []} for piece in pieces]
    start = {"type": kinds[0], "content_index": 0, "part": {**part, "text": ""}}
    done = {"type": kinds[2], "content_index": 0, "text": text, "logprobs": []}
    return {**item, "content": [part]}, [start, *deltas, done]


def reasoning_item(place: int, text: str, pieces: list[str]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    part = {"type": "summary_text", "text": text}
    item = {"type": "reasoning", "id": f"rs_{place}", "summary": [part], "encrypted_content": f"enc{place}"}
    kinds = "response.reasoning_summary_part.added", "response.reasoning_summary_text.delta"
    start = {"type": kinds[0], "summary_index": 0, "part": {**part, "text": ""}}
    return item, [start, *({"type": kinds[1], "summary_index": 0, "delta": piece} for piece in pieces)]


def responses_reading(body: bytes) -> Any:
    SERVED[0] = body
    with openai_client().responses.stream(model="gpt", input="x") as stream:
        final = stream.get_final_response()
    blocks: list[Any] = []
    for item in final.output:
        match item.type:
            case "message":
                blocks.append(("text", item.content[0].text))
            case "reasoning":
                blocks.append(("thinking", item.summary[0].text, item.encrypted_content))
            case "function_call":
                blocks.append(("call", item.call_id, item.name, item.arguments))
    return blocks, final.status, (final.usage.input_tokens, final.usage.output_tokens)


def our_responses_reading(turn: ModelTurn) -> Any:
    blocks: list[Any] = []
    for block in turn.blocks:
        match block.residue:
            case _ if isinstance(block, ToolCall):
                blocks.append(("call", block.raw_id, block.name, block.raw))
            case None:
                blocks.append(("text", block.text))  # type: ignore[union-attr]
            case residue:
                blocks.append(("thinking", block.text, residue.data["item"]["encrypted_content"]))  # type: ignore[union-attr]
    assert turn.usage is not None
    return blocks, turn.raw_stop, (turn.usage.input, turn.usage.output)


# -- the comparison

WIRES: dict[
    str,
    tuple[Callable[[Dice], bytes], Callable[[bytes], Any], Callable[[], Decoder], Callable[[ModelTurn], Any]],
]
WIRES = {
    "openai chat": (chat_stream, chat_reading, chat, our_chat_reading),
    "openai responses": (responses_stream, responses_reading, responses, our_responses_reading),
    "mistral": (mistral_stream, mistral_reading, lambda: chat("mistral"), our_chat_reading),
}


def agree(wire: str, seeds: range) -> None:
    made, theirs, decoder_of, ours = WIRES[wire]
    for seed in seeds:
        body, decoder = made(Dice(seed)), decoder_of()
        decode(decoder, body)
        assert ours(decoder.reply.turn()) == theirs(body), seed


@pytest.mark.parametrize("wire", WIRES)
def test_the_maker_s_sdk_reads_the_same(wire: str) -> None:
    """Thinking, text, calls with their arguments letter by letter, the reason for stopping, usage."""
    agree(wire, range(ROTATION * COUNT, ROTATION * COUNT + COUNT))


@pytest.mark.soak
@pytest.mark.skipif(not SOAK, reason="thousands of streams: set TURNOUT_SOAK")
@pytest.mark.parametrize("wire", WIRES)
def test_the_maker_s_sdk_reads_the_same_on_thousands_of_streams(wire: str) -> None:
    """The same, on two thousand streams each."""
    agree(wire, range(MANY))
