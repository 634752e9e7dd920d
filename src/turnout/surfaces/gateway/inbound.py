"""A client's request on its way in: its shape, its model, and what it continues.

What is not the protocol at all is refused in the words of its provider. Everything else is read, and
resolved by `ingest`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Struct

from ...errors import ProviderError
from .depth import MAX_DEPTH, is_too_deep
from .routes import GatewayRoute

LISTS = {"chat": "messages", "responses": "input", "anthropic": "messages", "gemini": "contents"}
BILLING = re.compile(r"^x-anthropic-billing-header:[^\n]*\n*", re.MULTILINE)
"""Claude Code's first system text. A part of it may change with every request, and ends every cache."""

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


class InboundBody(Struct):
    """The body as it is read from now on, the model that it names, and whether it wants a stream."""

    body: bytes
    fields: dict[str, Any]  # each as its JSON
    model: str
    streams: bool
    stores: bool = False  # the client may continue from this response by its id
    include_usage: bool = True


async def open_inbound(
    route: GatewayRoute, body: bytes, response: Callable[[str], Awaitable[bytes | None]]
) -> InboundBody:
    """Check the outer shape; raise what the provider would answer where it is not this protocol."""
    if is_too_deep(body):
        raise invalid(f"the body is nested deeper than {MAX_DEPTH} levels, or has too many parts; send less")
    fields = _fields_of(body)
    if route.protocol == "gemini" and "generateContentRequest" in fields:
        body = bytes(fields["generateContentRequest"])
        fields = _fields_of(body)
    _check_list(route.protocol, fields)
    model = route.model or _text(fields, "model")
    streams = route.streams if route.streams is not None else _flag(fields, "stream")
    stores = False
    if route.protocol == "responses":
        stores = "store" not in fields or _flag(fields, "store")
        if previous := _text(fields, "previous_response_id"):
            body = _with_previous(fields, previous, await response(previous))
            fields = _fields_of(body)
    return InboundBody(body, fields, model, streams, stores, _wants_usage(route.protocol, fields))


def _fields_of(body: bytes) -> dict[str, Any]:
    try:
        return _decode_fields(body)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    try:  # a lone surrogate, or another value that is almost JSON: the reader resolves it
        value = json.loads(body.decode("utf-8", "replace").removeprefix("\ufeff"))
        if not isinstance(value, dict):
            raise ValueError("not an object")
        return {name: json.dumps(item).encode() for name, item in value.items()}
    except (ValueError, RecursionError):
        raise invalid("the body is not a JSON object; send one") from None


def _check_list(protocol: str, fields: dict[str, Any]) -> None:
    name = LISTS[protocol]
    if name not in fields:
        raise invalid(f"Missing required parameter: '{name}'.", name, "missing_required_parameter")
    text = bytes(fields[name]).strip()
    if text[:1] == b'"' and protocol in ("responses", "gemini"):
        return
    if text[:1] == b"{" and protocol == "gemini":
        return
    if text[:1] != b"[":
        raise invalid(f"Invalid type for '{name}': expected an array of objects.", name)
    if not text[1:-1].strip():
        raise invalid(f"'{name}': at least one message is required.", name, "empty_array")


def _with_previous(fields: dict[str, Any], previous: str, items: bytes | None) -> bytes:
    """The body with the items of the response that it continues before its own."""
    if items is None:
        why = f"Previous response with id '{previous[:100]}' not found."
        raise InvalidField(why, "previous_response_id", "previous_response_not_found")
    given = bytes(fields["input"]).strip()
    if given[:1] == b'"':
        given = b'[{"role":"user","content":' + given + b"}]"
    kept, new = items.strip()[1:-1].strip(), given[1:-1].strip()
    joined = b"[" + b",".join(part for part in (kept, new) if part) + b"]"
    named = {name: bytes(raw) for name, raw in fields.items() if name != "previous_response_id"}
    named["input"] = joined
    return b"{" + b",".join(msgspec.json.encode(name) + b":" + raw for name, raw in named.items()) + b"}"


def _wants_usage(protocol: str, fields: dict[str, Any]) -> bool:
    """Chat clients are given the counts in a stream even unasked: on the last chunk they do no harm."""
    if protocol != "chat" or "stream_options" not in fields:
        return True
    try:
        asked = msgspec.json.decode(fields["stream_options"])
    except ValueError:
        return True
    return not isinstance(asked, dict) or asked.get("include_usage") is not False


class InvalidField(ProviderError):
    """A request that is not its protocol. `field` is the parameter that OpenAI names in such an answer."""

    def __init__(self, message: str, field: str = "", code: str = "") -> None:
        super().__init__(message, kind="invalid_request", status=400, code=code)
        self.field = field


def invalid(message: str, field: str = "", code: str = "invalid_type") -> InvalidField:
    return InvalidField(message, field, code)


def without_billing(system: str) -> str:
    """The system text without Claude Code's billing line, for targets that are not Anthropic's."""
    return BILLING.sub("", system) if "x-anthropic-billing-header:" in system else system


def _text(fields: dict[str, Any], name: str) -> str:
    if name not in fields:
        return ""
    try:
        value = msgspec.json.decode(fields[name])
    except ValueError:
        return ""
    if value is None:
        return ""
    if not isinstance(value, str):
        raise invalid(f"Invalid type for '{name}': expected a string.", name)
    return value


def _flag(fields: dict[str, Any], name: str) -> bool:
    return bytes(fields[name]).strip() == b"true" if name in fields else False
