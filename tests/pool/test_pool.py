"""A pool: many prompts over many targets, shared limits, results as they come, nothing asked twice."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from contextlib import aclosing
from pathlib import Path
from typing import Any

import pytest
from tests.simulate.virtual import run as run_virtually
from tests.testing.agent import weather

from turnout import LimitReached, Limits, Pool, PoolResult, UsageError
from turnout.simulate import SimulatedRequest
from turnout.testing import Call, Delay, HttpError, ScriptedModel, Stall

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


def test_every_prompt_is_put_to_every_target() -> None:
    """Each pair once, and each result says which it is."""
    with ScriptedModel(echo) as model:
        results = ask_all(Pool([CLAUDE, GPT]), [f"p{n}" for n in range(20)])
    assert sorted((each.target, each.text) for each in results) == sorted(
        (target, f"p{n}!") for target in (CLAUDE, GPT) for n in range(20)
    )
    assert set(asked_of(model).values()) == {1} and len(model.requests) == 40


def test_any_target_shares_the_work_and_takes_over() -> None:
    """In turn; where one fails the other answers, and the result names who did."""

    def answer(asked: SimulatedRequest) -> Any:
        return HttpError("quota") if asked.provider == "openai" and "3" in asked.user else "Yes."

    with ScriptedModel(answer) as model:
        results = ask_all(Pool([CLAUDE, GPT], ask="any"), [f"p{n}" for n in range(6)])
    assert len(results) == 6 and all(each.is_answered for each in results)
    assert Counter(each.target for each in results)[CLAUDE] == 4
    assert asked_of(model)[(GPT, "p3")] == 1 and asked_of(model)[(CLAUDE, "p3")] == 1


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


def test_the_rate_holds_over_all_sessions() -> None:
    """Ten requests at thirty a minute take eighteen seconds, and a wait is not a timeout of a request."""
    with ScriptedModel(echo):
        results, took = run_virtually(collect(Pool(GPT, rate=30), [f"p{n}" for n in range(10)]))
        assert 18 <= took < 20 and all(each.is_answered for each in results)
        results, took = run_virtually(collect(Pool(GPT, rate=0.5), ["a", "b"]))
        assert 120 <= took < 125 and all(each.is_answered for each in results)


def test_a_server_that_asks_for_a_pause_gets_it_from_all() -> None:
    """After one 429 with a time, no session of the pool asks before it, and all are answered in the end."""
    refused: list[str] = []

    def answer(asked: SimulatedRequest) -> Any:
        if not refused:
            refused.append(asked.user)
            return HttpError("rate_limit", retry_after=20)
        return ["Yes.", Delay(5)]

    with ScriptedModel(answer) as model:
        results, took = run_virtually(collect(Pool(GPT, concurrency=2), [f"p{n}" for n in range(8)]))
    assert all(each.is_answered for each in results) and took >= 20 and len(model.requests) == 9


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


def test_a_pool_that_runs_again_asks_only_for_what_is_missing(tmp_path: Path) -> None:
    """Answers are read from the file; failed, new and changed prompts are asked."""
    path = tmp_path / "out.jsonl"
    with ScriptedModel(echo):
        ask_all(
            Pool([CLAUDE, GPT], results=path, limits=Limits(retries=0)),
            ["a", "bad", {"prompt": "b", "id": "x"}],
        )
    with ScriptedModel(lambda asked: "Now.") as model:
        results = ask_all(Pool([CLAUDE, GPT], results=path), ["bad", "a", {"prompt": "c", "id": "x"}, "a"])
    assert {user for _, user in asked_of(model)} == {"bad", "c", "a"}  # the second "a" is another prompt
    assert asked_of(model)[(GPT, "a")] == 1
    assert {
        (each.prompt if isinstance(each.prompt, str) else "", each.text) for each in results if each.earlier
    } == {("a", "a!")}
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert not any("error" in line for line in lines)
    with ScriptedModel([]):
        assert all(each.earlier for each in ask_all(Pool([CLAUDE, GPT], results=path), ["bad", "a", "a"]))


def test_another_system_text_asks_again(tmp_path: Path) -> None:
    """What decides the answers is part of what a prompt is known by."""
    path = tmp_path / "out.jsonl"
    with ScriptedModel(echo) as model:
        ask_all(Pool(GPT, results=path), ["a"])
        ask_all(Pool(GPT, results=path, system="Be brief."), ["a"])
        ask_all(Pool(GPT, results=path, output={"type": "string"}, limits=Limits()), [])
    assert len(model.requests) == 2


def test_money_of_earlier_runs_counts(tmp_path: Path) -> None:
    """The limit is for the batch, however often it was interrupted, and nothing is counted twice."""
    path = tmp_path / "out.jsonl"
    with ScriptedModel(echo):
        first = Pool(GPT, results=path, cost=1)
        ask_all(first, ["a", "b"])
        again = Pool(GPT, results=path, cost=1)
        ask_all(again, ["a", "b"])
        assert again.cost == pytest.approx(first.cost)
        ask_all(first, ["a", "b"])
        assert again.cost == pytest.approx(first.cost)
        with pytest.raises(LimitReached):
            ask_all(Pool(GPT, results=path, cost=first.cost), ["a", "b", "c"])


def test_typed_answers_for_all_or_for_one(tmp_path: Path) -> None:
    """The type of the pool, the schema of one prompt, and the same values when they are read again."""
    path = tmp_path / "out.jsonl"
    prompts = [
        "one",
        {"prompt": "two", "schema": {"type": "object", "properties": {"b": {"type": "integer"}}}},
    ]

    def answer(asked: SimulatedRequest) -> str:
        return '{"value": [1, 2]}' if asked.user == "one" else '{"b": 3}'

    with ScriptedModel(answer):
        fresh = {
            each.prompt: each.output for each in ask_all(Pool(GPT, output=list[int], results=path), prompts)
        }
    with ScriptedModel([]):
        known = {
            each.prompt: each.output for each in ask_all(Pool(GPT, output=list[int], results=path), prompts)
        }
    assert fresh == known == {"one": [1, 2], "two": {"b": 3}}


def test_tools_run_in_a_pool_and_settings_are_those_of_sessions() -> None:
    """Each prompt is a whole session with its rounds; a misspelt setting is found at once."""

    def answer(asked: SimulatedRequest) -> Any:
        return "18." if asked.results else [Call("weather", {"city": asked.user})]

    with ScriptedModel(answer) as model:
        results = ask_all(Pool(GPT, tools=[weather], system="Be brief."), ["Paris", "Oslo"])
    assert [each.text for each in results] == ["18."] * 2 and len(model.requests) == 4
    model.requests.check(results={"weather": "in Oslo"}, system="brief")
    with pytest.raises(TypeError, match="did you mean system"):
        Pool(GPT, sytem="x")


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


def test_a_session_of_your_own_shares_the_limits() -> None:
    """Money, rate and places are those of the pool."""
    with ScriptedModel(lambda asked: "Yes."):
        pool = Pool(GPT, cost=1, rate=1)

        async def work() -> None:
            async with pool.session() as session:
                await session.ask("a")
                await session.ask("b")

        _, took = run_virtually(work())
    assert took >= 60 and pool.cost > 0


def test_a_key_in_an_answer_is_not_written(tmp_path: Path) -> None:
    """Results are files that people pass on."""
    path = tmp_path / "out.jsonl"
    with ScriptedModel(lambda asked: "It is hunter2-hunter2."):
        results = ask_all(Pool(GPT, results=path, api_key="hunter2-hunter2"), ["What is my key?"])
    assert results[0].text == "It is hunter2-hunter2." and "hunter2" not in path.read_text()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"targets": []}, "needs a target"),
        ({"ask": "all"}, "one of every, any"),
        ({"concurrency": 0}, "at least 1"),
        ({"targets": "compatible:mine", "base_url": "http://127.0.0.1:1", "cost": 1}, "no price is known"),
        ({"targets": "nobody:nothing"}, "nobody"),
    ],
    ids=str,
)
def test_mistakes_are_found_before_anything_is_asked(settings: dict[str, Any], words: str) -> None:
    """A batch that cannot work ends at once."""
    with pytest.raises(UsageError, match=words):
        Pool(settings.pop("targets", GPT), **settings)


def test_a_stored_session_is_resumed_after_its_answer_was_lost(tmp_path: Path) -> None:
    """With a store, an answer that arrived but was not written is not asked for again."""
    prompts: Iterable[str] = ["a", "b"]
    store = tmp_path / "sessions.db"
    with ScriptedModel(echo) as model:
        for name in ("one.jsonl", "two.jsonl"):  # as if the first file were lost
            results = asyncio.run(collect(Pool(GPT, store=store, results=tmp_path / name), prompts))
            assert sorted(each.text for each in results) == ["a!", "b!"]
    assert len(model.requests) == 2
