"""Which conversation a request belongs to: by a header of the client, else by how it begins. Pure."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from collections.abc import Iterator, Mapping
from hashlib import sha256
from typing import Any

import msgspec

HEADERS = ("x-claude-code-session-id", "session-id", "x-session-id")
LISTS = ("messages", "input", "contents")
FIRST = 8
"""Messages that are looked at for the first words of the user."""

BEGINNING = 65_536
"""Bytes in which the first words usually are: the rest of a long conversation is not parsed for them."""

_decode_list = msgspec.json.Decoder(list[msgspec.Raw]).decode
_scan_value = json.JSONDecoder().raw_decode


def conversation_key(headers: Mapping[str, str], fields: Mapping[str, Any], client: str) -> str:
    """A short name for the conversation. Conversations of two keys are never the same one.

    `fields` are those of the body, each as its JSON.
    """
    named = next((value for name in HEADERS if (value := headers.get(name))), "")
    named = named or _cache_key(fields) or _first_words(fields)
    digest = sha256(f"{client}\0{named}".encode("utf-8", "surrogatepass")).digest()
    return "g" + urlsafe_b64encode(digest[:15]).decode()


def _cache_key(fields: Mapping[str, Any]) -> str:
    """`prompt_cache_key` of the OpenAI APIs: the thread of the client."""
    try:
        found = msgspec.json.decode(fields.get("prompt_cache_key", b'""'))
    except (ValueError, UnicodeError, RecursionError):
        return ""
    return found if isinstance(found, str) else ""


def _first_words(fields: Mapping[str, Any]) -> str:
    """What the user said first. Markers may move and contexts may grow around it, but it stays."""
    listed = memoryview(next((fields[name] for name in LISTS if name in fields), b"[]"))
    try:
        if bytes(listed[:1]) != b"[":
            return str(msgspec.json.decode(listed))
        for message in _first_messages(listed):
            if isinstance(message, dict) and message.get("role", "user") == "user":
                return _text_of(message.get("content", message.get("parts")))
    except (ValueError, UnicodeError, RecursionError):
        pass
    return ""


def _first_messages(listed: memoryview) -> Iterator[Any]:
    """The first messages of a list, read one by one from its beginning."""
    text = bytes(listed[:BEGINNING]).decode("utf-8", "ignore")
    at, seen = 1, 0
    while seen < FIRST:
        at += len(text[at:]) - len(text[at:].lstrip(" \t\r\n,")) if text[at : at + 1] in " \t\r\n," else 0
        try:
            message, at = _scan_value(text, at)
        except ValueError:  # the end of the list, or of the beginning
            break
        seen += 1
        yield message
    if seen < FIRST and len(listed) > BEGINNING:
        yield from (msgspec.json.decode(raw) for raw in _decode_list(listed)[seen:FIRST])


def _text_of(content: Any) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return "\n".join(text for text in texts if isinstance(text, str))
