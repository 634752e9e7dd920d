"""The same conversation by every library, each as its own documentation has it: streamed, tools in parallel.

A loop gets the address of a model, and gives back a function that says one prompt and
returns the answer. `python -m bench.session_loops NAME ADDRESS TURNS` runs one of them and
prints what it took as JSON.
"""

from __future__ import annotations

import asyncio
import gc
import json
import os
import resource
import sys
import tempfile
import warnings
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from time import process_time
from typing import Any

import msgspec

from bench.http_clients import CLIENTS
from bench.session_server import ANSWER, CALLS, TOOL

Ask = Callable[[str], Awaitable[str]]
Loop = Callable[[str], Ask]

SYSTEM = (
    "You are a coding agent. You work in one repository with the tools you are given. Look before you act."
)
PROMPT = "Find out how requests are handled there, and say it in one sentence."
KEY = "sk-none"
MODEL = "gpt-5.1"
WARM = 3
ran = 0


async def read_file(path: str, offset: int = 0) -> str:
    """Read a file of the repository.

    Args:
        path: Where it lies, from the root of the repository.
        offset: The first line to read.
    """
    global ran
    ran += 1
    return f"{path}:{offset}: def handle(request): return ok(request)  # one by one, in order"


DECLARED: dict[str, Any] = {
    "name": TOOL,
    "description": "Read a file of the repository.",
    "parameters": {
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where it lies, from the root of the repository."},
            "offset": {"type": "integer", "description": "The first line to read.", "default": 0},
        },
        "required": ["path"],
    },
}
TOOLS = [{"type": "function", "function": DECLARED}]


# The floor: no library at all


def bare(address: str, client: str = "turnout") -> Ask:
    post = CLIENTS[client]().post
    decode, encode = msgspec.json.Decoder().decode, msgspec.json.Encoder().encode
    headers = {"authorization": f"Bearer {KEY}", "content-type": "application/json"}
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]

    async def reply() -> tuple[str, list[Any]]:
        body = encode({"model": MODEL, "messages": messages, "tools": TOOLS, "stream": True})
        text, calls, rest = [], [], b""
        async for chunk in post(f"{address}/chat/completions", headers, body):
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.startswith(b"data: {"):
                    gather(decode(line[6:]), text, calls)
        return "".join(text), calls

    def gather(event: Any, text: list[str], calls: list[Any]) -> None:
        for choice in event["choices"]:
            delta = choice["delta"]
            if delta.get("content"):
                text.append(delta["content"])
            for piece in delta.get("tool_calls", ()):
                if piece["index"] == len(calls):
                    calls.append(piece)
                else:
                    calls[piece["index"]]["function"]["arguments"] += piece["function"]["arguments"]

    async def ask(prompt: str) -> str:
        messages.append({"role": "user", "content": prompt})
        while True:
            text, calls = await reply()
            if not calls:
                messages.append({"role": "assistant", "content": text})
                return text
            for call in calls:
                del call["index"]
            messages.append({"role": "assistant", "content": text, "tool_calls": calls})
            results = await asyncio.gather(
                *(read_file(**decode(call["function"]["arguments"])) for call in calls)
            )
            for call, result in zip(calls, results, strict=True):
                messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})

    return ask


# turnout


def turnout(address: str, **settings: Any) -> Ask:
    from turnout import Session
    from turnout.session.events import Complete

    session = Session(
        f"openai:{MODEL}",
        base_url=address,
        api_key=KEY,
        system=SYSTEM,
        tools=[read_file],
        approval="full",
        **settings,
    )

    async def ask(prompt: str) -> str:
        async for event in session.run(prompt):
            if isinstance(event, Complete):
                return event.turn.text
        raise AssertionError("no answer")

    return ask


def turnout_durable(address: str) -> Ask:
    folder = tempfile.mkdtemp(prefix="turnout-bench-")
    return turnout(address, store=Path(folder) / "sessions.db", id="bench")


# The official SDK, with the loop written by hand


def openai_sdk(address: str) -> Ask:
    import openai

    chat = openai.AsyncOpenAI(api_key=KEY, base_url=address).chat.completions
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]

    async def reply() -> tuple[str, list[Any]]:
        text, calls = [], []
        stream = await chat.create(model=MODEL, messages=messages, tools=TOOLS, stream=True)
        async for event in stream:
            for choice in event.choices:
                if choice.delta.content:
                    text.append(choice.delta.content)
                for piece in choice.delta.tool_calls or ():
                    if piece.index == len(calls):
                        calls.append(piece)
                    else:
                        calls[piece.index].function.arguments += piece.function.arguments
        return "".join(text), calls

    async def ask(prompt: str) -> str:
        messages.append({"role": "user", "content": prompt})
        while True:
            text, calls = await reply()
            if not calls:
                messages.append({"role": "assistant", "content": text})
                return text
            told = [call.model_dump(exclude={"index"}) for call in calls]
            messages.append({"role": "assistant", "content": text, "tool_calls": told})
            results = await asyncio.gather(
                *(read_file(**json.loads(call.function.arguments)) for call in calls)
            )
            for call, result in zip(calls, results, strict=True):
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    return ask


# Agent libraries


def pydantic_ai(address: str) -> Ask:
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(base_url=address, api_key=KEY))
    agent = Agent(model, system_prompt=SYSTEM, tools=[read_file])
    history: list[Any] = []

    async def listen(_: Any, events: Any) -> None:
        async for _event in events:
            pass

    async def ask(prompt: str) -> str:
        nonlocal history
        result = await agent.run(prompt, message_history=history, event_stream_handler=listen)
        history = result.all_messages()
        return str(result.output)

    return ask


def openai_agents(address: str) -> Ask:
    import agents
    import openai

    agents.set_tracing_disabled(True)
    client = openai.AsyncOpenAI(api_key=KEY, base_url=address)
    model = agents.OpenAIChatCompletionsModel(model=MODEL, openai_client=client)
    tools: list[Any] = [agents.function_tool(read_file)]
    agent = agents.Agent(name="bench", instructions=SYSTEM, tools=tools, model=model)
    said: list[Any] = []

    async def ask(prompt: str) -> str:
        nonlocal said
        result = agents.Runner.run_streamed(agent, [*said, {"role": "user", "content": prompt}])
        async for _event in result.stream_events():
            pass
        said = result.to_input_list()
        return str(result.final_output)

    return ask


def langchain(address: str) -> Ask:
    from langchain_core.messages import HumanMessage, SystemMessage
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI

    made = tool(read_file)
    model = ChatOpenAI(model=MODEL, base_url=address, api_key=KEY).bind_tools([made])  # type: ignore[arg-type]
    messages: list[Any] = [SystemMessage(SYSTEM)]

    async def ask(prompt: str) -> str:
        messages.append(HumanMessage(prompt))
        while True:
            reply: Any = None
            async for piece in model.astream(messages):
                reply = piece if reply is None else reply + piece
            messages.append(reply)
            if not reply.tool_calls:
                return str(reply.text)
            messages.extend(await asyncio.gather(*(made.ainvoke(call) for call in reply.tool_calls)))

    return ask


def litellm(address: str) -> Ask:
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask the network for prices
    import litellm

    litellm.telemetry = False
    messages: list[Any] = [{"role": "system", "content": SYSTEM}]

    async def reply() -> Any:
        pieces = []
        stream: Any = await litellm.acompletion(
            f"openai/{MODEL}", messages, tools=TOOLS, stream=True, api_base=address, api_key=KEY
        )
        async for piece in stream:
            pieces.append(piece)
        whole: Any = litellm.stream_chunk_builder(pieces, messages=messages)
        return whole.choices[0].message

    async def ask(prompt: str) -> str:
        messages.append({"role": "user", "content": prompt})
        while True:
            said = await reply()
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                return str(said.content)
            results = await asyncio.gather(
                *(read_file(**json.loads(call.function.arguments)) for call in said.tool_calls)
            )
            for call, result in zip(said.tool_calls, results, strict=True):
                messages.append({"role": "tool", "tool_call_id": call.id, "content": result})

    return ask


LOOPS: dict[str, Loop] = {
    "bare loop": bare,
    "turnout": turnout,
    "turnout, durable": turnout_durable,
    "openai SDK loop": openai_sdk,
    "pydantic-ai": pydantic_ai,
    "openai-agents": openai_agents,
    "langchain": langchain,
    "litellm": litellm,
}
ON_EACH: dict[str, Loop] = {f"bare loop on {name}": partial(bare, client=name) for name in CLIENTS}


async def converse(loop: Loop, address: str, turns: int, block: int) -> dict[str, Any]:
    """CPU seconds of every block of turns and the memory after it, once it is warm."""
    ask = loop(address)
    for _ in range(WARM):
        await ask(PROMPT)
    gc.collect()
    gc.freeze()  # what is loaded by now would be looked through at every collection
    times, sizes = [], []
    before = ran
    for _ in range(turns // block):
        start = process_time()
        for _ in range(block):
            said = await ask(PROMPT)
            assert said.strip() == ANSWER, said
        times.append((process_time() - start) / block)
        gc.collect()
        sizes.append(_memory())
    assert ran - before == turns // block * block * CALLS, f"{ran - before} calls ran"
    return {"times": times, "sizes": sizes}


def _memory() -> int:
    """Bytes of this process in memory now, where the kernel tells; else the most so far."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * resource.getpagesize()


def main(name: str, address: str, turns: str, block: str) -> None:
    warnings.simplefilter("ignore")  # what peers have to say of themselves
    print(json.dumps(asyncio.run(converse({**LOOPS, **ON_EACH}[name], address, int(turns), int(block)))))


if __name__ == "__main__":
    main(*sys.argv[1:])
