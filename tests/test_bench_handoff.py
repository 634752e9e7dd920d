"""The hand-off bench measures what it says: the same hundred histories, and turnout gets them all through."""

from __future__ import annotations

import json
from collections import Counter

from bench.canned import Canned
from bench.handoff import judged
from bench.handoff_peers import MODELS, Send, turnout
from bench.hostile import CONVERSATIONS, DAMAGES, Hostile, histories, unharmed

"""Results that answer no call are kept as notes and rendered nowhere."""


def shape(history: Hostile) -> str:
    return repr((history.messages, history.tools))


def test_there_are_a_hundred_histories_and_no_two_are_alike() -> None:
    """Four conversations times twenty-five kinds of damage; none of them leaves one as it was."""
    shapes = [shape(history) for history in (*histories(), *unharmed())]

    assert len(list(histories())) == len(CONVERSATIONS) * len(DAMAGES) == 100
    assert len(set(shapes)) == 104


def test_the_histories_are_the_same_every_time() -> None:
    """Whoever writes in one of them does not change it for the next."""
    first = [shape(history) for history in histories()]
    for history in histories():
        history.messages.clear()

    assert [shape(history) for history in histories()] == first


def test_every_text_can_be_looked_for_on_its_own() -> None:
    """No text hides in another, but for the result that is there twice; none is escaped in JSON."""
    for history in histories():
        texts = list(dict.fromkeys(history.texts))
        assert len(history.texts) - len(texts) == (history.damage == "twice")
        assert all(sum(text in other for other in texts) == 1 for text in texts)
        assert all(text.isascii() and text.isprintable() and not set(text) & set('"\\') for text in texts)


def test_turnout_gets_every_history_through_to_every_api() -> None:
    """700 of 700 are accepted, and whole."""
    verdicts = list(judged(turnout, histories()))

    assert Counter(verdict.api for verdict in verdicts) == dict.fromkeys(MODELS, 100)
    assert [verdict for verdict in verdicts if verdict.broken] == []
    assert [verdict for verdict in verdicts if verdict.lost] == []


def test_the_judge_says_no() -> None:
    """A call that was never answered, sent as it is, is refused; what raises or forgets is no success."""
    cancelled = [history for history in histories() if history.damage == "cancelled"]

    assert all(
        "OAC-01" in verdict.broken for verdict in judged(as_it_is, cancelled) if verdict.api == "openai"
    )
    assert {verdict.broken for verdict in judged(raising, cancelled)} == {("ValueError",)}
    assert all(len(verdict.lost) == len(verdict.history.texts) for verdict in judged(forgetful, cancelled))


def as_it_is(api: str, wire: Canned) -> Send:
    return lambda history: setattr(wire, "sent", json.dumps({"messages": history.messages}).encode())


def forgetful(api: str, wire: Canned) -> Send:
    return lambda history: setattr(wire, "sent", b'{"messages":[]}')


def raising(api: str, wire: Canned) -> Send:
    def send(history: Hostile) -> None:
        raise ValueError("cannot read this")

    return send
