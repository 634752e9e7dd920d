"""The next request of another agent, as that agent builds it: its records one after another.

Nothing is paired, moved or repaired here: ids, order and contents are those of the file. So `check` tells
which refusal the agent would meet. Neighbours of one side are one message, as these agents write them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from msgspec.structs import replace

from ..history.ingest.message_parts import Heard, HeardCall, HeardResult, Item
from ..model import Media, Text, Thinking
from ..plain import dict_in, dumps, text_in
from ..targets.target import find_target
from ..wire.check import Problem
from ..wire.check import check as wire_check

Wire = dict[str, Any]
NEXT = Text("Go on.")


KEEPS_UNSIGNED = "claude-code"
"""pi writes thinking without a signature as text, and opencode leaves it out."""


def own_refusal(heard: Sequence[Heard], target: str, program: str) -> Problem | None:
    """What the provider answers to the records of a session as they are; None where it accepts them."""
    place = find_target(target)
    if place.api not in WRITERS:
        return None
    sent = heard if program == KEEPS_UNSIGNED else [_without_unsigned(message) for message in heard]
    body = WRITERS[place.api](_sides(sent))
    if place.api != "gemini":
        body["model"] = place.model
    problems = wire_check(place.provider.name, body, model=place.model)
    return problems[0] if problems else None


def _without_unsigned(message: Heard) -> Heard:
    kept = (item for item in message.items if not isinstance(item, Thinking) or item.residue is not None)
    return replace(message, items=tuple(kept))


def _sides(heard: Sequence[Heard]) -> list[tuple[bool, list[Item]]]:
    """The messages as (of the model?, items), neighbours of one side joined, and a next prompt."""
    joined: list[tuple[bool, list[Item]]] = []
    for of_model, item in _spoken_items(heard):
        if not joined or joined[-1][0] is not of_model:
            joined.append((of_model, []))
        joined[-1][1].append(item)
    return joined


def _spoken_items(heard: Sequence[Heard]) -> Iterator[tuple[bool, Item]]:
    for message in heard:
        items = [item for item in message.items if isinstance(item, SENT)]
        if message.speaker == "system":
            continue
        # opencode and Gemini CLI keep a result inside of its call's record, and send it after the reply.
        yield from ((message.speaker == "model", item) for item in items if not isinstance(item, HeardResult))
        yield from ((False, item) for item in items if isinstance(item, HeardResult))
    yield False, NEXT


SENT = Text | Thinking | Media | HeardCall | HeardResult


def _anthropic_body(sides: Iterable[tuple[bool, list[Item]]]) -> Wire:
    messages = [
        {"role": "assistant" if of_model else "user", "content": [_anthropic_block(item) for item in items]}
        for of_model, items in sides
    ]
    tools = [{"name": name, "input_schema": {"type": "object"}} for name in _called_names(sides)]
    return {"messages": messages, "max_tokens": 1024, "tools": tools}


def _anthropic_block(item: Item) -> Wire:
    match item:
        case HeardCall():
            return {"type": "tool_use", "id": item.raw_id, "name": item.name, "input": item.arguments}
        case HeardResult():
            return {"type": "tool_result", "tool_use_id": item.raw_id, "content": item.outcome.text}
        case Thinking():
            data = dict_in(item.residue.data) if item.residue is not None else {}
            if text_in(data.get("data")):
                return {"type": "redacted_thinking", "data": data["data"]}
            return {"type": "thinking", "thinking": item.text, "signature": text_in(data.get("signature"))}
        case _:
            return {"type": "text", "text": item.text if isinstance(item, Text) else "[media]"}


def _responses_body(sides: Iterable[tuple[bool, list[Item]]]) -> Wire:
    items = [each for of_model, side in sides for item in side for each in _responses_items(of_model, item)]
    return {"input": items}


def _responses_items(of_model: bool, item: Item) -> Iterator[Wire]:
    match item:
        case HeardCall():
            arguments = item.arguments if isinstance(item.arguments, str) else dumps(item.arguments)
            yield {"type": "function_call", "call_id": item.raw_id, "name": item.name, "arguments": arguments}
        case HeardResult():
            yield {"type": "function_call_output", "call_id": item.raw_id, "output": item.outcome.text}
        case Text():
            yield {"role": "assistant" if of_model else "user", "content": item.text}
        case _:
            return


def _chat_body(sides: Iterable[tuple[bool, list[Item]]]) -> Wire:
    return {"messages": [message for of_model, items in sides for message in _chat_messages(of_model, items)]}


def _chat_messages(of_model: bool, items: list[Item]) -> Iterator[Wire]:
    text = "\n".join(item.text for item in items if isinstance(item, Text))
    calls = [item for item in items if isinstance(item, HeardCall)]
    for result in (item for item in items if isinstance(item, HeardResult)):
        yield {"role": "tool", "tool_call_id": result.raw_id, "content": result.outcome.text}
    if of_model:
        message: Wire = {"role": "assistant", "content": text or None}
        yield {**message, "tool_calls": [_chat_call(call) for call in calls]} if calls else message
    elif text:
        yield {"role": "user", "content": text}


def _chat_call(call: HeardCall) -> Wire:
    arguments = call.arguments if isinstance(call.arguments, str) else dumps(call.arguments)
    return {"id": call.raw_id, "type": "function", "function": {"name": call.name, "arguments": arguments}}


def _gemini_body(sides: Iterable[tuple[bool, list[Item]]]) -> Wire:
    contents = []
    for of_model, items in sides:
        parts = [part for item in items if (part := _gemini_part(item)) is not None]
        contents.append({"role": "model" if of_model else "user", "parts": parts})
    return {"contents": contents}


def _gemini_part(item: Item) -> Wire | None:
    match item:
        case HeardCall():
            return {"functionCall": {"name": item.name, "args": item.arguments}, **_gemini_signature(item)}
        case HeardResult():
            return {"functionResponse": {"name": item.name, "response": {"output": item.outcome.text}}}
        case Text():
            return {"text": item.text}
        case _:
            return None


def _gemini_signature(call: HeardCall) -> Wire:
    data = dict_in(call.residue.data) if call.residue is not None else {}
    signature = text_in(data.get("thoughtSignature")) or text_in(data.get("signature"))
    return {"thoughtSignature": signature} if signature else {}


def _called_names(sides: Iterable[tuple[bool, list[Item]]]) -> list[str]:
    names = (item.name for _, items in sides for item in items if isinstance(item, HeardCall))
    return [name for name in dict.fromkeys(names) if name]


WRITERS = {
    "anthropic": _anthropic_body,
    "responses": _responses_body,
    "chat": _chat_body,
    "gemini": _gemini_body,
}
