"""Replies of the official SDKs, in every form that they have, become turns of one history."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator
from typing import Any

import anthropic
import openai
import pytest
from google import genai
from google.genai import types

import turnout
from turnout.simulate import Call, Say, SimulatedRequest, Simulation, Think
from turnout.simulate.server import running_server

READ = {"type": "function", "function": {"name": "read.file", "parameters": {"type": "object"}}}
TARGETS = {
    "openai": "openai:gpt-5.1",
    "openai-responses": "openai-responses:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-3-pro",
}
Send = Callable[[turnout.WireRequest], Any]


def answer(asked: SimulatedRequest) -> Any:
    """Two parallel calls after the user spoke, then a sentence."""
    if asked.results:
        return [Think("Both read."), Say("Done.")]
    name = next(iter(asked.tools))
    return [Think("Two files."), Say("I read."), Call(name, {"path": "a"}), Call(name, {"path": "b"})]


@pytest.fixture(scope="module")
def simulation() -> Iterator[tuple[Simulation, str]]:
    simulated = Simulation(answer)
    with running_server(simulated) as address:
        yield simulated, address


def senders(address: str) -> dict[tuple[str, str], Send]:
    """Every way in which an SDK gives a reply, by target and form."""
    chat = openai.OpenAI(api_key="k", base_url=f"{address}/v1")
    claude = anthropic.Anthropic(api_key="k", base_url=address)
    google = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=address))

    def parsed_stream(request: turnout.WireRequest) -> Any:
        wanted = {name: value for name, value in request.params.items() if name != "stream"}
        with chat.chat.completions.stream(**wanted) as stream:
            return list(stream)

    def message_stream(request: turnout.WireRequest) -> Any:
        wanted = {name: value for name, value in request.params.items() if name != "stream"}
        with claude.messages.stream(**wanted) as stream:
            return iter(list(stream))

    return {
        ("openai", "object"): lambda request: chat.chat.completions.create(**request.params),
        ("openai", "stream"): lambda request: chat.chat.completions.create(**request.params),
        ("openai", "stream helper"): lambda request: iter(parsed_stream(request)),
        ("openai-responses", "object"): lambda request: chat.responses.create(**request.params),
        ("openai-responses", "stream"): lambda request: chat.responses.create(**request.params),
        ("anthropic", "object"): lambda request: claude.messages.create(**request.params),
        ("anthropic", "dict"): lambda request: claude.messages.create(**request.params).model_dump(),
        ("anthropic", "stream"): lambda request: claude.messages.create(**request.params),
        ("anthropic", "stream helper"): message_stream,
        ("gemini", "object"): lambda request: google.models.generate_content(**request.params),
        ("gemini", "stream"): lambda request: google.models.generate_content_stream(**request.params),
    }


def converse(history: turnout.History, target: str, send: Send, *, stream: bool) -> list[turnout.ModelTurn]:
    """One prompt with its tool loop, by the provider's own SDK."""
    history.user("Read both files.")
    turns = []
    for _ in range(3):
        request = turnout.render(history, to=target, stream=stream)
        turn = turnout.receive(history, request, send(request))
        turns.append(turn)
        if not turn.tool_calls:
            break
        history.result(turn.tool_calls[0].id, "what it says")
        history.result(turn.tool_calls[1].raw_id or turn.tool_calls[1].id, OSError("no such file"))
    return turns


def test_one_history_goes_through_every_sdk_in_every_form(simulation: tuple[Simulation, str]) -> None:
    """Text, calls by their own names and results are kept, and no request on the way is refused."""
    simulated, address = simulation
    history = turnout.History("own", tools=[READ])
    for (provider, form), send in senders(address).items():
        turns = converse(history, TARGETS[provider], send, stream=form.startswith("stream"))
        what = f"{provider} as {form}"
        assert [turn.text for turn in turns] == ["I read.", "Done."], what
        assert [call.name for call in turns[0].tool_calls] == ["read.file"] * 2, what
        assert [call.arguments for call in turns[0].tool_calls] == [{"path": "a"}, {"path": "b"}], what
        outcomes = [history.ledger[call.id].outcome for call in turns[0].tool_calls]
        assert [each.status for each in outcomes if each] == ["complete", "error"], what
        assert turns[-1].usage is not None and turns[-1].usage.output, what
    assert [seen.problems for seen in simulated.exchanges if seen.problems] == []


def test_an_asynchronous_stream_is_awaited(simulation: tuple[Simulation, str]) -> None:
    """`await turnout.receive(…)` takes the streams of the asynchronous clients."""
    _, address = simulation

    async def ask() -> turnout.ModelTurn:
        history = turnout.History("own", tools=[READ])
        history.user("Read both files.")
        request = turnout.render(history, to=TARGETS["openai"], stream=True)
        async with openai.AsyncOpenAI(api_key="k", base_url=f"{address}/v1") as client:
            reply = await client.chat.completions.create(**request.params)
            turn: turnout.ModelTurn = await turnout.receive(history, request, reply)
        assert history.turns[-1] is turn
        return turn

    assert [call.name for call in asyncio.run(ask()).tool_calls] == ["read.file"] * 2


def test_ids_that_a_provider_repeats_name_the_open_call() -> None:
    """The same id in every turn: a result goes to the call that still waits for one."""
    history = turnout.History("own")
    call = {"id": "call_1", "type": "function", "function": {"name": "read", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    body = {"choices": [{"index": 0, "finish_reason": "tool_calls", "message": message}]}
    for number in range(3):
        history.user("again")
        turn = turnout.receive(history, "openai:gpt-5.1", json.dumps(body))
        assert history.result("call_1", {"number": number})
        outcome = history.ledger[turn.tool_calls[0].id].outcome
        assert outcome is not None and outcome.text == f'{{"number":{number}}}'


def test_a_reply_that_failed_changes_nothing() -> None:
    """An error in place of a reply is raised, and the history can be asked again."""
    history = turnout.History("own")
    history.user("hello")
    before = list(history.entries)
    with pytest.raises(turnout.ProviderError):
        turnout.receive(history, "openai:gpt-5.1", {"error": {"message": "overloaded", "code": 503}})
    with pytest.raises(turnout.StreamError):
        turnout.receive(history, "openai:gpt-5.1", [b'data: {"choices": [{"delta": {"content": "I'])
    assert history.entries == before


def test_a_result_of_an_unknown_call_names_the_rule() -> None:
    """A wrong id is a mistake of the caller, and the message says which ids there are."""
    history = turnout.History("own")
    with pytest.raises(turnout.UsageError, match="call_9 is not in this history"):
        history.result("call_9", "text")
