"""The simulator in one process: pauses, breaks, and no key."""

from __future__ import annotations

import time

import pytest
from tests.simulate.scripted_steps import arrivals, hello
from tests.simulate.virtual import run

from turnout.errors import UsageError
from turnout.simulate import (
    Delay,
    Drop,
    Pings,
    Reset,
    Say,
    ScriptedModel,
    ScriptedTransport,
    Stall,
)
from turnout.world.ports import Outgoing


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
