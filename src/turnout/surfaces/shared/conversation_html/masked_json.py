"""A JSON body for people: indented, without private state and image data, with the ids of calls linked.

Signatures, encrypted reasoning and sealed tokens are long texts without spaces that mean nothing to a
reader, and they must not be pasted into an issue. They are known by the names of their fields, and by
their look where a field has another name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from typing import Any

from ..clean_text import json_line

PRIVATE_FIELDS = frozenset(
    {
        *("signature", "thought_signature", "thoughtSignature", "encrypted_content", "encrypted_index"),
        *("encrypted_stdout", "reasoning_opaque", "redactedContent", "encryptedContent", "data", "opaque"),
        *("reasoning_encrypted", "bytes", "api_key", "key", "token", "authorization"),
    }
)
SHORTEST = 24
"""Characters from which a value of such a field is left out."""
SEALED_FROM = 160
"""Characters from which a run without spaces is taken for base64 of something, or for a token."""
_RUN = re.compile(rf"[A-Za-z0-9+/_=.\-]{{{SEALED_FROM},}}")
# Paths and addresses are such runs too, but each of their pieces is a word, a number or a short id.
_WORD = r"[a-z]{1,40}|[A-Z]{1,20}|(?:[A-Z][a-z]{2,20}){1,4}"
_NUMBER = r"[a-z]{3,20}[0-9]{1,4}|[0-9]{1,20}|[0-9a-f]{1,12}"
_PATH = re.compile(rf"[/_.=+\-]*(?:(?:{_WORD}|{_NUMBER})(?:[/_.=+\-]+|\Z))+")
_STRING_OR_OTHER = re.compile(r'"(?:[^"\\\n]|\\.)*"|[^"]+|"')
MOST_LINES = 6000


def without_sealed(text: str) -> str:
    """The text with every long run that is not a path replaced by its length."""
    return _RUN.sub(_length_mark, text) if len(text) >= SEALED_FROM else text


def _length_mark(found: re.Match[str]) -> str:
    return found[0] if _PATH.fullmatch(found[0]) else f"[{len(found[0]):,} characters left out]"


def masked_value(value: Any, name: str = "") -> Any:
    """The value with private texts replaced by their length."""
    if isinstance(value, dict):
        return {key: masked_value(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [masked_value(item, name) for item in value]
    if not isinstance(value, str):
        return value
    if name in PRIVATE_FIELDS and len(value) >= SHORTEST and " " not in value:
        return f"[{len(value):,} characters left out]"
    return without_sealed(value)


def pretty_json(value: Any) -> str:
    """The masked value, indented."""
    return json_line(json.dumps(masked_value(value), ensure_ascii=False, indent=1))


def shortened_lines(text: str, most: int = MOST_LINES) -> tuple[str, int]:
    """The first lines of a text, and how many were left out."""
    lines = text.split("\n")
    return "\n".join(lines[:most]), max(0, len(lines) - most)


def json_html(text: str, links: Mapping[str, str] | None = None) -> str:
    """Indented JSON as HTML; a text that is the id of a call is a link to that call."""
    shown, left_out = shortened_lines(text)
    anchors = {json.dumps(id, ensure_ascii=False): anchor for id, anchor in (links or {}).items()}

    def link_to_call(found: re.Match[str]) -> str:
        html, anchor = escape(found[0], quote=False), anchors.get(found[0])
        return f'<a class="call-id" href="#{escape(anchor)}">{html}</a>' if anchor else html

    html = _STRING_OR_OTHER.sub(link_to_call, shown)
    if left_out:
        html += f"\n… {left_out:,} more lines"
    return html
