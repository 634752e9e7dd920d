"""What went wrong elsewhere, as scenarios: each asserts what must hold afterwards."""

from __future__ import annotations

import asyncio
import json
import os
import stat
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.build import MODEL, find
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.model import Origin, Outcome
from turnout.rendering.policy import Reader
from turnout.rendering.transcript import Transcript
from turnout.tools.confine.output import SavedOutput
from turnout.tools.declare.tool import tool
from turnout.tools.policy.approval import ApprovalRequest, Decision
from turnout.tools.policy.rules import Policy, call_fingerprint
from turnout.tools.schedule.scheduler import ToolLimits


@tool
async def fine(n: int = 0) -> str:
    return f"fine {n}"


@tool
async def crash() -> str:
    raise SystemExit("the executor is gone")


@tool(risk="write")
async def guarded() -> str:
    return "ran"


def test_s110_one_crash_in_a_parallel_batch_leaves_no_call_without_a_terminal_state() -> None:
    """S-110: parallel calls where one crashes the executor: every call gets a terminal state."""
    desk = Desk(fine, crash)
    summary = go(desk.run(call("fine", "a"), call("crash", "b"), call("fine", "c"), call("crash", "d")))
    assert desk.statuses() == {"a": "complete", "b": "error", "c": "complete", "d": "error"}
    assert (summary.scheduled, summary.completed, summary.errors) == (4, 2, 2)
    assert not desk.history.open_calls


def test_s111_abort_while_awaiting_approval_keeps_what_was_done() -> None:
    """S-111: abort while one of three awaits approval: two real results, one cancelled, one batch."""
    questions: list[str] = []

    async def nobody(request: ApprovalRequest) -> Decision:
        questions.append(request.call_id)
        await asyncio.Event().wait()
        raise AssertionError("never answered")

    desk = Desk(fine, guarded, policy=Policy("ask"), approver=nobody)

    async def aborted() -> Any:
        running = asyncio.ensure_future(desk.run(call("fine", "a"), call("guarded", "b"), call("fine", "c")))
        while len(desk.results()) < 2:
            await asyncio.sleep(0)
        desk.scheduler.cancel()
        return await running

    summary = go(aborted())
    assert desk.statuses() == {"a": "complete", "b": "cancelled", "c": "complete"}
    assert desk.outcome("b").reason == "did_not_run"
    assert (summary.scheduled, summary.completed, summary.cancelled) == (3, 2, 1)
    assert len(questions) == 1


def test_s112_a_tool_that_ignores_the_abort_is_given_up_and_its_late_result_ignored() -> None:
    """S-112: abandoned after the grace time; the late result changes nothing and is counted once."""

    async def ignored() -> None:
        release = asyncio.Event()

        @tool
        async def deaf() -> str:
            while not release.is_set():
                try:
                    await release.wait()
                except asyncio.CancelledError:
                    continue
            return "late"

        desk = Desk(deaf, fine, limits=ToolLimits(grace=0.05))
        running = asyncio.ensure_future(desk.run(call("deaf"), call("fine")))
        await asyncio.sleep(0.02)
        desk.scheduler.cancel()
        summary = await running
        before = desk.outcome("deaf")
        assert before.status == "cancelled"
        assert summary.given_up == 1
        release.set()
        await asyncio.sleep(0.02)
        assert desk.outcome("deaf") == before
        assert desk.scheduler.late == 1
        assert len(desk.results()) == 2
        await desk.run(call("fine", "next"))
        assert desk.text("next") == "fine 0"

    go(ignored())


def test_s113_edits_of_one_file_in_one_batch_are_serialised() -> None:
    """S-113: the same file edited several times in parallel: no edit is lost, in the order they were made."""
    files = {"a": "", "b": ""}
    active: list[str] = []

    @tool(risk="write")
    async def append(path: str, text: str) -> str:
        key = path.removeprefix("./")
        assert key not in active
        active.append(key)
        before = files[key]
        await asyncio.sleep(0.001)  # long enough for another edit to read the same text
        files[key] = before + text
        active.remove(key)
        return "appended"

    desk = Desk(append)
    go(desk.run(*(call("append", str(n), path=("a", "./a", "b")[n % 3], text=str(n)) for n in range(9))))
    assert files == {"a": "013467", "b": "258"}


def test_s114_a_batch_that_arrives_while_one_runs_waits_its_turn() -> None:
    """S-114: scheduling during a running batch queues: both are answered, the second after the first."""
    order: list[str] = []

    @tool
    async def work(name: str) -> str:
        order.append(f"{name} starts")
        await asyncio.sleep(0.01)
        order.append(f"{name} ends")
        return name

    desk = Desk(work)

    async def both() -> None:
        turn = desk.turn(call("work", "a", name="a"), call("work", "b", name="b"))
        one, two = turn.tool_calls
        first = asyncio.ensure_future(desk.scheduler.run([one]))
        await asyncio.sleep(0)
        second = asyncio.ensure_future(desk.scheduler.run([two]))
        await asyncio.gather(first, second)

    go(both())
    assert order == ["a starts", "a ends", "b starts", "b ends"]
    assert desk.statuses() == {"a": "complete", "b": "complete"}


def test_s114_a_waiting_batch_can_be_cancelled() -> None:
    """S-114: a batch that is cancelled while it waits never runs, and its calls are settled."""
    desk = Desk(tool(lambda: None, name="never"), fine)

    async def cancelled() -> None:
        blocked = asyncio.Event()

        @tool
        async def block() -> str:
            await blocked.wait()
            return "done"

        desk.scheduler.registry.add(block)
        turn = desk.turn(call("block"), call("never", "a"), call("never", "b"))
        first = asyncio.ensure_future(desk.scheduler.run(turn.tool_calls[:1]))
        await asyncio.sleep(0.01)
        second = asyncio.ensure_future(desk.scheduler.run(turn.tool_calls[1:]))
        await asyncio.sleep(0)
        desk.scheduler.cancel(find(desk.history, "a"))
        second.cancel()
        await asyncio.sleep(0.01)
        blocked.set()
        await first

    go(cancelled())
    assert desk.statuses() == {"block": "complete", "a": "cancelled", "b": "cancelled"}
    assert desk.outcome("a").reason == "did_not_run"


def test_s115_more_calls_than_the_limit_are_all_answered() -> None:
    """S-115: twenty calls in one turn: none is dropped; those over the limit get an error that says so."""
    desk = Desk(fine, limits=ToolLimits(calls=5))
    summary = go(desk.run(*(call("fine", str(n), n=n) for n in range(20))))
    assert (summary.scheduled, summary.completed, summary.over_limit) == (20, 5, 15)
    assert "pending" not in desk.statuses().values()
    error = json.loads(desk.text("7"))["tool_error"]
    assert (error["kind"], error["limit"]) == ("too_many_calls", 5)
    everything = Desk(fine)
    assert go(everything.run(*(call("fine", str(n), n=n) for n in range(20)))).completed == 20


def test_s116_empty_arguments_get_a_structured_error_every_time() -> None:
    """S-116: `{}` again and again is answered with the missing fields, never run, and counted."""
    ran = []

    @tool
    async def read_file(path: str) -> str:
        ran.append(path)
        return path

    desk = Desk(read_file)

    async def repeated() -> int:
        return sum([(await desk.run(call("read_file", str(n)))).invalid for n in range(5)])

    assert go(repeated()) == 5
    assert not ran
    error = json.loads(desk.text("4"))["tool_error"]
    assert (error["kind"], error["missing"]) == ("invalid_arguments", ["path"])


def test_s117_a_repeated_call_has_one_fingerprint() -> None:
    """S-117: what a loop detector compares: the same call in any key order is the same, another is not."""
    a = call_fingerprint("grep", {"pattern": "x", "path": "."})
    assert a == call_fingerprint("grep", {"path": ".", "pattern": "x"})
    assert a != call_fingerprint("grep", {"path": ".", "pattern": "y"})


def test_s122_a_tool_that_is_gone_gives_an_error_result_and_the_history_still_renders() -> None:
    """S-122: a tool removed between turns: its old results stand, a new call is answered with an error."""
    desk = Desk(fine)

    async def removed() -> None:
        await desk.run(call("fine", "before"))
        desk.scheduler.registry.remove("fine")
        await desk.run(call("fine", "after"))

    go(removed())
    assert desk.text("before") == "fine 0"
    assert json.loads(desk.text("after"))["tool_error"]["kind"] == "unknown_tool"
    reader = Reader.of(Origin.parse(MODEL), "openai")
    messages = Transcript(desk.history, reader).messages
    assert [len(message.responses) for message in messages if message.role == "tool"] == [1, 1]


def test_s123_ten_large_results_share_one_budget_and_are_saved_whole(tmp_path: Path) -> None:
    """S-123: each result keeps its head and tail within its share; the whole is in a private file."""

    @tool
    def huge(n: int) -> str:
        return f"first line of {n}\n" + "x" * 3_000_000 + f"\nlast line of {n}"

    saved = SavedOutput(tmp_path / "saved")
    desk = Desk(huge, limits=ToolLimits(batch=50_000), save=saved.save)
    summary = go(desk.run(*(call("huge", str(n), n=n) for n in range(10))))
    texts = [desk.text(str(n)) for n in range(10)]
    assert summary.shortened == 10
    assert sum(map(len, texts)) < 60_000
    for n, text in enumerate(texts):
        assert text.startswith(f"first line of {n}")
        assert text.endswith(f"last line of {n}")
    files = sorted((tmp_path / "saved").iterdir())
    assert len(files) == 10
    assert all(stat.S_IMODE(os.stat(file).st_mode) == 0o600 for file in files)
    assert all(file.stat().st_size > 3_000_000 for file in files)
    assert all(any(str(file) in text for text in texts) for file in files)


def test_s123_small_results_are_left_alone_and_large_ones_get_what_they_leave() -> None:
    """S-123: the budget is shared by need, and the sum never exceeds it by more than the marks."""

    @tool
    async def give(size: int) -> str:
        return "y" * size

    desk = Desk(give, limits=ToolLimits(batch=10_000, result=10_000), save=lambda text: "saved.txt")
    go(desk.run(call("give", "a", size=10), call("give", "b", size=10), call("give", "c", size=50_000)))
    assert desk.text("a") == "y" * 10
    assert 9_000 < len(desk.text("c")) < 10_200
    assert "saved.txt" in desk.text("c")


@settings(max_examples=30, deadline=None)
@given(st.lists(st.integers(0, 30_000), min_size=1, max_size=12), st.integers(1000, 20_000))
def test_s123_the_budget_holds_for_any_sizes(sizes: list[int], budget: int) -> None:
    """S-123: whatever the results are, what reaches the model is within the budget, plus the marks."""

    @tool
    async def give(size: int) -> Outcome:
        await asyncio.sleep(0)
        return Outcome("complete", "z" * size)  # type: ignore[arg-type]

    desk = Desk(give, limits=ToolLimits(batch=budget), save=lambda text: "")
    go(desk.run(*(call("give", str(n), size=size) for n, size in enumerate(sizes))))
    kept = [len(desk.text(str(n))) for n in range(len(sizes))]
    assert sum(kept) <= budget + 100 * len(sizes)
    assert all(kept[n] == size for n, size in enumerate(sizes) if size <= budget // len(sizes))
