"""A stored session read back as a history, and what a crash left open in it settled.

An entry that cannot be read is kept as a note in its place and reported; nothing is skipped in
silence. What was in progress is settled once, as entries: a partial reply is kept as far as it
came, a tool that was started is answered as interrupted. No tool is run, and no approval is used
a second time.
"""

from __future__ import annotations

from collections.abc import Container

from ..diagnostic import Diagnostic
from ..errors import CorruptHistory
from ..history.codec import decode_entry
from ..history.cut_turn import cut_turn
from ..history.log import History
from ..model import Entry, ModelTurn, Note, Outcome
from ..plain import clean_text
from .ports import StoredSession

UNREADABLE = "unreadable_entry"


def history_of_stored(stored: StoredSession) -> History:
    """The history of a stored session."""
    header = stored.header
    return History.replay(
        enumerate(stored.entries, 1), header.id, read=_read_entry, system=header.system, tools=header.tools
    )


def _read_entry(history: History, numbered: tuple[int, bytes]) -> Entry:
    """The entry, or a note that keeps its bytes where it cannot be read."""
    place, data = numbered
    try:
        entry = decode_entry(data)
        if history.fits(entry):
            return entry
        why = "it names a call or a turn that no earlier entry holds"
    except CorruptHistory as error:
        why = str(error)
    history.diagnostics.append(Diagnostic("history", UNREADABLE, "", f"entry {place}: {why}"))
    return Note(UNREADABLE, {"place": place, "why": why, "data": clean_text(data.decode(errors="replace"))})


def settle_interrupted(history: History, draft: bytes | None, retry_safe: Container[str] = ()) -> None:
    """Settle what was in progress when the last process ended.

    Calls that were started are answered as stopped, except those of tools that may safely run again.
    Calls that were not started stay open: the session runs them, or seals them as not run.
    """
    history.scheduled = True
    if (turn := _decode_draft(draft)) is not None and turn.blocks and not history.knows_key(turn.key):
        _append_draft(history, turn)
    for call in history.open_calls:
        if call.started and call.call.name not in retry_safe:
            _diagnose(history, "resumed_call", call.call.id, call.call.name)
            history.settle(call.call.id, Outcome("interrupted", synthetic=True, reason="stopped"))


def _decode_draft(data: bytes | None) -> ModelTurn | None:
    try:
        entry = decode_entry(data) if data else None
    except CorruptHistory:
        return None
    return entry if isinstance(entry, ModelTurn) else None


def _append_draft(history: History, turn: ModelTurn) -> None:
    """Append a partial reply: its text is kept, its calls did not run."""
    _diagnose(history, "resumed_reply", "", turn.key)
    turn, left_out = cut_turn(turn)
    if left_out:
        _diagnose(history, "cut_reply", "", f"{turn.key}: {left_out:,} characters")
    history.append(turn)
    for call in turn.tool_calls:
        history.settle(call.id, Outcome("interrupted", synthetic=True, reason="did_not_run"))
    history.seal()


def _diagnose(history: History, code: str, call_id: str, detail: str) -> None:
    history.diagnostics.append(Diagnostic("history", code, call_id, detail))
