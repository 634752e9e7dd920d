"""An Ollama server is asked which models it has and how much they read."""

from __future__ import annotations

import asyncio

import pytest

from turnout import Session
from turnout.simulate import ScriptedTransport
from turnout.targets.target import find_target
from turnout.wire.ollama.models import USUAL_WINDOW, model_names, served_facts
from turnout.wire.request import ModelFacts
from turnout.world.ollama_models import list_models, with_served_facts
from turnout.world.shared_http import SharedHttp
from turnout.world.world import World

SHOW = {"model_info": {"qwen3.context_length": 262_144}, "capabilities": ["completion", "tools"]}


def test_the_window_is_what_the_model_was_set_up_with() -> None:
    """`num_ctx` of its Modelfile, else what it was trained for, but not more than the usual window."""
    known = ModelFacts(thinking=("on", "off"))
    assert served_facts(SHOW, known).window == served_facts(SHOW, known).context == USUAL_WINDOW
    assert served_facts({**SHOW, "parameters": "stop x\nnum_ctx    8192"}, known).window == 8_192
    assert served_facts({"model_info": {"a.context_length": 2_048}}, known).context == 2_048


def test_what_the_model_can_do_is_read_too() -> None:
    """A model without tools, thinking or eyes is not asked for them."""
    facts = served_facts(SHOW, ModelFacts(thinking=("on", "off")))
    assert (facts.tools, facts.thinking, facts.media) == (True, (), ())
    assert served_facts({**SHOW, "capabilities": ["vision"]}, ModelFacts()).tools is False


@pytest.mark.parametrize(
    "body", [None, [], {}, {"model_info": 3}, {"model_info": {"x.context_length": "many"}}]
)
def test_an_answer_that_says_nothing_changes_nothing(body: object) -> None:
    """Whatever its shape."""
    assert served_facts(body, ModelFacts()) == ModelFacts()
    assert model_names(body) == ()


def test_a_session_sends_the_window_that_it_counts_with() -> None:
    """Asked once; the requests carry it as `num_ctx`, and the router knows it."""
    transport = ScriptedTransport(["Hello.", "Again."])
    session = Session("ollama:qwen3", world=World(transport=transport, environment={}))

    async def talk() -> None:
        async with session:
            await session.ask("hi")
            await session.ask("and?")

    asyncio.run(talk())
    bodies = [seen.body for seen in transport.exchanges]
    assert len(bodies) == 2 and all(b'"num_ctx":32768' in body for body in bodies)


def test_no_server_is_no_failure() -> None:
    """Nothing listens there: no models, and the facts of the table stay."""
    place = find_target("ollama:qwen3", base_url="http://127.0.0.1:9")
    assert asyncio.run(list_models("http://127.0.0.1:9", SharedHttp(), {})) == ()
    assert asyncio.run(with_served_facts(place, SharedHttp(), {})) is place


def test_the_simulator_lists_its_models() -> None:
    """`/api/tags`, with and without the path of the Chat API in the base URL."""
    transport = ScriptedTransport([])
    for base in ("http://127.0.0.1:11434", "http://127.0.0.1:11434/v1"):
        assert asyncio.run(list_models(base, transport, {})) == ("demo:latest",)
