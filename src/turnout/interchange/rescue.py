"""Sessions of other agents: which are stuck and why, and what goes on from there.

A session is stuck if its own program would send a request that its provider refuses. The request is
built as that program does, from its records, and the refusal is in the words of the provider.
Nothing of the other program is changed.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

from ..errors import TurnoutError
from ..history.ledger import ToolInteraction
from ..history.log import History
from ..model import ModelTurn, Origin
from ..providers import PROVIDERS
from .doctor import NEVER_ANSWERED
from .foreign import READERS, ForeignSession, read_file
from .foreign.opencode_store import exported_chat
from .own_request import own_refusal
from .rescue_places import FoundSession, sessions_of_folder
from .unanswered import ReplayRefusal, replay_refusals, unanswered_calls

OWN_TARGETS = {
    "claude-code": "anthropic:claude-sonnet-5",
    "codex": "openai-responses:gpt-5.2",
    "gemini-cli": "gemini:gemini-3-pro",
    "qwen-code": "qwen:qwen3-max",
    "opencode": "anthropic:claude-sonnet-5",
    "pi": "anthropic:claude-sonnet-5",
}
"""Whom a program asks, where its session does not name a provider that we know."""

DAMAGE = {
    "torn_tail": "the last line is cut off",
    "unreadable_entry": "lines cannot be read",
    "missing_record": "records are missing",
    "orphan_result": "a result has no call",
    "repeated_call": "calls are written twice",
    "duplicate_outcome": "results are written twice",
    "reused_id": "an id is used for two calls",
}
"""What the file itself has suffered, by the diagnostics of its reader."""


class RescueCase(Struct, frozen=True):
    """One session: what it holds, what is wrong with it, and what its provider would answer."""

    found: FoundSession
    session: ForeignSession
    target: str
    damage: tuple[str, ...] = ()
    refusal: ReplayRefusal | None = None
    problem: str = ""  # why the file cannot be read at all

    @property
    def is_stuck(self) -> bool:
        return self.refusal is not None

    @property
    def history(self) -> History:
        return self.session.history

    @property
    def verdict(self) -> str:
        """What is wrong, in one line."""
        if self.problem:
            return f"unreadable: {self.problem}"
        hurt = "; ".join(self.damage)
        if self.refusal is None:
            return hurt or "well"
        words = f"stuck: {self.target.partition(':')[0]} answers 400 {self.refusal.answer}"
        return f"{words} ({hurt})" if hurt else words


def rescue_cases(folder: Path, environment: Mapping[str, str]) -> list[RescueCase]:
    """Every session of this folder, the last used first."""
    return [examine_found(found) for found in sessions_of_folder(folder, environment)]


def examine_found(found: FoundSession, key: str = "") -> RescueCase:
    """Read one session, and ask what its own provider would answer to its next request."""
    try:
        session = read_found(found, key or "rescue")
    except TurnoutError as error:
        return RescueCase(found, ForeignSession(History("unreadable")), "", problem=str(error))
    target = _own_target(found.program, session.history)
    notes = session.history.diagnostics
    noticed = [note.call_id for note in notes if note.code in NEVER_ANSWERED]
    calls = unanswered_calls(session.history, noticed)
    refusal = _refusal_of_records(session, target, found.program) or _refusal_of_open_calls(
        session.history, calls, target
    )
    codes = dict.fromkeys(note.code for note in notes if note.code in DAMAGE)
    damage = tuple(DAMAGE[code] for code in codes)
    return RescueCase(found, session, target, damage, refusal)


def _refusal_of_records(session: ForeignSession, target: str, program: str) -> ReplayRefusal | None:
    """What the provider answers to the records as they stand in the file."""
    problem = own_refusal(session.heard, target, program)
    return None if problem is None else ReplayRefusal((target,), problem.rule, problem.answer)


def _refusal_of_open_calls(
    history: History, calls: tuple[ToolInteraction, ...], target: str
) -> ReplayRefusal | None:
    refusals = [each for each in replay_refusals(history, calls, [target]) if each.rule]
    return refusals[0] if refusals else None


def read_found(found: FoundSession, key: str) -> ForeignSession:
    """The session that was found, as a history."""
    if found.conversation:
        return READERS[found.program](exported_chat(found.path, found.conversation), key)
    return read_file(found.program, found.path, key)


def _own_target(program: str, history: History) -> str:
    """Whom the program asked last."""
    turns = [turn for turn in history.turns if isinstance(turn, ModelTurn)]
    origin = turns[-1].origin if turns else Origin("unknown")
    known = PROVIDERS.get(origin.provider)
    if known is not None and origin.model and known.is_spoken(origin.model):
        return f"{origin.provider}:{origin.model}"
    return OWN_TARGETS[program]
