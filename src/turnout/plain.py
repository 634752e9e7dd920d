"""Plain JSON values: every value that enters is copied to one, once.

After that no value is shared with the caller, circular, or impossible in JSON, and no text
holds a lone surrogate (it passes `json.loads` and fails only at `.encode()`, or at the
provider). No value is nested deeper than `MAX_DEPTH`, so it can be compared, stored and sent
without an overflow of the stack.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import msgspec

from .json_size import excerpt, is_deeper_text, is_heavy

MAX_DEPTH = 128
"""Levels of objects and lists. The limit of Python is 1,000 frames, with those of the caller."""

REPLACEMENT = "\ufffd"

NESTS = (dict, list)
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder().decode


def clean_text(text: str) -> str:
    """The same text without lone surrogates and NUL, which servers refuse."""
    if text.isascii():
        return text.replace("\0", REPLACEMENT) if "\0" in text else text
    try:
        text.encode()
    except UnicodeEncodeError:
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text.replace("\0", REPLACEMENT) if "\0" in text else text


def plain(value: Any) -> Any:
    """A plain JSON copy of any Python value. Parts deeper than `MAX_DEPTH` become JSON text."""
    if isinstance(value, str):
        return clean_text(value)
    encoded = _encode_if_plain(value)
    copy = _decode_shallow(encoded) if encoded is not None else None
    return _plain_copy(value, ()) if copy is None else copy


def _decode_shallow(encoded: bytes) -> Any:
    """The value of a JSON text; None where it is too deep, or null."""
    try:
        copy = _decode(encoded)
    except RecursionError:
        return None
    brackets = encoded.count(b"{") + encoded.count(b"[")
    return None if brackets > MAX_DEPTH and is_deeper(copy, MAX_DEPTH, is_tree=True) else copy


def _encode_if_plain(value: Any) -> bytes | None:
    """The value as JSON; None where it is circular, not JSON, or has lone surrogates or NUL."""
    try:
        encoded = _encode(value)
    except Exception:  # methods of the object may raise anything
        return None
    return None if b"\\u0000" in encoded else encoded


def is_deeper(value: Any, limit: int, *, is_tree: bool = False) -> bool:
    """Whether objects and lists are nested more than `limit` levels deep. It does not recurse.

    A decoder gives a tree; in other values one object may be in many places, even in itself.
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


def limit_depth(value: Any) -> Any:
    """The same value, or a copy of it that is not nested deeper than `MAX_DEPTH`."""
    return plain(value) if is_deeper(value, MAX_DEPTH) else value


def is_plain(value: Any) -> bool:
    """Whether `plain` gives an equal value."""
    try:
        return bool(plain(value) == value)
    except Exception:
        return False


def dumps(value: Any) -> str:
    """Compact JSON text of any value, at any depth."""
    encoded = _encode_if_plain(value)
    return (_encode(_plain_copy(value, ())) if encoded is None else encoded).decode()


def loads(data: bytes | str) -> Any:
    """The value of JSON of real servers: lone surrogate escapes become U+FFFD, NaN becomes null."""
    try:
        return _decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return plain(json.loads(data))


def _plain_copy(value: Any, above: tuple[int, ...]) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if value - value == 0 else None  # NaN and infinities have no JSON
        case str():
            return clean_text(value)
        case bytes() | bytearray():
            return clean_text(bytes(value).decode(errors="replace"))
    if id(value) in above:
        return "[circular]"
    if len(above) >= MAX_DEPTH:
        encoded = _encode_if_plain(value)
        return "[too deep]" if encoded is None else encoded.decode()
    inside = (*above, id(value))
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _plain_copy(item, inside) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain_copy(item, inside) for item in value]
    if (fields := _fields_of(value)) is not None:
        return _plain_copy(fields, inside)
    return clean_text(_description_of(value))


def _fields_of(value: Any) -> Any:
    """The fields of SDK objects, structs and dataclasses."""
    for name in ("model_dump", "to_dict"):
        try:
            method = getattr(value, name, None)
            if callable(method) and not isinstance(value, type):
                return method()
        except Exception:  # attributes and methods of the object may raise anything
            return None
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    if isinstance(value, Iterable) and not isinstance(value, type):
        return None
    try:
        return None if callable(value) else dict(vars(value))
    except Exception:
        return None


def _description_of(value: Any) -> str:
    kind = type(value).__name__
    try:
        text = str(value)
    except Exception:
        return f"[{kind}]"
    return f"[{kind}]" if " at 0x" in text else text  # an address would differ between two runs


def arguments(raw: Any, longest: int | None = None) -> tuple[dict[str, Any], str]:
    """The arguments that a model wrote, as an object, and their fault ("" when there is none).

    Every API needs an object; the caller keeps the text. Arguments deeper than `MAX_DEPTH` become
    one text, under the name `json`; with `longest`, so does the beginning of those that would
    take too long to read.
    """
    if longest is not None and isinstance(raw, str) and is_heavy(raw, longest):
        return {"json": clean_text(excerpt(raw))}, "too_large"
    try:
        value, fault = _parse_arguments(raw, longest)
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


def _parse_arguments(raw: Any, longest: int | None) -> tuple[Any, str]:
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
    except ValueError:  # Python refuses numbers of thousands of digits
        return None, "not_json"
    if isinstance(value, str):  # some models encode twice; once more is enough
        return _parse_twice_encoded(value, longest)
    return value, "" if isinstance(value, dict) else "not_object"


def _as_text(raw: Any) -> str:
    if isinstance(raw, str):
        return clean_text(raw)
    return bytes(raw).decode(errors="replace") if isinstance(raw, bytes | bytearray) else dumps(raw)


def _parse_twice_encoded(text: str, longest: int | None) -> tuple[Any, str]:
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


# Unchecked values: a value of another type reads as empty.


def text_in(value: Any) -> str:
    return value if isinstance(value, str) else ""


def dict_in(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def list_in(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def count_in(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
