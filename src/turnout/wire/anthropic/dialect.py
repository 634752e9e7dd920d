"""How a host of the Messages API differs from Anthropic's own."""

from __future__ import annotations

from typing import ClassVar, Literal

from ..dialect import Dialect

RUN_BY_CLIENT = ("bash_", "text_editor_", "computer_", "memory_")
"""How the types of tools begin that Claude knows and the client runs."""
# Anthropic's documentation: code execution, files and the MCP connector are on its own platform only.
ON_ANTHROPIC_ONLY = ("container", "mcp_servers")


class AnthropicDialect(Dialect, frozen=True, kw_only=True):
    """How a host of the Messages API differs from Anthropic's own."""

    api: ClassVar[str] = "anthropic"
    # `input_tokens` counts neither what was read from the cache nor what was written to it.
    counts_cached_apart: ClassVar[bool] = True

    id_format: str = "anthropic"
    caching: Literal["automatic", "blocks", ""] = "automatic"
    names_model: bool = True  # else the path names it, and a body with it is refused
    betas_in_body: bool = False  # as `anthropic_beta`; else they are a header
    takes_strict: bool = True  # strict tools
    streams_by_path: bool = False  # the path asks for a stream, and a body with `stream` is refused

    def takes_declared(self, kind: str) -> bool:
        """Hosts of Claude run few of Anthropic's tools. Those that the client runs need no host."""
        if not self.lacks or kind.startswith(RUN_BY_CLIENT):
            return True
        return any(form.reads(kind) for form in self.hosted)
