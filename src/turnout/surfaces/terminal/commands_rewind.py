"""/rewind: go back to an earlier prompt, which is put back into the input line."""

from __future__ import annotations

from itertools import takewhile
from typing import TYPE_CHECKING

from ...errors import UsageError
from ...history.log import History
from ...model import Compaction, ModelTurn, Turn, UserTurn, joined_text
from ..shared.clean_text import one_line
from .picker import PickRow
from .pieces import Notice

if TYPE_CHECKING:
    from .talk import Talk


def rewind_session(talk: Talk, given: str) -> None:
    """Go back before a prompt: the Nth from the end, or the one that the user picks."""
    places = _prompt_places(talk.session.history)
    if not places:
        raise UsageError("there is no prompt to go back to; use /resume to open another session")
    if not given:
        talk.do_aside(_pick_prompt(talk, places))
        return
    if not given.isdigit() or not 1 <= int(given) <= len(places):
        raise UsageError(
            f"/rewind takes a number from 1 (the last prompt) to {len(places)}; give one, or none to choose"
        )
    rewind_before(talk, places[int(given) - 1])


def rewind_last(talk: Talk, rest: str) -> None:
    """/undo: go back before the last prompt."""
    rewind_session(talk, "1")


def _prompt_places(history: History) -> list[int]:
    """Where the prompts of the user stand, the last one first. A summary hides what it replaced."""
    return [
        at
        for at, turn in enumerate(history.turns)
        if isinstance(turn, UserTurn) and not (at == 0 and history.summary)
    ][::-1]


async def _pick_prompt(talk: Talk, places: list[int]) -> None:
    turns = talk.session.history.turns
    rows = [
        PickRow(
            one_line(joined_text(turns[at].blocks[:1]), 120) or "(no text)", _removed_count(len(turns) - at)
        )
        for at in places
    ]
    chosen = await talk.edge.pick("Go back before this prompt", rows)
    if chosen is not None:
        rewind_before(talk, places[chosen])


def _removed_count(turns: int) -> str:
    return f"removes {turns} {'turn' if turns == 1 else 'turns'}"


def rewind_before(talk: Talk, at: int) -> None:
    """Remove a prompt and everything after it; its text goes into the input line."""
    history = talk.session.history
    turn = history.turns[at]
    made = _compactions_before(history, turn)
    history.rewind(history.turns[at - 1].key if at else "")
    for each in made:
        history.compact(each.through_key, each.summary, shortened=each.shortened, pinned=each.pinned)
    talk.refresh_status()
    talk.edge.show(Notice("Removed. Files that tools have changed stay changed."))
    talk.edge.put_back(joined_text(turn.blocks[:1]))


def _compactions_before(history: History, turn: Turn) -> list[Compaction]:
    """The compactions between a turn and the one before it, which a rewind would undo."""
    at = max(place for place, entry in enumerate(history.entries) if entry == turn)
    before = takewhile(
        lambda entry: not isinstance(entry, UserTurn | ModelTurn), reversed(history.entries[:at])
    )
    return [entry for entry in before if isinstance(entry, Compaction)][::-1]
