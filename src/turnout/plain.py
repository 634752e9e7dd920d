"""Plain JSON values: how anything that enters becomes one, once, at the door.

After the door no value is shared with the caller, none is circular, none holds what
JSON cannot say, and no text holds a lone surrogate (it passes `json.loads` and fails
only at `.encode()`, or at the provider). None is nested deeper than `MAX_DEPTH`: what can
be taken in can be compared, stored and sent, however deep the stack is that does it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import msgspec

from .json_size import excerpt, is_deeper_text, is_heavy

MAX_DEPTH = 128
"""Levels of objects and lists. Python's own limit is 1,000, less the frames of whoever is at work."""

REPLACEMENT = "\ufffd"

NESTS = (dict, list)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def clean(text: str) -> str:
    """The same text without lone surrogates and NUL, which servers refuse."""
    if text.isascii():
        return text.replace("\0", REPLACEMENT) if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", REPLACEMENT) if "\0" in text else text


def plain(value: Any) -> Any:
    """A plain JSON copy of any Python value. What lies deeper than `MAX_DEPTH` is there as JSON text."""
    if isinstance(value, str):
        return clean(value)
    encoded = _encoded(value)
    copy = _copied(encoded) if encoded is not None else None
    return _walk(value, ()) if copy is None else copy


def _copied(encoded: bytes) -> Any:
    """The value of a JSON text; None where it is nested too deeply, or is null."""
    try:
        copy = _decode(encoded)
    except RecursionError:
        return None
    brackets = encoded.count(b"{") + encoded.count(b"[")
    return None if brackets > MAX_DEPTH and is_deeper(copy, MAX_DEPTH, is_tree=True) else copy


def _encoded(value: Any) -> bytes | None:
    """The value as JSON, where it can be said as it is: not circular, no lone surrogates, no NUL."""
    try:
        encoded = _encode(value)
    except Exception:  # what an object's own hooks raise is anyone's guess
        return None
    return None if b"\\u0000" in encoded else encoded


def is_deeper(value: Any, limit: int, *, is_tree: bool = False) -> bool:
    """Whether objects and lists are nested more than `limit` levels deep. The stack does not grow with them.

    A tree is what a decoder gives; in other values one part may stand in many places, even in itself.
    """
    return depth_of(value, limit, is_tree=is_tree) > limit


def depth_of(value: Any, limit: int, *, is_tree: bool = False) -> int:
    """How many levels of objects and lists there are; one more than `limit` where there are more."""
    level = [value] if isinstance(value, NESTS) else []
    for depth in range(limit):
        if not level:
            return depth
        inside = chain.from_iterable(each.values() if isinstance(each, dict) else each for each in level)
        level = [item for item in inside if isinstance(item, NESTS)]
        if not is_tree:
            level = list({id(item): item for item in level}.values())
    return limit + bool(level)


def bounded(value: Any) -> Any:
    """The same value, or a copy of it that is not nested deeper than `MAX_DEPTH`."""
    return plain(value) if is_deeper(value, MAX_DEPTH) else value


def is_plain(value: Any) -> bool:
    """Whether `plain` would give back an equal value: nothing had to be resolved."""
    try:
        return bool(plain(value) == value)
    except Exception:
        return False


def dumps(value: Any) -> str:
    """Compact JSON text of any value, however deep."""
    encoded = _encoded(value)
    return (_encode(_walk(value, ())) if encoded is None else encoded).decode()


def loads(data: bytes | str) -> Any:
    """JSON as real servers write it: lone surrogate escapes become U+FFFD, NaN becomes null."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return plain(json.loads(data))


def _walk(value: Any, above: tuple[int, ...]) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if value - value == 0 else None  # NaN and infinities have no JSON
        case str():
            return clean(value)
        case bytes() | bytearray():
            return clean(bytes(value).decode(errors="replace"))
    if id(value) in above:
        return "[circular]"
    if len(above) >= MAX_DEPTH:
        encoded = _encoded(value)
        return "[too deep]" if encoded is None else encoded.decode()
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        return {clean(str(key)): _walk(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_walk(item, inside) for item in value]
    if (fields := _fields(value)) is not None:
        return _walk(fields, inside)
    return clean(_described(value))


def _fields(value: Any) -> Any:
    """The plain form that SDK objects, structs and dataclasses offer of themselves."""
    for name in ("model_dump", "to_dict"):
        try:
            method = getattr(value, name, None)
            if callable(method) and not isinstance(value, type):
                return method()
        except Exception:  # anyone's attributes and methods may raise anything
            return None
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if isinstance(value, Iterable) and not isinstance(value, type):
        return None
    try:
        return None if callable(value) else dict(vars(value))
    except Exception:
        return None


def _described(value: Any) -> str:
    kind = type(value).__name__
    try:
        text = str(value)
    except Exception:
        return f"[{kind}]"
    return f"[{kind}]" if " at 0x" in text else text  # an address would differ between two runs


def arguments(raw: Any, longest: int | None = None) -> tuple[dict[str, Any], str]:
    """What a model wrote as arguments, as an object, and what was wrong with it ("" when nothing).

    Every API wants an object; the text itself is kept by the caller. Arguments that are nested
    deeper than any value here may be are one text, under the name `json`; with `longest`, so is the
    beginning of those that would take too long to read.
    """
    if longest is not None and isinstance(raw, str) and is_heavy(raw, longest):
        return {"json": clean(excerpt(raw))}, "too_large"
    try:
        value, fault = _parsed(raw, longest)
    except RecursionError:
        return {"json": _as_text(raw)}, "too_deep"
    is_text = isinstance(raw, str) and fault != "double_encoded"
    if is_deeper_text(raw, MAX_DEPTH) if is_text else is_deeper(value, MAX_DEPTH):
        return {"json": _as_text(raw)}, "too_deep"
    if isinstance(value, dict):
        return value, fault
    if value is None:
        return {}, fault
    return {"value": value}, fault or "not_object"


def _parsed(raw: Any, longest: int | None) -> tuple[Any, str]:
    if raw is None:
        return None, "not_object"
    if not isinstance(raw, str | bytes | bytearray):
        value = raw if is_deeper(raw, MAX_DEPTH) else plain(raw)
        return value, "" if isinstance(raw, Mapping) else "not_object"
    text = _as_text(raw)
    if not text.strip():
        return None, ""
    try:
        value = loads(text)
    except json.JSONDecodeError as error:
        return None, "truncated" if _is_cut(text, error) else "not_json"
    except ValueError:  # a number of thousands of digits is whole, and no number to us
        return None, "not_json"
    if isinstance(value, str):  # some models encode twice; once more is enough
        return _twice_encoded(value, longest)
    return value, "" if isinstance(value, dict) else "not_object"


def _as_text(raw: Any) -> str:
    if isinstance(raw, str):
        return clean(raw)
    return bytes(raw).decode(errors="replace") if isinstance(raw, bytes | bytearray) else dumps(raw)


def _twice_encoded(text: str, longest: int | None) -> tuple[Any, str]:
    if longest is not None and is_heavy(text, longest):
        return {"json": excerpt(text)}, "too_large"
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return text, "not_object"
    return (value, "double_encoded") if isinstance(value, dict) else (text, "not_object")


def _is_cut(text: str, error: json.JSONDecodeError) -> bool:
    """Whether JSON stops in the middle, as when a reply hits its token limit."""
    return not text[error.pos :].strip() or "Unterminated string" in error.msg


# Values that nobody has checked: what is not of the kind asked for reads as empty.


def text_in(value: Any) -> str:
    return value if isinstance(value, str) else ""


def dict_in(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def count_in(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
