"""Model families, for hosts that serve several: what a family needs on every host.

A host keeps its own fields (where reasoning goes back, how thinking is switched). The
family adds what its weights and templates require.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from ..wire.chat.dialect import ChatDialect

MISTRAL: dict[str, Any] = {
    "id_format": "mistral",
    "names_tool_results": True,
    "bridges_tool_to_user": True,
    "system_anywhere": False,
    "content_when_empty": "",
    "alternates": True,
}
# Tokenizer v3: words or calls, never both (MIS-07), and no thoughts (MIS-11).
OLD_MISTRAL: dict[str, Any] = {**MISTRAL, "calls_alone": True, "reasoning_field": None}
KIMI: dict[str, Any] = {"id_format": "kimi", "schema": "moonshot"}
THINKING_KIMI: dict[str, Any] = {
    **KIMI,
    "requires_reasoning": "calls",
    "thinks_unasked": True,
    "forces_while_thinking": False,
}
DEEPSEEK: dict[str, Any] = {
    "requires_reasoning": "all",
    "reasoning_placeholder": "",
    "thinks_unasked": True,
    "forces_while_thinking": False,
}
R1: dict[str, Any] = {"reasoning_field": None, "requires_reasoning": "", "think_tags": True}

MISTRAL_NAMES = (
    "*mistral*",
    "*mixtral*",
    "*ministral*",
    "*devstral*",
    "*codestral*",
    "*magistral*",
    "*pixtral*",
)
OLD_MISTRAL_NAMES = (
    "*mistral-7b*",
    "*mistral-tiny*",
    "*mixtral-8x*",
    "*open-mixtral*",
    "*codestral-22b*",
)
THINKING_KIMI_NAMES = ("*kimi*thinking*", "*kimi-k2.[5-9]*", "*kimi-k2p[5-9]*", "*kimi-k[3-9]*")
DEEPSEEK_THINKING_NAMES = ("*deepseek-reasoner*", "*deepseek*v4*")


def families(host: ChatDialect) -> tuple[tuple[str, ChatDialect], ...]:
    """The overrides of a host that serves many families."""
    rows = [(name, R1) for name in ("*r1*",)]
    rows += [(name, OLD_MISTRAL) for name in OLD_MISTRAL_NAMES]
    rows += [(name, MISTRAL) for name in MISTRAL_NAMES]
    rows += [(name, _with_reasoning_field(host, THINKING_KIMI)) for name in THINKING_KIMI_NAMES]
    rows += [("*kimi*", KIMI)]
    rows += [(name, _with_reasoning_field(host, DEEPSEEK)) for name in DEEPSEEK_THINKING_NAMES]
    return tuple((name, replace(host, **changes)) for name, changes in rows)


def _with_reasoning_field(host: ChatDialect, changes: dict[str, Any]) -> dict[str, Any]:
    """A host that has its own field for reasoning keeps that field."""
    return changes if host.reasoning_field else {**changes, "reasoning_field": "reasoning_content"}
