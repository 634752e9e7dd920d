"""Well-formed conversations in each format, and random damage to them."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from random import Random
from typing import Any

Body = dict[str, Any]

LISTS = {
    "openai-chat": "messages",
    "anthropic": "messages",
    "openai-responses": "input",
    "gemini": "contents",
}
FORMATS = tuple(LISTS)


def conversation(form: str, random: Random, turns: int = 5) -> Body:
    """A request in which every result stands right behind its call."""
    messages: list[Any] = []
    write = WRITERS[form]
    for number in range(turns):
        kind = random.choice(("user", "model", "calls", "calls", "calls"))
        calls = [
            (f"id_{number}_{at}", random.choice(("read", "write"))) for at in range(random.randint(1, 3))
        ]
        write(messages, kind, f"text {number} {random.choice(('', 'ï', '😀'))}", calls, random)
    body: Body = {LISTS[form]: messages, "model": random.choice(("m-1", "m-2"))}
    if random.random() < 0.5:
        body[SYSTEMS[form]] = "Be brief."
    if random.random() < 0.5:
        body["tools"] = TOOLS[form]
    return body


def chat(messages: list[Any], kind: str, text: str, calls: list[tuple[str, str]], random: Random) -> None:
    if not messages and random.random() < 0.5:
        messages.append({"role": random.choice(("system", "developer")), "content": "Look before you act."})
    if kind != "calls":
        messages.append({"role": "user" if kind == "user" else "assistant", "content": text})
        return
    written = [
        {
            "id": raw_id,
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(arguments(random))},
        }
        for raw_id, name in calls
    ]
    spoken = random.choice((None, "", text))
    messages.append({"role": "assistant", "content": spoken, "tool_calls": written})
    for raw_id, _ in calls:
        messages.append({"role": "tool", "tool_call_id": raw_id, "content": random.choice(("", text))})


def anthropic(
    messages: list[Any], kind: str, text: str, calls: list[tuple[str, str]], random: Random
) -> None:
    said = {"type": "text", "text": text}
    if kind != "calls":
        role = "user" if kind == "user" else "assistant"
        messages.append({"role": role, "content": random.choice((text, [said], [said, said]))})
        return
    thinking = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    uses = [
        {"type": "tool_use", "id": raw_id, "name": name, "input": arguments(random)} for raw_id, name in calls
    ]
    before = random.choice(([], [said], [thinking], [thinking, said]))
    results = [
        {
            "type": "tool_result",
            "tool_use_id": raw_id,
            "content": random.choice(("", text, [said])),
            **random.choice(({}, {"is_error": True}, {"is_error": False})),
        }
        for raw_id, _ in calls
    ]
    messages.append({"role": "assistant", "content": [*before, *uses]})
    messages.append({"role": "user", "content": [*results, *random.choice(([], [said]))]})


def responses(
    messages: list[Any], kind: str, text: str, calls: list[tuple[str, str]], random: Random
) -> None:
    role = "user" if kind == "user" else "assistant"
    part = {"type": "input_text" if role == "user" else "output_text", "text": text}
    reasoning = {"type": "reasoning", "id": f"rs_{len(messages)}", "summary": [], "encrypted_content": "eA=="}
    if role == "assistant" and random.random() < 0.3:
        messages.append(reasoning)
    if kind != "calls" or random.random() < 0.5:
        typed = random.choice(({}, {"type": "message"}))
        messages.append({**typed, "role": role, "content": random.choice((text, [part]))})
    if kind != "calls":
        return
    for raw_id, name in calls:
        marks = random.choice(({}, {"id": f"fc_{raw_id}", "status": "completed"}))
        written = json.dumps(arguments(random))
        messages.append(
            {"type": "function_call", "call_id": raw_id, "name": name, "arguments": written, **marks}
        )
    for raw_id, _ in calls:
        output = random.choice(("", text))
        messages.append({"type": "function_call_output", "call_id": raw_id, "output": output})


def gemini(messages: list[Any], kind: str, text: str, calls: list[tuple[str, str]], random: Random) -> None:
    if kind != "calls":
        messages.append({"role": "user" if kind == "user" else "model", "parts": [{"text": text}]})
        return
    numbered = random.random() < 0.5
    signed = random.choice(({}, {"thoughtSignature": "c2ln"}))
    uses, results = [], []
    for raw_id, name in calls:
        mark = {"id": raw_id} if numbered else {}
        response = random.choice(({"output": text}, {"result": [1, text]}, {"error": text}, {}))
        uses.append({"functionCall": {**mark, "name": name, "args": arguments(random)}, **signed})
        results.append({"functionResponse": {**mark, "name": name, "response": response}})
    messages.append({"role": "model", "parts": [*random.choice(([], [{"text": text}])), *uses]})
    messages.append({"role": "user", "parts": [*results, *random.choice(([], [{"text": text}]))]})


def arguments(random: Random) -> dict[str, Any]:
    return random.choice(({}, {"path": "a"}, {"n": 1.5, "deep": [{"x": None}, True]}, {"naïve": "😀"}))


WRITERS: dict[str, Callable[[list[Any], str, str, list[tuple[str, str]], Random], None]] = {
    "openai-chat": chat,
    "anthropic": anthropic,
    "openai-responses": responses,
    "gemini": gemini,
}
SYSTEMS = {
    "openai-chat": "user",  # Chat has no field for it: any other one
    "anthropic": "system",
    "openai-responses": "instructions",
    "gemini": "systemInstruction",
}
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}}
TOOLS: dict[str, list[Any]] = {
    "openai-chat": [{"type": "function", "function": {"name": "read", "parameters": SCHEMA}}],
    "anthropic": [{"name": "read", "input_schema": SCHEMA}],
    "openai-responses": [{"type": "function", "name": "read", "parameters": SCHEMA}],
    "gemini": [{"functionDeclarations": [{"name": "read", "parameters": SCHEMA}]}],
}


# Damage


ODD: tuple[Any, ...] = (
    *(None, "", " ", "x", "id_0_0", "id_1_0 ", "hist_tool_1", "hist_tool_é", "a\0b", "a\ud800b", "z" * 70),
    *(0, 1, True, False, 1.5, float("nan"), [], {}, ["x"], {"type": "text", "text": ""}, ("x",), b"x"),
    *({1: 2}, {"type": "text", "text": "more"}, {"type": "unknown_kind"}, '{"a": "\\u0000"}', '"{}"', "[1]"),
    *("user", "assistant", "model", "tool", "system", "function", "function_call", "message", "completed"),
    *('{"a": 1', '{"a": 1e999}', "[" * 130 + "]" * 130, {"a": json.loads("[" * 110 + "]" * 110)}),
)
NAMES = (
    *(
        "role",
        "content",
        "type",
        "text",
        "id",
        "name",
        "tool_calls",
        "tool_call_id",
        "status",
        "phase",
        "parts",
    ),
    *(
        "is_error",
        "cache_control",
        "reasoning_content",
        "thought",
        "annotations",
        "namespace",
        "speaker",
        "x",
    ),
)


def mutate(value: Any, random: Random) -> Any:
    """A copy of the messages with one thing changed somewhere in them."""
    value = copy.deepcopy(value)
    places = list(_places_in(value))
    if not places:
        return [random.choice(ODD)]
    holder, at = random.choice(places)
    match random.randrange(7):
        case 0:
            holder[at] = random.choice(ODD)
        case 1:
            del holder[at]
        case 2:
            holder[at] = copy.deepcopy(random.choice(places)[0])
        case 3 if isinstance(holder, dict):
            holder[random.choice(NAMES)] = random.choice(ODD)
        case 4 if isinstance(holder, list):
            holder.insert(at, copy.deepcopy(random.choice(holder)))
        case 5 if isinstance(holder, list):
            other = random.randrange(len(holder))
            holder[at], holder[other] = holder[other], holder[at]
        case _:
            other = random.randrange(len(value))
            value.insert(other, value.pop(random.randrange(len(value))))
    return value


def _places_in(value: Any) -> Any:
    keys = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for key in keys:
        yield value, key
        yield from _places_in(value[key])
