"""A conversation that changes provider at every turn is never refused."""

from __future__ import annotations

import random

import pytest
from tests.corpus import ROTATION, SOAK
from tests.simulate.talk import ask, settle_all
from tests.simulate.targets import TARGETS

from turnout.history.log import History
from turnout.simulate import Call, Hosted, Say, ScriptedTransport, Think
from turnout.simulate.request import SimulatedRequest


def chatty(seed: int):  # type: ignore[no-untyped-def]
    """A model that thinks, speaks and calls tools by the throw of a die."""
    dice = random.Random(seed)

    def said(asked: SimulatedRequest) -> list[object]:
        thinking = [Think(f"Thought {dice.random()}")] if dice.random() < 0.6 else []
        hosted = [Hosted(result="found")] if dice.random() < 0.1 else []
        names = dice.choices(["weather", "time", "read_file"], k=dice.choice([0, 0, 1, 2, 3]))
        calls = [Call(name, {"n": dice.randrange(9)}) for name in names]
        text = [Say("Well, I say.")] if dice.random() < 0.7 or not calls else []
        return [*thinking, *hosted, *text, *calls]

    return said


def walk(seed: int, turns: int) -> ScriptedTransport:
    """A random conversation through all targets."""
    dice = random.Random(f"walk {seed}")
    transport = ScriptedTransport(chatty(seed))
    history = History(f"walk{seed}")
    for _ in range(turns):
        if not history.open_calls or dice.random() < 0.2:
            history.user("Go on.")
        ask(history, dice.choice(list(TARGETS)), transport, thinking=dice.choice([None, True, False]))
        if dice.random() < 0.8:
            settle_all(history)
    return transport


SEEDS = range(60) if SOAK else range(ROTATION * 4, ROTATION * 4 + 4)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_provider_refuses_a_conversation_that_came_from_others(seed: int) -> None:
    """Parallel calls, thinking, unanswered calls, a switch at every turn: no request is refused."""
    transport = walk(seed, 30)

    assert [(seen.url, seen.problems) for seen in transport.refusals] == []
    assert len(transport.exchanges) == 30


@pytest.mark.parametrize("name", TARGETS)
def test_a_conversation_that_stays_is_not_refused(name: str) -> None:
    """Signatures, ciphers and ids go back to their issuer as they came."""
    transport = ScriptedTransport(
        [
            [Think("First."), Call("weather"), Call("time")],
            [Think("Second."), Call("read_file")],
            [Think("Third."), Say("There.")],
            [Say("Bye.")],
        ]
    )
    history = History("stay")
    history.user("What should I wear?")
    for _ in range(3):
        ask(history, name, transport, thinking=True)
        settle_all(history)
    history.user("Thanks.")
    ask(history, name, transport, thinking=True)

    assert transport.refusals == []


def test_chained_responses_go_on_from_what_is_stored() -> None:
    """With `chain` only what is new is sent; the provider knows the rest."""
    transport = ScriptedTransport([[Call("weather")], [Call("time")], "There."])
    history = History("chain")
    history.user("What should I wear?")
    for _ in range(3):
        ask(history, "openai-responses:gpt-5.1", transport, chain=True)
        settle_all(history)

    assert transport.refusals == []
    assert b"previous_response_id" in transport.exchanges[2].body
    assert b"What should I wear" not in transport.exchanges[2].body
