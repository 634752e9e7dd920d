"""What a block that only its provider understands says to every other reader.

The block itself stays whole for its provider. Others read its kind and whatever in it can be
read: names, arguments, results, addresses. Ids, signatures and encrypted text say nothing to them.
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
"""Fields that are for the provider alone, or that the words around already say."""

SAID = frozenset({"text", "content", "output"})
"""Fields whose text says all where nothing stands beside it."""

LONGEST = 20_000
DATA = 2_000  # a text of this length without a space is data, not words


def words_of(kind: str, value: Any) -> str:
    """`[web_search_call] {"action":{"query":"…"}}`; "" where nothing in it can be read."""
    said = _readable(value)
    if said is None:
        return ""
    text = said if isinstance(said, str) else dumps(said)
    if len(text) > LONGEST:
        text = f"{text[: LONGEST // 2]} […{len(text) - LONGEST} characters left out…] {text[-LONGEST // 2 :]}"
    return f"[{kind}] {text}"


def _readable(value: Any) -> Any:
    """The value without its marks and without what is empty; None where nothing is left."""
    match value:
        case str():
            is_data = len(value) > DATA and not any(map(str.isspace, value))
            return f"[{len(value)} characters of data]" if is_data else value or None
        case dict():
            kept = {name: _readable(item) for name, item in value.items() if name not in MARKS}
            kept = {name: item for name, item in kept.items() if item is not None}
            only = next(iter(kept.values())) if len(kept) == 1 else None
            return only if isinstance(only, str) and kept.keys() <= SAID else kept or None
        case list():
            return [item for item in map(_readable, value) if item is not None] or None
        case _:
            return value
