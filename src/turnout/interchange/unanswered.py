"""Calls without a result: what providers answer to them.

The messages are written as most programs do, once with those calls open and once with a result
for each. Only what a provider refuses in the first and not in the second is reported, so other
faults of the conversation do not show here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator

from msgspec import Struct

from ..history.ledger import ToolInteraction
from ..history.log import History
from ..model import Entry, ModelTurn, Outcome, Settled, Text, UserTurn
from ..targets.target import find_target
from ..wire.check import Problem
from ..wire.check import check as wire_check
from .naive_replay import naive_request


class ReplayRefusal(Struct, frozen=True):
    """What providers answer to the messages as they are; without a rule they accept them."""

    targets: tuple[str, ...]
    rule: str = ""
    answer: str = ""


def unanswered_calls(history: History, noticed: Iterable[str] = ()) -> tuple[ToolInteraction, ...]:
    """The calls without a result, and those with the ids `noticed`, which never got one."""
    named = set(noticed)
    turns = [turn for turn in history.turns if isinstance(turn, ModelTurn)]
    calls = [history.interaction(call.id) for turn in turns for call in turn.tool_calls]
    return tuple(each for each in calls if each.outcome is None or each.call.id in named)


def replay_refusals(
    history: History, calls: Collection[ToolInteraction], targets: Iterable[str]
) -> tuple[ReplayRefusal, ...]:
    """What each target answers when these calls have no result; same answers together."""
    found: dict[tuple[str, str], list[str]] = {}
    for target in targets if calls else ():
        problem = _refusal_caused_by(history, calls, target)
        refusal = (problem.rule, problem.answer) if problem else ("", "")
        found.setdefault(refusal, []).append(target)
    return tuple(ReplayRefusal(tuple(asked), rule, answer) for (rule, answer), asked in found.items())


def _refusal_caused_by(history: History, calls: Collection[ToolInteraction], target: str) -> Problem | None:
    """The first problem that the target has because of these calls."""
    open_ids = {each.call.id for each in calls}
    refused = _problems_of(history, target, _entries_with(history, open_ids, answered=False))
    anyway = Counter(
        problem.rule for problem in _problems_of(history, target, _entries_with(history, open_ids))
    )
    seen: Counter[str] = Counter()
    for problem in refused:
        seen[problem.rule] += 1
        if seen[problem.rule] > anyway[problem.rule]:
            return problem
    return None


def _problems_of(history: History, target: str, entries: Iterator[Entry]) -> list[Problem]:
    place = find_target(target)
    _, body = naive_request(history, target, entries)
    return wire_check(place.provider.name, body, model=place.model)


def _entries_with(history: History, open_ids: set[str], answered: bool = True) -> Iterator[Entry]:
    """The visible conversation, each result after its call, and a next prompt."""
    for turn in history.turns:
        yield turn
        for call in turn.tool_calls if isinstance(turn, ModelTurn) else ():
            outcome = history.interaction(call.id).outcome
            if call.id in open_ids:
                outcome = Outcome("complete", "done") if answered else None
            if outcome is not None:
                yield Settled(call.id, outcome)
    yield UserTurn("next", (Text("Go on."),))
