"""Calls without a result: what providers answer when they are sent as they are.

The messages are written down as most programs do it, once with those calls left open and once
with a result for each. What a provider refuses in the first and not in the second is what the
open calls would cost. So other faults of the conversation do not show here.
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


class Refusal(Struct, frozen=True):
    """What providers answer to the messages as they are; without a rule: they take them."""

    targets: tuple[str, ...]
    rule: str = ""
    answer: str = ""


def unanswered_calls(history: History, noticed: Iterable[str] = ()) -> tuple[ToolInteraction, ...]:
    """The calls that wait for a result, and those that are `noticed` (by id) to have never got one."""
    named = set(noticed)
    turns = [turn for turn in history.turns if isinstance(turn, ModelTurn)]
    calls = [history.interaction(call.id) for turn in turns for call in turn.tool_calls]
    return tuple(each for each in calls if each.outcome is None or each.call.id in named)


def replay_refusals(
    history: History, calls: Collection[ToolInteraction], targets: Iterable[str]
) -> tuple[Refusal, ...]:
    """What each target says to the conversation when these calls have no result; same answers together."""
    found: dict[tuple[str, str], list[str]] = {}
    for target in targets if calls else ():
        problem = _cost_of(history, calls, target)
        told = (problem.rule, problem.answer) if problem else ("", "")
        found.setdefault(told, []).append(target)
    return tuple(Refusal(tuple(asked), rule, answer) for (rule, answer), asked in found.items())


def _cost_of(history: History, calls: Collection[ToolInteraction], target: str) -> Problem | None:
    """The first thing that the target refuses because of these calls."""
    open_ids = {each.call.id for each in calls}
    refused = _problems(history, target, _entries(history, open_ids, answered=False))
    anyway = Counter(problem.rule for problem in _problems(history, target, _entries(history, open_ids)))
    seen: Counter[str] = Counter()
    for problem in refused:
        seen[problem.rule] += 1
        if seen[problem.rule] > anyway[problem.rule]:
            return problem
    return None


def _problems(history: History, target: str, entries: Iterator[Entry]) -> list[Problem]:
    place = find_target(target)
    _, body = naive_request(history, target, entries)
    return wire_check(place.provider.name, body, model=place.model)


def _entries(history: History, open_ids: set[str], answered: bool = True) -> Iterator[Entry]:
    """The visible conversation, each result after its call, and the next thing that the user says."""
    for turn in history.turns:
        yield turn
        for call in turn.tool_calls if isinstance(turn, ModelTurn) else ():
            outcome = history.interaction(call.id).outcome
            if call.id in open_ids:
                outcome = Outcome("complete", "done") if answered else None
            if outcome is not None:
                yield Settled(call.id, outcome)
    yield UserTurn("next", (Text("Go on."),))
