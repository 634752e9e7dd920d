"""From what was heard to the clean sequence: one resolution that all formats share.

Messages are taken in order and become turns; calls and results are told to the matcher.
A result has no position of its own, so whatever stood between a call and its result simply
comes after the turn. What was resolved is kept as a finding, with the call it is about.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from ... import ids
from ...model import Opaque, Origin, Outcome, Residue, Text
from .draft import Call, Draft, Step, is_said, worth_keeping
from .heard import Heard, HeardCall, HeardNote, HeardResult
from .match import Answer, Matcher, places

LONGEST_ID = 64
"""No provider gives or takes longer ids."""


class Resolved(Struct, frozen=True):
    """The clean sequence, the system text before it, and what was found on the way."""

    system: list[str]
    steps: list[Step]
    findings: list[tuple[str, Call | None, str]]


def resolve(messages: Iterable[Heard], origin: Origin, held: dict[str, str]) -> Resolved:
    """`held` names what the provider holds already: calls that are not here may be there."""
    resolver = _Resolver(origin, held)
    for heard in messages:
        resolver.take(heard)
    return resolver.close()


class _Resolver:
    def __init__(self, origin: Origin, held: dict[str, str]) -> None:
        self._origin = origin
        self._held = held
        self._system: list[str] = []
        self._turns: list[Draft] = []
        self._notes: dict[int, list[Step]] = {}  # by the number of turns before them
        self._findings: list[tuple[str, Call | None, str]] = []
        self._matcher = Matcher()
        self._started = False  # whether anything but system text was heard
        self._thought: Draft | None = None  # the turn just heard, if it only thinks

    def take(self, heard: Heard) -> None:
        items = worth_keeping(heard)
        if not items:
            self._find("empty_message", None, heard.speaker)
            return
        if self._is_preamble(heard, items):
            self._system.extend(item.text for item in items)
            return
        if heard.speaker == "tool":
            items = _with_strays(items)
        for item in items:
            if isinstance(item, HeardNote):
                self._note(item)
        if all(isinstance(item, HeardNote) for item in items):
            return  # said to nobody, so it parts no thought from its calls
        self._started = True
        thought, self._thought = self._thought, None
        if heard.speaker == "model":
            self._reply(heard, [item for item in items if not _is_aside(item)], thought)
        else:
            self._misplaced(heard, [item for item in items if isinstance(item, HeardCall)])
        for item in items:
            if isinstance(item, HeardResult):
                self._report(item)
        if heard.speaker in ("user", "system"):
            self._speech(heard, [item for item in items if is_said(item)])

    def close(self) -> Resolved:
        self._matcher.close(trust_ids=bool(self._held))
        for turn in self._turns:
            for call in turn.calls:
                self._judge(call)
        for orphan in self._matcher.orphans:
            self._orphan(orphan)
        if self._held:
            self._hold()
        return Resolved(self._system, self._steps(), self._findings)

    # Turns

    def _is_preamble(self, heard: Heard, items: list[Any]) -> bool:
        plain_text = all(isinstance(item, Text) for item in items)
        return heard.speaker == "system" and not self._started and plain_text

    def _speech(self, heard: Heard, blocks: list[Any]) -> None:
        if blocks:
            self._matcher.spoke()
            self._open(heard).pieces.extend(blocks)

    def _misplaced(self, heard: Heard, calls: list[HeardCall]) -> None:
        """Calls in a message that cannot hold any: the model made them, so they are a turn of its own."""
        if calls:
            for made in self._reply(heard, list(calls), None):
                self._find("misplaced_call", made, heard.speaker)

    def _reply(self, heard: Heard, items: list[Any], thought: Draft | None) -> list[Call]:
        """A model turn. Repeated calls are left out, and so is a message that only repeats."""
        if not items:
            return []
        if any(isinstance(item, HeardCall) for item in items):
            self._matcher.settle()
        turn = self._joining(heard, thought) or Draft("model", heard.origin, heard.turn_id, len(self._turns))
        repeats: list[Call] = []
        made = (self._made(item, turn, repeats) if isinstance(item, HeardCall) else item for item in items)
        pieces = [piece for piece in made if piece is not None]
        if not pieces or _says_the_same(pieces, repeats):
            return []
        turn.pieces.extend(pieces)
        if turn.place == len(self._turns):
            self._turns.append(turn)
        self._thought = turn if turn.only_thinks else None
        return [piece for piece in pieces if isinstance(piece, Call)]

    def _joining(self, heard: Heard, thought: Draft | None) -> Draft | None:
        """The turn before, when it only thought and this is what it thought about."""
        if thought is None or thought.origin != heard.origin:
            return None
        self._find("merged_turns", None, heard.turn_id or thought.turn_id)
        thought.turn_id = heard.turn_id or thought.turn_id
        return thought

    def _open(self, heard: Heard) -> Draft:
        turn = Draft(heard.speaker, heard.origin, heard.turn_id, len(self._turns))
        self._turns.append(turn)
        return turn

    # Calls and results

    def _made(self, heard: HeardCall, turn: Draft, repeats: list[Call]) -> Call | None:
        call = Call(heard, turn)
        if (before := self._matcher.repeated(heard, call.arguments)) is not None:
            self._find("repeated_call", before, heard.raw_id)
            repeats.append(before)
            return None
        self._examine(call)
        self._matcher.call(call, turn.place)
        return call

    def _examine(self, call: Call) -> None:
        raw_id = call.heard.raw_id
        if not raw_id:
            if not call.heard.unnumbered:
                self._find("empty_id", call, call.heard.name)
        elif self._matcher.used(raw_id):
            self._find("reused_id", call, raw_id)
        elif len(raw_id) > LONGEST_ID:
            self._find("long_id", call, f"{len(raw_id)} characters")
        elif raw_id.startswith(ids.PREFIX) and not ids.is_canonical(raw_id):
            self._find("foreign_canonical_id", call, raw_id)
        if call.fault:
            self._find("invalid_arguments", call, call.fault)

    def _report(self, heard: HeardResult) -> None:
        self._matcher.result(heard, len(self._turns))

    def _judge(self, call: Call) -> None:
        """Say what was odd about a call's results; the best of them comes first."""
        for answer in call.answers:
            if code := places(call, answer, call.turn):
                self._find(code, call, answer.heard.name)
            if not answer.heard.raw_id and not (answer.heard.unnumbered or call.heard.unnumbered):
                self._find("unnamed_result", call, answer.heard.name)
            if _is_respelled(answer.heard.raw_id, call.heard.raw_id):
                self._find("spaced_id", call, answer.heard.raw_id)
            if answer.heard.name and answer.heard.name != call.heard.name:
                self._find("name_mismatch", call, answer.heard.name)
        call.answers.sort(key=lambda answer: answer.standing)
        for loser in call.answers[1:]:
            kept = call.answers[0].heard.outcome.status
            self._find("duplicate_outcome", call, f"{loser.heard.outcome.status} gave way to {kept}")

    def _orphan(self, answer: Answer) -> None:
        if self._held and answer.heard.raw_id:
            self._held_call(answer)
            return
        self._find("orphaned_result", None, answer.heard.raw_id or answer.heard.name)
        self._notes.setdefault(answer.place, []).append(answer)

    def _held_call(self, answer: Answer) -> None:
        """The call lives at the provider: it is made from the result's id, its name unknown."""
        # All of a chained body is new to the provider, also what stands before the result.
        turn = self._held_turn(0 if "response_id" in self._held else answer.place)
        call = next((call for call in turn.calls if call.heard.raw_id == answer.heard.raw_id), None)
        if call is None:
            made = HeardCall(answer.heard.raw_id, answer.heard.name or "unknown", {}, turn.residue)
            turn.pieces.append(call := Call(made, turn))
            self._find("unknown_call", call, answer.heard.raw_id)
        call.answers.append(answer)
        call.answers.sort(key=lambda answer: answer.standing)

    def _hold(self) -> None:
        """What came before lies at the provider: a turn without words says where, to go on from there."""
        self._find("held_by_provider", None, ", ".join(self._held.values()))
        if any(isinstance(step, Draft) for steps in self._notes.values() for step in steps):
            return  # the turn of its calls says so
        if "response_id" in self._held:
            turn = self._held_turn(0)
            turn.pieces.append(Opaque("held_response", "", turn.residue))

    def _held_turn(self, place: int) -> Draft:
        """The turn that stands for what the provider holds, where its results are reported."""
        steps = self._notes.setdefault(place, [])
        if not steps or not isinstance(steps[-1], Draft):
            steps.append(Draft("model", self._origin, "", place))
        turn = steps[-1]
        assert isinstance(turn, Draft)
        turn.residue = Residue(self._origin, self._held)
        return turn

    # Bookkeeping

    def _note(self, note: HeardNote) -> None:
        self._notes.setdefault(len(self._turns), []).append(note)

    def _find(self, code: str, call: Call | None, detail: str = "") -> None:
        self._findings.append((code, call, detail))

    def _steps(self) -> list[Step]:
        steps: list[Step] = []
        for place in range(len(self._turns) + 1):
            steps.extend(self._notes.get(place, ()))
            steps.extend(self._turns[place : place + 1])
        return steps


def _is_respelled(raw_id: str, other: str) -> bool:
    return raw_id != other and raw_id.strip() == other.strip() != ""


def _is_aside(item: Any) -> bool:
    return isinstance(item, HeardNote | HeardResult)


def _says_the_same(pieces: list[Any], repeats: list[Call]) -> bool:
    """Whether a message with repeated calls says nothing that their turn did not say."""
    return bool(repeats) and pieces == repeats[0].turn.blocks


def _with_strays(items: list[Any]) -> list[Any]:
    """A tool message in which media and text beside a result belong to that result, once."""
    kept: list[Any] = []
    strays: list[Any] = []
    at: int | None = None  # the result that strays belong to
    for item in items:
        if isinstance(item, HeardResult):
            at = len(kept)
            kept.append(_with_content(item, strays, before=True))
            strays = []
        elif not is_said(item):
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
