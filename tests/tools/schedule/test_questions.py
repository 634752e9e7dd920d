"""Approval: who is asked, what each answer does, and what an answer is bound to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace
from tests.build import find
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.errors import HookError
from turnout.model import Outcome
from turnout.tools.confine.workspace import WorkspaceFiles
from turnout.tools.declare.context import Question, ToolContext
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision
from turnout.tools.policy.rules import Policy, Rule


@tool(risk="write")
async def write(path: str, text: str = "") -> str:
    """Write a file."""
    return f"wrote {path}"


@tool(risk="dangerous")
async def shell(command: str) -> str:
    return f"ran {command}"


@tool
async def read(path: str) -> str:
    return f"read {path}"


class Asked:
    """An approver that answers from a script, and remembers what it was asked."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.requests: list[ApprovalRequest] = []

    async def __call__(self, request: ApprovalRequest) -> Decision:
        self.requests.append(request)
        await asyncio.sleep(0)
        answer = self.answers.pop(0)
        if isinstance(answer, BaseException):
            raise answer
        decision: Decision = answer(request)
        return decision


def desk(approver: Any = None, *rules: Rule, mode: Any = "ask", **ports: Any) -> Desk:
    return Desk(write, shell, read, policy=Policy(mode, rules), approver=approver, **ports)


def test_what_the_policy_allows_is_not_asked() -> None:
    """Reading inside the workspace just runs."""
    asked = Asked()
    at = desk(asked)
    go(at.run(call("read", path="a")))
    assert (at.text("read"), asked.requests) == ("read a", [])


def test_a_question_says_what_and_why() -> None:
    """Whoever is asked sees the call, its arguments, its risk, its paths and the reason."""
    asked = Asked(ApprovalRequest.once)
    at = desk(asked)
    go(at.run(call("write", path="./src/../a", text="x")))
    (request,) = asked.requests
    assert (request.tool, request.arguments, request.risk) == (
        "write",
        {"path": "./src/../a", "text": "x"},
        "write",
    )
    assert request.paths == ("a",)
    assert request.why == "ask mode asks before writing"
    assert at.states("write") == ["validating", "awaiting_approval", "scheduled", "executing", "complete"]


def test_once_means_once() -> None:
    """The next call of the same kind is asked again."""
    asked = Asked(ApprovalRequest.once, ApprovalRequest.once)
    go(desk(asked).run(call("write", "a", path="a"), call("write", "b", path="b")))
    assert len(asked.requests) == 2


def test_for_this_session_answers_the_calls_that_still_wait() -> None:
    """One answer covers the rest of the batch and later batches of the session."""
    asked = Asked(ApprovalRequest.for_session)
    at = desk(asked)

    async def two_batches() -> None:
        await at.run(call("write", "a", path="a"), call("write", "b", path="b"))
        await at.run(call("write", "c", path="c"))

    go(two_batches())
    assert at.text("c") == "wrote c"
    assert len(asked.requests) == 1


def test_always_is_saved() -> None:
    """The rule is handed to whoever keeps rules, and is in force at once."""
    saved: list[Rule] = []
    at = desk(Asked(ApprovalRequest.always), save_rule=saved.append)
    go(at.run(call("write", "a", path="a"), call("write", "b", path="b")))
    assert saved == [Rule("allow", "write", reach="inside", level="saved")]
    assert at.statuses() == {"a": "complete", "b": "complete"}


def test_always_for_a_dangerous_call_is_for_these_arguments() -> None:
    """Another command is asked about again."""
    asked = Asked(ApprovalRequest.for_session, ApprovalRequest.no)
    at = desk(asked)
    go(
        at.run(
            call("shell", "a", command="ls"),
            call("shell", "b", command="ls"),
            call("shell", "c", command="rm x"),
        )
    )
    assert at.statuses() == {"a": "complete", "b": "complete", "c": "denied"}


def test_whoever_answers_may_choose_what_always_covers_but_not_more_than_a_grant() -> None:
    """A rule that comes with the answer allows, for this session, whatever else it claims to be."""
    chosen = Rule("deny", "*", path="docs/**", level="project")
    at = desk(Asked(lambda request: request.for_session(chosen), ApprovalRequest.no))
    go(
        at.run(
            call("write", "a", path="docs/a"), call("write", "b", path="docs/b"), call("write", "c", path="c")
        )
    )
    assert at.statuses() == {"a": "complete", "b": "complete", "c": "denied"}
    assert at.scheduler.policy.rules == (Rule("allow", "*", path="docs/**", level="session"),)


def test_no_is_denied_with_the_message_for_the_model() -> None:
    """The refusal and the user's words are the outcome; the tool never starts."""
    at = desk(Asked(lambda request: request.no("use the other file")))
    go(at.run(call("write", path="a")))
    assert at.outcome("write") == Outcome("denied", "They say: use the other file", reason="denied")  # type: ignore[arg-type]
    assert not at.history.interaction(find(at.history, "write")).started


def test_edited_arguments_are_what_runs_and_what_is_on_record() -> None:
    """The user's arguments replace the model's; the history keeps both."""
    at = desk(Asked(lambda request: request.edit({"path": "safe", "text": "y"})))
    go(at.run(call("write", path="danger")))
    interaction = at.history.interaction(find(at.history, "write"))
    assert at.text("write") == "wrote safe"
    assert interaction.call.arguments == {"path": "danger"}
    assert interaction.arguments == {"path": "safe", "text": "y"}


def test_edited_arguments_that_do_not_fit_are_asked_again() -> None:
    """The second question says what was wrong with the edit."""
    asked = Asked(lambda request: request.edit({"text": "y"}), lambda request: request.edit({"path": "b"}))
    at = desk(asked)
    go(at.run(call("write", path="a")))
    assert "path missing" in asked.requests[1].problem
    assert at.text("write") == "wrote b"


def test_an_edit_cannot_reach_what_is_denied() -> None:
    """A denying rule holds for arguments that the user wrote as well."""
    at = desk(Asked(lambda request: request.edit({"path": ".env"})), Rule("deny", path=".env"))
    go(at.run(call("write", path="a")))
    assert at.outcome("write").status == "denied"
    assert "user rule: deny" in at.text("write")


@pytest.mark.parametrize(
    "forged",
    [
        lambda request: replace(request.once(), call_id="hist_tool_other"),
        lambda request: replace(request.once(), fingerprint="other"),
        lambda request: replace(request, arguments={"path": "b"}, fingerprint="").once(),
    ],
    ids=["other call", "other fingerprint", "other arguments"],
)
def test_an_answer_counts_only_for_its_call_and_its_arguments(forged: Any) -> None:
    """An answer to another question is no."""
    at = desk(Asked(forged))
    go(at.run(call("write", path="a")))
    assert at.outcome("write").status == "denied"


def test_an_old_answer_does_not_approve_a_later_call_with_the_same_arguments() -> None:
    """Approvals are for one call: replaying the decision for another call is no."""
    kept: list[Decision] = []

    def keep(request: ApprovalRequest) -> Decision:
        kept.append(request.once())
        return kept[0]

    at = desk(Asked(keep, lambda request: kept[0]))
    go(at.run(call("write", "a", path="a"), call("write", "b", path="a")))
    assert at.statuses() == {"a": "complete", "b": "denied"}


@pytest.mark.parametrize(
    "error", [ValueError("x"), SystemExit(), KeyboardInterrupt(), asyncio.CancelledError()]
)
def test_what_an_approver_raises_is_raised_to_whoever_runs_the_batch(error: BaseException) -> None:
    """Nothing that waits for an answer runs, what needs none does, and every call has its outcome."""
    at = desk(Asked(error, ApprovalRequest.once))
    calls = [call("write", "a", path="a"), call("write", "b", path="b"), call("read", "c", path="c")]
    with pytest.raises(HookError, match=f"approver: {type(error).__name__}") as raised:
        go(at.run(*calls))
    assert raised.value.__cause__ is error and raised.value.hook == "approver"
    assert at.statuses() == {"a": "denied", "b": "cancelled", "c": "complete"}
    assert type(error).__name__ not in at.text("a"), "what broke inside it is not for the model"


@pytest.mark.parametrize("said", [True, None, "yes"])
def test_an_approver_that_gives_back_something_else_is_told_so(said: Any) -> None:
    """To forget the answer is a mistake in the program: it must not look like a no of the user."""
    at = desk(Asked(lambda request: said))
    with pytest.raises(HookError, match=r"approver: it gave .*request.once"):
        go(at.run(call("write", path="a")))
    assert at.outcome("write").status == "denied"


def test_an_approver_may_be_a_plain_function() -> None:
    """It need not be async if it has nothing to wait for."""
    at = desk(lambda request: request.once())
    go(at.run(call("write", path="a")))
    assert at.outcome("write").status == "complete"


def test_a_rule_that_cannot_be_saved_is_raised_and_holds_all_the_same() -> None:
    """The calls of the batch run; the error comes when they have ended."""

    def save(rule: Rule) -> None:
        raise OSError("no space left")

    at = desk(Asked(ApprovalRequest.always), save_rule=save)
    with pytest.raises(HookError, match="save_rule: OSError: no space left"):
        go(at.run(call("write", "a", path="a"), call("write", "b", path="b")))
    assert at.statuses() == {"a": "complete", "b": "complete"}


def test_what_an_asker_raises_is_raised_too() -> None:
    """A tool's question to the user that fails is the tool's error, and not only that."""

    @tool
    async def curious(ctx: ToolContext) -> str:
        assert ctx.ask is not None
        return await ctx.ask(Question("why?")) or ""

    async def asker(question: Question) -> str:
        raise ValueError("no terminal")

    at = Desk(curious, asker=asker)
    with pytest.raises(HookError, match="asker: ValueError: no terminal"):
        go(at.run(call("curious")))
    assert at.outcome("curious").status == "error"


def test_without_an_approver_to_ask_is_to_deny() -> None:
    """Nobody is there, so nothing that needs a yes runs; the reason is told."""
    at = desk(None)
    go(at.run(call("write", path="a")))
    assert at.outcome("write").status == "denied"
    assert "the user cannot be asked: ask mode asks before writing" in at.text("write")


def test_a_question_about_one_call_does_not_hold_up_the_others() -> None:
    """What needs no approval runs while someone thinks."""

    async def thoughtful() -> None:
        answer = asyncio.Event()

        async def approver(request: ApprovalRequest) -> Decision:
            await answer.wait()
            return request.once()

        at = desk(approver)
        running = asyncio.ensure_future(at.run(call("write", path="a"), call("read", path="b")))
        await asyncio.sleep(0.02)
        assert at.statuses() == {"write": "pending", "read": "complete"}
        answer.set()
        await running
        assert at.text("write") == "wrote a"

    go(thoughtful())


def test_an_approver_that_never_answers_and_never_stops_cannot_hold_a_cancelled_call() -> None:
    """Cancelling the call ends the question; the next question is asked."""

    async def deaf() -> None:
        release = asyncio.Event()
        seen: list[str] = []

        async def approver(request: ApprovalRequest) -> Decision:
            seen.append(request.arguments["path"])
            while request.arguments["path"] == "a" and not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return request.once()

        at = desk(approver)
        running = asyncio.ensure_future(at.run(call("write", "a", path="a"), call("write", "b", path="b")))
        await asyncio.sleep(0.02)
        at.scheduler.cancel(find(at.history, "a"))
        await running
        assert at.statuses() == {"a": "cancelled", "b": "complete"}
        assert seen == ["a", "b"]
        release.set()
        await asyncio.sleep(0.01)

    go(deaf())


def test_plan_mode_does_not_run_what_changes_things() -> None:
    """In plan mode a write is not offered, and a call to it is answered with an error."""
    at = desk(Asked(), mode="plan")
    go(at.run(call("write", path="a"), call("read", path="a")))
    assert at.statuses() == {"write": "error", "read": "complete"}
    assert "not available in this mode" in at.text("write")


def test_arguments_of_any_depth_can_be_asked_about() -> None:
    """Nine hundred brackets are judged, asked about and granted like anything else."""
    deep: Any = []
    for _ in range(900):
        deep = [deep]

    @tool(risk="dangerous")
    async def take(value: Any) -> str:
        return "taken"

    at = Desk(take, policy=Policy("ask"), approver=Asked(ApprovalRequest.for_session))
    go(at.run(call("take", "a", value=deep), call("take", "b", value=deep)))
    assert at.statuses() == {"a": "complete", "b": "complete"}


def test_a_call_that_cannot_be_judged_is_an_error_and_the_next_batch_runs() -> None:
    """A fault in judging one call, here a broken rule, neither stops the others nor the session."""
    broken = Rule("deny", path="[", arguments={"path": None})  # type: ignore[dict-item]
    at = desk(None, broken, mode="full")

    async def two() -> None:
        await at.run(call("write", "a", path="x"), call("shell", "b", command="ls"))
        assert at.statuses() == {"a": "error", "b": "complete"}
        await at.run(call("shell", "c", command="ls"))

    go(two())
    assert at.statuses() == {"c": "complete"}


def test_a_workspace_tells_inside_from_outside(tmp_path: Any) -> None:
    """A path that leads out is asked about even where reading is free."""
    (tmp_path / "w").mkdir()
    asked = Asked(ApprovalRequest.no, ApprovalRequest.no)
    with WorkspaceFiles(tmp_path / "w") as workspace:
        at = desk(asked, workspace=workspace)
        go(
            at.run(
                call("read", "inside", path="a"),
                call("read", "absolute", path=str(tmp_path / "w" / "a")),
                call("read", "up", path="../secret"),
                call("read", "far", path="/etc/hosts"),
            )
        )
    assert at.statuses() == {"inside": "complete", "absolute": "complete", "up": "denied", "far": "denied"}
    assert {request.reach for request in asked.requests} == {"outside"}
