"""The beta header that some of Anthropic's own tools and fields need. Without it they are a 400."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ...model import ToolSpec

OF_TOOL = {
    "advisor_20260301": "advisor-tool-2026-03-01",
    "bash_20241022": "computer-use-2024-10-22",
    "computer_20241022": "computer-use-2024-10-22",
    "computer_20250124": "computer-use-2025-01-24",
    "computer_20251124": "computer-use-2025-11-24",
    "mcp_toolset": "mcp-client-2025-11-20",
    "text_editor_20241022": "computer-use-2024-10-22",
}
OF_FIELD = {"context_management": "context-management-2025-06-27", "mcp_servers": "mcp-client-2025-04-04"}
COMPACTION = "compact-2026-01-12"
SKILLS = "skills-2025-10-02"


def betas(tools: Iterable[ToolSpec], fields: Mapping[str, Any]) -> list[str]:
    """The betas that these tools and these fields of a request belong to, each once."""
    wanted = [OF_TOOL[tool.kind] for tool in tools if tool.kind in OF_TOOL]
    if "mcp-client-2025-11-20" in wanted:
        fields = {name: value for name, value in fields.items() if name != "mcp_servers"}
    return list(dict.fromkeys([*wanted, *_of_fields(fields)]))


def _of_fields(fields: Mapping[str, Any]) -> Iterator[str]:
    yield from (beta for name, beta in OF_FIELD.items() if fields.get(name))
    edits = fields.get("context_management")
    if isinstance(edits, dict) and "compact_" in str(edits.get("edits")):
        yield COMPACTION
    if isinstance(container := fields.get("container"), dict) and container.get("skills"):
        yield SKILLS
