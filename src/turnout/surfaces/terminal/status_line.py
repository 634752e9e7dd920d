"""The line at the bottom: who answers, how full the context is, what it cost, what runs unasked."""

from __future__ import annotations

from msgspec import Struct

from ..shared.clean_text import one_line


class StatusFacts(Struct, frozen=True):
    """How a session stands."""

    model: str
    mode: str
    used: int = 0  # tokens of the context
    context: int = 0
    cost: float | None = None


def status_line(standing: StatusFacts, width: int, dot: str = "·") -> str:
    """As much of it as fits; the model goes last."""
    parts = [one_line(standing.model, 60)]
    if standing.context:
        share = min(standing.used / standing.context, 1.0)
        parts.append(f"{share:.0%} of {_tokens(standing.context)}")
    if standing.cost is not None:
        parts.append(f"${standing.cost:.4f}" if standing.cost < 1 else f"${standing.cost:.2f}")
    parts.append(standing.mode)
    parts += ["shift+tab: mode", "/help"]
    while len(parts) > 1 and len(f" {dot} ".join(parts)) + 2 > width:
        parts.pop()
    line = f" {f' {dot} '.join(parts)}"
    return line[: max(width - 1, 0)]


def _tokens(count: int) -> str:
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f}".removesuffix(".0") + "M"
    return f"{count // 1000}k"
