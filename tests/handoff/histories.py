"""Every hostile history, by name: what the hand-off matrix hands over."""

from tests.handoff import content, pairing, reasoning
from tests.handoff.scenario import SCENARIOS

__all__ = ["SCENARIOS", "content", "pairing", "reasoning"]
