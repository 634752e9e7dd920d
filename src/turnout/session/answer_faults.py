"""Whether a reply that arrived whole should be asked for elsewhere: filtered, refused or empty. No IO."""

from __future__ import annotations

from ..model import ModelTurn, Opaque
from .settings import AnswerFault

FILTER_WORDS = (
    "filter",
    "safety",
    "recitation",
    "blocklist",
    "prohibited",
    "spii",
    "guardrail",
    "sensitive",
    "armor",
)
"""In the provider's own word for a stop: something between the model and us took the answer away."""


def answer_fault(turn: ModelTurn) -> AnswerFault | None:
    """What is wrong with a reply, in one word; None where it is an answer."""
    if turn.stop == "refused":
        word = turn.raw_stop.lower()
        return "content_filter" if any(part in word for part in FILTER_WORDS) else "refusal"
    if turn.stop in ("paused", "length") or turn.tool_calls or turn.text.strip():
        return None
    return None if any(isinstance(block, Opaque) for block in turn.blocks) else "empty"
