"""From the messages that were read to a clean sequence, in one way for all formats.

Messages become turns, in order; calls and results go to the matcher. A result has no position,
so anything between a call and its result comes after the turn. What was resolved is kept as a
finding, with the call that it is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ... import ids
from ...model import Opaque, Origin, Outcome, Residue, Text
from .match import (
    CallDraft,
    ReportedResult,
    ResultMatcher,
    Step,
    TurnDraft,
    code_of_position,
    is_content,
    items_worth_keeping,
)
from .message_parts import Heard, HeardCall, HeardNote, HeardResult

LONGEST_ID = 64
"""No provider writes or accepts longer ids."""


class Resolved(Struct, frozen=True):
    """The clean sequence, the system text before it, and the findings."""

    system: list[str]
    steps: list[Step]
    findings: list[tuple[str, CallDraft | None, str]]


def resolve_messages(messages: Iterable[Heard], origin: Origin, held: dict[str, str]) -> Resolved:
    """`held` names what the provider holds already: a missing call may be there."""
    resolver = _MessageResolver(origin, held)
    for heard in messages:
        resolver.add_message(heard)
    return resolver.close()


class _MessageResolver:
    def __init__(self, origin: Origin, held: dict[str, str]) -> None:
        self._origin = origin
        self._held = held
        self._system: list[str] = []
        self._turns: list[TurnDraft] = []
        self._notes: dict[int, list[Step]] = {}  # by the number of turns before them
        self._findings: list[tuple[str, CallDraft | None, str]] = []
        self._matcher = ResultMatcher()
        self._started = False  # whether a message other than system text came
        self._thought: TurnDraft | None = None  # the last turn, if it only thinks

    def add_message(self, heard: Heard) -> None:
        items = items_worth_keeping(heard)
        if not items:
            self._record_finding("empty_message", None, heard.speaker)
            return
        if self._is_preamble(heard, items):
            self._system.extend(item.text for item in items)
            return
        if heard.speaker == "tool":
            items = _with_strays(items)
        for item in items:
            if isinstance(item, HeardNote):
                self._keep_note(item)
        if all(isinstance(item, HeardNote) for item in items):
            return  # a note does not separate thinking from its calls
        self._started = True
        thought, self._thought = self._thought, None
        if heard.speaker == "model":
            self._add_model_turn(heard, [item for item in items if not _is_note_or_result(item)], thought)
        else:
            self._add_misplaced_calls(heard, [item for item in items if isinstance(item, HeardCall)])
        for item in items:
            if isinstance(item, HeardResult):
                self._add_result(item)
        if heard.speaker in ("user", "system"):
            self._add_speech(heard, [item for item in items if is_content(item)])

    def close(self) -> Resolved:
        self._matcher.close(trust_ids=bool(self._held))
        for turn in self._turns:
            for call in turn.calls:
                self._rank_results(call)
        for orphan in self._matcher.orphans:
            self._keep_orphan(orphan)
        if self._held:
            self._mark_held_response()
        return Resolved(self._system, self._steps(), self._findings)

    # Turns

    def _is_preamble(self, heard: Heard, items: list[Any]) -> bool:
        plain_text = all(isinstance(item, Text) for item in items)
        return heard.speaker == "system" and not self._started and plain_text

    def _add_speech(self, heard: Heard, blocks: list[Any]) -> None:
        if blocks:
            self._matcher.start_new_batch()
            self._open_turn(heard).pieces.extend(blocks)

    def _add_misplaced_calls(self, heard: Heard, calls: list[HeardCall]) -> None:
        """Calls in a message that cannot hold any: the model made them, so they are a model turn."""
        if calls:
            for made in self._add_model_turn(heard, list(calls), None):
                self._record_finding("misplaced_call", made, heard.speaker)

    def _add_model_turn(self, heard: Heard, items: list[Any], thought: TurnDraft | None) -> list[CallDraft]:
        """Add a model turn. Repeated calls are left out, and so is a message that only repeats."""
        if not items:
            return []
        if any(isinstance(item, HeardCall) for item in items):
            self._matcher.match_reported()
        turn = self._thinking_turn_to_join(heard, thought) or TurnDraft(
            "model", heard.origin, heard.turn_id, len(self._turns)
        )
        repeats: list[CallDraft] = []
        made = (
            self._draft_call(item, turn, repeats) if isinstance(item, HeardCall) else item for item in items
        )
        pieces = [piece for piece in made if piece is not None]
        if not pieces or _says_the_same(pieces, repeats):
            return []
        turn.pieces.extend(pieces)
        if turn.place == len(self._turns):
            self._turns.append(turn)
        self._thought = turn if turn.only_thinks else None
        return [piece for piece in pieces if isinstance(piece, CallDraft)]

    def _thinking_turn_to_join(self, heard: Heard, thought: TurnDraft | None) -> TurnDraft | None:
        """The turn before, when it only thinks and has the same origin."""
        if thought is None or thought.origin != heard.origin:
            return None
        self._record_finding("merged_turns", None, heard.turn_id or thought.turn_id)
        thought.turn_id = heard.turn_id or thought.turn_id
        return thought

    def _open_turn(self, heard: Heard) -> TurnDraft:
        turn = TurnDraft(heard.speaker, heard.origin, heard.turn_id, len(self._turns))
        self._turns.append(turn)
        return turn

    # Calls and results

    def _draft_call(self, heard: HeardCall, turn: TurnDraft, repeats: list[CallDraft]) -> CallDraft | None:
        call = CallDraft(heard, turn)
        if (before := self._matcher.earlier_twin_of(heard, call.arguments)) is not None:
            self._record_finding("repeated_call", before, heard.raw_id)
            repeats.append(before)
            return None
        self._record_id_faults(call)
        self._matcher.add_call(call, turn.place)
        return call

    def _record_id_faults(self, call: CallDraft) -> None:
        raw_id = call.heard.raw_id
        if not raw_id:
            if not call.heard.unnumbered:
                self._record_finding("empty_id", call, call.heard.name)
        elif self._matcher.has_id(raw_id):
            self._record_finding("reused_id", call, raw_id)
        elif len(raw_id) > LONGEST_ID:
            self._record_finding("long_id", call, f"{len(raw_id)} characters")
        elif raw_id.startswith(ids.PREFIX) and not ids.is_canonical(raw_id):
            self._record_finding("foreign_canonical_id", call, raw_id)
        if call.fault:
            self._record_finding("invalid_arguments", call, call.fault)

    def _add_result(self, heard: HeardResult) -> None:
        self._matcher.add_result(heard, len(self._turns))

    def _rank_results(self, call: CallDraft) -> None:
        """Report the faults of the results of a call; put the best result first."""
        for answer in call.answers:
            if code := code_of_position(call, answer, call.turn):
                self._record_finding(code, call, answer.heard.name)
            if not answer.heard.raw_id and not (answer.heard.unnumbered or call.heard.unnumbered):
                self._record_finding("unnamed_result", call, answer.heard.name)
            if _is_respelled(answer.heard.raw_id, call.heard.raw_id):
                self._record_finding("spaced_id", call, answer.heard.raw_id)
            if answer.heard.name and answer.heard.name != call.heard.name:
                self._record_finding("name_mismatch", call, answer.heard.name)
        call.answers.sort(key=lambda answer: answer.rank)
        for loser in call.answers[1:]:
            kept = call.answers[0].heard.outcome.status
            self._record_finding(
                "duplicate_outcome", call, f"{loser.heard.outcome.status} gave way to {kept}"
            )

    def _keep_orphan(self, answer: ReportedResult) -> None:
        if self._held and answer.heard.raw_id:
            self._add_held_call(answer)
            return
        self._record_finding("orphaned_result", None, answer.heard.raw_id or answer.heard.name)
        self._notes.setdefault(answer.place, []).append(answer)

    def _add_held_call(self, answer: ReportedResult) -> None:
        """The provider holds the call: a call with the id of the result stands for it, its name unknown."""
        # All of a chained body is new to the provider, also what stands before the result.
        turn = self._held_turn(0 if "response_id" in self._held else answer.place)
        call = next((call for call in turn.calls if call.heard.raw_id == answer.heard.raw_id), None)
        if call is None:
            made = HeardCall(answer.heard.raw_id, answer.heard.name or "unknown", {}, turn.residue)
            turn.pieces.append(call := CallDraft(made, turn))
            self._record_finding("unknown_call", call, answer.heard.raw_id)
        call.answers.append(answer)
        call.answers.sort(key=lambda answer: answer.rank)

    def _mark_held_response(self) -> None:
        """The provider holds the conversation so far: a turn without text names it, to continue it."""
        self._record_finding("held_by_provider", None, ", ".join(self._held.values()))
        if any(isinstance(step, TurnDraft) for steps in self._notes.values() for step in steps):
            return  # the turn of its calls names it
        if "response_id" in self._held:
            turn = self._held_turn(0)
            turn.pieces.append(Opaque("held_response", "", turn.residue))

    def _held_turn(self, place: int) -> TurnDraft:
        """The turn that stands for what the provider holds, at the position of its results."""
        steps = self._notes.setdefault(place, [])
        if not steps or not isinstance(steps[-1], TurnDraft):
            steps.append(TurnDraft("model", self._origin, "", place))
        turn = steps[-1]
        assert isinstance(turn, TurnDraft)
        turn.residue = Residue(self._origin, self._held)
        return turn

    # Bookkeeping

    def _keep_note(self, note: HeardNote) -> None:
        self._notes.setdefault(len(self._turns), []).append(note)

    def _record_finding(self, code: str, call: CallDraft | None, detail: str = "") -> None:
        self._findings.append((code, call, detail))

    def _steps(self) -> list[Step]:
        steps: list[Step] = []
        for place in range(len(self._turns) + 1):
            steps.extend(self._notes.get(place, ()))
            steps.extend(self._turns[place : place + 1])
        return steps


def _is_respelled(raw_id: str, other: str) -> bool:
    return raw_id != other and raw_id.strip() == other.strip() != ""


def _is_note_or_result(item: Any) -> bool:
    return isinstance(item, HeardNote | HeardResult)


def _says_the_same(pieces: list[Any], repeats: list[CallDraft]) -> bool:
    """Whether a message with repeated calls adds nothing to their turn."""
    return bool(repeats) and pieces == repeats[0].turn.blocks


def _with_strays(items: list[Any]) -> list[Any]:
    """A tool message in which media and text beside a result become part of that result."""
    kept: list[Any] = []
    strays: list[Any] = []
    at: int | None = None  # the result that strays belong to
    for item in items:
        if isinstance(item, HeardResult):
            at = len(kept)
            kept.append(_with_content(item, strays, before=True))
            strays = []
        elif not is_content(item):
            kept.append(item)
        elif at is None:
            strays.append(item)
        else:
            kept[at] = _with_content(kept[at], [item])
    return [*kept, HeardResult("", "", Outcome("complete", tuple(strays)))] if strays else kept


def _with_content(result: HeardResult, more: list[Any], before: bool = False) -> HeardResult:
    if not more:
        return result
    content = result.outcome.content
    joined = (*more, *content) if before else (*content, *more)
    return replace(result, outcome=replace(result.outcome, content=joined))
