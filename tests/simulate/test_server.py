"""The official SDKs talk to the simulator over loopback: what they understand is the protocol."""

from __future__ import annotations

import asyncio
import json
import urllib.error
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest
from tests.simulate.targets import TARGETS

from turnout.errors import UsageError
from turnout.simulate import (
    Call,
    Drop,
    HttpError,
    MidStreamError,
    Reset,
    Say,
    Simulation,
    Split,
    Stall,
    Think,
    Truncate,
)
from turnout.simulate.server import running_server
from turnout.targets.target import find_target as target

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # models grow old

QUESTION = "What should I wear in Paris?"
SCHEMA = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
NAMES = ("weather", "time")
ROUNDS = [
    [Think("I need the weather."), Say("Let me look."), *(Call(name, {"city": "Paris"}) for name in NAMES)],
    [Think("Sunny."), Say("Wear a hat.")],
]
CALLS = [(name, {"city": "Paris"}) for name in NAMES]


@pytest.fixture
def play() -> Iterator[Any]:
    """Starts servers that play a script; gives the simulation and its address."""
    from contextlib import ExitStack

    with ExitStack() as stack:

        def start(script: Any, **options: Any) -> tuple[Simulation, str]:
            simulation = Simulation(script, **options)
            return simulation, stack.enter_context(running_server(simulation))

        yield start


# OpenAI


def chat_tools() -> list[Any]:
    return [{"type": "function", "function": {"name": name, "parameters": SCHEMA}} for name in NAMES]


def chat_round(client: Any, model: str, messages: list[Any], streamed: bool) -> Any:
    """One completion, in whichever form, as the SDK puts it together."""
    options: dict[str, Any] = {"model": model, "messages": messages, "tools": chat_tools()}
    if not streamed:
        return client.chat.completions.create(**options).choices[0].message
    options["stream_options"] = {"include_usage": True}
    with client.chat.completions.stream(**options) as stream:
        completion = stream.get_final_completion()
    assert completion.usage.total_tokens > 0
    return completion.choices[0].message


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("prefix", ["", "/deepseek", "/xai", "/openrouter/api", "/groq/openai", "/vllm"])
def test_the_openai_sdk_holds_a_conversation_over_chat(play: Any, prefix: str, streamed: bool) -> None:
    """Two rounds with parallel tools, at OpenAI and at those who speak its Chat."""
    import openai

    simulation, url = play(ROUNDS)
    client = openai.OpenAI(base_url=f"{url}{prefix}/v1", api_key="k", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    said = chat_round(client, "gpt-4o", messages, streamed)

    assert said.content == "Let me look."
    assert [(call.function.name, json.loads(call.function.arguments)) for call in said.tool_calls] == CALLS
    again = said.model_dump(exclude_none=True, exclude={"parsed", "reasoning_details", "reasoning"})
    for call in again["tool_calls"]:
        call["function"].pop("parsed_arguments", None)
        call.pop("index", None)
    results = [{"role": "tool", "tool_call_id": call.id, "content": "21"} for call in said.tool_calls]
    messages += [{**again, "role": "assistant"}, *results]  # the SDK adds up the roles of OpenRouter's chunks
    assert chat_round(client, "gpt-4o", messages, streamed).content == "Wear a hat."
    assert simulation.refusals == []


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("chained", [True, False], ids=["chained", "stateless"])
def test_the_openai_sdk_holds_a_conversation_over_responses(play: Any, streamed: bool, chained: bool) -> None:
    """Two rounds, stateless with encrypted reasoning, or going on from what is stored."""
    import openai

    simulation, url = play(ROUNDS)
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    tools = [{"type": "function", "name": name, "parameters": SCHEMA, "strict": False} for name in NAMES]
    options: dict[str, Any] = {"model": "gpt-5.1", "tools": tools, "store": chained}
    if not chained:
        options["include"] = ["reasoning.encrypted_content"]

    def ask(items: Any, **more: Any) -> Any:
        if not streamed:
            return client.responses.create(input=items, **options, **more)
        with client.responses.stream(input=items, **options, **more) as stream:
            return stream.get_final_response()

    first = ask([{"role": "user", "content": QUESTION}])
    calls = [item for item in first.output if item.type == "function_call"]
    assert first.output_text == "Let me look."
    assert [(call.name, json.loads(call.arguments)) for call in calls] == CALLS
    assert [item.summary[0].text for item in first.output if item.type == "reasoning"] == [
        "I need the weather."
    ]

    outputs = [{"type": "function_call_output", "call_id": call.call_id, "output": "21"} for call in calls]
    if chained:
        second = ask(outputs, previous_response_id=first.id)
    else:
        unknown = {"parsed_arguments", "parsed"}
        told = [item.model_dump(exclude_none=True, exclude=unknown) for item in first.output]
        for item in told:
            for part in item.get("content") or ():
                part.pop("parsed", None)
        second = ask([{"role": "user", "content": QUESTION}, *told, *outputs])
    assert second.output_text == "Wear a hat."
    assert simulation.refusals == []


# Anthropic


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_the_anthropic_sdk_holds_a_conversation(play: Any, streamed: bool) -> None:
    """Two rounds with signed thinking that goes back as it came."""
    import anthropic

    simulation, url = play(ROUNDS)
    client = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    options: dict[str, Any] = {
        "model": "claude-sonnet-4-5",
        "max_tokens": 4000,
        "thinking": {"type": "enabled", "budget_tokens": 2000},
        "tools": [{"name": name, "input_schema": SCHEMA} for name in NAMES],
    }

    def ask(messages: list[Any]) -> Any:
        if not streamed:
            return client.messages.create(messages=messages, **options)
        with client.messages.stream(messages=messages, **options) as stream:
            return stream.get_final_message()

    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    first = ask(messages)
    assert [block.type for block in first.content] == ["thinking", "text", "tool_use", "tool_use"]
    calls = [block for block in first.content if block.type == "tool_use"]
    assert [(call.name, call.input) for call in calls] == CALLS
    assert first.stop_reason == "tool_use" and first.usage.output_tokens > 0

    results = [{"type": "tool_result", "tool_use_id": call.id, "content": "21"} for call in calls]
    content = [block.model_dump(exclude_none=True) for block in first.content]
    second = ask([*messages, {"role": "assistant", "content": content}, {"role": "user", "content": results}])
    assert second.content[-1].text == "Wear a hat."
    assert simulation.refusals == []


# Gemini


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
@pytest.mark.parametrize("model", ["gemini-3-pro-preview", "gemini-2.5-pro"])
def test_the_google_sdk_holds_a_conversation(play: Any, model: str, streamed: bool) -> None:
    """Two rounds; the signature of the first call goes back on its part."""
    from google import genai
    from google.genai import types

    simulation, url = play(ROUNDS)
    client = genai.Client(api_key="k", http_options=types.HttpOptions(base_url=url))
    declared = [types.FunctionDeclaration(name=name, parameters_json_schema=SCHEMA) for name in NAMES]
    config = types.GenerateContentConfig(
        tools=[types.Tool(function_declarations=declared)],
        automatic_function_calling=types.AutomaticFunctionCallingConfig(disable=True),
    )

    def ask(contents: list[Any]) -> list[Any]:
        if not streamed:
            answer = client.models.generate_content(model=model, contents=contents, config=config)
            return list(answer.candidates[0].content.parts)
        chunks = client.models.generate_content_stream(model=model, contents=contents, config=config)
        return [part for chunk in chunks for part in chunk.candidates[0].content.parts]

    question = types.Content(role="user", parts=[types.Part(text=QUESTION)])
    parts = ask([question])
    calls = [part.function_call for part in parts if part.function_call]
    assert [(call.name, call.args) for call in calls] == CALLS
    assert "".join(part.text for part in parts if part.text and not part.thought) == "Let me look."

    kept = [part for part in parts if part.text or part.function_call]
    results = [
        types.Part(
            function_response=types.FunctionResponse(id=call.id, name=call.name, response={"output": "21"})
        )
        for call in calls
    ]
    second = ask(
        [question, types.Content(role="model", parts=kept), types.Content(role="user", parts=results)]
    )
    assert "".join(part.text for part in second if part.text and not part.thought) == "Wear a hat."
    assert simulation.refusals == []


# Mistral


@pytest.mark.parametrize("streamed", [True, False], ids=["streamed", "whole"])
def test_the_mistral_sdk_holds_a_conversation(play: Any, streamed: bool) -> None:
    """Two rounds with nine-character ids and thinking in parts of the content."""
    from mistralai.client import Mistral

    simulation, url = play(ROUNDS)
    client = Mistral(api_key="k", server_url=f"{url}/mistral")
    options: dict[str, Any] = {"model": "magistral-medium-latest", "tools": chat_tools()}

    def ask(messages: list[Any]) -> tuple[str, list[Any]]:
        if not streamed:
            message = client.chat.complete(messages=messages, **options).choices[0].message
            return _text(message.content), message.tool_calls or []
        text, calls = "", []
        for event in client.chat.stream(messages=messages, **options):
            delta = event.data.choices[0].delta
            text += _text(delta.content)
            calls += delta.tool_calls or []
        return text, calls

    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    text, calls = ask(messages)
    assert text == "Let me look."
    assert [(call.function.name, json.loads(call.function.arguments)) for call in calls] == CALLS
    made = [
        {
            "id": call.id,
            "type": "function",
            "function": {"name": call.function.name, "arguments": call.function.arguments},
        }
        for call in calls
    ]
    results = [
        {"role": "tool", "tool_call_id": call.id, "name": call.function.name, "content": "21"}
        for call in calls
    ]
    text, _ = ask([*messages, {"role": "assistant", "content": text, "tool_calls": made}, *results])
    assert text == "Wear a hat."
    assert simulation.refusals == []


def _text(content: Any) -> str:
    if not isinstance(content, list):
        return content if isinstance(content, str) else ""
    return "".join(part.text for part in content if part.type == "text")


# Failures, as the SDKs see them


def test_sdks_raise_what_the_simulator_refuses(play: Any) -> None:
    """A call without its result is the SDK's own BadRequestError, with the provider's sentence."""
    import anthropic
    import openai

    simulation, url = play(["never said"])
    made = [{"id": "call_1", "type": "function", "function": {"name": "time", "arguments": "{}"}}]
    messages: list[Any] = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "tool_calls": made},
        {"role": "user", "content": "and?"},
    ]
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    with pytest.raises(openai.BadRequestError, match="did not have response messages: call_1"):
        client.chat.completions.create(model="gpt-4o", messages=messages)

    use = {"type": "tool_use", "id": "toolu_1", "name": "time", "input": {}}
    claude = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    with pytest.raises(anthropic.BadRequestError, match="immediately after: toolu_1"):
        claude.messages.create(
            model="claude-sonnet-4-5",
            max_tokens=10,
            messages=[
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [use]},
                messages[0],
            ],
        )
    assert [seen.status for seen in simulation.exchanges] == [400, 400]


def test_sdks_raise_what_the_script_says(play: Any) -> None:
    """Rate limits, overload in mid stream, a wrong key: each as the SDK knows it."""
    import anthropic
    import openai

    _, url = play(
        [HttpError("rate_limit", retry_after=1), [Say("Once upon a time"), MidStreamError("overloaded")]],
        keys=["k"],
    )
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="k", max_retries=0)
    with pytest.raises(openai.RateLimitError) as limited:
        client.responses.create(model="gpt-5.1", input="hi")
    assert limited.value.response.headers["retry-after"] == "1"

    claude = anthropic.Anthropic(base_url=url, api_key="k", max_retries=0)
    asked: dict[str, Any] = {"model": "claude-sonnet-4-5", "max_tokens": 10}
    asked["messages"] = [{"role": "user", "content": "hi"}]
    with (
        pytest.raises(anthropic.APIStatusError, match="Overloaded"),
        claude.messages.stream(**asked) as stream,
    ):
        stream.get_final_message()

    with pytest.raises(openai.AuthenticationError, match="Incorrect API key provided"):
        openai.OpenAI(base_url=f"{url}/v1", api_key="wrong", max_retries=0).responses.create(
            model="gpt-5.1", input="hi"
        )


# Turnout itself


@pytest.mark.parametrize("name", TARGETS)
def test_a_session_walks_over_loopback(play: Any, name: str) -> None:
    """Real HTTP, streamed, two rounds with parallel tools, at every target."""
    from turnout import Session, tool

    @tool
    def weather(city: str) -> str:
        """The weather of a city."""
        return f"sunny in {city}"

    cities = [Call("weather", {"city": city}) for city in ("Paris", "Oslo")]
    simulation, url = play([[Think("Two cities."), *cities], "A hat."])
    provider = target(name).provider.name

    async def talk() -> str:
        async with Session(name, tools=[weather], base_url=f"{url}/{provider}/v1", api_key="k") as session:
            return (await session.ask(QUESTION)).text

    assert asyncio.run(talk()) == "A hat."
    assert simulation.refusals == []
    assert [(seen.provider, seen.status) for seen in simulation.exchanges] == [
        (target(name).provider.name, 200)
    ] * 2


# The line itself


def raw(url: str, path: str, body: Any, **headers: str) -> bytes:
    """All bytes of one answer, by the plainest client there is."""
    request = urllib.request.Request(
        f"{url}{path}", json.dumps(body).encode(), {"content-type": "application/json", **headers}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return bytes(answer.read())


CHAT = {"model": "qwen3", "messages": [{"role": "user", "content": "hi"}], "stream": True}


@pytest.mark.parametrize("step", [Drop(), [Say("Once upon a time"), Reset(after=2)]], ids=["drop", "reset"])
def test_a_cut_line_is_a_cut_line(play: Any, step: Any) -> None:
    """The client is left without an answer, or without the rest of it."""
    import http.client

    _, url = play([step])
    with pytest.raises((OSError, http.client.HTTPException)) as raised:
        raw(url, "/ollama/v1/chat/completions", CHAT)
    assert not isinstance(raised.value, urllib.error.HTTPError)


def test_a_short_body_ends_without_a_word(play: Any) -> None:
    """A truncated stream looks well to HTTP; only the missing end tells."""
    _, url = play([[Say("Once upon a time"), Truncate(), Split(3), Stall(0.01, after=1)]])

    body = raw(url, "/ollama/v1/chat/completions", CHAT)

    assert b"upon" in body and b"[DONE]" not in body


def test_the_verdicts_can_be_asked_for(play: Any) -> None:
    """What was accepted and what was refused, without bodies and keys."""
    _, url = play(["hi"])
    raw(url, "/ollama/v1/chat/completions", {**CHAT, "stream": False})
    with pytest.raises(urllib.error.HTTPError):
        raw(url, "/v1/chat/completions", {"messages": []}, authorization="Bearer secret")
    with urllib.request.urlopen(f"{url}/simulator", timeout=60) as answer:
        told = answer.read()

    assert [(seen["provider"], seen["status"]) for seen in json.loads(told)] == [
        ("ollama", 200),
        ("openai", 400),
    ]
    assert b"secret" not in told


def test_a_script_at_its_end_is_no_answer_of_a_provider(play: Any) -> None:
    """The message says whose mistake it is."""
    _, url = play([])
    with pytest.raises(urllib.error.HTTPError) as raised:
        raw(url, "/ollama/v1/chat/completions", CHAT)
    assert raised.value.code == 400 and b"the script has only 0 steps" in raised.value.read()
    with pytest.raises(UsageError):
        Simulation([]).provider("ollama").answer("/v1/chat/completions", {}, json.dumps(CHAT).encode())
