"""What helped after a refusal, for the later requests of the same conversation. Bounded.

A step is not learned for its target: a signature that one client brought from elsewhere must not cost
all others their reasoning. The last turn of the refused request tells whether a conversation goes on
from there, because two conversations may begin with the same words.
"""

from __future__ import annotations

from collections import OrderedDict

from msgspec import Struct

from ...history.log import History
from ...model import Block, Origin
from ...session.recovery import Recovery

MAX_CONVERSATIONS = 2000
PER_CONVERSATION = 4
"""A client's subagents share its conversation."""


class KeptRecovery(Struct, frozen=True):
    """The steps that are in force, and the turn that was answered with them."""

    turns: int
    last: tuple[Block, ...]
    recovery: Recovery

    def is_of(self, history: History) -> bool:
        """Whether the history goes on from the turn that was answered."""
        turns = history.turns
        return len(turns) >= self.turns and turns[self.turns - 1].blocks == self.last


class RecoveryCache:
    """Recoveries by conversation; the least recently used goes first."""

    def __init__(self, limit: int = MAX_CONVERSATIONS) -> None:
        self._limit = limit
        self._kept: OrderedDict[str, list[KeptRecovery]] = OrderedDict()

    def find(self, history: History) -> Recovery | None:
        """What earlier requests of the conversation needed."""
        for kept in reversed(self._kept.get(history.key, ())):
            if kept.is_of(history):
                self._kept.move_to_end(history.key)
                return kept.recovery
        return None

    def keep(self, history: History, recovery: Recovery, target: Origin) -> None:
        """Remember the steps of a request that was answered, where there are any."""
        turns = history.turns
        if not turns or not recovery.in_force(target):
            return
        kept = [each for each in self._kept.get(history.key, ()) if not each.is_of(history)]
        kept.append(KeptRecovery(len(turns), turns[-1].blocks, recovery))
        self._kept[history.key] = kept[-PER_CONVERSATION:]
        self._kept.move_to_end(history.key)
        while len(self._kept) > self._limit:
            self._kept.popitem(last=False)

    def __len__(self) -> int:
        return len(self._kept)
