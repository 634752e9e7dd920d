"""Cohere's Chat, version 2: what its reference requires of a request, and what it was seen to take.

COH-01 is the shape of messages, COH-02 the pairing of calls and results, COH-03 the tools and the
choice, COH-04 the fields and their ranges. Recorded and taken: a null content beside calls, an empty
text beside calls, an empty list of citations or documents, a choice without tools.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.pairing import faults
from ..chat.view import ChatView, array, brief, decode_arguments, mapping, text, view
from ..problem import Problem
from ..reading import objects

ROLES = ("user", "assistant", "system", "tool")
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_]*")
PARTS = {
    "user": ("text", "image_url"),
    "assistant": ("text", "thinking"),
    "system": ("text",),
    "tool": ("text", "document"),
}
RANGES = {
    "temperature": (0, 1.0),
    "p": (0.01, 0.99),
    "k": (0, 500),
    "frequency_penalty": (0, 1.0),
    "presence_penalty": (0, 1.0),
}
FIELDS = frozenset(
    [
        "stream",
        "model",
        "messages",
        "tools",
        "strict_tools",
        "documents",
        "citation_options",
        "response_format",
        "safety_mode",
        "max_tokens",
        "stop_sequences",
        "temperature",
        "seed",
        "frequency_penalty",
        "presence_penalty",
        "k",
        "p",
        "logprobs",
        "tool_choice",
        "thinking",
        "priority",
        "raw_prompting",
    ]
)


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What Cohere would refuse."""
    if not text(body.get("model")) and not model:
        yield Problem("COH-01", "model", "invalid request: model is required", "name the model")
    yield from _message_problems(body)
    seen = view(body, model)
    yield from _pairing_problems(seen)
    yield from _tool_problems(seen)
    yield from _field_problems(body)


# COH-01


def _message_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    messages = array(body.get("messages"))
    if not messages:
        answer = "invalid request: messages must be at least 1 message long"
        yield Problem("COH-01", "messages", answer, "send the user's message")
    for place, message in objects(messages):
        path, role = f"messages[{place}]", text(message.get("role"))
        if role not in ROLES:
            answer = f"invalid request: role '{brief(role)}' is not one of user, assistant, system, tool"
            yield Problem("COH-01", f"{path}.role", answer, "use one of these roles")
            continue
        yield from _content_problems(message, role, path)
    last = mapping(messages[-1]) if messages else {}
    if last.get("role") == "assistant":
        answer = "invalid request: the last message must be from the user or a tool"
        yield Problem("COH-01", f"messages[{len(messages) - 1}]", answer, "end with the user or a tool")


def _content_problems(message: Mapping[str, Any], role: str, path: str) -> Iterator[Problem]:
    content = message.get("content")
    if content in (None, "", [], ()) and not (role == "assistant" and message.get("tool_calls")):
        answer = f"invalid request: {role} message must have content"
        yield Problem("COH-01", f"{path}.content", answer, "give the message content, or leave it out")
    elif content is not None and not isinstance(content, str | list | tuple):
        answer = f"invalid type: parameter {path}.content is of type object but should be of type string"
        yield Problem("COH-01", f"{path}.content", answer, "send text or a list of parts")
    for place, part in objects(content):
        if part.get("type") not in PARTS[role]:
            answer = f"invalid request: content of type '{brief(part.get('type'))}' in a {role} message"
            yield Problem("COH-01", f"{path}.content[{place}]", answer, f"use {', '.join(PARTS[role])}")


# COH-02


def _pairing_problems(seen: ChatView) -> Iterator[Problem]:
    for fault in faults(seen):
        if fault.kind == "orphan":
            answer = f"invalid request: tool_call_id {fault.ids_text} was not found in a previous tool call"
            yield Problem("COH-02", fault.path, answer, "answer only calls of the last assistant message")
        elif fault.kind == "unanswered":
            answer = f"invalid request: tool calls without a tool message: {fault.ids_text}"
            yield Problem("COH-02", fault.path, answer, "put one tool message for each call after it")
        else:
            answer = f"invalid request: more than one tool message for {fault.ids_text}"
            yield Problem("COH-02", fault.path, answer, "send one result for each call")
    for call in seen.calls():
        if not text(call.id):
            answer = "invalid request: tool calls must have an id"
            yield Problem("COH-02", f"{call.path}.id", answer, "give the call the id that its result names")
        if not _is_object(call.arguments):
            answer = "invalid request: arguments of a tool call must be a JSON object in a string"
            path = f"{call.path}.function.arguments"
            yield Problem("COH-02", path, answer, 'send "{}" when there are no arguments')


def _is_object(arguments: Any) -> bool:
    if not isinstance(arguments, str):
        return False
    try:
        return isinstance(decode_arguments(arguments), dict)
    except ValueError:
        return False


# COH-03


def _tool_problems(seen: ChatView) -> Iterator[Problem]:
    for path, name in _names(seen):
        if not isinstance(name, str) or not NAME.fullmatch(name):
            answer = f"invalid request: tool name '{brief(name)}' may contain only a-z, A-Z, 0-9 and _"
            yield Problem("COH-03", path, answer, "use letters, digits and underscores, no digit first")
    choice = seen.body.get("tool_choice")
    if choice not in (None, "REQUIRED", "NONE"):
        answer = f"invalid request: tool_choice '{brief(choice)}' is not one of REQUIRED, NONE"
        yield Problem("COH-03", "tool_choice", answer, "send REQUIRED or NONE, or leave it out")
    elif choice == "REQUIRED" and not seen.tools:
        answer = "invalid request: tool_choice REQUIRED needs tools"
        yield Problem("COH-03", "tool_choice", answer, "declare the tools, or leave the choice out")


def _names(seen: ChatView) -> Iterator[tuple[str, Any]]:
    for tool in seen.tools:
        yield f"{tool.path}.function.name", tool.name
    for call in seen.calls():
        yield f"{call.path}.function.name", call.name


# COH-04


def _field_problems(body: Mapping[str, Any]) -> Iterator[Problem]:
    for name in body:
        if name not in FIELDS:
            answer = f"unknown field: parameter '{brief(name)}' is not a valid field"
            yield Problem("COH-04", name, answer, "leave it out")
    for name, (least, most) in RANGES.items():
        value = body.get(name)
        if isinstance(value, int | float) and not least <= value <= most:
            answer = f"invalid request: {name} must be between {least} and {most} inclusive."
            yield Problem("COH-04", name, answer, "send a value in this range, or leave it out")
    if len(array(body.get("stop_sequences"))) > 5:
        answer = "invalid request: stop_sequences has more than 5 elements"
        yield Problem("COH-04", "stop_sequences", answer, "send at most five")
    form = mapping(body.get("response_format")).get("type")
    if form == "json_object" and (array(body.get("tools")) or array(body.get("documents"))):
        answer = "invalid request: response_format json_object is not supported with tools or documents"
        yield Problem("COH-04", "response_format", answer, "leave the format or the tools out")
