"""What is wrong with a history, if anything: the log by its own rules, then what follows from it.

Written from the rules and apart from the code that it checks, so that the two can disagree.
The log is gone through entry by entry; each rule sees an entry and the story so far. Only
when the log is sound is it compared with what the history says of itself: what a broken log
implies is nobody's guess. A corrupted history is reported, never raised.
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
from .reference_state import SEALED, Story

Rule = Callable[[Any, Story], Iterator[Diagnostic]]
Claim = Callable[[Any, Story], Iterator[Diagnostic]]

TURNS = (SystemTurn, UserTurn, ModelTurn)
ENTRIES = (*TURNS, Started, Settled, Compaction, Rewind, Note)
CONTENT = (Text, Media, Code, Opaque)
BLOCKS = (*CONTENT, Thinking, ToolCall)
CANONICAL = re.compile(r"hist_tool_[A-Za-z0-9_-]{1,32}")
UNCLEAN = re.compile("[\ud800-\udfff\0]")
DEEPEST = 200


def violations(history: Any) -> list[Diagnostic]:
    """Every fault of the canonical state; nothing in the list means that it is sound."""
    story = Story()
    found = list(_log_faults(history, story))
    if found:
        return found
    return [fault for claim in CLAIMS for fault in _guarded(claim, history, story)]


def _log_faults(history: Any, story: Story) -> Iterator[Diagnostic]:
    try:
        entries = list(history.entries)
    except Exception as error:
        yield _fault("unreadable_history", "", f"the log cannot be read: {error!r}")
        return
    for entry in entries:
        for rule in RULES:
            yield from _guarded(rule, entry, story)
        try:
            story.apply(entry)
        except Exception as error:
            yield _fault("unreadable_history", "", f"{type(entry).__name__} cannot be read: {error!r}")


def _guarded(rule: Rule, subject: Any, story: Story) -> Iterator[Diagnostic]:
    try:
        yield from rule(subject, story)
    except Exception as error:  # whatever a corrupted value raises when it is looked at
        name = getattr(rule, "__name__", "a rule").strip("_")
        yield _fault("unreadable_history", "", f"{name}: {error!r}")


def _fault(code: str, call_id: object = "", detail: str = "") -> Diagnostic:
    return Diagnostic("history", code, call_id if isinstance(call_id, str) else repr(call_id), detail)


# ---- the log: entries


def _foreign_entry(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if not isinstance(entry, ENTRIES):
        yield _fault("foreign_entry", "", f"the log holds a {type(entry).__name__}")


def _bad_turn_key(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, TURNS) and (not isinstance(entry.key, str) or not entry.key or "|" in entry.key):
        yield _fault("bad_turn_key", "", f"{entry.key!r} cannot be a turn's key")


def _repeated_turn_key(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, TURNS) and entry.key in story.keys:
        yield _fault("repeated_turn_key", "", f"a second turn is called {entry.key!r}")


def _bad_origin(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if not isinstance(entry, ModelTurn):
        return
    origin = entry.origin
    if not isinstance(origin, Origin) or not origin.provider:
        yield _fault("bad_origin", "", f"turn {entry.key!r} does not say who wrote it")


def _foreign_block(entry: Any, story: Story) -> Iterator[Diagnostic]:
    blocks: tuple[Any, ...] = entry.blocks if isinstance(entry, TURNS) else ()
    for block in blocks:
        if not isinstance(block, BLOCKS):
            yield _fault("foreign_block", "", f"turn {entry.key!r} holds a {type(block).__name__}")


# ---- the log: calls


def _bad_call_id(entry: Any, story: Story) -> Iterator[Diagnostic]:
    for call in _calls(entry):
        if not isinstance(call.id, str) or not CANONICAL.fullmatch(call.id):
            yield _fault("bad_call_id", call.id, f"turn {entry.key!r} calls {call.name!r} by a foreign id")


def _repeated_call_id(entry: Any, story: Story) -> Iterator[Diagnostic]:
    here: set[str] = set()
    for call in _calls(entry):
        if call.id in story.called or call.id in here:
            yield _fault("repeated_call_id", call.id, f"turn {entry.key!r} uses the id of another call")
        here.add(call.id)


def _call_out_of_place(entry: Any, story: Story) -> Iterator[Diagnostic]:
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


def _bad_arguments(entry: Any, story: Story) -> Iterator[Diagnostic]:
    for call in _calls(entry):
        if not isinstance(call.arguments, dict) or (fault := _unplain(call.arguments)):
            yield _fault("bad_arguments", call.id, fault if isinstance(call.arguments, dict) else "no object")
    if isinstance(entry, Started) and entry.arguments is not None:
        fault = _unplain(entry.arguments) if isinstance(entry.arguments, dict) else "no object"
        if fault:
            yield _fault("bad_arguments", entry.call_id, f"as started: {fault}")


# ---- the log: what became of calls


def _started_unknown_call(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, Started) and entry.call_id not in story.ledger:
        yield _fault("started_unknown_call", entry.call_id)


def _started_twice(entry: Any, story: Story) -> Iterator[Diagnostic]:
    known = story.ledger.get(entry.call_id) if isinstance(entry, Started) else None
    if known is not None and known.started:
        yield _fault("started_twice", entry.call_id)


def _started_after_outcome(entry: Any, story: Story) -> Iterator[Diagnostic]:
    known = story.ledger.get(entry.call_id) if isinstance(entry, Started) else None
    if known is not None and known.outcome is not None:
        yield _fault("started_after_outcome", entry.call_id, f"it was {known.outcome.status}")


def _settled_unknown_call(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, Settled) and entry.call_id not in story.ledger:
        yield _fault("settled_unknown_call", entry.call_id)


def _bad_outcome(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if not isinstance(entry, Settled):
        return
    outcome: Any = entry.outcome
    if not isinstance(outcome, Outcome):
        yield _fault("bad_outcome", entry.call_id, f"settled with a {type(outcome).__name__}")
    elif outcome.status not in STATUSES:
        yield _fault("bad_outcome", entry.call_id, f"{outcome.status!r} is no status")
    elif not all(isinstance(block, (*CONTENT, ToolCall)) for block in outcome.content):
        yield _fault("bad_outcome", entry.call_id, "its content is not made of blocks")


def _overwritten_outcome(entry: Any, story: Story) -> Iterator[Diagnostic]:
    """The first real outcome wins; only a real one replaces what stood in for it."""
    known = story.ledger.get(entry.call_id) if isinstance(entry, Settled) else None
    if known is None or known.outcome is None or known.turn_key in story.sealed:
        return
    if _is_real(known.outcome) or not _is_real(entry.outcome):
        detail = f"{known.outcome.status} was overwritten by {entry.outcome.status}"
        yield _fault("overwritten_outcome", entry.call_id, detail)


def _is_real(outcome: Outcome) -> bool:
    """What the tool or the user said. Cancelled and interrupted say only that nobody did."""
    return not outcome.synthetic and outcome.status in ("complete", "error", "denied")


def _changed_after_seal(entry: Any, story: Story) -> Iterator[Diagnostic]:
    known = story.ledger.get(entry.call_id) if isinstance(entry, Settled) else None
    if known is not None and known.turn_key in story.sealed:
        yield _fault("changed_after_seal", entry.call_id, f"turn {known.turn_key!r} was final")


def _unanswered_call(entry: Any, story: Story) -> Iterator[Diagnostic]:
    """What goes on after a turn leaves no call of it open."""
    if not isinstance(entry, TURNS) and not _is_seal(entry):
        return
    for told in story.told_of(story.last_key):
        if told.outcome is None:
            yield _fault(
                "unanswered_call", told.call.id, f"turn {told.turn_key!r} was sealed without its outcome"
            )


def _seal_of_unknown_turn(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if _is_seal(entry) and story.sealed_by(entry) != story.last_key:
        yield _fault("seal_of_unknown_turn", "", f"{entry.data!r} is not the last turn")


def _is_seal(entry: Any) -> bool:
    return isinstance(entry, Note) and entry.kind == SEALED


# ---- the log: cuts


def _cut_at_unknown_turn(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, Compaction) and entry.through_key and not story.shows(entry.through_key):
        yield _fault("cut_at_unknown_turn", "", f"no turn {entry.through_key!r} is there to cut at")


def _cut_through_open_turn(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if not isinstance(entry, Compaction) or entry.through_key != story.last_key or not entry.through_key:
        return
    pending = [told.call.id for told in story.told_of(entry.through_key) if told.outcome is None]
    if pending and entry.through_key not in entry.pinned:
        yield _fault(
            "cut_through_open_turn", pending[0], f"turn {entry.through_key!r} still waits for outcomes"
        )


def _unknown_pin(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, Compaction):
        for key in entry.pinned:
            if not story.shows(key):
                yield _fault("unknown_pin", "", f"no turn {key!r} is there to keep")


def _shortened_unknown_call(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, Compaction):
        for call_id in entry.shortened:
            if call_id not in story.ledger:
                yield _fault("shortened_unknown_call", call_id)


def _rewind_to_unknown_turn(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if isinstance(entry, Rewind) and entry.to_key and not story.knows(entry.to_key):
        yield _fault("rewind_to_unknown_turn", "", f"no turn {entry.to_key!r} is there to go back to")


# ---- the log: text and values


def _unclean_text(entry: Any, story: Story) -> Iterator[Diagnostic]:
    for call_id, text in _texts(entry):
        if isinstance(text, str) and UNCLEAN.search(text):
            yield _fault("unclean_text", call_id, f"{text[:40]!r} holds a lone surrogate or NUL")


def _texts(entry: Any) -> Iterator[tuple[str, Any]]:
    match entry:
        case SystemTurn() | UserTurn() | ModelTurn():
            for block in entry.blocks:
                yield from _block_texts(block)
        case Settled() if isinstance(entry.outcome, Outcome):
            yield from (
                (entry.call_id, text) for block in entry.outcome.content for _, text in _block_texts(block)
            )
        case Compaction():
            yield "", entry.summary
            yield from entry.shortened.items()


def _block_texts(block: Any) -> Iterator[tuple[str, Any]]:
    match block:
        case Text() | Thinking() | Opaque():
            yield "", block.text
        case Code():
            yield from (("", block.source), ("", block.output), ("", block.language))
        case Media():
            yield from (("", block.data), ("", block.uri), ("", block.name), ("", block.mime))
        case ToolCall():
            yield from ((block.id, block.name), (block.id, block.raw), (block.id, block.raw_id))


def _bad_residue(entry: Any, story: Story) -> Iterator[Diagnostic]:
    if not isinstance(entry, TURNS):
        return
    residues = [getattr(block, "residue", None) for block in entry.blocks]
    for residue in (*residues, getattr(entry, "residue", None)):
        if residue is not None and (fault := _unplain(residue.data)):
            yield _fault("bad_residue", "", f"turn {entry.key!r}: {fault}")


def _unplain(value: Any, depth: int = 0) -> str:
    """What keeps a value from being JSON, "" when nothing does."""
    if depth > DEEPEST:
        return "circular or too deep"
    match value:
        case None | bool() | int():
            return ""
        case float():
            return "" if value - value == 0 else f"{value} has no JSON"
        case str():
            return "a lone surrogate or NUL" if UNCLEAN.search(value) else ""
        case dict():
            faults = (_unplain(part, depth + 1) for item in value.items() for part in item)
            named = all(isinstance(key, str) for key in value)
            return next(filter(None, faults), "") if named else "a key that is no text"
        case list():
            return next(filter(None, (_unplain(item, depth + 1) for item in value)), "")
    return f"a {type(value).__name__} is no JSON"


def _calls(entry: Any) -> Iterator[ToolCall]:
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


# ---- what the history says of itself


def _wrong_turns(history: Any, story: Story) -> Iterator[Diagnostic]:
    claimed = list(history.turns)
    if claimed != story.turns:
        keys = [getattr(turn, "key", turn) for turn in claimed]
        yield _fault("wrong_turns", "", f"it shows {keys}; the log tells of {[t.key for t in story.turns]}")


def _wrong_ledger(history: Any, story: Story) -> Iterator[Diagnostic]:
    claimed = list(history.ledger)
    ids = [interaction.call.id for interaction in claimed]
    if ids != list(story.ledger):
        yield _fault("wrong_ledger", "", f"it lists {ids}; the log tells of {list(story.ledger)}")
        return
    for interaction in claimed:
        told = story.ledger[interaction.call.id]
        for name in ("call", "turn_key", "started", "changed_arguments", "outcome"):
            if getattr(interaction, name) != getattr(told, name):
                yield _fault("wrong_ledger", told.call.id, f"its {name} is not what the log tells")


def _wrong_open_turn(history: Any, story: Story) -> Iterator[Diagnostic]:
    """Open is the last turn, as long as an outcome of it may still come or change."""
    claimed = history.open_turn
    if claimed is None:
        if story.may_change:
            yield _fault("wrong_open_turn", "", f"turn {story.last_key!r} is open and not said to be")
    elif claimed.key != story.last_key or claimed.key in story.sealed:
        yield _fault("wrong_open_turn", "", f"turn {claimed.key!r} is not open")


def _wrong_final(history: Any, story: Story) -> Iterator[Diagnostic]:
    expected = len(story.turns) - (history.open_turn is not None and story.shows(history.open_turn.key))
    if history.final != expected:
        yield _fault("wrong_final", "", f"{history.final} turns are said to be final, {expected} are")


def _wrong_summary(history: Any, story: Story) -> Iterator[Diagnostic]:
    if history.summary != story.summary:
        yield _fault("wrong_summary", "", f"{history.summary!r} is not the summary in force")


def _wrong_shortened(history: Any, story: Story) -> Iterator[Diagnostic]:
    if dict(history.shortened) != story.shortened:
        differing = dict(history.shortened).keys() ^ story.shortened.keys()
        yield _fault(
            "wrong_shortened", min(differing, default=""), "results are shortened otherwise in the log"
        )


def _wrong_generation(history: Any, story: Story) -> Iterator[Diagnostic]:
    if history.generation < story.cuts:
        yield _fault("wrong_generation", "", f"generation {history.generation} after {story.cuts} cuts")


CLAIMS: list[Claim] = [
    _wrong_turns,
    _wrong_ledger,
    _wrong_open_turn,
    _wrong_final,
    _wrong_summary,
    _wrong_shortened,
    _wrong_generation,
]
