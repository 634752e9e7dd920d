"""Steps after a refusal, kept for the conversation that needed them."""

from __future__ import annotations

from turnout.history.log import History
from turnout.model import Origin
from turnout.session.recovery import Recovery
from turnout.surfaces.gateway.recoveries import PER_CONVERSATION, RecoveryCache

TARGET = Origin("kimi", "kimi", "kimi-k2.5")


def conversation(*texts: str) -> History:
    history = History("c")
    for text in texts:
        history.user(text)
    return history


def refused_once() -> Recovery:
    recovery = Recovery()
    recovery.step(TARGET, "c.1")
    return recovery


def test_steps_are_found_by_what_was_said_last() -> None:
    """A conversation that goes on has them; one that only begins alike, or was edited, has not."""
    cache, recovery = RecoveryCache(), refused_once()
    cache.keep(conversation("hi", "one"), recovery, TARGET)
    assert cache.find(conversation("hi", "one", "two")) is recovery
    assert cache.find(conversation("hi")) is None
    assert cache.find(conversation("hi", "other", "two")) is None


def test_a_conversation_without_a_refusal_keeps_nothing() -> None:
    """Most have none."""
    cache = RecoveryCache()
    cache.keep(conversation("hi"), Recovery(), TARGET)
    assert len(cache) == 0


def test_the_cache_is_bounded() -> None:
    """By conversations, and by branches of one of them."""
    cache = RecoveryCache(limit=3)
    for number in range(10):
        history = History(f"c{number}")
        history.user("hi")
        cache.keep(history, refused_once(), TARGET)
    assert len(cache) == 3
    branches = [conversation(f"branch {number}") for number in range(PER_CONVERSATION + 2)]
    for branch in branches:
        cache.keep(branch, refused_once(), TARGET)
    assert [cache.find(branch) is not None for branch in branches] == [False, False, True, True, True, True]


def test_a_resumed_recovery_goes_on_with_the_next_step() -> None:
    """It does not begin with what was given up already, and leaves the kept one as it is."""
    earlier, later = refused_once(), Recovery()
    later.resume(earlier)
    assert later.in_force(TARGET) == ("drop reasoning",)
    assert later.step(TARGET, "c.2") == "drop options"
    assert earlier.in_force(TARGET) == ("drop reasoning",)
