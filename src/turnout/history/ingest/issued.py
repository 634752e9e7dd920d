"""What was given to a client, and comes back in its next request: ids of calls, and private state.

A gateway shows a client ids of its own, and hides the state of a provider in fields that the client
sends back. `ingest(issued=…)` recognises both: the calls keep their canonical ids, and each reply is
again the turn that it was.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, Protocol

from ... import ids
from ...errors import UsageError
from ...model import ModelTurn


class Issued(Protocol):
    """Knows what was given out."""

    def canonical_id(self, raw_id: str) -> str:
        """The canonical id behind an id that was given out; "" for any other."""

    def restored_turn(self, turn: ModelTurn) -> ModelTurn:
        """A reply as it was before it was given out; the same turn where nothing is known of it."""


class IssuedIds:
    """Ids that were given out, and nothing else."""

    def __init__(self, given: Mapping[str, str]) -> None:
        self._given = given

    def canonical_id(self, raw_id: str) -> str:
        return self._given.get(raw_id, "")

    def restored_turn(self, turn: ModelTurn) -> ModelTurn:
        return turn


def issued_of(given: Any) -> Issued | None:
    """What `issued=` names: an `Issued`, a mapping of given ids to canonical ones, or a collection of ids."""
    if given is None:
        return None
    if hasattr(given, "canonical_id") and hasattr(given, "restored_turn"):
        return given  # type: ignore[no-any-return]  # an isinstance of a protocol takes 20 times as long
    if isinstance(given, Mapping):
        return IssuedIds(given)
    if isinstance(given, Collection) and not isinstance(given, str | bytes):
        return IssuedIds({each: canonical for each in given if (canonical := ids.canonical_of(each))})
    raise UsageError(
        f"{type(given).__name__} does not name the ids that were given out; give a collection or a mapping"
    )
