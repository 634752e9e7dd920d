"""Gemini contents: parts without a `type`, told apart by their one key, in camel or snake case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...model import Code, Media, Opaque, Outcome, Text, Thinking
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
    texts_in,
)


def read(content: dict[str, Any], door: Door) -> Iterator[Heard]:
    said = content.get("parts")
    if "parts" not in content:  # a bare part where a content should be
        said = {name: value for name, value in content.items() if name != "role"}
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
    if known or not any(value is not None for value in part.values()):
        return
    kinds = [name for name, value in part.items() if value is not None and name not in SIGNS]
    if not kinds:
        yield from _text("", part, door)  # a signature that arrived by itself
        return
    if kinds[0] not in PROVIDER_RUN:
        door.found("unknown_block", kinds[0])
    yield Opaque(kinds[0], "\n".join(texts_in(part)), door.residue(part=part))


def _text(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    """Text or thought; an empty one matters when it carries a signature."""
    residue = door.residue(thought_signature=_signature(part))
    yield (Thinking if part.get("thought") is True else Text)(text_of(value), residue)


def _call(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    call = dict_of(value)
    raw_id = text_of(call.get("id"))
    arguments = {} if call.get("args") is None else call["args"]  # left out where there are none
    residue = door.residue(thought_signature=_signature(part))
    yield HeardCall(raw_id, text_of(call.get("name")), arguments, residue, unnumbered=not raw_id)


def _response(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    answer = dict_of(value)
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
    yield Media(mime, text_of(blob.get("data")), name=name, residue=_kept(part, door))


def _file(value: Any, part: dict[str, Any], door: Door) -> Iterator[Item]:
    file = dict_of(value)
    mime = text_of(first_of(file, "mimeType", "mime_type")) or "application/octet-stream"
    name = text_of(first_of(file, "displayName", "display_name"))
    yield Media(
        mime, uri=text_of(first_of(file, "fileUri", "file_uri")), name=name, residue=_kept(part, door)
    )


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
PROVIDER_RUN = ("toolCall", "tool_call", "toolResponse", "tool_response")

parts.KEYED |= {name: part for names, _ in READERS for name in names} | dict.fromkeys(
    (*SIGNS, *PROVIDER_RUN), part
)


def _signature(part: dict[str, Any]) -> Any:
    return first_of(part, "thoughtSignature", "thought_signature")


def _kept(part: dict[str, Any], door: Door) -> Any:
    return door.residue(thought_signature=_signature(part))


# The body around the contents


def system(body: dict[str, Any]) -> Any:
    value = first_of(body, "systemInstruction", "system_instruction")
    return value.get("parts") if isinstance(value, dict) and "parts" in value else value
