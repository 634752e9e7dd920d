"""The sources that a reply cites beside its text, kept as a block with their addresses in words.

APIs write citations as annotations of a text, and take none of them back. The block keeps them
in the history. Every reader gets the addresses that the text does not name itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from ..model import Opaque, Residue

KIND = "sources"
MOST = 50
LONGEST_TITLE = 200


class CitedSource(Struct, frozen=True):
    """A page or file that a text cites."""

    url: str = ""
    title: str = ""

    @property
    def link(self) -> str:
        title = " ".join(self.title.split())[:LONGEST_TITLE].replace("[", "(").replace("]", ")")
        return f"[{title or self.url}]({self.url})" if self.url else f"[{title}]"


def sources_block(text: str, entries: Sequence[Any], residue: Residue) -> Opaque | None:
    """A block with the sources that the text does not name; None if it names all of them."""
    missing = [source for source in sources_in(entries) if (source.url or source.title) not in text]
    if not missing:
        return None
    return Opaque(KIND, f"[{KIND}] {' '.join(source.link for source in missing[:MOST])}", residue)


def sources_in(entries: Sequence[Any]) -> list[CitedSource]:
    """The sources that these citations or annotations name, each once."""
    return list(dict.fromkeys(source for entry in entries for source in _sources_of_entry(entry)))


def _sources_of_entry(entry: Any) -> Iterator[CitedSource]:
    if isinstance(entry, str):  # a list of addresses, as xAI and Perplexity write it
        if entry:
            yield CitedSource(entry)
        return
    if not isinstance(entry, Mapping):
        return
    inner = entry.get("url_citation")  # Chat says it one level deeper than Responses
    fields = inner if isinstance(inner, Mapping) else entry
    url = _text_field(fields, "url", "uri")
    title = _text_field(fields, "title", "document_title", "filename")
    if url or title:
        yield CitedSource(url, title)


def _text_field(fields: Mapping[str, Any], *names: str) -> str:
    return next((value for name in names if isinstance(value := fields.get(name), str) and value), "")
