"""Which conversation a request belongs to: by a header of the client, else by how it begins. Pure."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

import msgspec

HEADERS = ("x-claude-code-session-id", "session-id", "x-session-id")
LISTS = ("messages", "input", "contents")
FIRST = 8
"""Messages that are looked at for the first words of the user."""

_decode_fields = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode
_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode


def conversation_key(headers: Mapping[str, str], body: bytes, client: str) -> str:
    """A short name for the conversation. Conversations of two keys are never the same one."""
    named = next((value for name in HEADERS if (value := headers.get(name))), "")
    named = named or _cache_key(body) or _first_words(body)
    digest = sha256(f"{client}\0{named}".encode("utf-8", "surrogatepass")).digest()
    return "g" + urlsafe_b64encode(digest[:15]).decode()


def _cache_key(body: bytes) -> str:
    """`prompt_cache_key` of the OpenAI APIs: the thread of the client."""
    if b'"prompt_cache_key"' not in body:
        return ""
    try:
        found = msgspec.json.decode(_decode_fields(body).get("prompt_cache_key", b'""'))
    except (ValueError, UnicodeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def _first_words(body: bytes) -> str:
    """What the user said first. Markers may move and contexts may grow around it, but it stays."""
    try:
        fields = _decode_fields(body)
        listed = next((fields[name] for name in LISTS if name in fields), b"[]")
        if bytes(listed)[:1] != b"[":
            return str(msgspec.json.decode(listed))
        for raw in _decode_list(listed)[:FIRST]:
            message = msgspec.json.decode(raw)
            if isinstance(message, dict) and message.get("role", "user") == "user":
                return _text_of(message.get("content", message.get("parts")))
    except (ValueError, UnicodeError, RecursionError):
        pass
    return ""


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))
