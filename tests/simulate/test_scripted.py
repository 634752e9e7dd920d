"""The simulator as a transport: what comes when, what is kept, and scripts in their many forms."""

from __future__ import annotations

import asyncio
import time

import pytest
from tests.simulate.talk import ask, key_headers, settle_all
from tests.simulate.virtual import run

from turnout.errors import UsageError
from turnout.history.log import History
from turnout.model import Usage
from turnout.simulate import (
    Call,
    Delay,
    Drop,
    HttpError,
    Odd,
    Pings,
    Reply,
    Reset,
    Say,
    ScriptedModel,
    ScriptedTransport,
    SimulatedRequest,
    Stall,
    Think,
    read_script,
)
from turnout.simulate.script import step
from turnout.simulate.simulation import provider_of
from turnout.targets.request import render
from turnout.targets.target import find_target as target
from turnout.world.ports import Outgoing

NAME = "anthropic:claude-sonnet-4-5"


def hello(name: str = NAME, **options: object) -> Outgoing:
    history = History("h")
    history.user("hi")
    request = render(history, name, **{"stream": True, **options})
    return Outgoing("POST", request.url, {**request.headers, **key_headers(name)}, request.body)


async def arrivals(transport: ScriptedTransport, request: Outgoing) -> list[tuple[float, bytes]]:
    """When each chunk comes, by the clock of the loop."""
    loop = asyncio.get_running_loop()
    async with transport.send(request) as answer:
        return [(loop.time(), chunk) async for chunk in answer.chunks]


def test_silence_passes_in_virtual_time() -> None:
    """An hour before the first byte and a day in mid stream, at no cost."""
    transport = ScriptedTransport([[Say("Hello there, you."), Delay(3600), Stall(86400, after=4)]])
    began = time.monotonic()

    came, _ = run(arrivals(transport, hello()))

    assert came[0][0] == 3600
    assert came[4][0] == 3600 + 86400
    assert time.monotonic() - began < 60


def test_pings_come_while_nothing_else_does() -> None:
    """Signs of life keep the line busy and say nothing: only an idle clock on events can tell."""
    transport = ScriptedTransport([[Say("Hello."), Pings(6, every=10, after=2)]])

    came, took = run(arrivals(transport, hello()))

    assert [chunk for at, chunk in came if 0 < at < 60] == [b": ping\n\n"] * 5
    assert took == 60


def test_a_dead_line_raises() -> None:
    """No answer at all is a ConnectionError before there is a status."""
    with pytest.raises(ConnectionError):
        run(arrivals(ScriptedTransport([Drop()]), hello()))


def test_a_connection_breaks_in_mid_stream() -> None:
    """What came before it did is there."""
    transport = ScriptedTransport([[Say("Hello there."), Reset(after=4)]])
    seen: list[bytes] = []

    async def listen() -> None:
        async with transport.send(hello()) as answer:
            async for chunk in answer.chunks:
                seen.append(chunk)

    with pytest.raises(ConnectionResetError):
        run(listen())
    assert len(seen) == 4


def test_leaving_early_closes_the_stream() -> None:
    """A caller that stops listening leaves nothing running."""

    async def listen() -> bytes:
        async with ScriptedTransport([[Say("Hello there."), Stall(1e9, after=3)]]).send(hello()) as answer:
            return await anext(aiter(answer.chunks))

    first, took = run(listen())
    assert first.startswith(b"event: message_start") and took == 0


def test_every_request_is_kept_with_its_verdict() -> None:
    """Who was asked, for which model, and what became of it."""
    transport = ScriptedTransport([HttpError("rate_limit"), "Hello."])
    run(arrivals(transport, hello()))
    run(arrivals(transport, hello("mistral:mistral-large-latest")))

    kept = [
        (seen.provider, seen.protocol, seen.model, seen.status, seen.is_accepted)
        for seen in transport.exchanges
    ]
    assert kept == [
        ("anthropic", "anthropic", "claude-sonnet-4-5", 429, True),
        ("mistral", "chat", "mistral-large-latest", 200, True),
    ]


def test_a_script_that_is_at_its_end_says_so() -> None:
    """A request too many is a mistake in the test, not an answer of the provider."""
    with pytest.raises(UsageError, match="only 1 steps; add one for this request"):
        transport = ScriptedModel(["Hello."])
        run(arrivals(transport, hello()))
        run(arrivals(transport, hello()))


def test_a_scripted_model_asks_for_no_key() -> None:
    """In users' own tests no key has to be set."""
    request = hello()
    bare = Outgoing("POST", request.url, {"anthropic-version": "2023-06-01"}, request.body)

    came, _ = run(arrivals(ScriptedModel([Say("Hi.")]), bare))

    assert b"Hi." in b"".join(chunk for _, chunk in came)


def test_each_provider_may_have_a_script_of_its_own() -> None:
    """One is overloaded, the other answers."""
    transport = ScriptedTransport({"anthropic": [HttpError("overloaded")] * 2, "openai": ["Hello."]}, keeps=1)
    run(arrivals(transport, hello()))
    run(arrivals(transport, hello("openai:gpt-4o")))

    assert [(seen.provider, seen.status) for seen in transport.exchanges] == [("openai", 200)]


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


# Scripts


def test_steps_are_written_the_way_one_would_tell_them() -> None:
    """A text, a part and a list of parts are replies."""
    assert step("hi") == Reply((Say("hi"),))
    assert step(Call("time")) == Reply((Call("time"),))
    assert step(["Well.", Think("Hm."), Usage(1, 2)]) == Reply(
        (Say("Well."), Think("Hm.")), usage=Usage(1, 2)
    )
    assert step(HttpError("quota")) == HttpError("quota")


def test_a_script_can_be_a_file() -> None:
    """JSON: texts, objects with a type, and lists of those."""
    source = """[
        "Hello.",
        [{"type": "think", "text": "Hm."}, {"type": "call", "name": "time"}, {"type": "odd", "ways": ["cr"]}],
        {"type": "http_error", "kind": "overloaded", "retry_after": 3},
        {"type": "stall", "seconds": 2}
    ]"""

    assert read_script(source) == (
        Reply((Say("Hello."),)),
        Reply((Think("Hm."), Call("time")), odd=("cr",)),
        HttpError("overloaded", retry_after=3),
        Reply((), faults=(Stall(2),)),
    )


@pytest.mark.parametrize(
    "source", ["{", "{}", '[{"type": "sing"}]', '[{"type": "odd", "ways": ["x"]}]', "[3]"]
)
def test_a_script_that_makes_no_sense_is_refused(source: str) -> None:
    """The message says what is wrong, before anything is played."""
    with pytest.raises(UsageError):
        read_script(source)


def test_an_unknown_oddity_is_refused() -> None:
    """Its neighbours are listed."""
    with pytest.raises(UsageError, match="use one of crlf"):
        Odd(("no_such_way",))


# Whose URL it is


@pytest.mark.parametrize(
    ("url", "provider"),
    [
        ("https://api.openai.com/v1/chat/completions", "openai"),
        ("https://api.openai.com/v1/responses", "openai-responses"),
        ("https://api.anthropic.com/v1/messages", "anthropic"),
        ("https://api.groq.com/openai/v1/chat/completions", "groq"),
        ("https://mine.openai.azure.com/openai/v1/chat/completions", "azure"),
        ("https://cloudcode-pa.googleapis.com/v1internal:generateContent", "gemini"),
        ("http://127.0.0.1:11434/v1/chat/completions", "ollama"),
        ("http://127.0.0.1:9000/mistral/v1/chat/completions", "mistral"),
        ("http://127.0.0.1:9000/moonshot/v1/chat/completions", "kimi"),
        ("http://127.0.0.1:9000/copilot/responses", "copilot"),
        ("http://127.0.0.1:9000/v1/messages", "anthropic"),
        ("http://127.0.0.1:9000/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse", "gemini"),
        ("http://127.0.0.1:9000/api/chat", "ollama"),
    ],
)
def test_a_url_belongs_to_a_provider(url: str, provider: str) -> None:
    """By its host, by the first part of its path, or by the protocol."""
    assert provider_of(url) == provider


def test_every_known_target_is_sent_to_itself() -> None:
    """What is rendered for a provider arrives at its simulation, but where several share an address."""
    from turnout.providers import PROVIDERS

    for name in PROVIDERS.keys() - {"compatible"}:
        assert provider_of(hello(f"{name}:some-model").url) == name, target(f"{name}:m").provider.base_url
