"""The line at the bottom: model, context, cost and approval mode."""

from __future__ import annotations

from msgspec import Struct

from ..shared.clean_text import one_line


class StatusFacts(Struct, frozen=True):
    """What the status line shows of a session."""

    model: str
    mode: str
    used: int = 0  # tokens of the context
    context: int = 0
    cost: float | None = None
    stand_in: str = ""  # who answered last, if it was not the model that was asked
    jobs: int = 0  # commands that run in the background


def status_line(facts: StatusFacts, width: int, dot: str = "·") -> str:
    """As much of it as fits. The model is dropped last."""
    parts = [one_line(f"{facts.stand_in} for {facts.model}" if facts.stand_in else facts.model, 90)]
    if facts.jobs:
        parts.append(f"{facts.jobs} in the background")
    if facts.context:
        share = min(facts.used / facts.context, 1.0)
        parts.append(f"{share:.0%} of {token_count(facts.context)}")
    if facts.cost is not None:
        parts.append(f"${facts.cost:.4f}" if facts.cost < 1 else f"${facts.cost:.2f}")
    parts.append(facts.mode)
    parts += ["shift+tab: mode", "/help"]
    while len(parts) > 1 and len(f" {dot} ".join(parts)) + 2 > width:
        parts.pop()
    line = f" {f' {dot} '.join(parts)}"
    return line[: max(width - 1, 0)]


def token_count(count: int) -> str:
    """A number of tokens, short: 200k, 1.5M."""
    if count >= 1_000_000:
        return f"{count / 1_000_000:.1f}".removesuffix(".0") + "M"
    return f"{count // 1000}k"
