"""A pool: every prompt at every target, shared limits, nothing asked twice, mistakes found at once."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.pool.asking import CLAUDE, GPT, ask_all, asked_of, collect, echo
from tests.simulate.virtual import run as run_virtually
from tests.testing.agent import weather

from turnout import LimitReached, Limits, Pool, UsageError
from turnout.simulate import SimulatedRequest
from turnout.testing import Call, HttpError, ScriptedModel


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


def test_the_rate_holds_over_all_sessions() -> None:
    """Ten requests at thirty a minute take eighteen seconds, and a wait is not a timeout of a request."""
    with ScriptedModel(echo):
        results, took = run_virtually(collect(Pool(GPT, rate=30), [f"p{n}" for n in range(10)]))
        assert 18 <= took < 20 and all(each.is_answered for each in results)
        results, took = run_virtually(collect(Pool(GPT, rate=0.5), ["a", "b"]))
        assert 120 <= took < 125 and all(each.is_answered for each in results)


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
        ({"id": "one"}, "id= is for one session"),
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
