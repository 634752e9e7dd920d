"""Sessions with a scripted model, in virtual time: what was asked, and everything that happened."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from typing import Any, TypeVar

from tests.session.settings import make_session
from tests.simulate.virtual import run as run_virtually

from turnout.session.events import Cancelled, Complete, Discarded, Failed, SessionEvent, Status
from turnout.session.session import Session
from turnout.simulate import ScriptedTransport
from turnout.streaming.events import TextDelta
from turnout.tools.confine.threads import Inline
from turnout.tools.declare.tool import tool

T = TypeVar("T")

NOW = 1_760_000_000.0
"""The wall clock of these sessions, 9 October 2025: no model that a test names has ended then, ever."""

TERMINAL = (Complete, Failed, Cancelled)
VARIABLES = """
OPENAI_API_KEY ANTHROPIC_API_KEY GEMINI_API_KEY MISTRAL_API_KEY MOONSHOT_API_KEY DEEPSEEK_API_KEY
OPENROUTER_API_KEY COPILOT_TOKEN XAI_API_KEY GROQ_API_KEY DASHSCOPE_API_KEY ZAI_API_KEY
AWS_BEARER_TOKEN_BEDROCK COHERE_API_KEY VERTEX_ACCESS_TOKEN AZURE_OPENAI_API_KEY SAMBANOVA_API_KEY
"""
PLACES = {"GOOGLE_CLOUD_PROJECT": "mine", "AZURE_OPENAI_RESOURCE": "mine"}
"""Whose account it is, for providers that have it in their address."""
KEYS = {**dict.fromkeys(VARIABLES.split(), "key"), **PLACES}


@tool(risk="read")
async def weather(city: str) -> str:
    """Tell the weather.

    Args:
        city: Where.
    """
    return f"18 degrees in {city}"


@tool(risk="read")
async def slow(seconds: float) -> str:
    """Take a while."""
    await asyncio.sleep(seconds)
    return "at last"


def session(
    script: Any, target: str = "openai:gpt-5.1", **settings: Any
) -> tuple[Session, ScriptedTransport]:
    """A session whose model plays a script."""
    transport = ScriptedTransport(script)
    usual = {"tools": [weather, slow], "environment": KEYS, "chance": random.Random(1), "threads": Inline()}
    usual["wall_clock"] = lambda: NOW
    return make_session(target, transport=transport, **{**usual, **settings}), transport


def virtually(coroutine: Coroutine[Any, Any, T]) -> T:
    return run_virtually(coroutine)[0]


async def everything(talk: Session, prompt: str = "go", **options: Any) -> list[SessionEvent]:
    return [event async for event in talk.run(prompt, **options)]


def events(talk: Session, prompt: str = "go", **options: Any) -> list[SessionEvent]:
    """Everything that happens after a prompt, with exactly one terminal event, at the end."""
    seen = virtually(everything(talk, prompt, **options))
    assert [isinstance(event, TERMINAL) for event in seen] == [False] * (len(seen) - 1) + [True]
    return seen


def shown(seen: list[SessionEvent]) -> str:
    """What a surface shows in the end: text of discarded replies is taken back."""
    said = ""
    for event in seen:
        if isinstance(event, TextDelta):
            said += event.text
        elif isinstance(event, Discarded):
            said = ""
    return said


def statuses(seen: list[SessionEvent]) -> list[str]:
    return [event.kind for event in seen if isinstance(event, Status) and event.kind != "tools"]
