"""Residue as it goes back to its provider, if it is valid.

A history may have been cut, edited or merged, and a provider refuses the whole request for one
damaged piece. Each function returns what its provider accepts, and names in `changes` what it
left out. Anthropic's blocks are in `anthropic/blocks.py`.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from ...model import Residue
from .growing_bytes import Wire

BASE64 = re.compile(r"[A-Za-z0-9+/_-]+={0,2}")
Said = Annotated[str, Meta(pattern=r"\S")]
KIND = re.compile(r"[a-z][a-z0-9_.]*")
PHASES = ("commentary", "final_answer")

SENTINEL = "skip_thought_signature_validator"
"""GEM-09: the documented word for "there is no signature". Gemini 3 takes it on calls of other models."""


def fields_of(residue: Residue | None) -> dict[str, Any]:
    """The fields of the residue; {} if it is not an object."""
    return residue.data if residue is not None and isinstance(residue.data, dict) else {}


def text_field(residue: Residue | None, name: str, known: Collection[str] = ()) -> str:
    """A text field, one of the known values; "" if there is none."""
    value = fields_of(residue).get(name)
    return value if isinstance(value, str) and (not known or value in known) else ""


def is_base64(value: Any) -> bool:
    """Whether this can be a signature or encrypted data. Servers decode those first."""
    if not isinstance(value, str) or BASE64.fullmatch(value) is None:
        return False
    return len(value.rstrip("=")) % 4 != 1


def fits(value: Any, kind: Any) -> bool:
    """Whether the value has this shape. Additional fields are allowed."""
    try:
        msgspec.convert(value, kind)
    except msgspec.ValidationError:
        return False
    return True


# Gemini


def thought_signature(residue: Residue | None, changes: list[str]) -> str:
    """The signature, if it is base64. GEM-10: Gemini refuses anything else."""
    given = fields_of(residue).get("thought_signature")
    if given and not is_base64(given):
        changes.append("GEM-10 a thought signature left out: it is not base64")
        return ""
    return given or ""


class _Code(Struct):
    code: str
    language: Literal["PYTHON", "LANGUAGE_UNSPECIFIED"]


class _CodeResult(Struct):
    outcome: Literal["OUTCOME_OK", "OUTCOME_FAILED", "OUTCOME_DEADLINE_EXCEEDED", "OUTCOME_UNSPECIFIED"]
    output: str = ""


GEMINI_PARTS: dict[str, Any] = {
    "executableCode": _Code,
    "executable_code": _Code,
    "codeExecutionResult": _CodeResult,
    "code_execution_result": _CodeResult,
    "toolCall": dict[str, Any],
    "tool_call": dict[str, Any],
    "toolResponse": dict[str, Any],
    "tool_response": dict[str, Any],
}
"""In both spellings of the key. Other kinds are not checked."""

SIGNATURES = ("thoughtSignature", "thought_signature")


def gemini_parts(residue: Residue | None, changes: list[str]) -> list[Wire]:
    """The parts that a block was; [] if it must be sent as text."""
    data = fields_of(residue)
    given = data.get("parts") if "parts" in data else [data["part"]] if "part" in data else []
    parts = given if isinstance(given, list) else []
    if all(map(_is_sound_part, parts)):
        return parts
    changes.append("GEM-15 parts that Gemini wrote not sent back as they were: they are damaged")
    return []


def beside_media(residue: Residue | None) -> Wire:
    """The fields of a part about its medium: `videoMetadata`, `mediaResolution`."""
    beside = fields_of(residue).get("beside")
    return (
        beside
        if isinstance(beside, dict) and all(isinstance(value, dict) for value in beside.values())
        else {}
    )


def _is_sound_part(part: Any) -> bool:
    if not isinstance(part, dict) or not isinstance(part.get("thought", True), bool):
        return False
    if not all(is_base64(part[name]) for name in SIGNATURES if name in part):
        return False
    held = [name for name in part if name not in ("thought", *SIGNATURES)]
    return bool(held) and all(fits(part[name], GEMINI_PARTS.get(name, Any)) for name in held)


# Responses


class _Summary(Struct):
    type: Literal["summary_text"]
    text: str


def reasoning_item(residue: Residue | None, changes: list[str]) -> Wire | None:
    """Reasoning goes back without its id, and only with its encrypted content (OAR-08, OAR-10)."""
    item = fields_of(residue).get("item")
    encrypted = item.get("encrypted_content") if isinstance(item, dict) else None
    if not isinstance(item, dict):
        return None
    # xAI's is not base64, so all that can be said is that it is one word.
    if not isinstance(encrypted, str) or len(encrypted.split()) != 1:
        changes.append("OAR-08 thinking left out: the reasoning has no encrypted content that could go back")
        return None
    given = item.get("summary")
    summary = [part for part in given if fits(part, _Summary)] if isinstance(given, list) else []
    if summary != given:
        changes.append("OAR-11 a summary of reasoning left out: it is damaged")
    return {"type": "reasoning", "summary": summary, "encrypted_content": encrypted}


FILES = ("input_file", "input_image", "file")
"""Kinds of parts that may only refer to a file that the server keeps."""


STRAY_CALLS = ("function_result", "function_response", "tool_result", "tool_use", "tool_call")
"""Calls and results in the shapes of other APIs, which Responses refuses inside a message (OAR-13)."""


def responses_part(residue: Residue | None) -> Wire:
    """The part of a user's message that a block was, for example a file; {} if it must be sent as text."""
    part = _typed_part(residue)
    if part.get("type") in STRAY_CALLS:
        return {}
    if part.get("type") not in FILES:
        return part
    file_id = _file_id(part)
    if file_id and part["type"] == "file":  # it was sent through Chat
        return {"type": "input_file", "file_id": file_id}
    return part if file_id else {}


def _typed_part(residue: Residue | None) -> Wire:
    """A part of a message as it was kept. Unknown kinds pass, if there is a kind."""
    part = fields_of(residue).get("part")
    kind = part.get("type") if isinstance(part, dict) else None
    return dict(part) if isinstance(kind, str) and KIND.fullmatch(kind) and isinstance(part, dict) else {}


def _file_id(part: Wire) -> str:
    """The id of the file that a part refers to; "" if it is damaged."""
    holder = part.get("file") if part["type"] == "file" else part
    file_id = holder.get("file_id") if isinstance(holder, dict) else None
    return file_id if isinstance(file_id, str) and not file_id.isspace() else ""


# Chat dialects


class _Detail(Struct, kw_only=True):
    format: str | None = None
    id: str | None = None
    index: int | None = None
    signature: str | None = None


class _DetailText(_Detail, kw_only=True, tag_field="type", tag="reasoning.text"):
    text: str | None = None


class _DetailSummary(_Detail, kw_only=True, tag_field="type", tag="reasoning.summary"):
    summary: str


class _DetailHidden(_Detail, kw_only=True, tag_field="type", tag="reasoning.encrypted"):
    data: str


def reasoning_details(residue: Residue | None, changes: list[str]) -> list[Wire]:
    """ORT-02: OpenRouter checks each entry and passes all of them on."""
    given = fields_of(residue).get("reasoning_details")
    if given is None:
        return []
    details = given if isinstance(given, list) else []
    sound = [detail for detail in details if fits(detail, _DetailText | _DetailSummary | _DetailHidden)]
    if sound != given:
        changes.append("ORT-02 reasoning_details left out: they are damaged")
    return sound


def chat_part(residue: Residue | None) -> Wire:
    """The part of a message that a block was, for example a file; {} if it must be sent as text."""
    part = _typed_part(residue)
    if part.get("type") not in FILES:
        return part
    file_id = _file_id(part)
    if file_id and part["type"] == "input_file":  # it was sent through Responses
        return {"type": "file", "file": {"file_id": file_id}}
    return part if file_id and part["type"] == "file" else {}  # Chat has no images by id


class _ThinkingChunk(Struct):
    closed: bool = True
    signature: str | None = None


def thinking_chunk(residue: Residue | None) -> Wire:
    """The fields that Mistral writes beside the text of a thinking chunk."""
    chunk = fields_of(residue).get("thinking_chunk")
    return chunk if isinstance(chunk, dict) and fits(chunk, _ThinkingChunk) else {}
