"""Citations and cache marks of blocks for Anthropic Messages.

The API validates both first, so it refuses the whole request for a damaged one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..chat.view import array, mapping, text
from ..problem import Problem
from ..reading import objects
from .view import AnthropicRequest, Block, Rule

LOCATIONS: dict[str, tuple[str, ...]] = {
    "char_location": ("cited_text", "document_index", "start_char_index", "end_char_index"),
    "page_location": ("cited_text", "document_index", "start_page_number", "end_page_number"),
    "content_block_location": ("cited_text", "document_index", "start_block_index", "end_block_index"),
    "web_search_result_location": ("cited_text", "encrypted_index", "url"),
    "search_result_location": (
        *("cited_text", "search_result_index", "source"),
        *("start_block_index", "end_block_index"),
    ),
}
"""Required fields of each kind of citation. Titles may be null, so they are not required."""

LIFETIMES = ("5m", "1h")
NO_TAG = "Unable to extract tag using discriminator 'type'"
UNCITED = "send the citations as they came, or leave them out"
MARK = 'send {"type": "ephemeral"}, with a ttl of 5m or 1h if any'


def citations_are_whole(request: AnthropicRequest) -> Iterator[Problem]:
    """A text cites places; a document says whether it may be cited."""
    for block in request.all_blocks():
        if block.raw.get("citations") is None:
            continue
        if block.type == "text":
            yield from _citation_problems(block)
        elif block.type in ("document", "search_result"):
            yield from _switch_problems(block)


def _citation_problems(block: Block) -> Iterator[Problem]:
    given, path = block.raw["citations"], f"{block.path}.text.citations"
    if not isinstance(given, list | tuple):
        yield Problem("BODY", path, f"{path}: Input should be a valid list", UNCITED)
    for place, citation in enumerate(array(given)):
        where = f"{path}.{place}"
        if not isinstance(citation, Mapping):
            yield Problem("BODY", where, f"{where}: Input should be a valid dictionary", UNCITED)
            continue
        yield from _location_problems(where, citation)


def _location_problems(path: str, citation: Mapping[str, Any]) -> Iterator[Problem]:
    kind = text(citation.get("type"))
    if not kind:
        yield Problem("BODY", path, f"{path}: {NO_TAG}", UNCITED)
    elif kind not in LOCATIONS:
        yield Problem("BODY", path, f"{path}: {_other_tag(kind, LOCATIONS)}", UNCITED)
    for key in LOCATIONS.get(kind, ()):
        if citation.get(key) is None:
            where = f"{path}.{kind}.{key}"
            yield Problem("BODY", where, f"{where}: Field required", UNCITED)


def _other_tag(given: str, expected: Any) -> str:
    tags = ", ".join(f"'{tag}'" for tag in expected)
    return f"Input tag '{given}' found using 'type' does not match any of the expected tags: {tags}"


def _switch_problems(block: Block) -> Iterator[Problem]:
    given, path = block.raw["citations"], f"{block.path}.{block.type}.citations"
    advice = 'send {"enabled": true}, or leave citations out'
    if not isinstance(given, Mapping):
        yield Problem("BODY", path, f"{path}: Input should be a valid dictionary", advice)
    elif not isinstance(given.get("enabled", False), bool):
        where = f"{path}.enabled"
        yield Problem("BODY", where, f"{where}: Input should be a valid boolean", advice)


def cache_marks_are_whole(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-14: a cache mark is ephemeral, and lives for 5 minutes or an hour."""
    holders = [(path, tool) for path, tool in request.tools()]
    holders += [(f"system.{place}", block) for place, block in objects(request.body.get("system"))]
    holders += [(f"{block.path}.{block.type}", block.raw) for block in request.all_blocks()]
    holders.append(("", request.body))
    for path, holder in holders:
        if holder.get("cache_control") is not None:
            yield from _mark_problems(f"{path}.cache_control".lstrip("."), holder["cache_control"])


def _mark_problems(path: str, mark: Any) -> Iterator[Problem]:
    if not isinstance(mark, Mapping):
        wrong = "Input should be a valid dictionary"
    elif not (kind := text(mapping(mark).get("type"))):
        wrong = NO_TAG
    elif kind != "ephemeral":
        wrong = _other_tag(kind, ("ephemeral",))
    elif mark.get("ttl") is not None and mark["ttl"] not in LIFETIMES:
        path, wrong = f"{path}.ephemeral.ttl", "Input should be '5m' or '1h'"
    else:
        return
    yield Problem("ANT-14", path, f"{path}: {wrong}", MARK)


RULES: tuple[Rule, ...] = (citations_are_whole, cache_marks_are_whole)
