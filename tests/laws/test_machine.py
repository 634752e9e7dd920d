"""The same steps, thrown by hypothesis: a fault that it finds comes with the shortest way to it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule
from tests.laws.generate import KINDS, World, play
from tests.laws.laws import Witness
from tests.laws.share import SOAK
from tests.laws.wire_laws import WireWitness

DICE = st.randoms(use_true_random=False)


class Conversation(RuleBasedStateMachine):
    """A history to which anything may happen; after each step all laws hold."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World()
        self.witness = Witness()
        self.wire = WireWitness(0)

    @invariant()
    def everything_holds(self) -> None:
        self.witness(self.world, "")
        self.wire(self.world, "")


def _rule_for(kind: str) -> Any:
    def step(self: Conversation, dice: Random) -> None:
        play(self.world, dice, kind)

    step.__name__ = kind
    return rule(dice=DICE)(step)


for _kind in KINDS:
    setattr(Conversation, f"step_{_kind}", _rule_for(_kind))

Conversation.TestCase.settings = settings(
    max_examples=400 if SOAK else 12,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)
TestConversation = pytest.mark.soak(Conversation.TestCase)
