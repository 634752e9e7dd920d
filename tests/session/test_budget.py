"""A budget that sessions share: every reply counts, and the next request of any of them is refused."""

from __future__ import annotations

import asyncio

import pytest

from turnout import LimitReached, Limits, Session, SharedBudget, UsageError
from turnout.testing import Call, ScriptedModel


def test_two_sessions_spend_one_budget() -> None:
    """What the first spent is missing for the second, and the second is told why."""
    budget = SharedBudget(cost=0.0001)
    with ScriptedModel(["One.", "Two."]):
        first, second = (Session("openai:gpt-5.2", limits=Limits(budget=budget)) for _ in range(2))
        spent = first.ask_sync("Count.").cost
        assert spent is not None and budget.cost_used == pytest.approx(spent)
        second.ask_sync("Count.")
        with pytest.raises(LimitReached, match=r"the shared limit of \$0.0001 is used up"):
            second.ask_sync("Count.")


def test_tokens_are_counted_too() -> None:
    """The limit on tokens needs no prices."""
    budget = SharedBudget(tokens=10)
    with ScriptedModel(["One."]):
        session = Session("compatible:mine", base_url="http://127.0.0.1:1/v1", limits=Limits(budget=budget))
        session.ask_sync("Count.")
        with pytest.raises(LimitReached, match="10 tokens"):
            session.ask_sync("Count.")


def test_a_subagent_spends_the_same_budget() -> None:
    """The replies of a subagent are in it, once."""
    budget = SharedBudget(cost=1.0)

    async def work() -> float:
        limits = Limits(budget=budget, subagents=True)
        async with Session("openai:gpt-5.2", approval="full", limits=limits) as session:
            await session.ask("Look.")
            return session.cost or 0.0

    task = Call("task", {"prompt": "Look closer."})
    with ScriptedModel([[task], "Seen.", "Done."]) as model:
        cost = asyncio.run(work())
    assert len(model.requests) == 3 and budget.cost_used == pytest.approx(cost)


def test_money_without_a_price_is_refused() -> None:
    """A budget in dollars for a model whose price is not known would never be used up."""
    with ScriptedModel(["One."]), pytest.raises(UsageError, match="no price is known"):
        Session(
            "compatible:mine",
            base_url="http://127.0.0.1:1/v1",
            limits=Limits(budget=SharedBudget(cost=1)),
        ).ask_sync("Count.")
