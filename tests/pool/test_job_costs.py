"""Whether another prompt may be started, by what those under way may cost."""

from __future__ import annotations

from turnout import SharedBudget
from turnout.pool.job_costs import JobCosts


def test_the_first_of_each_target_is_asked_alone() -> None:
    """Its price is not known yet; other targets begin meanwhile."""
    costs = JobCosts(SharedBudget(cost=1.0))
    assert costs.may_start("a")
    costs.note_start("a")
    assert not costs.may_start("a") and costs.may_start("b")
    costs.note_cost("a", 0.1)
    costs.note_end("a")
    assert costs.may_start("a")


def test_what_is_under_way_counts_as_the_dearest() -> None:
    """Ten cents each and a dollar: nine are under way beside what one has cost, and no more."""
    budget = SharedBudget(cost=1.0)
    costs = JobCosts(budget)
    budget.add_cost(0.1)
    costs.note_cost("a", 0.1)
    started = 0
    while costs.may_start("a"):
        costs.note_start("a")
        started += 1
    assert started == 9


def test_the_last_of_the_money_is_used() -> None:
    """With nothing under way a prompt is started as long as something is left; used up means never."""
    budget = SharedBudget(cost=1.0)
    costs = JobCosts(budget)
    costs.note_cost("a", 0.4)
    budget.add_cost(0.9)
    assert costs.may_start("a")
    budget.add_cost(0.1)
    assert not costs.may_start("a")


def test_without_a_limit_everything_may_start() -> None:
    """A pool without a cost has no waits."""
    costs = JobCosts(SharedBudget())
    for _ in range(100):
        assert costs.may_start("a")
        costs.note_start("a")
