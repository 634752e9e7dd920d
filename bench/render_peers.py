"""The libraries that the render bench runs beside, each as its users would call it.

Each contestant keeps the session in its own terms and sends it through its real path: its
own translation, its own client, down to the serialised request, which an in-process
transport takes and answers at once with one word.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from bench import conversation
from bench.canned import ANTHROPIC_REPLY, CHAT_REPLY, GEMINI_REPLY, Canned
from bench.conversation import SYSTEM, TOOLS

REPLIES = {"openai": CHAT_REPLY, "anthropic": ANTHROPIC_REPLY, "gemini": GEMINI_REPLY}
MODELS = {
    "openai": "gpt-5.1",
    "openai-responses": "gpt-5.1",
    "anthropic": "claude-sonnet-4-5",
    "gemini": "gemini-2.5-pro",
}
CHAT_TOOLS = [{"type": "function", "function": tool} for tool in TOOLS]
Session = Callable[[int], list[Any]]


class Peer(Struct):
    """A library: the session in its words, and what sends it."""

    name: str
    session: Session
    send: Callable[[list[Any]], object]
    wire: Canned


def peers(protocol: str) -> Iterator[Peer | tuple[str, str]]:
    """Every library for a protocol, or its name and why it cannot run here."""
    for name, make in MAKERS.items():
        try:
            wire = Canned(REPLIES[protocol])
            session, send = make(protocol, wire)
            yield Peer(name, session, send, wire)
        except Exception as error:  # whatever a library raises, its row says so
            yield name, f"{type(error).__name__}: {error}"


def sdk(protocol: str, wire: Canned) -> tuple[Session, Any]:
    import httpx
    import httpx2

    if protocol == "openai":
        import openai

        chat = openai.OpenAI(api_key="k", http_client=wire.client(httpx2)).chat.completions
        return conversation.chat, lambda messages: chat.create(
            model=MODELS[protocol], messages=messages, tools=CHAT_TOOLS
        )
    if protocol == "anthropic":
        import anthropic

        claude = anthropic.Anthropic(api_key="k", http_client=wire.client(httpx2)).messages
        return conversation.anthropic, lambda messages: claude.create(
            model=MODELS[protocol],
            max_tokens=8192,
            system=SYSTEM,
            messages=messages,
            tools=_anthropic_tools(),
        )
    from google import genai
    from google.genai import types

    options = types.HttpOptions(httpx_client=wire.client(httpx))
    models = genai.Client(api_key="k", http_options=options).models
    config = types.GenerateContentConfig(
        system_instruction=SYSTEM,
        tools=[types.Tool(function_declarations=[types.FunctionDeclaration(**tool) for tool in TOOLS])],
    )
    return conversation.gemini, lambda contents: models.generate_content(
        model=MODELS[protocol], contents=contents, config=config
    )


def _anthropic_tools() -> list[dict[str, Any]]:
    return [
        {"name": tool["name"], "description": tool["description"], "input_schema": tool["parameters"]}
        for tool in TOOLS
    ]


def litellm(protocol: str, wire: Canned) -> tuple[Session, Any]:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would ask the network for prices
    import httpx
    import httpx2
    import litellm
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    client: Any = HTTPHandler(client=wire.client(httpx))
    if protocol == "openai":
        import openai

        client = openai.OpenAI(api_key="k", http_client=wire.client(httpx2))
    return conversation.chat, lambda messages: litellm.completion(
        model=f"{protocol}/{MODELS[protocol]}",
        messages=messages,
        tools=CHAT_TOOLS,
        client=client,
        api_key="k",
    )


def pydantic_ai(protocol: str, wire: Canned) -> tuple[Session, Any]:
    from pydantic_ai.models import ModelRequestParameters
    from pydantic_ai.settings import ModelSettings
    from pydantic_ai.tools import ToolDefinition

    model = pydantic_model(protocol, wire)
    tools = [
        ToolDefinition(
            name=tool["name"],
            description=tool["description"],
            parameters_json_schema=dict(tool["parameters"]),
        )
        for tool in TOOLS
    ]
    parameters = ModelRequestParameters(function_tools=tools)
    settings = ModelSettings(max_tokens=8192)  # more than that it would have streamed
    loop = asyncio.new_event_loop()
    return conversation.pydantic_ai, lambda messages: loop.run_until_complete(
        model.request(messages, settings, parameters)
    )


def pydantic_model(protocol: str, wire: Canned) -> Any:
    import httpx
    import httpx2

    if protocol.startswith("openai"):
        import openai
        from pydantic_ai.models.openai import OpenAIChatModel, OpenAIResponsesModel
        from pydantic_ai.providers.openai import OpenAIProvider

        chat = openai.AsyncOpenAI(api_key="k", http_client=wire.async_client(httpx2))
        kind = OpenAIChatModel if protocol == "openai" else OpenAIResponsesModel
        return kind(MODELS[protocol], provider=OpenAIProvider(openai_client=chat))
    if protocol == "anthropic":
        import anthropic
        from pydantic_ai.models.anthropic import AnthropicModel
        from pydantic_ai.providers.anthropic import AnthropicProvider

        claude = anthropic.AsyncAnthropic(api_key="k", http_client=wire.async_client(httpx2))
        return AnthropicModel(MODELS[protocol], provider=AnthropicProvider(anthropic_client=claude))
    from google import genai
    from google.genai import types
    from pydantic_ai.models.google import GoogleModel
    from pydantic_ai.providers.google import GoogleProvider

    options = types.HttpOptions(httpx_async_client=wire.async_client(httpx))
    client = genai.Client(api_key="k", http_options=options)
    return GoogleModel(MODELS[protocol], provider=GoogleProvider(client=client))


def langchain(protocol: str, wire: Canned) -> tuple[Session, Any]:
    model = langchain_model(protocol, wire).bind_tools(CHAT_TOOLS)
    return conversation.langchain, model.invoke


def langchain_model(protocol: str, wire: Canned) -> Any:
    import httpx
    import httpx2

    if protocol.startswith("openai"):
        from langchain_openai import ChatOpenAI

        return ChatOpenAI(
            model=MODELS[protocol],
            api_key="k",
            http_client=wire.client(httpx2),
            use_responses_api=protocol == "openai-responses",
        )
    if protocol == "anthropic":
        import anthropic
        from langchain_anthropic import ChatAnthropic

        model = ChatAnthropic(model=MODELS[protocol], api_key="k", max_tokens=8192)
        model.__dict__["_client"] = anthropic.Anthropic(api_key="k", http_client=wire.client(httpx2))
        return model
    from google import genai
    from google.genai import types
    from langchain_google_genai import ChatGoogleGenerativeAI

    gemini = ChatGoogleGenerativeAI(model=MODELS[protocol], api_key="k")
    options = types.HttpOptions(httpx_client=wire.client(httpx))
    gemini.client = genai.Client(api_key="k", http_options=options)
    return gemini


MAKERS: dict[str, Callable[[str, Canned], tuple[Session, Any]]] = {
    "official SDK": sdk,
    "litellm": litellm,
    "pydantic-ai": pydantic_ai,
    "langchain": langchain,
}
