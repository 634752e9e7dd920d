"""How each library sends a Chat history to an API, as its documentation would have it sent.

A contestant is a function of the API and the wire; it gives what sends one history. Its own
translation and its own client do the work, down to the bytes that an in-process transport takes.
Where a library has a repair, by default or by a flag, it is on, and named.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from typing import Any

import msgspec

from bench import render_peers
from bench.canned import Canned
from bench.hostile import Hostile, Message, Messages
from turnout import ingest, render

Send = Callable[[Hostile], object]
Contestant = Callable[[str, Canned], Send]
MODELS = {
    **render_peers.MODELS,
    "mistral": "mistral-large-latest",
    "kimi": "kimi-k2.5",
    "deepseek": "deepseek-chat",
}
HOMES = {
    "mistral": "https://api.mistral.ai/v1",
    "kimi": "https://api.moonshot.ai/v1",
    "deepseek": "https://api.deepseek.com",
}


def turnout(api: str, wire: Canned) -> Send:
    def send(history: Hostile) -> None:
        body = {"messages": history.messages, "tools": _chat_tools(history)}
        wire.sent = render(ingest(body, "openai-chat"), f"{api}:{MODELS[api]}").body

    return send


# ---- what Chat messages hold


def _chat_tools(history: Hostile) -> list[dict[str, Any]]:
    return [{"type": "function", "function": tool} for tool in history.tools]


def _calls(message: Message) -> Iterator[tuple[str, str, str]]:
    for call in message.get("tool_calls", ()):
        yield call["id"], call["function"]["name"], call["function"]["arguments"]


def _named(messages: Messages) -> Iterator[tuple[Message, str]]:
    """Each message, and the name of the tool where it is a result: by id, and in order where ids repeat."""
    names = {id: [name] for message in messages for id, name, _ in _calls(message)}
    for message in messages:
        names |= {id: [] for id, _, _ in _calls(message)}
        for id, name, _ in _calls(message):
            names[id].append(name)
        of_id = names.get(message.get("tool_call_id", ""), ["unknown"])
        yield message, of_id.pop(0) if message["role"] == "tool" and len(of_id) > 1 else of_id[0]


# ---- the SDKs: the messages as they are, translated one to one where the API has another form


def sdks(api: str, wire: Canned) -> Send:
    import httpx
    import httpx2
    import openai

    if api == "anthropic":
        import anthropic

        claude = anthropic.Anthropic(api_key="k", http_client=wire.client(httpx2)).messages
        return lambda history: claude.create(model=MODELS[api], max_tokens=8192, **_for_anthropic(history))
    if api == "gemini":
        from google import genai

        options = genai.types.HttpOptions(httpx_client=wire.client(httpx))
        models = genai.Client(api_key="k", http_options=options).models
        return lambda history: models.generate_content(model=MODELS[api], **_for_gemini(history))
    client = openai.OpenAI(api_key="k", base_url=HOMES.get(api), http_client=wire.client(httpx2))
    if api == "openai-responses":
        return lambda history: client.responses.create(model=MODELS[api], **_for_responses(history))
    return lambda history: client.chat.completions.create(
        model=MODELS[api], messages=history.messages, tools=_chat_tools(history)
    )


def _for_responses(history: Hostile) -> dict[str, Any]:
    items: Messages = []
    for message in history.messages:
        role, content = message["role"], message["content"]
        if role == "tool":
            id = message["tool_call_id"]
            items.append({"type": "function_call_output", "call_id": id, "output": content})
        elif content:
            items.append({"role": role, "content": content})
        for id, name, arguments in _calls(message):
            items.append({"type": "function_call", "call_id": id, "name": name, "arguments": arguments})
    return {
        "input": items,
        "tools": [{"type": "function", "strict": False, **tool} for tool in history.tools],
    }


def _for_anthropic(history: Hostile) -> dict[str, Any]:
    system, *told = history.messages
    messages: Messages = []
    for message in told:
        role, content = message["role"], message["content"]
        blocks: list[dict[str, Any]] = [{"type": "text", "text": content}] if content else []
        if role == "tool":
            blocks = [{"type": "tool_result", "tool_use_id": message["tool_call_id"], "content": content}]
        for id, name, arguments in _calls(message):
            input = msgspec.json.decode(arguments)
            blocks.append({"type": "tool_use", "id": id, "name": name, "input": input})
        messages.append({"role": "assistant" if role == "assistant" else "user", "content": blocks})
    words = {"parameters": "input_schema"}
    tools = [{words.get(key, key): value for key, value in tool.items()} for tool in history.tools]
    return {"system": system["content"], "messages": messages, "tools": tools}


def _for_gemini(history: Hostile) -> dict[str, Any]:
    system, *told = history.messages
    contents: Messages = []
    for message, tool in _named(told):
        role, content = message["role"], message["content"]
        parts: list[dict[str, Any]] = [{"text": content}] if content else []
        if role == "tool":
            parts = [{"function_response": {"name": tool, "response": {"output": content}}}]
        for _, name, arguments in _calls(message):
            parts.append({"function_call": {"name": name, "args": msgspec.json.decode(arguments)}})
        contents.append({"role": "model" if role == "assistant" else "user", "parts": parts})
    tools = [{"function_declarations": history.tools}]
    return {"contents": contents, "config": {"system_instruction": system["content"], "tools": tools}}


# ---- litellm


def litellm(api: str, wire: Canned) -> Send:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it would ask the network for prices
    import httpx
    import httpx2
    import litellm
    import openai
    from litellm.llms.custom_httpx.http_handler import HTTPHandler

    litellm.modify_params = litellm.suppress_debug_info = True
    client: Any = HTTPHandler(client=wire.client(httpx))
    if api in ("openai", "kimi"):  # these it sends with OpenAI's client
        client = openai.OpenAI(api_key="k", base_url=HOMES.get(api), http_client=wire.client(httpx2))
    prefix = {"openai-responses": "openai/responses", "kimi": "moonshot"}.get(api, api)
    return lambda history: litellm.completion(
        model=f"{prefix}/{MODELS[api]}",
        messages=history.messages,
        tools=_chat_tools(history),
        client=client,
        api_key="k",
    )


# ---- pydantic-ai


def pydantic_ai(api: str, wire: Canned) -> Send:
    from pydantic_ai import messages as m
    from pydantic_ai.models import ModelRequestParameters

    model, loop = _pydantic_model(api, wire), asyncio.new_event_loop()

    def send(history: Hostile) -> None:
        tools = [_pydantic_tool(tool) for tool in history.tools]
        parameters = ModelRequestParameters(function_tools=tools)
        # what its agent does before every request
        prepared = model.prepare_messages(m.repair_messages(_pydantic_messages(history)), parameters)
        loop.run_until_complete(model.request(m.repair_messages(prepared), {"max_tokens": 8192}, parameters))

    return send


def _pydantic_model(api: str, wire: Canned) -> Any:
    import httpx
    import httpx2
    import openai
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.deepseek import DeepSeekProvider
    from pydantic_ai.providers.moonshotai import MoonshotAIProvider

    if api in render_peers.MODELS:
        return render_peers.pydantic_model(api, wire)
    if api == "mistral":
        from mistralai.client import Mistral
        from pydantic_ai.models.mistral import MistralModel
        from pydantic_ai.providers.mistral import MistralProvider

        mistral = Mistral(api_key="k", async_client=wire.async_client(httpx))
        return MistralModel(MODELS[api], provider=MistralProvider(mistral_client=mistral))
    client = openai.AsyncOpenAI(api_key="k", base_url=HOMES[api], http_client=wire.async_client(httpx2))
    provider = MoonshotAIProvider if api == "kimi" else DeepSeekProvider
    return OpenAIChatModel(MODELS[api], provider=provider(openai_client=client))


def _pydantic_tool(tool: dict[str, Any]) -> Any:
    from pydantic_ai.tools import ToolDefinition

    return ToolDefinition(
        name=tool["name"], description=tool["description"], parameters_json_schema=tool["parameters"]
    )


def _pydantic_messages(history: Hostile) -> list[Any]:
    from pydantic_ai import messages as m

    made: list[Any] = []
    for message, tool in _named(history.messages):
        role, content = message["role"], message["content"]
        if role == "assistant":
            thought = message.get("reasoning_content") or message.get("reasoning")
            parts: list[Any] = [m.ThinkingPart(thought)] if thought else []
            parts += [m.TextPart(content)] if content else []
            parts += [m.ToolCallPart(name, arguments, id) for id, name, arguments in _calls(message)]
            made.append(m.ModelResponse(parts=parts))
        elif role == "tool":
            made.append(m.ModelRequest(parts=[m.ToolReturnPart(tool, content, message["tool_call_id"])]))
        else:
            part = m.UserPromptPart if role == "user" else m.SystemPromptPart
            made.append(m.ModelRequest(parts=[part(content)]))
    return made


# ---- langchain


def langchain(api: str, wire: Canned) -> Send:
    from langchain_openai.chat_models.base import _convert_dict_to_message  # how it reads OpenAI's messages

    model = _langchain_model(api, wire)

    def send(history: Hostile) -> None:
        messages = [_convert_dict_to_message(message) for message in history.messages]
        model.bind_tools(_chat_tools(history)).invoke(messages)

    return send


def _langchain_model(api: str, wire: Canned) -> Any:
    import httpx
    import httpx2
    from langchain_openai import ChatOpenAI

    if api in render_peers.MODELS:
        return render_peers.langchain_model(api, wire)
    if api == "mistral":
        from langchain_mistralai import ChatMistralAI

        return ChatMistralAI(model=MODELS[api], api_key="k", client=wire.client(httpx))
    if api == "deepseek":
        from langchain_deepseek import ChatDeepSeek

        return ChatDeepSeek(model=MODELS[api], api_key="k", http_client=wire.client(httpx2))
    return ChatOpenAI(model=MODELS[api], api_key="k", base_url=HOMES[api], http_client=wire.client(httpx2))


CONTESTANTS: dict[str, Contestant] = {
    "official SDKs, one to one": sdks,
    "litellm, `modify_params`": litellm,
    "langchain": langchain,
    "pydantic-ai, `repair_messages`": pydantic_ai,
    "turnout": turnout,
}
