"""A request as a scripted model sees it."""

from __future__ import annotations

from tests.simulate.scripted_steps import NAME
from tests.simulate.talk import ask, settle_all

from turnout.history.log import History
from turnout.simulate import (
    Call,
    ScriptedModel,
    SimulatedRequest,
)


def test_a_callable_answers_from_what_it_is_asked() -> None:
    """A model may look at the request: the user's words, the tools, the results."""
    asked_of: list[tuple[str, tuple[str, ...], list[str]]] = []

    def model(asked: SimulatedRequest) -> object:
        results = [outcome.text for _, _, outcome in asked.results]
        asked_of.append((asked.user, asked.tools, results))
        return f"It is {results[0]}." if results else Call("weather", {"city": "Paris"})

    for name in ("openai:gpt-4o", NAME, "gemini:gemini-2.5-pro", "openai-responses:gpt-5.1"):
        history = History("h")
        history.user("What is it like in Paris?")
        transport = ScriptedModel(model)
        ask(history, name, transport)
        settle_all(history, "sunny")
        assert ask(history, name, transport).text == "It is sunny."
        assert asked_of[-1] == ("What is it like in Paris?", ("weather", "time", "read_file"), ["sunny"])


def test_a_chained_request_is_seen_with_all_that_went_before() -> None:
    """The stored response brings back what was not sent again."""

    def model(asked: SimulatedRequest) -> object:
        return f"{asked.user} {asked.results[0][0]}" if asked.results else Call("weather")

    history = History("h")
    history.user("Paris?")
    transport = ScriptedModel(model)
    ask(history, "openai-responses:gpt-5.1", transport, chain=True)
    settle_all(history)

    assert ask(history, "openai-responses:gpt-5.1", transport, chain=True).text == "Paris? weather"
