"""The text that other providers read in place of a block that only its own provider understands.

Its provider gets the block itself. Others read its kind and its readable fields: names,
arguments, results, addresses. Ids, signatures and encrypted text are left out.
"""

from __future__ import annotations

from typing import Any

from ..plain import dumps

MARKS = frozenset(
    {
        "type",
        "id",
        "call_id",
        "tool_use_id",
        "status",
        "cache_control",
        "caller",
        "signature",
        "fingerprint",
        "thoughtSignature",
        "thought_signature",
        "encrypted_content",
        "encrypted_index",
        "encrypted_stdout",
    }
)
"""Fields for the provider alone, or that repeat what the text says."""

TEXT_FIELDS = frozenset({"text", "content", "output"})
"""Fields whose text is used alone where no other field is beside it."""

LONGEST = 20_000
DATA = 2_000  # a longer text without a space is data, not words


def words_of(kind: str, value: Any) -> str:
    """`[web_search_call] {"action":{"query":"…"}}`; "" where it has no readable field."""
    readable = _readable(value)
    if readable is None:
        return ""
    text = readable if isinstance(readable, str) else dumps(readable)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} […{len(text) - LONGEST} characters left out…] {text[-LONGEST // 2 :]}"
    return f"[{kind}] {text}"


def _readable(value: Any) -> Any:
    """The value without its marks and empty fields; None where nothing is left."""
    match value:
        case str():
            is_data = len(value) > DATA and not any(map(str.isspace, value))
            return f"[{len(value)} characters of data]" if is_data else value or None
        case dict():
            kept = {name: _readable(item) for name, item in value.items() if name not in MARKS}
            kept = {name: item for name, item in kept.items() if item is not None}
            only = next(iter(kept.values())) if len(kept) == 1 else None
            return only if isinstance(only, str) and kept.keys() <= TEXT_FIELDS else kept or None
        case list():
            return [item for item in map(_readable, value) if item is not None] or None
        case _:
            return value
