"""A new history with some turns of another, for a reader who must see only those.

It is written with the methods of `History`, so it can be rendered for every target, whichever
turns were picked or changed. The other history is not changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from ..history.log import History
from ..model import ModelTurn, Outcome, Text, Turn, UserTurn


def excerpt(
    history: History, turns: Iterable[Turn], summary: str, outcomes: Mapping[str, Outcome], key: str = ""
) -> History:
    """These turns with these outcomes, after this summary; `key` is its key, if it is to be continued."""
    seen = History(key or history.key, system=history.system, tools=history.tools)
    seen.scheduled = history.scheduled
    if summary:
        first = seen.append(UserTurn(f"{history.key}.summary", (Text("…"),)))
        seen.compact(first.key, summary)
    for turn in turns:
        seen.append(turn)
        _settle_calls(seen, turn, outcomes, history)
    seen.seal()
    return seen


def outcomes_of(history: History, turns: Iterable[Turn]) -> dict[str, Outcome]:
    """The outcome of each call in these turns, shortened where a compaction did so."""
    calls = (call for turn in turns if isinstance(turn, ModelTurn) for call in turn.tool_calls)
    found = {call.id: history.ledger[call.id].outcome for call in calls}
    return {
        call_id: _with_short_text(outcome, history.shortened_results.get(call_id))
        for call_id, outcome in found.items()
        if outcome is not None
    }


def _with_short_text(outcome: Outcome, text: str | None) -> Outcome:
    return outcome if text is None else replace(outcome, content=(Text(text),))


def _settle_calls(seen: History, turn: Turn, outcomes: Mapping[str, Outcome], history: History) -> None:
    for call in turn.tool_calls if isinstance(turn, ModelTurn) else ():
        known = history.ledger.get(call.id)
        if known is not None and known.started:
            seen.start(call.id, known.changed_arguments)
        if call.id in outcomes:
            seen.settle(call.id, outcomes[call.id])
