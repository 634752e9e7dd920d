"""The code under test of these tests: an agent that knows nothing of being tested."""

from __future__ import annotations

import asyncio
from typing import Any

from turnout import Session, tool
from turnout.testing import Call, Think

TARGETS = (
    *(
        "anthropic:claude-sonnet-5",
        "openai:gpt-4o",
        "openai-responses:gpt-5.1",
        "gemini:gemini-3-pro-preview",
    ),
    *("mistral:mistral-large-latest", "cohere:command-a-03-2025", "ollama:qwen3", "kimi:kimi-k2-thinking"),
    "bedrock:anthropic.claude-sonnet-4-5-20250929-v1:0",
)
"""One of each way to speak, the binary one of Bedrock included."""

SCRIPT = [[Think("It may rain."), Call("weather", {"city": "Paris"})], "Take a coat."]


@tool(risk="read")
async def weather(city: str) -> str:
    """Current weather."""
    return f"18 degrees in {city}"


def dress(target: str, prompt: str = "What should I wear?", **more: Any) -> str:
    """Ask once with a tool; the session is made here, as in an application."""

    async def ask() -> str:
        async with Session(target, tools=[weather], system="Be brief.", **more) as session:
            return (await session.ask(prompt)).text

    return asyncio.run(ask())
