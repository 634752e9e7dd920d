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
    opener = _Opener()
    copy = plain(unwrapped := opener.open(value, ()))
    return copy, not opener.resolved and _same(copy, unwrapped)


def parsed(text: str | bytes) -> Any:
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


def opened(value: Any) -> Any:
    """The outermost object as a dict or list; what it holds stays as it is."""
    return _dumped(value)


def _same(copy: Any, value: Any) -> bool:
    try:
        return bool(copy == value)
    except RecursionError:
        return False


class _Opener:
    """SDK objects as the dicts they stand for, at any depth; what they hold beside is described."""

    def __init__(self) -> None:
        self.resolved = False  # whether something was not what JSON can say

    def open(self, value: Any, above: tuple[int, ...], name: Any = None) -> Any:
        try:
            return self._opened(value, above, name)
        except Exception:  # an object that answers every question with an exception
            return self._instead(f"[{type(value).__name__}]")

    def _opened(self, value: Any, above: tuple[int, ...], name: Any) -> Any:
        if isinstance(value, str | int | float | None) or len(above) > MAX_DEPTH:
            return value
        if isinstance(value, bytes | bytearray):
            return self._bytes(bytes(value), name)
        if id(value) in above:
            return self._instead("[circular]")
        return self._inside(_dumped(value), (*above, id(value)))

    def _inside(self, value: Any, above: tuple[int, ...]) -> Any:
        if isinstance(value, Mapping):
            return {key: self.open(item, above, key) for key, item in value.items()}
        if isinstance(value, list | tuple):
            return [self.open(item, above) for item in value]
        if isinstance(value, str | int | float | None):
            return value
        if _is_nameless(value):
            return self._instead(f"[{type(value).__name__}]")
        return self._instead(plain(value))

    def _bytes(self, value: bytes, name: Any) -> Any:
        if isinstance(name, str) and name in BINARY:
            return b64encode(value).decode()
        return self._instead(value.decode(errors="replace"))

    def _instead(self, value: Any) -> Any:
        self.resolved = True
        return value


def _is_nameless(value: Any) -> bool:
    """Whether all it says of itself is its address, which differs from run to run."""
    kind: Any = type(value)
    silent = kind.__str__ is object.__str__ and kind.__repr__ is object.__repr__
    return silent and not hasattr(value, "__dict__")


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
