"""Gemini contents: parts without a `type`, known by their one key, in camel or snake case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...model import UNKNOWN_KIND, Code, Media, Opaque, Outcome, Residue, Scope, Text, Thinking
from ..opaque_text import words_of
from . import chat, parts
from .message_parts import (
    Heard,
    HeardCall,
    HeardResult,
    Item,
    ReadContext,
    Speaker,
    dict_of,
    first_of,
    text_of,
)

HELD_FILE = re.compile(r"gs://|https://generativelanguage\.googleapis\.com/[^?]*files/")
"""Addresses that only a Google account can read."""


def read_gemini_content(content: dict[str, Any], context: ReadContext) -> Iterator[Heard]:
    given = content.get("parts")
    if "parts" not in content:  # a bare part where a content should be
        given = {name: value for name, value in content.items() if name != "role"}
    else:
        parts.note_unknown_fields("content", content, frozenset({"role", "parts"}), context)
    yield Heard(_speaker_of(content, context), tuple(parts.items_of(given, context)), context.origin)


def _speaker_of(content: dict[str, Any], context: ReadContext) -> Speaker:
    role = content.get("role")
    if role is None:
        return "user"  # as the API does
    if isinstance(role, str) and (speaker := chat.SPEAKERS.get(role.lower())) is not None:
        return speaker
    context.report("unknown_role", text_of(role))
    return "user"


# Parts


def read_gemini_part(part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    known = False
    for names, reader in READERS:
        if (value := first_of(part, *names)) is not None:
            known = True
            yield from reader(value, part, context)
    if known and not part.keys() & MEDIA_NAMES:
        for name in _fields_beside(part):
            context.report("unknown_field", name)
    if known or not any(value is not None for value in part.values()):
        return
    kinds = [name for name, value in part.items() if value is not None and name not in SIGNS]
    if not kinds:
        yield from _text_part("", part, context)  # a part with a signature only
        return
    scope: Scope = "model"
    if kinds[0] not in PROVIDER_RUN:
        context.report("unknown_block", kinds[0])
        scope = "provider"
    yield Opaque(kinds[0], words_of(kinds[0], part[kinds[0]]), context.scoped_residue(scope, part=part))


def _text_part(value: Any, part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """Text or thinking. An empty text is kept for its signature."""
    residue = context.residue(thought_signature=_signature(part))
    yield (Thinking if part.get("thought") is True else Text)(text_of(value), residue)


def _function_call(value: Any, part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    call = dict_of(value)
    parts.note_unknown_fields("functionCall", call, frozenset({"id", "name", "args"}), context)
    raw_id = text_of(call.get("id"))
    arguments = {} if call.get("args") is None else call["args"]  # left out where there are none
    residue = context.residue(thought_signature=_signature(part))
    yield HeardCall(raw_id, text_of(call.get("name")), arguments, residue, unnumbered=not raw_id)


def _function_response(value: Any, part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    answer = dict_of(value)
    parts.note_unknown_fields(
        "functionResponse", answer, frozenset({"id", "name", "response", "parts"}), context
    )
    raw_id = text_of(answer.get("id"))
    outcome = outcome_of_response(answer.get("response"))
    if shown := parts.contents_of(parts.items_of(answer.get("parts"), context)):
        outcome = Outcome(outcome.status, (*outcome.content, *shown))
    yield HeardResult(raw_id, text_of(answer.get("name")), outcome, unnumbered=not raw_id)


def outcome_of_response(response: Any) -> Outcome:
    """`output` and `error` are names of the API; any other object is the result itself."""
    match response:
        case {"error": error, **rest} if error and not rest:
            return Outcome("error", parts.contents_of_value(error))
        case {"output": output, **rest} if not rest and output is not None:
            return Outcome("complete", parts.contents_of_value(output))
        case None | {} if not response:
            return Outcome("complete")
    return Outcome("complete", parts.contents_of_value(response))


def _inline_data(value: Any, part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    blob = dict_of(value)
    mime = text_of(first_of(blob, "mimeType", "mime_type")) or "application/octet-stream"
    name = text_of(first_of(blob, "displayName", "display_name"))
    marks = _media_marks(part, context, named=bool(name))
    yield Media(mime, text_of(blob.get("data")), name=name, residue=marks)


def _file_data(value: Any, part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    """A link, or a file at Google. A link may have no type: links to YouTube have none."""
    file = dict_of(value)
    mime = text_of(first_of(file, "mimeType", "mime_type")) or UNKNOWN_KIND
    name = text_of(first_of(file, "displayName", "display_name"))
    uri = text_of(first_of(file, "fileUri", "file_uri"))
    link, is_held = mime == UNKNOWN_KIND, HELD_FILE.match(uri) is not None
    yield Media(
        mime, "", uri, name, _media_marks(part, context, link=link, named=bool(name), is_held=is_held)
    )


def _media_marks(
    part: dict[str, Any], context: ReadContext, *, named: bool, link: bool = False, is_held: bool = False
) -> Residue | None:
    """What Gemini expects back with media: the signature, and how to process it."""
    signature, beside = _signature(part), _fields_beside(part)
    scope: Scope = "model" if signature is not None else "account" if is_held else "provider"
    marks = {"link": link, "named": named, "held": is_held, "beside": beside}
    given = {name: value for name, value in marks.items() if value}
    return context.scoped_residue(scope, thought_signature=signature, **given)


def _executable_code(value: Any, part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    code = dict_of(value)
    yield Code(
        text_of(code.get("code")), text_of(code.get("language")).lower(), residue=context.residue(part=part)
    )


def _execution_result(value: Any, part: dict[str, Any], context: ReadContext) -> Iterator[Item]:
    yield Opaque("codeExecutionResult", text_of(dict_of(value).get("output")), context.residue(part=part))


READERS = (
    (("text",), _text_part),
    (("functionCall", "function_call"), _function_call),
    (("functionResponse", "function_response"), _function_response),
    (("inlineData", "inline_data"), _inline_data),
    (("fileData", "file_data"), _file_data),
    (("executableCode", "executable_code"), _executable_code),
    (("codeExecutionResult", "code_execution_result"), _execution_result),
)
SIGNS = ("thought", "thoughtSignature", "thought_signature")
PLACED = frozenset((*SIGNS, *(name for names, _ in READERS for name in names)))
MEDIA_NAMES = {"inlineData", "inline_data", "fileData", "file_data"}
PROVIDER_RUN = ("toolCall", "tool_call", "toolResponse", "tool_response")

parts.KEYED |= {name: read_gemini_part for names, _ in READERS for name in names} | dict.fromkeys(
    (*SIGNS, *PROVIDER_RUN), read_gemini_part
)


def _signature(part: dict[str, Any]) -> Any:
    return first_of(part, "thoughtSignature", "thought_signature")


def _fields_beside(part: dict[str, Any]) -> dict[str, Any]:
    """Other fields of a part: `videoMetadata`, `mediaResolution`."""
    return {name: value for name, value in part.items() if name not in PLACED and value is not None}


# The body around the contents


def system_field(body: dict[str, Any]) -> Any:
    value = first_of(body, "systemInstruction", "system_instruction")
    return value.get("parts") if isinstance(value, dict) and "parts" in value else value
