"""Conversations as they come back from elsewhere: in any format, and damaged on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from random import Random
from typing import Any

from tests.history.ingest import telling
from tests.laws import values
from tests.laws.targets import TARGETS

from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.model import Message, Origin, Outcome, Thinking, ToolCall, ToolResponse, block_text
from turnout.targets.request import render, view
from turnout.targets.target import find_target as target

Messages = list[Any]

FORMATS: dict[str, tuple[str, str]] = {
    "openai-chat": ("openai:gpt-4o", "messages"),
    "openai-responses": ("openai-responses:gpt-5.1", "input"),
    "anthropic": ("anthropic:claude-sonnet-4-5", "messages"),
    "gemini": ("gemini:gemini-2.5-flash", "contents"),
    "icontent": ("openai:gpt-4o", ""),
}
AUTHORS: dict[str, list[Origin]] = {
    form: [place.origin for place in TARGETS if type(place.dialect) is type(target(to).dialect) or not name]
    for form, (to, name) in FORMATS.items()
}
"""Who may have written a format. The canonical content list is anyone's."""

ID_FIELDS = ("id", "tool_call_id", "tool_use_id", "call_id", "callId")
RESULT_MARKS = ("tool_call_id", "tool_use_id", "output", "functionResponse", "callId")


def ingested(history: History | None, dice: Random, key: str) -> History:
    """A history that was written in some format, damaged, and taken in again."""
    form = dice.choice(("openai-chat", "openai-chat", "icontent", "openai-responses", *FORMATS))
    messages = _written(history or _small(dice, key), form)
    for damage in dice.sample(DAMAGES, dice.choice((0, 1, 1, 2, 3))):
        damage(messages, dice)
    for spice in dice.sample(SPICES[form], dice.choice((0, 1, 3, len(SPICES[form]) // 2))):
        at = dice.randrange(len(messages) + 1)
        messages[at:at] = spice()
    body = _body(messages, form) if dice.random() < 0.5 else messages
    return ingest(body, form, origin=dice.choice(AUTHORS[form]), key=key)


def _body(messages: Messages, form: str) -> dict[str, Any]:
    if form == "openai-responses":  # the first ones are held by the provider
        return {"input": messages[2:], "previous_response_id": "resp_1", "model": "gpt-5.1"}
    return {FORMATS[form][1] or "messages": messages, "model": FORMATS[form][0].partition(":")[2]}


def _small(dice: Random, key: str) -> History:
    """A short conversation with tools."""
    history = History(f"{key}-told")
    for number in range(dice.randrange(1, 4)):
        origin = dice.choice(TARGETS).origin
        history.user(values.spoken(dice))
        blocks = [*values.replied(dice, origin), values.call(dice, f"-{key}_{number}", origin)]
        if dice.random() < 0.7:
            blocks += [values.call(dice, f"-{key}_{number}{extra}", origin) for extra in "ab"]
        turn = history.reply(origin, blocks)
        for call in turn.tool_calls:
            if dice.random() < 0.85:
                history.settle(call.id, values.outcome(dice, dice.choice(("complete", "error"))))
    return history


def _written(history: History, form: str) -> Messages:
    to, name = FORMATS[form]
    if name:
        return deepcopy(render(history, to).json[name])
    return [_content(message) for message in view(history, target(to)).transcript.messages]


def _content(message: Message) -> dict[str, Any]:
    speaker = {"model": "ai", "tool": "tool"}.get(message.role, "human")
    blocks = [_block(block) for block in message.blocks]
    return telling.content(speaker, *blocks, provider="openai", model="gpt-5.1")


def _block(block: Any) -> dict[str, Any]:
    match block:
        case ToolCall():
            return {"type": "tool_call", "id": block.id, "name": block.name, "parameters": block.arguments}
        case ToolResponse(call_id, name, Outcome() as outcome):
            return telling.answers(call_id, outcome.text, name)
        case Thinking():
            return telling.thought(block.text)
    return telling.text(block_text(block))


# ---- damage that any format can suffer


def _drop(messages: Messages, dice: Random) -> None:
    if messages:
        del messages[dice.randrange(len(messages))]


def _repeat(messages: Messages, dice: Random) -> None:
    if messages:
        at = dice.randrange(len(messages))
        messages.insert(dice.randrange(at, len(messages) + 1), deepcopy(messages[at]))


def _move(messages: Messages, dice: Random) -> None:
    if messages:
        moved = messages.pop(dice.randrange(len(messages)))
        messages.insert(dice.randrange(len(messages) + 1), moved)


def _empty_ids(messages: Messages, dice: Random) -> None:
    _rename(messages, lambda raw_id: "" if dice.random() < 0.6 else raw_id)


def _one_id(messages: Messages, dice: Random) -> None:
    _rename(messages, lambda raw_id: "functions.read:0")


def _spaced_ids(messages: Messages, dice: Random) -> None:
    _rename(messages, lambda raw_id: raw_id + dice.choice(("", " ", "\t")) if raw_id else "")


def _long_ids(messages: Messages, dice: Random) -> None:
    _rename(messages, lambda raw_id: raw_id + "x" * 200)


def _foreign_canonical_ids(messages: Messages, dice: Random) -> None:
    _rename(messages, lambda raw_id: f"hist_tool_{raw_id}:1")


def _other_results(messages: Messages, dice: Random) -> None:
    """Results under ids that no call has."""
    for part in _dicts(messages):
        if any(mark in part for mark in RESULT_MARKS) and dice.random() < 0.5:
            _rename([part], lambda raw_id: raw_id + "-gone")


def _renamed_results(messages: Messages, dice: Random) -> None:
    for part in _dicts(messages):
        if any(mark in part for mark in RESULT_MARKS) or "response" in part:
            part["toolName" if "callId" in part else "name"] = "another"


def _spoilt_text(messages: Messages, dice: Random) -> None:
    for part in _dicts(messages):
        if isinstance(part.get("text"), str):
            part["text"] += "\ud800"


DAMAGES: list[Callable[[Messages, Random], None]] = [
    _drop,
    _repeat,
    _move,
    _empty_ids,
    _one_id,
    _spaced_ids,
    _long_ids,
    _foreign_canonical_ids,
    _other_results,
    _renamed_results,
    _spoilt_text,
]


def _rename(messages: Messages, rename: Callable[[str], str]) -> None:
    for part in _dicts(messages):
        for name in ID_FIELDS:
            if isinstance(part.get(name), str):
                part[name] = rename(part[name])


def _dicts(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, dict):
        yield value
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from _dicts(inner)


# ---- what only some formats can suffer


def _circular() -> Messages:
    looped: dict[str, Any] = {"role": "user", "content": "round and round"}
    looped["itself"] = looped
    return [looped]


def _mixed() -> Messages:
    blocks = [telling.text("both"), telling.use("mixed_1", "read", path="a")]
    return [telling.assistant(blocks, telling.call("mixed_2", "read", {"path": "b"}))]


CHAT: list[Callable[[], Messages]] = [
    lambda: [telling.tool("nobody", "an orphan")],
    lambda: [telling.tool("early_1", "too soon"), telling.assistant(None, telling.call("early_1"))],
    lambda: [telling.assistant(None, telling.call("late_1")), telling.user("and?"), telling.tool("late_1")],
    lambda: [
        telling.assistant(None, telling.call("twice")),
        telling.tool("twice", "a"),
        telling.tool("twice", "b"),
    ],
    lambda: [
        telling.assistant(None, telling.call("n_1"), telling.call("n_2")),
        telling.tool(None),
        telling.tool(""),
    ],
    lambda: [telling.assistant(None, telling.call("same")), telling.assistant(None, telling.call("same"))],
    lambda: [telling.assistant(None, telling.call("bad", arguments="{not json")), telling.tool("bad")],
    lambda: [telling.assistant(None, telling.call("list", arguments="[1]")), telling.tool("list")],
    lambda: [telling.tool("stray", "x", tool_calls=[telling.call("inside")])],
    lambda: [{"role": "narrator", "content": "meanwhile"}],
    lambda: [telling.user([{"type": "hologram", "data": 1}])],
    lambda: [telling.user("")],
    lambda: [telling.assistant("", reasoning_content="hm"), telling.assistant(None, telling.call("after"))],
    _circular,
    _mixed,
]
ICONTENT: list[Callable[[], Messages]] = [
    lambda: [
        telling.content("ai", telling.asks("part"), turnId="t"),
        telling.content("tool", telling.answers("part", "half", isComplete=False)),
        telling.content("ai", telling.text("more"), turnId="t"),
    ],
    lambda: [telling.content("ai", telling.thought("hm")), telling.content("ai", telling.asks("thought"))],
    lambda: [telling.content("tool", telling.answers("", "nameless"))],
    lambda: [telling.content("tool", telling.asks("inside"), telling.answers("inside"))],
    lambda: [telling.content("ghost", telling.text("boo"))],
    lambda: [telling.content("human")],
    lambda: [telling.content("ai", {"type": "tool_call", "id": "raw", "name": "read", "parameters": "{cut"})],
]
ANTHROPIC: list[Callable[[], Messages]] = [
    lambda: [{"role": "user", "content": [telling.result("nobody")]}],
    lambda: [{"role": "user", "content": [telling.use("inside")]}],
    lambda: [{"role": "assistant", "content": [telling.use("a"), telling.use("a")]}],
    lambda: [{"role": "assistant", "content": [{"type": "hologram"}]}],
    lambda: [{"role": "user", "content": ""}],
    _circular,
    _mixed,
]
GEMINI: list[Callable[[], Messages]] = [
    lambda: [telling.parts("model", telling.function_call("read", path="a"), telling.function_call("read"))],
    lambda: [telling.parts("user", telling.function_response("nobody", x=1))],
    lambda: [telling.parts("ghost", {"text": "boo"})],
    lambda: [telling.parts("user", {"hologram": {}})],
]
RESPONSES: list[Callable[[], Messages]] = [
    lambda: [{"type": "function_call_output", "call_id": "nobody", "output": "an orphan"}],
    lambda: [{"type": "function_call_output", "call_id": None, "output": "nameless"}],
    lambda: [{"type": "function_call", "call_id": "bad", "name": "read", "arguments": "[1"}],
    lambda: [{"type": "hologram"}],
]
SPICES: dict[str, list[Callable[[], Messages]]] = {
    "openai-chat": CHAT,
    "icontent": ICONTENT,
    "anthropic": ANTHROPIC,
    "gemini": GEMINI,
    "openai-responses": RESPONSES,
}
