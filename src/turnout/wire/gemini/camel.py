"""Gemini's field names in camel case, as its servers write them; its SDK's objects use snake case."""

from __future__ import annotations

import re
from typing import Any

_JOINT = re.compile(r"_([a-z])")
OF_THE_CALLER = frozenset({"args", "response"})
"""Their keys belong to the tool, so they are not changed."""


def in_camel(value: Any) -> Any:
    """The value with every field name in camel case, except inside arguments and results."""
    if isinstance(value, list):
        return [in_camel(item) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        _JOINT.sub(lambda joint: joint[1].upper(), name): held if name in OF_THE_CALLER else in_camel(held)
        for name, held in value.items()
    }


def is_snake(chunk: dict[str, Any]) -> bool:
    """Whether the SDK wrote a reply: a field of two words in snake case shows it."""
    return any(map(_two_words, chunk)) or any(
        _two_words(name)
        for candidate in _dicts(chunk.get("candidates"))
        for held in (candidate, *_candidate_parts(candidate))
        for name in held
    )


def _candidate_parts(candidate: dict[str, Any]) -> list[dict[str, Any]]:
    content = candidate.get("content")
    return _dicts(content.get("parts")) if isinstance(content, dict) else []


def _dicts(listed: Any) -> list[dict[str, Any]]:
    return [item for item in listed if isinstance(item, dict)] if isinstance(listed, list) else []


def _two_words(name: str) -> bool:
    return _JOINT.search(name) is not None
