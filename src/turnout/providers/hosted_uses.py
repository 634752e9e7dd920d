"""How often a reply used tools that its provider runs, and what that cost, where a price is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

from ..model import Block, Code, ModelTurn, Opaque

USES = {
    # Responses
    "web_search_call": "web_search",
    "file_search_call": "file_search",
    "code_interpreter_call": "code_execution",
    "image_generation_call": "image_generation",
    "mcp_call": "mcp",
    # Anthropic
    "mcp_tool_use": "mcp",
    # Gemini
    "google_search": "web_search",
    "url_context": "url_context",
    # Groq
    "browser_search": "web_search",
    "code_interpreter": "code_execution",
}
"""The kinds of blocks that are one use of a tool."""

SERVER_TOOLS = {"web_search": "web_search", "web_fetch": "url_context"}
"""Anthropic's names of its tools. Those for code are several: `bash_code_execution` and others."""

PRICES = {
    ("anthropic", "web_search"): 0.01,
    ("vertex", "web_search"): 0.01,  # of Claude; what Google asks for its own search is not in the list
    ("openai-responses", "file_search"): 0.0025,
}
"""US dollars for one use, by provider, as litellm 1.83.0 lists them (read on 2026-11-17).

A use that is not here is counted, and its cost is not known.
"""


def hosted_uses(turn: ModelTurn) -> dict[str, int]:
    """The uses of each kind of tool in one reply."""
    return dict(Counter(kind for block in turn.blocks for kind in _uses_in(block)))


def cost_of_uses(turn: ModelTurn) -> float:
    """US dollars for the uses whose price is known."""
    provider = turn.origin.provider
    if provider == "vertex" and "claude" not in turn.origin.model:
        return 0.0
    return sum(PRICES.get((provider, kind), 0.0) * count for kind, count in hosted_uses(turn).items())


def _uses_in(block: Block) -> Iterator[str]:
    if isinstance(block, Code):
        yield from ["code_execution"] if block.residue is not None else []
    elif isinstance(block, Opaque) and block.kind == "server_tool_use":
        yield _server_tool(block)
    elif isinstance(block, Opaque) and block.kind in USES:
        yield from [USES[block.kind]] * _count_queries(block)


def _server_tool(block: Opaque) -> str:
    held = _data(block).get("block")
    name = str(held.get("name")) if isinstance(held, dict) else ""
    return SERVER_TOOLS.get(name, "code_execution" if "code_execution" in name else name or "unknown")


def _count_queries(block: Opaque) -> int:
    """Google names all queries of a reply in one block."""
    grounding = _data(block).get("grounding")
    queries = grounding.get("webSearchQueries") if isinstance(grounding, dict) else None
    return max(len(queries), 1) if isinstance(queries, list) else 1


def _data(block: Opaque) -> dict[str, Any]:
    data = block.residue.data if block.residue is not None else None
    return data if isinstance(data, dict) else {}
