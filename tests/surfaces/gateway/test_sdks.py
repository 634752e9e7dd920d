"""Official SDKs talk to every family of upstreams through the gateway, another one at every turn."""

from __future__ import annotations

import itertools
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.gateway.sdk_talks import STOPS, TALKS, Said, Talk
from tests.surfaces.gateway.served import TOKEN, UPSTREAMS, make_gateway, serving

from turnout.simulate import Call, Ends, Say, ScriptedTransport, Think
from turnout.simulate.request import SimulatedRequest

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
ORDER = list(UPSTREAMS)
TRACES = {
    "responses": r'"encrypted_content":"([^"]{20,})"',
    "anthropic": r'"signature":"([^"]{20,})"',
    "gemini": r'"thoughtSignature": ?"([^"]{20,})"',
    "kimi": r'"reasoning_content":"([^"]{4,})"',
}
"""Families that want their reasoning back, and where it stands in what they answered."""


class Model:
    """Thinks and calls twice when the user spoke, thinks and answers when the results are there."""

    def __init__(self) -> None:
        self.rounds = 0

    def __call__(self, asked: SimulatedRequest) -> list[Any]:
        self.rounds += 1
        if asked.results:
            return [Think(f"results {self.rounds}"), Say(f"answer {self.rounds}")]
        cities = (Call("weather", {"city": f"Paris {self.rounds}"}), Call("weather", {"city": "Oslo"}))
        return [Think(f"thought {self.rounds}"), Say("I look."), *cities]


def one_round(talk: Talk, model: str, streams: bool) -> tuple[Said, Said]:
    """The user asks, the calls are answered (one with an error), the model answers."""
    talk.user("What is the weather?")
    first = talk.ask(model, streams)
    assert len(first.calls) == 2 and len({id for id, _ in first.calls}) == 2
    assert first.calls[1][1] == {"city": "Oslo"} and first.text == "I look."
    outcomes = [("18 degrees", False), ("the service is down", True)]
    talk.results(dict(zip((id for id, _ in first.calls), outcomes, strict=True)))
    last = talk.ask(model, streams)
    assert last.text.startswith("answer") and not last.calls
    assert first.input_tokens > 0 and last.input_tokens > 0
    return first, last


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("sdk", TALKS)
def test_a_conversation_through_all_upstreams(sdk: str, streams: bool, tmp_path: Path) -> None:
    """Text, parallel calls, thinking, error results, usage and stops; nobody refuses, own reasoning goes
    back."""
    turn = (list(TALKS).index(sdk) + streams) % len(ORDER)
    families = ORDER[turn:] + ORDER[:turn]
    transport = ScriptedTransport(Model())
    with serving(make_gateway(tmp_path, transport=transport)) as base:
        talk = TALKS[sdk](base, TOKEN)
        for family in (*families, *families[: len(families) if SOAK else 2]):
            before = len(transport.exchanges)
            first, last = one_round(talk, UPSTREAMS[family], streams)
            assert (first.stop, last.stop) == (STOPS[sdk]["calls"], STOPS[sdk]["end"]), family
            called, answered = list(transport.exchanges)[before:]
            if sdk != "mistral":  # its client does not ask for thinking
                assert _own_reasoning_came_back(family, called.answered, answered.body), family
            assert "the service is down" in answered.body.decode()
    assert not transport.refusals, [(each.provider, each.problems) for each in transport.refusals]


@pytest.mark.parametrize("streams", [False, True], ids=["whole", "streamed"])
@pytest.mark.parametrize("sdk", TALKS)
def test_a_reply_that_was_cut_says_why(sdk: str, streams: bool, tmp_path: Path) -> None:
    """Too long or filtered, at every upstream: each SDK reads it in its own word."""
    transport = ScriptedTransport(lambda asked: [Say("half"), Ends(asked.user)])
    with serving(make_gateway(tmp_path, transport=transport)) as base:
        talk: Any = TALKS[sdk](base, TOKEN)
        for family, stop in itertools.product(UPSTREAMS, ("length", "refused")):
            _said_so_far(talk).clear()
            talk.user(stop)
            assert talk.ask(UPSTREAMS[family], streams).stop == STOPS[sdk][stop], (family, stop)


def _said_so_far(talk: Any) -> list[Any]:
    return next(getattr(talk, name) for name in ("messages", "items", "contents") if hasattr(talk, name))


def _own_reasoning_came_back(family: str, answered: bytes, sent: bytes) -> bool:
    """Whether the private state of a reply is in the next request to the same model."""
    if (pattern := TRACES.get(family)) is None:
        return True
    found = re.findall(pattern, answered.decode())
    text = sent.decode()
    joined = "".join(found) if family == "kimi" else ""
    return any(each in text for each in [*found, joined] if each)


@pytest.mark.parametrize("sdk", [name for name in TALKS if name != "mistral"])
def test_own_reasoning_survives_a_visit_elsewhere_and_a_restart(sdk: str, tmp_path: Path) -> None:
    """Claude answers, Kimi answers, the gateway is started anew: Claude gets its signatures back."""
    model, claude = Model(), UPSTREAMS["anthropic"]
    transport = ScriptedTransport(model)
    with serving(make_gateway(tmp_path, transport=transport)) as base:
        talk: Any = TALKS[sdk](base, TOKEN)
        one_round(talk, claude, True)
        signatures = re.findall(TRACES["anthropic"], transport.exchanges[0].answered.decode())
        one_round(talk, UPSTREAMS["kimi"], False)
    with serving(make_gateway(tmp_path, transport=transport)) as base:
        other = TALKS[sdk](base, TOKEN)
        _said_so_far(other).extend(_said_so_far(talk))
        one_round(other, claude, True)
    last = transport.exchanges[-1].body.decode()
    assert signatures and all(each in last for each in signatures)
    assert not transport.refusals


def test_two_gateways_with_one_sealing_key_read_each_others_state(tmp_path: Path) -> None:
    """The second host has no file of the first: the client carries the state."""
    transport = ScriptedTransport(Model())
    with serving(make_gateway(tmp_path / "a", transport=transport)) as base:
        talk: Any = TALKS["anthropic"](base, TOKEN)
        one_round(talk, UPSTREAMS["responses"], True)
        one_round(talk, UPSTREAMS["anthropic"], True)
    with serving(make_gateway(tmp_path / "b", transport=transport)) as base:
        other = TALKS["anthropic"](base, TOKEN)
        other.messages = talk.messages
        one_round(other, UPSTREAMS["responses"], True)
    encrypted = re.findall(TRACES["responses"], transport.exchanges[0].answered.decode())
    assert encrypted and encrypted[0] in transport.exchanges[-1].body.decode()
    assert json.loads(transport.exchanges[-1].body) and not transport.refusals
