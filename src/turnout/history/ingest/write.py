"""Writes the resolved sequence to a history, through the same methods as every writer."""

from __future__ import annotations

from typing import Literal

from ... import ids
from ...diagnostic import Diagnostic
from ...model import ModelTurn, Outcome, SystemTurn, UserTurn
from ...plain import plain
from ..log import History
from .anthropic import was_paused
from .issued import Issued
from .match import CallDraft, ReportedResult, Step, TurnDraft
from .message_parts import HeardNote
from .resolve import Resolved

NEVER_CAME = Outcome("interrupted", synthetic=True, reason="unknown")


def write_resolved(history: History, resolved: Resolved, issued: Issued | None = None) -> None:
    turns = [step for step in resolved.steps if isinstance(step, TurnDraft)]
    writer = _HistoryWriter(history, turns, issued)
    for step in resolved.steps:
        writer.write_step(step)
    resolving = [(code, call.id if call else "", detail) for code, call, detail in resolved.findings]
    findings = (*resolving, *writer.findings)
    history.diagnostics.extend(Diagnostic("history", *finding) for finding in findings)


class _HistoryWriter:
    def __init__(self, history: History, turns: list[TurnDraft], issued: Issued | None) -> None:
        self._issued = issued
        self.findings: list[tuple[str, str, str]] = []
        self._history = history
        self._last = turns[-1] if turns else None
        self._model_ids = {_as_key(turn) for turn in turns if turn.speaker == "model"}
        self._shared: dict[str, int] = {}
        self._chosen_ids: set[str] = set()

    def write_step(self, step: Step) -> None:
        match step:
            case HeardNote():
                self._history.note(step.kind, step.data)
            case ReportedResult():
                self._history.note("orphaned_result", _note_of_result(step))
            case TurnDraft(speaker="model"):
                self._write_model_turn(step)
            case TurnDraft(speaker="system"):
                self._history.append(SystemTurn(self._key_of(step), tuple(step.blocks)))
            case TurnDraft():
                self._history.append(UserTurn(self._key_of(step), tuple(step.blocks)))

    def _write_model_turn(self, turn: TurnDraft) -> None:
        key, calls = self._key_of(turn), turn.calls
        for index, call in enumerate(calls):
            call.id = self._canonical_id(call, key, index)
        blocks = tuple(piece.block() if isinstance(piece, CallDraft) else piece for piece in turn.pieces)
        stop: Literal["paused", ""] = "paused" if was_paused(blocks) else ""
        made = ModelTurn(key, turn.origin, blocks, turn.residue, stop)
        self._history.append(made if self._issued is None else self._issued.restored_turn(made))
        for call in calls:
            self._settle_call(call, may_wait=turn is self._last)

    def _settle_call(self, call: CallDraft, may_wait: bool) -> None:
        if call.answers:
            self._history.settle(call.id, call.answers[0].heard.outcome)
            for loser in call.answers[1:]:
                if loser.heard.outcome != call.answers[0].heard.outcome:
                    self._history.note("duplicate_outcome", {**_note_of_result(loser), "call_id": call.id})
        elif not may_wait:
            self.findings.append(("missing_result", call.id, call.heard.name))
            self._history.settle(call.id, NEVER_CAME)

    def _canonical_id(self, call: CallDraft, key: str, index: int) -> str:
        """An id that is canonical already is kept for its first call; any other gets a canonical id."""
        raw_id = call.heard.raw_id
        own = self._issued.canonical_id(raw_id) if self._issued is not None and raw_id else ""
        chosen = own or (raw_id if ids.is_canonical(raw_id) else "")
        while not chosen or chosen in self._chosen_ids or self._history.knows_call(chosen):
            chosen = ids.call_id(call.turn.origin.provider, raw_id, call.heard.name, key, index)
            index += 1_000_000  # only where this hash is already the id of another call
        self._chosen_ids.add(chosen)
        return chosen

    def _key_of(self, turn: TurnDraft) -> str:
        """The id of the turn as its key. A model turn keeps its id first: call ids are made from it."""
        wanted = _as_key(turn)
        if not wanted or (turn.speaker != "model" and wanted in self._model_ids):
            return self._next_key()
        key = wanted
        while self._history.knows_key(key):
            self._shared[wanted] = self._shared.get(wanted, 1) + 1
            key = f"{wanted}.{self._shared[wanted]}"
        if key != wanted:
            self.findings.append(("shared_turn_id", "", f"{wanted} is {key} here"))
        return key

    def _next_key(self) -> str:
        """The next key of the history that is not the id of a model turn."""
        while (key := self._history.next_key()) in self._model_ids:
            pass
        return key


def _as_key(turn: TurnDraft) -> str:
    return turn.turn_id.replace("|", "_")


def _note_of_result(answer: ReportedResult) -> dict[str, object]:
    heard = answer.heard
    content = [plain(block) for block in heard.outcome.content]
    return {"raw_id": heard.raw_id, "name": heard.name, "status": heard.outcome.status, "content": content}
