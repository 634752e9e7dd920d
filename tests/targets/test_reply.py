"""Recorded replies as the next turn: what a provider said goes back to it whole, and on to the others."""

from __future__ import annotations

import pytest
from tests.corpus import SOAK, Exchange, needs_corpus, share
from tests.handoff import recorded
from tests.handoff.fidelity import losses
from tests.handoff.judges import complaints
from tests.handoff.places import PLACES, THINKING
from tests.handoff.test_matrix import SHARDS, _shard, few

from turnout import History, Outcome, ProviderError, StreamError, decode, render
from turnout.targets.target import find_target as target


def after(exchange: Exchange) -> History | None:
    """The conversation with the recorded reply, every call answered; None where there was no reply."""
    history = recorded.history(exchange)
    history.seal()
    try:
        turn = decode(recorded.origin(exchange), exchange.body, turn_key=history.next_key())
    except (ProviderError, StreamError):
        return None
    history.append(turn)
    for at, call in enumerate(turn.tool_calls):
        history.settle(call.id, Outcome("complete", f"result {at}"))
    if not turn.tool_calls and turn.stop != "paused":
        history.user("go on")
    return history


@needs_corpus
@pytest.mark.parametrize("shard", range(SHARDS))
def test_a_reply_goes_back_to_who_gave_it_and_on_to_others(shard: int) -> None:
    """Valid everywhere, nothing lost, and its signatures and encrypted reasoning go back to it alone."""
    found: list[str] = []
    answered = share([exchange for exchange in recorded.requests() if exchange.status == 200], 3)
    for at, exchange in _shard(answered, shard):
        if (history := after(exchange)) is None:
            continue
        others = PLACES if SOAK else [place for place, _, _ in few(at)][:1]
        for place in (target(recorded.origin(exchange)), *others):
            for thinking in THINKING:
                request = render(history, place, thinking=thinking)
                lines = [*complaints(request, place), *losses(history, request, place, thinking)]
                found += [f"{exchange.id} -> {place.origin} (thinking {thinking}): {line}" for line in lines]
    assert found == []
