"""The faults of a history: the log is checked by its rules, then the state that follows from it.

This is written from the rules, not from the code that it checks, so the two can disagree.
Each rule sees one entry and the reference state before it. The state of the history is compared
only when the log has no faults, since a broken log implies no state. A corrupted history is
reported; nothing is raised.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from ..diagnostic import Diagnostic
from ..model import (
    STATUSES,
    Code,
    Compaction,
    Media,
    ModelTurn,
    Note,
    Opaque,
    Origin,
    Outcome,
    Rewind,
    Settled,
    Started,
    SystemTurn,
    Text,
    Thinking,
    ToolCall,
    UserTurn,
)
from .reference_state import SEALED, ReferenceState

Rule = Callable[[Any, ReferenceState], Iterator[Diagnostic]]
Claim = Callable[[Any, ReferenceState], Iterator[Diagnostic]]

TURNS = (SystemTurn, UserTurn, ModelTurn)
ENTRIES = (*TURNS, Started, Settled, Compaction, Rewind, Note)
CONTENT = (Text, Media, Code, Opaque)
BLOCKS = (*CONTENT, Thinking, ToolCall)
CANONICAL = re.compile(r"hist_tool_[A-Za-z0-9_-]{1,32}")
UNCLEAN = re.compile("[\ud800-\udfff\0]")
DEEPEST = 200


def violations(history: Any) -> list[Diagnostic]:
    """Every fault of a history; an empty list means that there is none."""
    reference = ReferenceState()
    found = list(_log_faults(history, reference))
    if found:
        return found
    return [fault for claim in CLAIMS for fault in _run_rule(claim, history, reference)]


def _log_faults(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    try:
        entries = list(history.entries)
    except Exception as error:
        yield _fault("unreadable_history", "", f"the log cannot be read: {error!r}")
        return
    for entry in entries:
        for rule in RULES:
            yield from _run_rule(rule, entry, reference)
        try:
            reference.apply(entry)
        except Exception as error:
            yield _fault("unreadable_history", "", f"{type(entry).__name__} cannot be read: {error!r}")


def _run_rule(rule: Rule, subject: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    try:
        yield from rule(subject, reference)
    except Exception as error:  # a corrupted value may raise anything
        name = getattr(rule, "__name__", "a rule").strip("_")
        yield _fault("unreadable_history", "", f"{name}: {error!r}")


def _fault(code: str, call_id: object = "", detail: str = "") -> Diagnostic:
    return Diagnostic("history", code, call_id if isinstance(call_id, str) else repr(call_id), detail)


# ---- the log: entries


def _foreign_entry(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if not isinstance(entry, ENTRIES):
        yield _fault("foreign_entry", "", f"the log holds a {type(entry).__name__}")


def _bad_turn_key(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, TURNS) and (not isinstance(entry.key, str) or not entry.key or "|" in entry.key):
        yield _fault("bad_turn_key", "", f"{entry.key!r} cannot be the key of a turn")


def _repeated_turn_key(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, TURNS) and entry.key in reference.keys:
        yield _fault("repeated_turn_key", "", f"a second turn has the key {entry.key!r}")


def _bad_origin(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if not isinstance(entry, ModelTurn):
        return
    origin = entry.origin
    if not isinstance(origin, Origin) or not origin.provider:
        yield _fault("bad_origin", "", f"turn {entry.key!r} does not say who wrote it")


def _foreign_block(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    blocks: tuple[Any, ...] = entry.blocks if isinstance(entry, TURNS) else ()
    for block in blocks:
        if not isinstance(block, BLOCKS):
            yield _fault("foreign_block", "", f"turn {entry.key!r} holds a {type(block).__name__}")


# ---- the log: calls


def _bad_call_id(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    for call in _calls_of(entry):
        if not isinstance(call.id, str) or not CANONICAL.fullmatch(call.id):
            yield _fault("bad_call_id", call.id, f"turn {entry.key!r} calls {call.name!r} by a foreign id")


def _repeated_call_id(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    here: set[str] = set()
    for call in _calls_of(entry):
        if call.id in reference.called or call.id in here:
            yield _fault("repeated_call_id", call.id, f"turn {entry.key!r} uses the id of another call")
        here.add(call.id)


def _call_out_of_place(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, SystemTurn | UserTurn):
        where = f"{type(entry).__name__} {entry.key!r}"
        blocks = entry.blocks
    elif isinstance(entry, Settled) and isinstance(entry.outcome, Outcome):
        where = "an outcome"
        blocks = entry.outcome.content
    else:
        return
    for block in blocks:
        if isinstance(block, ToolCall):
            yield _fault("call_out_of_place", block.id, f"{where} holds a call of {block.name!r}")


def _bad_arguments(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    for call in _calls_of(entry):
        if not isinstance(call.arguments, dict) or (fault := _json_fault(call.arguments)):
            yield _fault(
                "bad_arguments", call.id, fault if isinstance(call.arguments, dict) else "not an object"
            )
    if isinstance(entry, Started) and entry.arguments is not None:
        fault = _json_fault(entry.arguments) if isinstance(entry.arguments, dict) else "not an object"
        if fault:
            yield _fault("bad_arguments", entry.call_id, f"as started: {fault}")


# ---- the log: outcomes


def _started_unknown_call(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, Started) and entry.call_id not in reference.ledger:
        yield _fault("started_unknown_call", entry.call_id)


def _started_twice(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    known = reference.ledger.get(entry.call_id) if isinstance(entry, Started) else None
    if known is not None and known.started:
        yield _fault("started_twice", entry.call_id)


def _started_after_outcome(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    known = reference.ledger.get(entry.call_id) if isinstance(entry, Started) else None
    if known is not None and known.outcome is not None:
        yield _fault("started_after_outcome", entry.call_id, f"it was {known.outcome.status}")


def _settled_unknown_call(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, Settled) and entry.call_id not in reference.ledger:
        yield _fault("settled_unknown_call", entry.call_id)


def _bad_outcome(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if not isinstance(entry, Settled):
        return
    outcome: Any = entry.outcome
    if not isinstance(outcome, Outcome):
        yield _fault("bad_outcome", entry.call_id, f"settled with a {type(outcome).__name__}")
    elif outcome.status not in STATUSES:
        yield _fault("bad_outcome", entry.call_id, f"{outcome.status!r} is not a status")
    elif not all(isinstance(block, (*CONTENT, ToolCall)) for block in outcome.content):
        yield _fault("bad_outcome", entry.call_id, "its content is not made of blocks")


def _overwritten_outcome(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    """The first real outcome wins; only a real outcome replaces a synthetic one."""
    known = reference.ledger.get(entry.call_id) if isinstance(entry, Settled) else None
    if known is None or known.outcome is None or known.turn_key in reference.sealed:
        return
    if _is_real(known.outcome) or not _is_real(entry.outcome):
        detail = f"{known.outcome.status} was overwritten by {entry.outcome.status}"
        yield _fault("overwritten_outcome", entry.call_id, detail)


def _is_real(outcome: Outcome) -> bool:
    """Whether the tool or the user gave it. Cancelled and interrupted mean that there was none."""
    return not outcome.synthetic and outcome.status in ("complete", "error", "denied")


def _changed_after_seal(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    known = reference.ledger.get(entry.call_id) if isinstance(entry, Settled) else None
    if known is not None and known.turn_key in reference.sealed:
        yield _fault("changed_after_seal", entry.call_id, f"turn {known.turn_key!r} was final")


def _unanswered_call(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    """When a turn or a seal follows, every call of the turn before has its outcome."""
    if not isinstance(entry, TURNS) and not _is_seal(entry):
        return
    for recorded in reference.calls_of_turn(reference.last_key):
        if recorded.outcome is None:
            yield _fault(
                "unanswered_call",
                recorded.call.id,
                f"turn {recorded.turn_key!r} was sealed without its outcome",
            )


def _seal_of_unknown_turn(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if _is_seal(entry) and reference.key_sealed_by(entry) != reference.last_key:
        yield _fault("seal_of_unknown_turn", "", f"{entry.data!r} is not the last turn")


def _is_seal(entry: Any) -> bool:
    return isinstance(entry, Note) and entry.kind == SEALED


# ---- the log: cuts


def _cut_at_unknown_turn(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, Compaction) and entry.through_key and not reference.is_visible(entry.through_key):
        yield _fault("cut_at_unknown_turn", "", f"the history does not show turn {entry.through_key!r}")


def _cut_through_open_turn(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if not isinstance(entry, Compaction) or entry.through_key != reference.last_key or not entry.through_key:
        return
    pending = [
        recorded.call.id
        for recorded in reference.calls_of_turn(entry.through_key)
        if recorded.outcome is None
    ]
    if pending and entry.through_key not in entry.pinned:
        yield _fault(
            "cut_through_open_turn", pending[0], f"turn {entry.through_key!r} still waits for outcomes"
        )


def _unknown_pin(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, Compaction):
        for key in entry.pinned:
            if not reference.is_visible(key):
                yield _fault("unknown_pin", "", f"the history does not show turn {key!r}")


def _shortened_unknown_call(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, Compaction):
        for call_id in entry.shortened:
            if call_id not in reference.ledger:
                yield _fault("shortened_unknown_call", call_id)


def _rewind_to_unknown_turn(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if isinstance(entry, Rewind) and entry.to_key and not reference.has_standing_turn(entry.to_key):
        yield _fault("rewind_to_unknown_turn", "", f"the history has no turn {entry.to_key!r}")


# ---- the log: text and values


def _unclean_text(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    for call_id, text in _texts_of(entry):
        if isinstance(text, str) and UNCLEAN.search(text):
            yield _fault("unclean_text", call_id, f"{text[:40]!r} holds a lone surrogate or NUL")


def _texts_of(entry: Any) -> Iterator[tuple[str, Any]]:
    match entry:
        case SystemTurn() | UserTurn() | ModelTurn():
            for block in entry.blocks:
                yield from _texts_of_block(block)
        case Settled() if isinstance(entry.outcome, Outcome):
            yield from (
                (entry.call_id, text) for block in entry.outcome.content for _, text in _texts_of_block(block)
            )
        case Compaction():
            yield "", entry.summary
            yield from entry.shortened.items()


def _texts_of_block(block: Any) -> Iterator[tuple[str, Any]]:
    match block:
        case Text() | Thinking() | Opaque():
            yield "", block.text
        case Code():
            yield from (("", block.source), ("", block.output), ("", block.language))
        case Media():
            yield from (("", block.data), ("", block.uri), ("", block.name), ("", block.mime))
        case ToolCall():
            yield from ((block.id, block.name), (block.id, block.raw), (block.id, block.raw_id))


def _bad_residue(entry: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if not isinstance(entry, TURNS):
        return
    residues = [getattr(block, "residue", None) for block in entry.blocks]
    for residue in (*residues, getattr(entry, "residue", None)):
        if residue is not None and (fault := _json_fault(residue.data)):
            yield _fault("bad_residue", "", f"turn {entry.key!r}: {fault}")


def _json_fault(value: Any, depth: int = 0) -> str:
    """Why a value is not JSON; "" when it is."""
    if depth > DEEPEST:
        return "circular or too deep"
    match value:
        case None | bool() | int():
            return ""
        case float():
            return "" if value - value == 0 else f"{value} is not JSON"
        case str():
            return "a lone surrogate or NUL" if UNCLEAN.search(value) else ""
        case dict():
            faults = (_json_fault(part, depth + 1) for item in value.items() for part in item)
            named = all(isinstance(key, str) for key in value)
            return next(filter(None, faults), "") if named else "a key that is not a text"
        case list():
            return next(filter(None, (_json_fault(item, depth + 1) for item in value)), "")
    return f"a {type(value).__name__} is not JSON"


def _calls_of(entry: Any) -> Iterator[ToolCall]:
    if isinstance(entry, ModelTurn):
        yield from (block for block in entry.blocks if isinstance(block, ToolCall))


RULES: list[Rule] = [
    _foreign_entry,
    _bad_turn_key,
    _repeated_turn_key,
    _bad_origin,
    _foreign_block,
    _bad_call_id,
    _repeated_call_id,
    _call_out_of_place,
    _bad_arguments,
    _started_unknown_call,
    _started_twice,
    _started_after_outcome,
    _settled_unknown_call,
    _bad_outcome,
    _overwritten_outcome,
    _changed_after_seal,
    _unanswered_call,
    _seal_of_unknown_turn,
    _cut_at_unknown_turn,
    _cut_through_open_turn,
    _unknown_pin,
    _shortened_unknown_call,
    _rewind_to_unknown_turn,
    _unclean_text,
    _bad_residue,
]


# ---- the state of the history


def _wrong_turns(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    claimed = list(history.turns)
    if claimed != reference.turns:
        keys = [getattr(turn, "key", turn) for turn in claimed]
        yield _fault("wrong_turns", "", f"it shows {keys}; the log has {[t.key for t in reference.turns]}")


def _wrong_ledger(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    claimed = list(history.ledger)
    ids = [interaction.call.id for interaction in claimed]
    if ids != list(reference.ledger):
        yield _fault("wrong_ledger", "", f"it lists {ids}; the log has {list(reference.ledger)}")
        return
    for interaction in claimed:
        recorded = reference.ledger[interaction.call.id]
        for name in ("call", "turn_key", "started", "changed_arguments", "outcome"):
            if getattr(interaction, name) != getattr(recorded, name):
                yield _fault("wrong_ledger", recorded.call.id, f"its {name} differs from the log")


def _wrong_open_turn(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    """The last turn is open as long as an outcome of it may still come or change."""
    claimed = history.open_turn
    if claimed is None:
        if reference.may_change:
            yield _fault(
                "wrong_open_turn",
                "",
                f"turn {reference.last_key!r} is open, but the history says that none is",
            )
    elif claimed.key != reference.last_key or claimed.key in reference.sealed:
        yield _fault("wrong_open_turn", "", f"turn {claimed.key!r} is not open")


def _wrong_final(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    expected = len(reference.turns) - (
        history.open_turn is not None and reference.is_visible(history.open_turn.key)
    )
    if history.final != expected:
        yield _fault(
            "wrong_final", "", f"{history.final} turns are final in the history, {expected} in the log"
        )


def _wrong_summary(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if history.summary != reference.summary:
        yield _fault("wrong_summary", "", f"{history.summary!r} is not the current summary")


def _wrong_shortened(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if dict(history.shortened_results) != reference.shortened:
        differing = dict(history.shortened_results).keys() ^ reference.shortened.keys()
        yield _fault("wrong_shortened", min(differing, default=""), "the log shortens other results")


def _wrong_generation(history: Any, reference: ReferenceState) -> Iterator[Diagnostic]:
    if history.generation < reference.cuts:
        yield _fault("wrong_generation", "", f"generation {history.generation} after {reference.cuts} cuts")


CLAIMS: list[Claim] = [
    _wrong_turns,
    _wrong_ledger,
    _wrong_open_turn,
    _wrong_final,
    _wrong_summary,
    _wrong_shortened,
    _wrong_generation,
]
