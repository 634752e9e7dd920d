"""What was given to read: a request body or a list of messages, as objects or as JSON text.

The messages of a JSON text are parsed when they are asked for: where a history has read them
already, only those that follow are.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from ...errors import UsageError
from ..api_names import unspoken_body
from .formats import FORMATS, Format
from .snapshot import parse_messages, snapshot, unwrap_object

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[Any]).decode
_decode_raw_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_encode = msgspec.json.Encoder().encode


class Body:
    """The messages, and the other fields of the body around them ({} when there is none)."""

    def __init__(
        self, fields: dict[str, Any], listed: list[Any] | None, text: memoryview | None = None
    ) -> None:
        self.fields = fields
        self._listed = listed
        self._text = text

    @property
    def messages(self) -> list[Any]:
        if self._listed is None:
            assert self._text is not None
            self._listed = _decode_list(self._text)
        return self._listed

    @property
    def text(self) -> memoryview | None:
        """The list of messages as JSON; None where an object in it cannot be written so."""
        if self._text is None:
            try:
                self._text = memoryview(_encode(self._listed))
            except Exception:  # an object whose methods raise, a circle, a lone surrogate
                return None
        return self._text

    def messages_that_name(self, field: str) -> list[Any]:
        """The messages in which a field of that name may stand, at any depth. The others are not parsed."""
        if (text := self.text) is None:
            return self.messages
        named = field.encode()
        if named not in bytes(text):
            return []
        return [msgspec.json.decode(each) for each in _decode_raw_list(text) if named in bytes(each)]


def open_body(given: Any, form: Format) -> Body:
    """The body, whatever it was given as. Text of a list may turn out not to be JSON: `parse_body`."""
    if isinstance(given, str | bytes | bytearray | memoryview):
        data = given if isinstance(given, str) else bytes(given)
        return _open_text(data, form) or parse_body(data, form)
    return _open_value(given, form)


def parse_body(data: Any, form: Format) -> Body:
    """The body of a JSON text, also of one that is only almost JSON."""
    return _open_value(parse_messages(data if isinstance(data, str) else bytes(data)), form)


def _open_value(given: Any, form: Format) -> Body:
    if hasattr(given, "read"):
        raise UsageError(f"{type(given).__name__} is an open file; give its content: file.read()")
    if not isinstance(given, Mapping | list | tuple):
        given = unwrap_object(given)
    if isinstance(given, Mapping):
        return _split_body(given, form)
    if isinstance(given, Iterable) and not isinstance(given, str | bytes):
        return Body({}, list(given))
    raise UsageError(
        f"{type(given).__name__} is not {form.name}; give a list of messages or a body with {form.lists[0]!r}"
    )


def _open_text(data: str | bytes, form: Format) -> Body | None:
    """The body of a JSON text, with its messages as text; None where it must be parsed to be understood."""
    try:
        raw = _decode_fields(data)
        name = next((name for name in form.lists if name in raw), None)
        if name is None or (text := memoryview(raw[name]))[0] != ord("["):
            return None
        fields = {key: msgspec.json.decode(value) for key, value in raw.items() if key != name}
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    return Body(_split_body({**fields, name: []}, form).fields, None, text)


def _split_body(body: Mapping[str, Any], form: Format) -> Body:
    config = body.get("config")
    around = (
        {**config, **body} if isinstance(config, Mapping) else body
    )  # Gemini's SDK puts some one level down
    if why := unspoken_body(body):
        raise UsageError(f"this body cannot be read: {why}; write it for that API")
    name = next((name for name in form.lists if name in body), None)
    if name is None:
        raise UsageError(_wrong_format_text(body, form))
    listed = body[name]
    if not isinstance(listed, list | tuple):
        listed = [] if listed is None else [listed]  # one message, or the text that Responses allows
    rest, _ = snapshot({key: value for key, value in around.items() if key != name})
    return Body(rest if isinstance(rest, dict) else {}, list(listed))


def _wrong_format_text(body: Mapping[str, Any], form: Format) -> str:
    seen = next((other for other in FORMATS if other.lists[0] in body), None)
    missing = f"this body has no {form.lists[0]!r}, so it is not {form.name}"
    if seen is not None:
        return f"{missing}; it has {seen.lists[0]!r}, so use format={seen.name!r}"
    return f"{missing}; put a single message in a list"
