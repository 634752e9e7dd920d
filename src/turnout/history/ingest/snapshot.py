"""The caller's objects as plain values of our own: SDK objects opened, nothing shared, nothing circular."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Mapping
from typing import Any

import msgspec

from ...errors import UsageError
from ...plain import MAX_DEPTH, plain

BINARY = {"data", "thought_signature", "thoughtSignature"}
"""Fields in which an SDK holds bytes that its wire writes as base64."""


def snapshot(value: Any) -> tuple[Any, bool]:
    """A plain copy, and whether it says the same: nothing in it had to be resolved."""
    try:
        copy = plain(value)
        if copy == value:
            return copy, True
    except Exception:  # circular, too deep, or an object with an opinion of its own
        pass
    opener = _Unwrapper()
    copy = plain(unwrapped := opener.unwrap(value, ()))
    return copy, not opener.resolved and _are_equal(copy, unwrapped)


def parse_messages(text: str | bytes) -> Any:
    """JSON as it stands; what it holds that is not quite JSON is resolved message by message."""
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
    """The outermost object as a dict or list; what it holds stays as it is."""
    return _sdk_fields(value)


def _are_equal(copy: Any, value: Any) -> bool:
    try:
        return bool(copy == value)
    except RecursionError:
        return False


class _Unwrapper:
    """SDK objects as the dicts they stand for, at any depth; what they hold beside is described."""

    def __init__(self) -> None:
        self.resolved = False  # whether something was not what JSON can say

    def unwrap(self, value: Any, above: tuple[int, ...], name: Any = None) -> Any:
        try:
            return self._unwrap_value(value, above, name)
        except Exception:  # an object that answers every question with an exception
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
    """Whether all it says of itself is its address, which differs from run to run."""
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
        except Exception:  # an object that cannot say what it is stays what it is
            return value
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return value
