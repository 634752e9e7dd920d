"""Plain copies of the objects of a caller: SDK objects become dicts, nothing is shared or circular."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from ...errors import UsageError
from ...plain import MAX_DEPTH, plain

BINARY = {"data", "bytes", "redactedContent", "thought_signature", "thoughtSignature"}
"""Fields in which an SDK holds bytes that it sends as base64."""


def snapshot(value: Any) -> tuple[Any, bool]:
    """A plain copy, and whether it is equal: nothing in it had to be replaced."""
    try:
        copy = plain(value)
        if copy == value:
            return copy, True
    except Exception:  # circular, too deep, or an object whose methods raise
        pass
    opener = _Unwrapper()
    copy = plain(unwrapped := opener.unwrap(value, ()))
    return copy, not opener.resolved and _are_equal(copy, unwrapped)


def parse_messages(text: str | bytes) -> Any:
    """The value of a JSON text. Values that are almost JSON are resolved later, message by message."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        text = text if isinstance(text, str) else text.decode(errors="replace")
        return json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the messages were given as text that is not JSON ({error}); give JSON, or a list of messages"
        ) from None


def unwrap_object(value: Any) -> Any:
    """The outermost object as a dict or list; its members stay as they are."""
    return _sdk_fields(value)


def _are_equal(copy: Any, value: Any) -> bool:
    try:
        return bool(copy == value)
    except RecursionError:
        return False


class _Unwrapper:
    """SDK objects as dicts, at any depth; other objects become text."""

    def __init__(self) -> None:
        self.resolved = False  # whether a value was replaced because it is not JSON

    def unwrap(self, value: Any, above: tuple[int, ...], name: Any = None) -> Any:
        try:
            return self._unwrap_value(value, above, name)
        except Exception:  # an object whose methods all raise
            return self._substitute(f"[{type(value).__name__}]")

    def _unwrap_value(self, value: Any, above: tuple[int, ...], name: Any) -> Any:
        if isinstance(value, str | int | float | None) or len(above) > MAX_DEPTH:
            return value
        if isinstance(value, bytes | bytearray):
            return self._text_of_bytes(bytes(value), name)
        if id(value) in above:
            return self._substitute("[circular]")
        return self._unwrap_members(_sdk_fields(value), (*above, id(value)))

    def _unwrap_members(self, value: Any, above: tuple[int, ...]) -> Any:
        if isinstance(value, Mapping):
            return {key: self.unwrap(item, above, key) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.unwrap(item, above) for item in value]
        if isinstance(value, str | int | float | None):
            return value
        if _is_nameless(value):
            return self._substitute(f"[{type(value).__name__}]")
        return self._substitute(plain(value))

    def _text_of_bytes(self, value: bytes, name: Any) -> Any:
        if isinstance(name, str) and name in BINARY:
            return b64encode(value).decode()
        return self._substitute(value.decode(errors="replace"))

    def _substitute(self, value: Any) -> Any:
        self.resolved = True
        return value


def _is_nameless(value: Any) -> bool:
    """Whether its text would be only its address, which differs from run to run."""
    kind: Any = type(value)
    silent = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    return silent and not hasattr(value, "__dict__")


def _sdk_fields(value: Any) -> Any:
    if isinstance(value, type):
        return value
    for name in ("model_dump", "to_dict"):
        try:
            if callable(method := getattr(value, name, None)):
                return method()
        except Exception:  # an object whose method raises is kept as it is
            return value
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return value
