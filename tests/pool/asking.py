"""Pools over a scripted model, in virtual time: what came of each prompt, and what was asked."""

from __future__ import annotations

from collections import Counter
from contextlib import aclosing
from typing import Any

from tests.simulate.virtual import run as run_virtually

from turnout import Pool, PoolResult
from turnout.simulate import SimulatedRequest
from turnout.testing import HttpError, ScriptedModel

CLAUDE, GPT = "anthropic:claude-sonnet-5", "openai:gpt-5.2"


def echo(asked: SimulatedRequest) -> Any:
    return HttpError("invalid_request") if "bad" in asked.user else f"{asked.user}!"


async def collect(pool: Pool, prompts: Any) -> list[PoolResult]:
    async with aclosing(pool.run(prompts)) as results:
        return [result async for result in results]


def ask_all(pool: Pool, prompts: Any) -> list[PoolResult]:
    return run_virtually(collect(pool, prompts))[0]


def asked_of(model: ScriptedModel) -> Counter[tuple[str, str]]:
    return Counter((each.target, each.user) for each in model.requests)
