"""Servers on your own machine: vLLM, llama.cpp, Ollama and LM Studio.

They check little of the protocol, but they parse: arguments go into a prompt template as
values, so text that is not JSON fails only there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .. import models
from ..ollama import rules as native
from ..problem import Problem, as_warnings
from . import mistral
from .pairing import Rule
from .rules import (
    CONTRACT,
    PAIRING,
    apply_rules,
    arguments_are_strings,
    assistant_says_something,
    messages_present,
)
from .view import ChatCall, ChatView, brief, decode_arguments, kind, mapping, text

# None of them checks pairing: a missing result is missing in the prompt, and the model guesses.
# (Recorded: an unanswered call at Ollama, status 200; the sources of the others have no such check.)
LOOSE_PAIRING: tuple[Rule, ...] = tuple(map(as_warnings, PAIRING))

READABLE = 'send the arguments as a JSON object in a string, "{}" when there are none'


def _parse_arguments(call: ChatCall) -> tuple[Any, str]:
    """The value of a call's arguments, and why they cannot be parsed."""
    try:
        return decode_arguments(call.arguments), ""
    except ValueError as error:
        return None, str(error)


# vLLM: VLL-01, VLL-02


def vllm_parses_arguments(seen: ChatView) -> Iterator[Problem]:
    """'' and null are taken as no arguments; objects need no parsing."""
    for call in seen.calls():
        if isinstance(call.arguments, str) and call.arguments and (fault := _parse_arguments(call)[1]):
            path = f"{call.path}.function.arguments"
            yield Problem("VLL-01", path, f"400 (JSONDecodeError text): {brief(fault)}", READABLE)


def vllm_choice_needs_tools(seen: ChatView) -> Iterator[Problem]:
    choice = seen.body.get("tool_choice")
    if choice is None or choice == "none":
        return
    if not seen.body.get("tools"):
        answer = "When using `tool_choice`, `tools` must be set."
        yield Problem("VLL-02", "tool_choice", answer, "declare the tools, or leave tool_choice out")
    elif isinstance(choice, Mapping):
        yield from _named_tool_exists(seen, choice)


def _named_tool_exists(seen: ChatView, choice: Mapping[str, Any]) -> Iterator[Problem]:
    name = mapping(choice.get("function")).get("name")
    if choice.get("type") != "function" or all(tool.name != name for tool in seen.tools):
        answer = "The tool specified in `tool_choice` does not match any of the specified `tools`"
        yield Problem("VLL-02", "tool_choice", answer, "name a function that `tools` declares")


VLLM: tuple[Rule, ...] = (
    messages_present,
    *LOOSE_PAIRING,
    assistant_says_something,
    vllm_parses_arguments,
    vllm_choice_needs_tools,
)
VLLM_MISTRAL: tuple[Rule, ...] = (
    messages_present,
    vllm_parses_arguments,
    vllm_choice_needs_tools,
    mistral.last_nine_characters_fit,
    *mistral.TOKENIZER,
)


def vllm(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What vLLM would refuse; for Mistral's models it uses Mistral's own validator."""
    name = model or text(body.get("model"))
    return apply_rules(VLLM_MISTRAL if models.family(name) == "mistral" else VLLM, body, model=name)


# llama.cpp: LCP-01 to LCP-03

_PARTS = ("text", "image_url", "input_audio", "input_video", "video_url")


def llamacpp_messages_have_content(seen: ChatView) -> Iterator[Problem]:
    for message in seen.messages:
        path = f"{message.path}.content"
        if message.role == "assistant":
            if "content" not in message.raw and not message.raw.get("tool_calls"):
                answer = "Assistant message must contain either 'content' or 'tool_calls'!"
                yield Problem("LCP-01", path, answer, "give the message text, or leave it out")
        elif message.content is None:
            answer = "All non-assistant messages must contain 'content'"
            yield Problem("LCP-01", path, answer, "give the message content")


def llamacpp_parts_are_known(seen: ChatView) -> Iterator[Problem]:
    for message in seen.messages:
        for path, part in message.parts():
            if part.get("type") not in _PARTS:
                answer = f"unsupported content[].type: {brief(part.get('type'))}"
                yield Problem("LCP-01", path, answer, "use text, image_url or input_audio parts")


def llamacpp_calls_are_functions(seen: ChatView) -> Iterator[Problem]:
    for call in seen.calls():
        if call.raw.get("type") != "function":
            answer = f"Missing tool call type: {brief(call.raw.get('type'))}"
            yield Problem("LCP-01", f"{call.path}.type", answer, 'send type: "function" with every call')
        elif not isinstance(call.name, str) or not call.name:
            answer = "Missing tool call name"
            yield Problem("LCP-01", f"{call.path}.function.name", answer, "name the function that was called")


def llamacpp_parses_arguments(seen: ChatView) -> Iterator[Problem]:
    for call in seen.calls():
        if isinstance(call.arguments, str) and (fault := _parse_arguments(call)[1]):
            path = f"{call.path}.function.arguments"
            answer = f"Failed to parse tool call arguments as JSON: {brief(fault)}"
            yield Problem("LCP-02", path, answer, READABLE)


def llamacpp_tools_stand_alone(seen: ChatView) -> Iterator[Problem]:
    if not seen.tools or seen.body.get("tool_choice") == "none":
        return
    if seen.body.get("grammar"):
        answer = "Cannot use custom grammar constraints with tools."
        yield Problem("LCP-02", "grammar", answer, "leave `grammar` out while tools are declared")
    if seen.body.get("logprobs") and seen.body.get("stream") is True:
        answer = "logprobs is not supported with tools + stream"
        yield Problem("LCP-02", "logprobs", answer, "leave `logprobs` out while tools are declared")


def llamacpp_ends_with_one_assistant(seen: ChatView) -> Iterator[Problem]:
    if [message.role for message in seen.messages[-2:]] == ["assistant", "assistant"]:
        answer = "Cannot have 2 or more assistant messages at the end of the list."
        yield Problem("LCP-03", seen.messages[-1].path, answer, "join the last assistant messages")


def llamacpp_temperature_is_a_number(seen: ChatView) -> Iterator[Problem]:
    value = seen.body.get("temperature")
    if isinstance(value, str | bool | list | Mapping):
        answer = (
            "Field 'temperature': [json.exception.type_error.302] type must be number, "
            f"but is {kind(value).split()[-1]}"
        )
        yield Problem("OPT-01", "temperature", answer, "send a number, or leave it out")


LLAMACPP: tuple[Rule, ...] = (
    messages_present,
    *LOOSE_PAIRING,
    llamacpp_messages_have_content,
    llamacpp_parts_are_known,
    llamacpp_calls_are_functions,
    llamacpp_parses_arguments,
    llamacpp_tools_stand_alone,
    llamacpp_ends_with_one_assistant,
    llamacpp_temperature_is_a_number,
)


# Ollama: OLL-01. Its own /api/chat is another format, with rules of its own.

_NATIVE = ("options", "think", "keep_alive", "format", "raw", "images")


def is_native(body: Mapping[str, Any]) -> bool:
    """Whether the body is for /api/chat: options of its own, or arguments as objects."""
    if any(key in body for key in _NATIVE):
        return True
    messages = body.get("messages")
    return isinstance(messages, list) and any(_is_native_message(mapping(raw)) for raw in messages)


def _is_native_message(raw: Mapping[str, Any]) -> bool:
    if "tool_name" in raw or "images" in raw or "thinking" in raw:
        return True
    calls = raw.get("tool_calls")
    return isinstance(calls, list) and any(
        isinstance(mapping(mapping(call).get("function")).get("arguments"), Mapping) for call in calls
    )


def ollama_parses_arguments(seen: ChatView) -> Iterator[Problem]:
    for call in seen.calls():
        if not isinstance(call.arguments, str):
            continue
        value, fault = _parse_arguments(call)
        if fault or not (value is None or isinstance(value, Mapping)):
            path = f"{call.path}.function.arguments"
            yield Problem("OLL-01", path, "invalid tool call arguments", READABLE)


def ollama_content_is_there(seen: ChatView) -> Iterator[Problem]:
    for message in seen.messages:
        if message.content is None and not message.calls:
            answer = "invalid message content type: <nil>"
            yield Problem("OLL-01", f"{message.path}.content", answer, "give the message content")


OLLAMA: tuple[Rule, ...] = (
    messages_present,
    arguments_are_strings,
    *LOOSE_PAIRING,
    ollama_parses_arguments,
    ollama_content_is_there,
)


def ollama(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What Ollama would refuse at its OpenAI-compatible endpoint, or at its own if the body is for that."""
    if is_native(body):
        yield from native.violations(body, model=model)
    else:
        yield from apply_rules(OLLAMA, body, model=model)


# LM Studio validates the shape of messages ("Invalid 'messages' in payload"). No report has it refuse a call
# for lack of its result.
LM_STUDIO: tuple[Rule, ...] = (*CONTRACT, *LOOSE_PAIRING)
