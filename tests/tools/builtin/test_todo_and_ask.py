"""todo and ask_user: the model's own list, and a question to the person."""

from __future__ import annotations

from typing import Any

from tests.build import call
from tests.tools.schedule.scheduling import Desk, go

from turnout.tools.builtin import ask_user, todo
from turnout.tools.builtin.todo import LIST
from turnout.tools.declare.context import Question
from turnout.tools.policy.rules import Policy


def test_the_list_is_kept_and_shown() -> None:
    """Each call replaces it; marks say what is done."""
    desk = Desk(todo, policy=Policy("plan"))
    items = [{"text": "look", "status": "done"}, {"text": "mend", "status": "in_progress"}, {"text": "test"}]
    go(desk.run(call("todo", "a", items=items)))
    assert desk.text("a") == "[x] look\n[~] mend\n[ ] test\n1 of 3 done"
    assert [item.text for item in desk.scheduler.state[LIST]] == ["look", "mend", "test"]


def test_a_list_that_makes_no_sense_is_refused() -> None:
    """Empty steps, unknown states and endless lists."""
    desk = Desk(todo)
    bad: list[Any] = [[{"text": " "}], [{"text": "x", "status": "maybe"}], [{"text": "x"}] * 101]
    for number, items in enumerate(bad):
        go(desk.run(call("todo", str(number), items=items)))
        assert desk.outcome(str(number)).status == "error"
    assert LIST not in desk.scheduler.state


def test_the_user_is_asked_and_answers() -> None:
    """The surface gets the question with its choices; the model the answer, in the user's words."""
    asked: list[Question] = []

    async def answer(question: Question) -> str | None:
        asked.append(question)
        return "the second" if len(asked) == 1 else None

    desk = Desk(ask_user, asker=answer)
    go(desk.run(call("ask_user", "a", question="Which?", choices=["one", "two"])))
    assert desk.text("a") == "The user says: the second"
    assert asked == [Question("Which?", ("one", "two"))]
    go(desk.run(call("ask_user", "b", question="And now?")))
    assert desk.outcome("b").status == "error" and "did not answer" in desk.text("b")


def test_where_nobody_can_be_asked_the_model_decides() -> None:
    """Without a surface that asks, the call fails at once and says what to do."""
    desk = Desk(ask_user)
    go(desk.run(call("ask_user", "a", question="Which?")))
    assert "The user cannot be asked here. Decide yourself" in desk.text("a")
