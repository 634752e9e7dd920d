"""The result of a server's tool as an outcome: text, media, structured content as JSON, links in words.

Results are plain JSON, so this reads them without the MCP package. A server may send anything; what
cannot be understood becomes a note and never raises.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from ... import plain
from ...json_size import is_heavy
from ...model import Content, Media, Outcome, Text, block_text

MOST_MEDIA = 20
NOTHING = "(the tool returned nothing)"


def outcome_of(result: Mapping[str, Any]) -> Outcome:
    """The outcome for the result of a call."""
    parts = result.get("content")
    found = parts if isinstance(parts, list) else []
    blocks = [block for part in found if isinstance(part, dict) for block in _blocks_of_part(part)]
    structured = result.get("structuredContent")
    if structured is not None and not _is_repeated(structured, blocks):
        blocks.append(Text(plain.dumps(structured)))
    content = tuple(_join_texts(_few_media(blocks))) or (Text(NOTHING),)
    return Outcome("error" if result.get("isError") is True else "complete", content)


def _blocks_of_part(part: Mapping[str, Any]) -> Iterator[Content]:
    match part:
        case {"type": "text", "text": str(text)}:
            yield Text(text)
        case {"type": "image" | "audio", "data": str(data), "mimeType": str(mime)}:
            yield Media(mime, data)
        case {"type": "resource_link", "uri": str(uri)}:
            yield Text(_link(uri, part))
        case {"type": "resource", "resource": {"uri": str(uri), "text": str(text)}}:
            yield Text(f"{uri}\n\n{text}")
        case {"type": "resource", "resource": {"uri": str(uri), "blob": str(data), **more}}:
            yield Media(_word(more.get("mimeType")) or "application/octet-stream", data, name=uri)
        case _:
            kind = _word(part.get("type")) or "unknown"
            yield Text(f"[{kind[:80]} content that cannot be shown]")


def _link(uri: str, part: Mapping[str, Any]) -> str:
    """A link in words. We never fetch what a server links to."""
    words = [_word(part.get("title")) or _word(part.get("name")), _word(part.get("mimeType"))]
    facts = ", ".join(word for word in words if word)
    description = _word(part.get("description"))
    return f"[resource {uri}{f' ({facts})' if facts else ''}]" + (f" {description}" if description else "")


def _word(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _is_repeated(structured: Any, blocks: Iterable[Content]) -> bool:
    """Servers repeat structured content as text, for clients that do not know it. Once is enough.

    A value other than an object comes wrapped, as in {"result": value}, and its text is the value's.
    """
    wrapped = isinstance(structured, dict) and len(structured) == 1
    bare = next(iter(structured.values())) if wrapped else structured
    texts = [block.text for block in blocks if isinstance(block, Text)]
    if isinstance(bare, list) and bare and [_json_or_text(text) for text in texts] == bare:
        return True  # one block of text for each
    return any(text == bare or _json_or_text(text) in (structured, bare) for text in texts)


def _json_or_text(text: str) -> Any:
    if is_heavy(text):
        return text
    try:
        return plain.loads(text)
    except (ValueError, RecursionError):
        return text


def _few_media(blocks: Iterable[Content]) -> Iterator[Content]:
    seen = 0
    for block in blocks:
        seen += isinstance(block, Media)
        if not isinstance(block, Media) or seen <= MOST_MEDIA:
            yield block
    if seen > MOST_MEDIA:
        yield Text(f"[{seen - MOST_MEDIA:,} more images or files left out]")


def _join_texts(blocks: Iterable[Content]) -> Iterator[Content]:
    """Neighbouring texts joined into one: a result may come in a hundred thousand small parts."""
    for are_texts, row in groupby(blocks, lambda block: isinstance(block, Text)):
        if are_texts:
            yield Text("\n".join(block_text(block) for block in row))
        else:
            yield from row
