"""What Google's search and its reading of pages found: it comes beside the parts of a reply.

The API does not take it back. It is kept as a block, so that the history has the sources and every
reader gets them in words.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ...history.opaque_text import words_of
from ...model import Opaque, Origin, Residue
from ...plain import dict_in, list_in, text_in

GROUNDING = ("groundingMetadata", "urlContextMetadata")
"""The fields of a candidate that say what was searched and read."""


def grounding_blocks(metadata: Mapping[str, dict[str, Any]], origin: Origin) -> Iterator[Opaque]:
    """One block for what was searched, one for the pages that were read."""
    if found := _search_words(metadata.get("groundingMetadata", {})):
        yield _block("google_search", found, metadata["groundingMetadata"], origin)
    if pages := _read_pages(metadata.get("urlContextMetadata", {})):
        yield _block("url_context", {"urls": pages}, metadata["urlContextMetadata"], origin)


def _block(kind: str, words: dict[str, Any], data: dict[str, Any], origin: Origin) -> Opaque:
    return Opaque(kind, words_of(kind, words), Residue(origin, {"grounding": data}, "provider"))


def _search_words(grounding: dict[str, Any]) -> dict[str, Any]:
    queries = [query for query in list_in(grounding.get("webSearchQueries")) if isinstance(query, str)]
    sources = [source for chunk in list_in(grounding.get("groundingChunks")) for source in _source_of(chunk)]
    found = {"queries": queries, "sources": sources}
    return {name: value for name, value in found.items() if value}


def _source_of(chunk: Any) -> Iterator[dict[str, str]]:
    """A page, a place or a passage of a file: whatever the chunk names."""
    for held in dict_in(chunk).values():
        fields = dict_in(held)
        named = {"title": text_in(fields.get("title")), "url": text_in(fields.get("uri"))}
        if kept := {name: value for name, value in named.items() if value}:
            yield kept


def _read_pages(metadata: dict[str, Any]) -> list[str]:
    entries = map(dict_in, list_in(metadata.get("urlMetadata")))
    return [url for entry in entries if (url := text_in(entry.get("retrievedUrl")))]
