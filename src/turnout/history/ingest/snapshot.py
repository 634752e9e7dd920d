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
    copy = plain(value)
    if _same(copy, value):
        return copy, True
    opener = _Opener()
    unwrapped = opener.open(value, ())
    copy = plain(unwrapped)
    return copy, _same(copy, unwrapped) and not opener.resolved


def parsed(text: str | bytes) -> Any:
    """JSON as it stands; what it holds that is not quite JSON is resolved message by message."""
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, UnicodeEncodeError, RecursionError):
        pass
    try:
        return json.loads(text if isinstance(text, str) else text.decode(errors="replace"))
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"the messages were given as text that is not JSON ({error}); give JSON, or a list of messages"
        ) from None


def opened(value: Any) -> Any:
    """The outermost object as a dict or list; what it holds stays as it is."""
    return _dumped(value)


def _same(copy: Any, value: Any) -> bool:
    try:
        return bool(copy == value)
    except Exception:  # circular, too deep, or an object with an opinion of its own
        return False


class _Opener:
    """SDK objects as the dicts they stand for, at any depth; whatever else is odd is left to `plain`."""

    def __init__(self) -> None:
        self.resolved = False  # whether something was not what JSON can say

    def open(self, value: Any, above: tuple[int, ...], name: Any = None) -> Any:
        if isinstance(value, bytes | bytearray):
            return self._bytes(bytes(value), name)
        if isinstance(value, str | int | float | None) or len(above) > MAX_DEPTH:
            return value
        if id(value) in above:
            self.resolved = True
            return "[circular]"
        inside = (*above, id(value))
        value = _dumped(value)
        if isinstance(value, Mapping):
            return {key: self.open(item, inside, key) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.open(item, inside) for item in value]
        return value

    def _bytes(self, value: bytes, name: Any) -> str:
        if isinstance(name, str) and name in BINARY:
            return b64encode(value).decode()
        self.resolved = True
        return value.decode(errors="replace")


def _dumped(value: Any) -> Any:
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
