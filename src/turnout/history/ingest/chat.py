"""Chat messages: `{"role", "content", "tool_calls", …}`, in all dialects of Chat.

Messages of Anthropic have the same outer shape, so this reader reads them too. A message may
hold calls of both families; then there is one call per id.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from ...model import Opaque, Residue, Text, Thinking
from ..opaque_text import words_of
from . import media, parts
from .message_parts import (
    Heard,
    HeardCall,
    HeardNote,
    HeardResult,
    Item,
    ReadContext,
    Speaker,
    dict_of,
    first_of,
    list_of,
    text_of,
)

SPEAKERS: dict[str, Speaker] = {
    "user": "user",
    "human": "user",
    "assistant": "model",
    "model": "model",
    "ai": "model",
    "system": "system",
    "developer": "system",
    "tool": "tool",
    "function": "tool",
}

MARKS = {"role", "content", "type", "name", "id", "status", "cache_control", "metadata", "prefix", "phase"}
"""Fields without content."""

REASONING = ("reasoning_content", "reasoning", "reasoning_text", "thinking")
"""Fields in which different servers write the reasoning of the model."""


FIELDS = frozenset(
    {
        *("role", "content", "name", "type", "id", "status", "phase", "cache_control", "object"),
        *("model", "usage", "stop_reason", "stop_sequence", "finish_reason"),  # of a stored reply
        *("tool_calls", "function_call", "tool_call_id", "tool_name", "call_id"),
        *("tool_plan", "citations"),  # of Cohere
        *("refusal", "audio", "annotations", "images", "reasoning_details", "reasoning_opaque", *REASONING),
    }
)
"""The fields of a message that are read or have no content. Any other is reported."""


def read_chat_message(message: dict[str, Any], context: ReadContext) -> Iterator[Heard]:
    speaker = speaker_of(message, context)
    parts.note_unknown_fields("message", message, FIELDS, context)
    calls = list(_calls_of(message, context))
    if speaker == "tool":
        items = [*calls, *_results_of(message, context)]
    else:
        content = _with_annotations(message, list(parts.items_of(message.get("content"), context)), context)
        spoken = _with_speaker(message, [*content, *_beside_content(message, context)], context)
        items = [*_reasoning_of(message, context), *_one_call_per_id(spoken, calls, context)]
    if not items and (note := note_if_unread(message)):
        items.append(note)
    yield Heard(speaker, tuple(items), context.origin)


def speaker_of(message: dict[str, Any], context: ReadContext) -> Speaker:
    role = message.get("role")
    if isinstance(role, str) and (speaker := SPEAKERS.get(role.strip().lower())) is not None:
        return speaker
    context.report("unknown_role", text_of(role) or "no role")
    if "tool_call_id" in message:
        return "tool"
    return "model" if message.get("tool_calls") or message.get("function_call") else "user"


def note_if_unread(message: dict[str, Any]) -> HeardNote | None:
    """A note of a message that has content, but none that is known here."""
    has_content = any(value and name not in MARKS for name, value in message.items())
    return HeardNote("unreadable_message", message) if has_content else None


# Reasoning


def _reasoning_of(message: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    details = message.get("reasoning_details") or None
    opaque = message.get("reasoning_opaque")
    heard: set[str] = set()
    for field in REASONING:
        text = text_of(message.get(field))
        if text and text not in heard:
            heard.add(text)
            first = len(heard) == 1
            yield Thinking(
                text,
                context.residue(
                    field=field,
                    reasoning_details=details if first else None,
                    reasoning_opaque=opaque if first else None,
                ),
            )
    if not heard and (details or opaque is not None):
        text = "".join(_details_text(detail) for detail in list_of(details))
        yield Thinking(text, context.residue(reasoning_details=details, reasoning_opaque=opaque))


def _details_text(detail: Any) -> str:
    return text_of(first_of(dict_of(detail), "text", "summary"))


# Calls


def _calls_of(message: dict[str, Any], context: ReadContext) -> Iterator[HeardCall]:
    for entry in list_of(message.get("tool_calls")):
        yield _call_of(dict_of(entry), context) if isinstance(entry, dict) else HeardCall("", "", entry)
    old = message.get("function_call")  # the form of calls before tool_calls existed
    if isinstance(old, dict) and message.get("type") is None:
        yield HeardCall("", text_of(old.get("name")), first_of(old, "arguments", "args"), unnumbered=True)


CALL_FIELDS = frozenset({"id", "type", "index", "function", "custom", "extra_content"})
FUNCTION_FIELDS = frozenset({"name", "arguments", "args", "input", "parsed_arguments", "index"})


def _call_of(entry: dict[str, Any], context: ReadContext) -> HeardCall:
    raw_id, kind = text_of(entry.get("id")), text_of(entry.get("type"))
    if isinstance(entry.get("custom"), dict):
        custom = entry["custom"]
        marks = context.scoped_residue("provider", custom=True)
        return custom_call(raw_id, custom.get("name"), custom.get("input"), marks)
    function = dict_of(entry.get("function")) or dict_of(entry.get(kind)) or entry
    _note_unknown_in_call(entry, function, kind, context)
    if kind != "function" and function is entry.get(kind) and isinstance(function.get("input"), str):
        return custom_call(raw_id, function.get("name"), function["input"], None)  # of a kind to come
    return HeardCall(
        raw_id,
        text_of(function.get("name")),
        first_of(function, "arguments", "args", "input"),
        context.residue(extra_content=entry.get("extra_content")),
        unnumbered="id" not in entry and isinstance(function.get("arguments"), dict),  # Ollama's own API
    )


def _note_unknown_in_call(
    entry: dict[str, Any], function: dict[str, Any], kind: str, context: ReadContext
) -> None:
    if function is entry:
        parts.note_unknown_fields("tool_calls", entry, CALL_FIELDS | FUNCTION_FIELDS, context)
    else:
        parts.note_unknown_fields("tool_calls", entry, CALL_FIELDS | {kind}, context)
        parts.note_unknown_fields("function", function, FUNCTION_FIELDS, context)


def custom_call(raw_id: str, name: Any, text: Any, residue: Residue | None) -> HeardCall:
    """A call whose argument is free text."""
    return HeardCall(raw_id, text_of(name), {"input": text_of(text)}, residue)


def _one_call_per_id(content: list[Item], calls: list[HeardCall], context: ReadContext) -> list[Item]:
    """Content, then calls; a call that is written in both shapes is one call."""
    blocks = [item for item in content if isinstance(item, HeardCall)]
    if not blocks or not calls:
        return [*content, *calls]
    context.report("mixed_shapes", f"{len(blocks)} calls in the content, {len(calls)} in tool_calls")
    beside = {call.raw_id: call for call in calls if call.raw_id}
    inside = {call.raw_id for call in blocks if call.raw_id}
    fuller = [_with_arguments_from(item, beside) if isinstance(item, HeardCall) else item for item in content]
    return [*fuller, *(call for call in calls if call.raw_id not in inside)]


def _with_arguments_from(call: HeardCall, beside: dict[str, HeardCall]) -> HeardCall:
    """The call with the arguments of its twin: gateways leave the input of one of the two empty."""
    other = beside.get(call.raw_id)
    return replace(call, arguments=other.arguments) if other is not None and not call.arguments else call


# Results


PAIRED = {"tool_use", "tool_result", "function_call", "function_call_output", "tool_call", "tool_response"}
"""Parts that are calls or results, in any message."""


def _results_of(message: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """A tool message is one result; a part of it that names a call is a separate result."""
    content, raw_id = message.get("content"), text_of(message.get("tool_call_id"))
    own = [part for part in list_of(content) if _is_paired(part)]
    if own and not raw_id:
        yield from parts.items_of(content, context)  # in order: the parts beside a result belong to it
        return
    for part in own:
        yield from parts.read_part(part, context)
    rest = [part for part in list_of(content) if not _is_paired(part)] if own else content
    if not own or rest:
        name = text_of(first_of(message, "name", "tool_name"))
        unnumbered = message.get("role") == "function" or "tool_name" in message  # these forms have no ids
        yield HeardResult(raw_id, name, parts.outcome_of(rest, context), unnumbered)


def _is_paired(part: Any) -> bool:
    return isinstance(part, dict) and isinstance(kind := part.get("type"), str) and kind in PAIRED


# Fields beside the content


def _with_annotations(message: dict[str, Any], content: list[Item], context: ReadContext) -> list[Item]:
    """What is said about the text rides on it: annotations of OpenAI, citations of Cohere."""
    held = {name: message.get(name) or None for name in ("annotations", "citations")}
    if not any(held.values()):
        return content
    at = next((at for at, item in enumerate(content) if isinstance(item, Text)), None)
    if at is None:
        for name in (name for name, value in held.items() if value):
            context.report("unknown_field", f"message.{name}")  # of words that are not here
        return content
    text = content[at]
    assert isinstance(text, Text)
    cited = parts.cited_sources(text.text, held["annotations"], context) if held["annotations"] else ()
    return [*content[:at], replace(text, residue=context.residue(**held)), *content[at + 1 :], *cited]


def _with_speaker(message: dict[str, Any], content: list[Item], context: ReadContext) -> list[Item]:
    """A message may name its speaker: the name is kept on the first text, for the same API."""
    name = message.get("name")
    if not isinstance(name, str) or not name:
        return content
    context.report("speaker_name", name)
    at = next((at for at, item in enumerate(content) if isinstance(item, Text) and item.text), None)
    if at is None:
        return content
    first = content[at]
    assert isinstance(first, Text)
    held = first.residue
    kept = Residue(held.origin, {**held.data, "speaker": name}, held.scope) if held else None
    named = replace(first, residue=kept or context.scoped_residue("provider", speaker=name))
    return [*content[:at], named, *content[at + 1 :]]


def _beside_content(message: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    if refusal := text_of(message.get("refusal")):
        yield Text(refusal)
    if plan := text_of(message.get("tool_plan")):
        yield Opaque("tool_plan", plan, context.scoped_residue("provider", tool_plan=True))
    if isinstance(audio := message.get("audio"), dict):
        transcript = text_of(audio.get("transcript")) or words_of("audio", audio)
        yield Opaque("audio", transcript, context.residue(audio=audio))
    for image in list_of(message.get("images")):  # Ollama's own API
        yield media.from_base64(text_of(image), "", "image/*")


# Content parts


def text_part(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Text, with its citations, which Anthropic expects back."""
    yield Text(text_of(part.get("text")), context.residue(citations=part.get("citations") or None))


def refusal_part(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    yield Text(text_of(first_of(part, "refusal", "text")))


def reference_part(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """A reference of Mistral to search results."""
    yield Opaque("reference", words_of("reference", part), context.scoped_residue("provider", part=part))


parts.TYPED |= {
    "text": text_part,
    "refusal": refusal_part,
    "reference": reference_part,
    "image_url": media.image_url,
    "video_url": media.video_url,
    "audio_url": media.audio_url,
    "document_url": media.document_url,
    "input_audio": media.input_audio,
    "file": media.file_part,
}


# The body around the messages


def system_field(body: dict[str, Any]) -> Any:
    return None
