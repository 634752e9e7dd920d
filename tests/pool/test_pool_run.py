"""One run of a pool: results as they come, so many at once, and a failure that stops no other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from tests.pool.asking import CLAUDE, GPT, ask_all, asked_of, collect, echo
from tests.simulate.virtual import run as run_virtually

from turnout import LimitReached, Limits, Pool, PoolResult, UsageError
from turnout.simulate import SimulatedRequest
from turnout.testing import Delay, HttpError, ScriptedModel, Stall


def test_one_that_fails_stops_no_other(tmp_path: Path) -> None:
    """A refusal, a target that does not exist and a crash of a tool are results like others."""
    prompts = ["good", "bad", {"prompt": "x", "models": ["nobody:nothing"]}, "good again"]
    with ScriptedModel(echo):
        results = ask_all(Pool(GPT, results=tmp_path / "out.jsonl", limits=Limits(retries=0)), prompts)
    errors = {each.prompt: each.error for each in results}
    assert errors["good"] is None and errors["good again"] is None
    assert errors["bad"].kind == "invalid_request" and isinstance(errors["x"], UsageError)
    kinds = {
        line.get("error", {}).get("kind")
        for line in map(json.loads, (tmp_path / "out.jsonl").read_text().splitlines())
    }
    assert kinds == {None, "invalid_request", "usage"}


def test_results_come_as_they_are_there() -> None:
    """A slow prompt does not hold back a quick one."""

    def answer(asked: SimulatedRequest) -> Any:
        return ["Late.", Delay(30)] if asked.user == "slow" else "Soon."

    with ScriptedModel(answer):
        results = ask_all(Pool(GPT), ["slow", *(f"p{n}" for n in range(9))])
    assert [each.prompt for each in results][-1] == "slow" and len(results) == 10


def test_so_many_at_once_and_no_more() -> None:
    """The number of requests under way reaches the limit and never passes it, over all targets."""
    under_way: list[int] = []

    class Counting(ScriptedModel):
        now = 0

        def send(self, request: Any) -> Any:  # type: ignore[override]
            inner = super().send(request)

            class Around:
                async def __aenter__(_) -> Any:
                    self.now += 1
                    under_way.append(self.now)
                    return await inner.__aenter__()

                async def __aexit__(_, *error: Any) -> Any:
                    self.now -= 1
                    return await inner.__aexit__(*error)

            return Around()

    with Counting(lambda asked: ["Yes.", Delay(1)]):
        ask_all(Pool([CLAUDE, GPT], concurrency=3), [f"p{n}" for n in range(10)])
    assert max(under_way) == 3


def test_a_server_that_asks_for_a_pause_gets_it_from_all() -> None:
    """After one 429 with a time, no session of the pool asks before it, and all are answered in the end."""
    times: list[float] = []

    def answer(asked: SimulatedRequest) -> Any:
        times.append(asyncio.get_running_loop().time())
        return HttpError("rate_limit", retry_after=20) if len(times) == 1 else ["Yes.", Delay(5)]

    with ScriptedModel(answer):
        results = ask_all(Pool(GPT, concurrency=2), [f"p{n}" for n in range(8)])
    assert all(each.is_answered for each in results) and len(times) == 9
    assert times[1] < 1 and min(times[2:]) >= 20  # the second one was under way already


def test_the_limit_on_money_holds_for_all_together() -> None:
    """It is passed by no more than one prompt costs, with many under way at once; the rest is not asked."""
    with ScriptedModel(echo) as model:
        price = ask_all(Pool(GPT), ["one"])[0].cost or 0.0
        pool = Pool(GPT, cost=price * 10.5, concurrency=8)
        results: list[PoolResult] = []

        async def work() -> None:
            async for result in pool.run(f"p{n}" for n in range(1000)):
                results.append(result)

        with pytest.raises(LimitReached, match="the answers so far are kept"):
            run_virtually(work())
    assert 9 <= len(results) <= 12 and pool.cost <= price * 12 and len(model.requests) == len(results) + 1


def test_a_key_that_does_not_work_is_tried_once() -> None:
    """Ten thousand prompts with a wrong key are not ten thousand requests; other targets go on."""

    def answer(asked: SimulatedRequest) -> Any:
        return HttpError("auth") if asked.provider == "openai" else "Yes."

    with ScriptedModel(answer) as model:
        results = ask_all(Pool([GPT, CLAUDE], concurrency=2), [f"p{n}" for n in range(50)])
    assert sum(not each.is_answered for each in results) == 50
    assert sum(target == GPT for target, _ in asked_of(model)) <= 3


def test_prompts_may_come_slowly() -> None:
    """Results are given while the next prompt is waited for."""
    seen: list[str] = []

    async def prompts() -> AsyncIterator[str]:
        for n in range(4):
            assert len(seen) >= n - 1
            await asyncio.sleep(10)
            yield f"p{n}"

    async def work() -> None:
        async for result in Pool(GPT).run(prompts()):
            seen.append(result.text)

    with ScriptedModel(echo):
        run_virtually(work())
    assert seen == ["p0!", "p1!", "p2!", "p3!"]


def test_leaving_the_loop_cancels_what_is_under_way(tmp_path: Path) -> None:
    """The file can be opened again at once, and has the answers so far."""
    path = tmp_path / "out.jsonl"

    def answer(asked: SimulatedRequest) -> Any:
        return "Soon." if asked.user == "p0" else ["Late.", Stall(3000)]

    async def work() -> None:
        async with aclosing(Pool(GPT, results=path).run([f"p{n}" for n in range(20)])) as results:
            async for result in results:
                assert result.text == "Soon."
                break

    with ScriptedModel(answer):
        asyncio.run(work())
    assert len(path.read_text().splitlines()) == 1
    with ScriptedModel(echo) as model:
        ask_all(Pool(GPT, results=path), ["p0", "p1"])
    assert len(model.requests) == 1


def test_every_earlier_answer_is_given(tmp_path: Path) -> None:
    """However many there are; new prompts among them are asked."""
    path = tmp_path / "out.jsonl"
    prompts = [f"p{n}" for n in range(250)]
    with ScriptedModel(echo):
        asyncio.run(collect(Pool(GPT, results=path, concurrency=50), prompts))
    with ScriptedModel(echo) as model:
        results = asyncio.run(collect(Pool(GPT, results=path), [*prompts[:120], "new", *prompts[120:]]))
    assert sum(each.earlier for each in results) == 250 and len(results) == 251
    assert len(model.requests) == 1
