"""The libraries that the stream bench runs beside, each as its users would read a stream.

Each gets the same bytes from an in-process transport, walks every event it gives out, and
puts the reply together where it does that at all; what it assembled is checked once.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from bench.canned import Canned
from bench.render_peers import MODELS, langchain_model, pydantic_model
from bench.streams import NAME

MESSAGES = [{"role": "user", "content": "go"}]
TOOL: dict[str, Any] = {
    "name": NAME,
    "description": "Write a file.",
    "parameters": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "text": {"type": "string"}},
        "required": ["path", "text"],
    },
}
CHAT_TOOLS = [{"type": "function", "function": TOOL}]
Read = Callable[[], int]


class Reader(Struct):
    """A library: `read` goes through the stream in `wire` and gives back how many calls it saw."""

    name: str
    read: Read
    wire: Canned


def readers(protocol: str) -> Iterator[Reader | tuple[str, str]]:
    """Every library for a protocol, or its name and why it cannot run here."""
    for name, make in MAKERS.items():
        if make is sdk_create and protocol not in CREATES:
            continue  # google-genai streams in one way only
        wire = Canned(chunks=[b""])
        try:
            yield Reader(name, make(protocol, wire), wire)
        except Exception as error:  # whatever a library raises, its row says so
            yield name, f"{type(error).__name__}: {error}"


# The official SDKs


def sdk(protocol: str, wire: Canned) -> Read:
    return {"openai": _openai, "openai-responses": _responses, "anthropic": _anthropic, "gemini": _gemini}[
        protocol
    ](wire)


def _openai(wire: Canned) -> Read:
    import httpx2
    import openai

    chat = openai.OpenAI(api_key="k", http_client=wire.client(httpx2)).chat.completions

    def read() -> int:
        with chat.stream(model="gpt-5.1", messages=MESSAGES, tools=CHAT_TOOLS) as stream:
            for _ in stream:
                pass
            return len(stream.get_final_completion().choices[0].message.tool_calls or ())

    return read


def _responses(wire: Canned) -> Read:
    import httpx2
    import openai

    responses = openai.OpenAI(api_key="k", http_client=wire.client(httpx2)).responses

    def read() -> int:
        with responses.stream(model="gpt-5.1", input="go", tools=[{"type": "function", **TOOL}]) as stream:
            for _ in stream:
                pass
            return sum(item.type == "function_call" for item in stream.get_final_response().output)

    return read


def _anthropic(wire: Canned) -> Read:
    import anthropic
    import httpx2

    messages = anthropic.Anthropic(api_key="k", http_client=wire.client(httpx2)).messages

    def read() -> int:
        with messages.stream(model=MODELS["anthropic"], max_tokens=8192, messages=MESSAGES) as stream:
            for _ in stream:
                pass
            return sum(block.type == "tool_use" for block in stream.get_final_message().content)

    return read


def _gemini(wire: Canned) -> Read:
    import httpx
    from google import genai
    from google.genai import types

    options = types.HttpOptions(httpx_client=wire.client(httpx))
    models = genai.Client(api_key="k", http_options=options).models

    def read() -> int:
        chunks = models.generate_content_stream(model=MODELS["gemini"], contents="go")
        return sum(len(chunk.function_calls or ()) for chunk in chunks)

    return read


# The official SDKs without their helper: each chunk is an object, and the caller counts the calls


def sdk_create(protocol: str, wire: Canned) -> Read:
    return CREATES[protocol](wire)


def _openai_create(wire: Canned) -> Read:
    import httpx2
    import openai

    chat = openai.OpenAI(api_key="k", http_client=wire.client(httpx2)).chat.completions

    def read() -> int:
        calls = set()
        for chunk in chat.create(model="gpt-5.1", messages=MESSAGES, tools=CHAT_TOOLS, stream=True):
            for choice in chunk.choices:
                calls.update(call.index for call in choice.delta.tool_calls or ())
        return len(calls)

    return read


def _responses_create(wire: Canned) -> Read:
    import httpx2
    import openai

    responses = openai.OpenAI(api_key="k", http_client=wire.client(httpx2)).responses

    def read() -> int:
        asked = {"model": "gpt-5.1", "input": "go", "tools": [{"type": "function", **TOOL}]}
        events = responses.create(**asked, stream=True)
        return sum(
            event.type == "response.output_item.done" and event.item.type == "function_call"
            for event in events
        )

    return read


def _anthropic_create(wire: Canned) -> Read:
    import anthropic
    import httpx2

    messages = anthropic.Anthropic(api_key="k", http_client=wire.client(httpx2)).messages

    def read() -> int:
        asked = {"model": MODELS["anthropic"], "max_tokens": 8192, "messages": MESSAGES}
        events = messages.create(**asked, stream=True)
        return sum(
            event.type == "content_block_start" and event.content_block.type == "tool_use" for event in events
        )

    return read


CREATES = {"openai": _openai_create, "openai-responses": _responses_create, "anthropic": _anthropic_create}


# The libraries that speak with every provider


def pydantic_ai(protocol: str, wire: Canned) -> Read:
    from pydantic_ai import messages as m
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition

    model = pydantic_model(protocol, wire)
    tool = ToolDefinition(
        name=NAME, description=TOOL["description"], parameters_json_schema=dict(TOOL["parameters"])
    )
    parameters = ModelRequestParameters(function_tools=[tool])
    asked = [m.ModelRequest(parts=[m.UserPromptPart("go")])]
    loop = asyncio.new_event_loop()

    async def read() -> int:
        async with model.request_stream(asked, ModelSettings(max_tokens=8192), parameters) as stream:
            async for _ in stream:
                pass
            return sum(isinstance(part, m.ToolCallPart) for part in stream.get().parts)

    return lambda: loop.run_until_complete(read())


def litellm(protocol: str, wire: Canned) -> Read:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would ask the network for prices
    import httpx
    import httpx2
    import litellm
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    client: Any = HTTPHandler(client=wire.client(httpx))
    if protocol == "openai-responses":
        return _litellm_responses(client)
    if protocol == "openai":
        import openai

        client = openai.OpenAI(api_key="k", http_client=wire.client(httpx2))
    asked = {"model": f"{protocol}/{MODELS[protocol]}", "messages": MESSAGES, "tools": CHAT_TOOLS}

    def read() -> int:
        stream = litellm.completion(**asked, client=client, api_key="k", stream=True)
        whole = litellm.stream_chunk_builder(list(stream), messages=MESSAGES)
        return len(whole.choices[0].message.tool_calls or ())

    return read


def _litellm_responses(client: Any) -> Read:
    import litellm

    def read() -> int:
        last: Any = None
        for event in litellm.responses(
            model="openai/gpt-5.1", input="go", stream=True, client=client, api_key="k"
        ):
            last = event
        return sum(item.type == "function_call" for item in last.response.output)

    return read


def langchain(protocol: str, wire: Canned) -> Read:
    from langchain_core.messages.ai import add_ai_message_chunks

    model = langchain_model(protocol, wire).bind_tools(CHAT_TOOLS)

    def read() -> int:
        first, *rest = model.stream("go")
        return len(add_ai_message_chunks(first, *rest).tool_calls)  # adding one by one would be slower still

    return read


MAKERS: dict[str, Callable[[str, Canned], Read]] = {
    "official SDK": sdk,
    "official SDK, create(stream=True)": sdk_create,
    "litellm": litellm,
    "pydantic-ai": pydantic_ai,
    "langchain": langchain,
}
