"""Gemini contents: parts without a `type`, told apart by their one key, in camel or snake case."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from ...model import UNKNOWN_KIND, Code, Media, Opaque, Outcome, Residue, Scope, Text, Thinking
from ..words import words_of
from . import chat, parts
from .heard import (
    Door,
    Heard,
    HeardCall,
    HeardResult,
    Item,
    Speaker,
    dict_of,
    first_of,
    text_of,
)

HELD_FILE = re.compile(r"gs://|https://generativelanguage\.googleapis\.com/[^?]*files/")
"""Addresses that only an account of Google can read."""


def read(content: dict[str, Any], door: Door) -> Iterator[Heard]:
    said = content.get("parts")
    if "parts" not in content:  # a bare part where a content should be
        said = {name: value for name, value in content.items() if name != "role"}
    else:
        parts.note_unknown("content", content, frozenset({"role", "parts"}), door)
    yield Heard(_speaker(content, door), tuple(parts.items_of(said, door)), door.origin)


def _speaker(content: dict[str, Any], door: Door) -> Speaker:
    role = content.get("role")
    if role is None:
        return "user"  # as the API reads it
    if isinstance(role, str) and (speaker := chat.SPEAKERS.get(role.lower())) is not None:
        return speaker
    door.found("unknown_role", text_of(role))
    return "user"


# Parts


def part(part: dict[str, Any], door: Door) -> Iterator[Item]:
    known = False
    for names, reader in READERS:
        if (value := first_of(part, *names)) is not None:
            known = True
            yield from reader(value, part, door)
    if known and not part.keys() & MEDIA_NAMES:
        for name in _beside(part):
            door.found("unknown_field", name)
    if known or not any(value is not None for value in part.values()):
        return
    kinds = [name for name, value in part.items() if value is not None and name not in SIGNS]
    if not kinds:
        yield from _text("", part, door)  # a signature that arrived by itself
        return
    scope: Scope = "model"
    if kinds[0] not in PROVIDER_RUN:
        door.found("unknown_block", kinds[0])
        scope = "provider"
    yield Opaque(kinds[0], words_of(kinds[0], part[kinds[0]]), door.scoped_residue(scope, part=part))


def _text(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    """Text or thought; an empty one matters when it carries a signature."""
    residue = door.residue(thought_signature=_signature(part))
    yield (Thinking if part.get("thought") is True else Text)(text_of(value), residue)


def _call(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    call = dict_of(value)
    parts.note_unknown("functionCall", call, frozenset({"id", "name", "args"}), door)
    raw_id = text_of(call.get("id"))
    arguments = {} if call.get("args") is None else call["args"]  # left out where there are none
    residue = door.residue(thought_signature=_signature(part))
    yield HeardCall(raw_id, text_of(call.get("name")), arguments, residue, unnumbered=not raw_id)


def _response(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    answer = dict_of(value)
    parts.note_unknown("functionResponse", answer, frozenset({"id", "name", "response", "parts"}), door)
    raw_id = text_of(answer.get("id"))
    outcome = _outcome(answer.get("response"))
    if shown := parts.said(parts.items_of(answer.get("parts"), door)):
        outcome = Outcome(outcome.status, (*outcome.content, *shown))
    yield HeardResult(raw_id, text_of(answer.get("name")), outcome, unnumbered=not raw_id)


def _outcome(response: Any) -> Outcome:
    """`output` and `error` are Gemini's own words; any other object is the result itself."""
    match response:
        case {"error": error, **rest} if error and not rest:
            return Outcome("error", parts.spoken(error))
        case {"output": output, **rest} if not rest and output is not None:
            return Outcome("complete", parts.spoken(output))
        case None | {} if not response:
            return Outcome("complete")
    return Outcome("complete", parts.spoken(response))


def _inline(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    blob = dict_of(value)
    mime = text_of(first_of(blob, "mimeType", "mime_type")) or "application/octet-stream"
    name = text_of(first_of(blob, "displayName", "display_name"))
    marks = _media_marks(part, door, named=bool(name))
    yield Media(mime, text_of(blob.get("data")), name=name, residue=marks)


def _file(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    """A link, or a file that lies at Google. A link may come without a type: YouTube's have none."""
    file = dict_of(value)
    mime = text_of(first_of(file, "mimeType", "mime_type")) or UNKNOWN_KIND
    name = text_of(first_of(file, "displayName", "display_name"))
    uri = text_of(first_of(file, "fileUri", "file_uri"))
    link, is_held = mime == UNKNOWN_KIND, HELD_FILE.match(uri) is not None
    yield Media(mime, "", uri, name, _media_marks(part, door, link=link, named=bool(name), is_held=is_held))


def _media_marks(
    part: dict[str, Any], door: Door, *, named: bool, link: bool = False, is_held: bool = False
) -> Residue | None:
    """What Gemini wants back with media: the signature, and how it is to be looked at."""
    signature, beside = _signature(part), _beside(part)
    scope: Scope = "model" if signature is not None else "account" if is_held else "provider"
    marks = {"link": link, "named": named, "held": is_held, "beside": beside}
    said = {name: value for name, value in marks.items() if value}
    return door.scoped_residue(scope, thought_signature=signature, **said)


def _executable(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    code = dict_of(value)
    yield Code(
        text_of(code.get("code")), text_of(code.get("language")).lower(), residue=door.residue(part=part)
    )


def _executed(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    yield Opaque("codeExecutionResult", text_of(dict_of(value).get("output")), door.residue(part=part))


READERS = (
    (("text",), _text),
    (("functionCall", "function_call"), _call),
    (("functionResponse", "function_response"), _response),
    (("inlineData", "inline_data"), _inline),
    (("fileData", "file_data"), _file),
    (("executableCode", "executable_code"), _executable),
    (("codeExecutionResult", "code_execution_result"), _executed),
)
SIGNS = ("thought", "thoughtSignature", "thought_signature")
PLACED = frozenset((*SIGNS, *(name for names, _ in READERS for name in names)))
MEDIA_NAMES = {"inlineData", "inline_data", "fileData", "file_data"}
PROVIDER_RUN = ("toolCall", "tool_call", "toolResponse", "tool_response")

parts.KEYED |= {name: part for names, _ in READERS for name in names} | dict.fromkeys(
    (*SIGNS, *PROVIDER_RUN), part
)


def _signature(part: dict[str, Any]) -> Any:
    return first_of(part, "thoughtSignature", "thought_signature")


def _beside(part: dict[str, Any]) -> dict[str, Any]:
    """Fields beside what the part holds: `videoMetadata`, `mediaResolution`."""
    return {name: value for name, value in part.items() if name not in PLACED and value is not None}


# The body around the contents


def system(body: dict[str, Any]) -> Any:
    value = first_of(body, "systemInstruction", "system_instruction")
    return value.get("parts") if isinstance(value, dict) and "parts" in value else value
