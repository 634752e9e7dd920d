"""The batch machine: one outcome a call under any interleaving, and no two hands on one path."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.errors import UsageError
from turnout.model import Outcome
from turnout.tools.declare.footprint import Footprint, TakenPlaces
from turnout.tools.schedule.batch import Batch
from turnout.tools.schedule.running import RunningCalls

DONE = Outcome("complete", "done")
READ = Footprint()


def writes(*paths: str) -> Footprint:
    return Footprint(paths, changes=True)


def reads(*paths: str) -> Footprint:
    return Footprint(paths)


ALONE = Footprint(alone=True)


def batch(*footprints: Footprint, parallel: int = 8) -> Batch:
    """A batch of calls "0", "1", ... that are all scheduled."""
    made = Batch([str(at) for at in range(len(footprints))], parallel=parallel)
    for at, footprint in enumerate(footprints):
        made.admit(str(at), footprint)
    return made


def started(made: Batch) -> tuple[str, ...]:
    """Start whatever may start."""
    ready = made.startable()
    for call_id in ready:
        made.start(call_id)
    return ready


def given_up(made: Batch) -> set[str]:
    return {call_id for _, call_id in made.running.given_up}


def test_calls_that_do_not_clash_start_together() -> None:
    """Reads of one path, writes of different paths, and calls that touch nothing run at once."""
    made = batch(reads("a"), reads("a"), writes("b"), writes("c"), READ)
    assert made.startable() == ("0", "1", "2", "3", "4")


def test_the_limit_holds() -> None:
    """No more run at once than the limit; the next starts when one is settled."""
    made = batch(READ, READ, READ, parallel=2)
    assert started(made) == ("0", "1")
    assert made.startable() == ()
    made.settle("0", DONE)
    assert made.startable() == ("2",)


WAITS_FOR_A_SUBAGENT = Footprint(counted=False)


@pytest.mark.parametrize("footprint", [READ, WAITS_FOR_A_SUBAGENT])
def test_a_batch_has_a_limit_of_its_own(footprint: Footprint) -> None:
    """Also where the tree of sessions has room for more, and for calls that take no slot of the tree."""
    made = Batch(list("0123"), parallel=2, running=RunningCalls(8))
    for call_id in "0123":
        made.admit(call_id, footprint)
    assert made.startable() == ("0", "1")
    made.start("0")
    assert made.startable() == ("1",)
    made.start("1")
    assert made.startable() == ()
    made.settle("0", DONE)
    assert started(made) == ("2",)
    assert made.startable() == ()
    made.settle("2", DONE, still_running=True)  # given up: it holds its paths, not its slot
    assert started(made) == ("3",)


def test_a_call_that_never_ran_frees_no_slot() -> None:
    """Only what was started counts when it is settled."""
    made = batch(READ, READ, READ, READ, parallel=1)
    assert started(made) == ("0",)
    made.settle("1", Outcome("cancelled"))
    assert made.startable() == ()
    made.settle("0", DONE)
    assert made.startable() == ("2",)


def test_a_limit_below_one_is_one() -> None:
    """Otherwise nothing would ever run."""
    assert batch(READ, READ, parallel=0).startable() == ("0",)
    assert Batch(["0"], parallel=-3).parallel == 1


def test_every_call_has_a_state() -> None:
    """Its outcome's status once it is settled."""
    made = Batch(["a", "b"])
    states = [made.state("a")]
    made.admit("a", ask=True)
    states.append(made.state("a"))
    made.approve("a")
    states.append(made.state("a"))
    made.start("a")
    states.append(made.state("a"))
    made.settle("a", Outcome("error", "no"))
    assert [*states, made.state("a")] == [
        "validating",
        "awaiting_approval",
        "scheduled",
        "executing",
        "error",
    ]
    assert (made.live(), made.live("scheduled"), made.is_done) == (("b",), (), False)


def test_writes_of_one_path_keep_their_order() -> None:
    """The second write waits for the first, however it ends."""
    made = batch(writes("a"), writes("a"), writes("a"))
    assert started(made) == ("0",)
    made.settle("0", Outcome("error", "no"))
    assert started(made) == ("1",)


def test_a_read_waits_for_the_write_before_it_and_a_write_for_the_reads_before_it() -> None:
    """The model wrote the calls in this order, so a read after a write sees what was written."""
    made = batch(reads("a"), writes("a"), reads("a"))
    assert started(made) == ("0",)
    made.settle("0", DONE)
    assert started(made) == ("1",)
    made.settle("1", DONE)
    assert started(made) == ("2",)


def test_a_folder_and_what_is_in_it_are_one_place() -> None:
    """Listing a folder waits for a write below it."""
    assert batch(writes("src/a.py"), reads("src")).startable() == ("0",)
    assert batch(writes("src/a.py"), reads(".")).startable() == ("0",)
    assert batch(reads("src"), writes("src/deep/a.py")).startable() == ("0",)
    assert batch(writes("src"), writes("srcs"), writes("src2/a")).startable() == ("0", "1", "2")
    assert batch(writes("/etc/a"), reads("/"), writes("a")).startable() == ("0", "2")


def test_a_call_that_runs_alone_has_the_batch_to_itself() -> None:
    """It waits for everyone before it, and everyone after it waits."""
    made = batch(READ, ALONE, READ)
    assert started(made) == ("0",)
    made.settle("0", DONE)
    assert started(made) == ("1",)
    assert made.startable() == ()
    made.settle("1", DONE)
    assert started(made) == ("2",)


def test_a_call_that_waits_for_approval_holds_back_only_whom_it_clashes_with() -> None:
    """The question about one file does not stop work on another."""
    made = Batch(["ask", "same", "other"])
    made.admit("ask", writes("a"), ask=True)
    made.admit("same", writes("a"))
    made.admit("other", writes("b"))
    assert started(made) == ("other",)
    made.approve("ask", writes("c"))  # the user chose another file
    assert set(made.startable()) == {"ask", "same"}


def test_arguments_that_the_user_changed_wait_for_a_later_call_that_runs() -> None:
    """A call that was asked about may turn to the place where a call behind it is at work already."""
    made = Batch(["ask", "later"])
    made.admit("ask", writes("a"), ask=True)
    made.admit("later", writes("b"))
    assert started(made) == ("later",)
    made.approve("ask", writes("b"))
    assert made.startable() == ()
    made.settle("later", DONE)
    assert made.startable() == ("ask",)


def test_a_command_that_reads_waits_for_changes_and_not_for_reading() -> None:
    """It may look anywhere, so it sees every change before it and none after it."""
    command = Footprint(everywhere=True)
    assert batch(command, command, reads("a"), READ).startable() == ("0", "1", "2", "3")
    assert batch(writes("a"), command, reads("b")).startable() == ("0", "2")
    assert batch(command, writes("a"), Footprint(changes=True)).startable() == ("0",)
    assert batch(Footprint(changes=True), command).startable() == ("0",)


def test_nobody_overtakes_a_call_whose_places_are_not_known_yet() -> None:
    """While a call is being checked it might touch anything, so those after it wait."""
    made = Batch(["before", "unknown", "after"])
    made.admit("before")
    made.admit("after", writes("a"))
    assert made.startable() == ("before",)
    made.admit("unknown")
    assert made.startable() == ("before", "unknown", "after")


def test_a_hostile_path_costs_no_time() -> None:
    """A path of a million characters stands for itself; its half million folders are not looked at."""
    long = "a/" * 500_000
    before = time.process_time()
    assert batch(writes(long), writes(long), writes("b")).startable() == ("0", "2")
    assert time.process_time() - before < 1


def test_the_first_outcome_stands() -> None:
    """Another outcome for the same call is counted and changes nothing."""
    made = batch(READ)
    started(made)
    assert made.settle("0", DONE)
    assert not made.settle("0", Outcome("cancelled"))
    assert (made.outcomes["0"], made.late) == (DONE, 1)


def test_a_tool_that_was_given_up_keeps_its_path() -> None:
    """Whoever needs that path is stuck, in this batch and the next, until the tool has really ended."""
    made = batch(writes("a"), writes("a"), writes("b"))
    started(made)
    made.settle("0", Outcome("cancelled"), still_running=True)
    assert made.stuck_calls() == ("1",)
    assert "1" not in made.startable()
    after = Batch(["x"], running=made.running)
    after.admit("x", reads("a"))
    assert (after.startable(), after.stuck_calls()) == ((), ("x",))
    made.mark_ended("0")
    assert (after.startable(), after.stuck_calls()) == (("x",), ())


def test_only_what_may_start_can_be_started() -> None:
    """The machine refuses steps out of turn, so a caller cannot break its laws."""
    made = batch(writes("a"), writes("a"))
    with pytest.raises(UsageError, match="must wait"):
        made.start("1")
    with pytest.raises(UsageError, match="is scheduled"):
        made.approve("0")
    with pytest.raises(UsageError, match="is scheduled; this needs one that is validating"):
        made.admit("0")
    with pytest.raises(UsageError, match="nobody is not in this batch; this needs one that is scheduled"):
        made.start("nobody")
    made.settle("0", DONE)
    with pytest.raises(UsageError, match="call 0 is complete"):
        made.start("0")


def test_the_summary_counts_every_call_once() -> None:
    """Scheduled, completed, errors, cancelled, denied, interrupted."""
    made = batch(READ, READ, READ, READ, READ)
    for call_id, status in zip(
        "01234", ["complete", "error", "cancelled", "denied", "interrupted"], strict=True
    ):
        made.settle(call_id, Outcome(status))  # type: ignore[arg-type]
    summary = made.summary()
    assert summary.scheduled == 5
    assert [summary.completed, summary.errors, summary.cancelled, summary.denied, summary.interrupted] == [
        1
    ] * 5


PATHS = ["a", "a/b", "c", "."]
FOOTPRINTS = st.builds(
    Footprint,
    st.lists(st.sampled_from(PATHS), max_size=2).map(tuple),
    st.booleans(),
    st.booleans().filter(bool) | st.just(False),
    st.booleans(),
)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(
            ["admit", "ask", "approve", "deny", "start", "finish", "fail", "cancel", "timeout", "end"]
        ),
        st.integers(0, 5),
    ),
    max_size=60,
)


def overlap(one: str, two: str) -> bool:
    """Written apart from the machine: equal, or one lies below the other."""
    return one == two or "." in (one, two) or one.startswith(two + "/") or two.startswith(one + "/")


def clash(one: Footprint, two: Footprint) -> bool:
    if not (one.changes or two.changes):
        return False
    anywhere = any(
        a.everywhere and (b.changes or b.paths or b.everywhere) for a, b in ((one, two), (two, one))
    )
    return anywhere or any(overlap(a, b) for a in one.paths for b in two.paths)


@given(st.lists(FOOTPRINTS, min_size=1, max_size=6), st.integers(1, 4), STEPS)
def test_any_interleaving_keeps_the_laws(
    footprints: list[Footprint], parallel: int, steps: list[tuple[str, int]]
) -> None:
    """One outcome a call, never too many at once, and never two tools on a path that one changes."""
    made = Batch([str(at) for at in range(len(footprints))], parallel=parallel)
    running: dict[str, Footprint] = {}  # tools that really run, settled or not
    now = {str(at): footprint for at, footprint in enumerate(footprints)}
    given: dict[str, list[Outcome]] = {str(at): [] for at in range(len(footprints))}

    def settle(call_id: str, outcome: Outcome, still_running: bool = False) -> None:
        if made.settle(call_id, outcome, still_running=still_running):
            given[call_id].append(outcome)
            if not still_running:
                running.pop(call_id, None)

    for action, number in steps:
        call_id = str(number % len(footprints))
        state = made.state(call_id)
        match action:
            case "admit" | "ask" if state == "validating":
                made.admit(call_id, footprints[number % len(footprints)], ask=action == "ask")
            case "approve" if state == "awaiting_approval":
                now[call_id] = footprints[(number + 1) % len(footprints)]  # the user chose other arguments
                made.approve(call_id, now[call_id])
            case "deny" if state == "awaiting_approval":
                settle(call_id, Outcome("denied"))
            case "start" if call_id in made.startable():
                made.start(call_id)
                running[call_id] = now[call_id]
            case "finish" | "fail" if state == "executing":
                settle(call_id, Outcome("complete" if action == "finish" else "error"))
            case "cancel":
                settle(call_id, Outcome("cancelled"))
            case "timeout" if state == "executing":
                settle(call_id, Outcome("error"), still_running=True)
            case "end" if call_id in given_up(made):
                made.mark_ended(call_id)
                running.pop(call_id)
        others = [(a, b) for a in running for b in running if a < b]
        assert not any(clash(running[a], running[b]) for a, b in others)
        assert len(running.keys() - given_up(made)) <= parallel
        alone = [a for a in made.live("executing") if running[a].alone]
        assert not alone or made.live("executing") == tuple(alone[:1])

    for call_id in made.live():
        settle(call_id, Outcome("interrupted"))
    assert made.is_done
    assert all(len(outcomes) == 1 for outcomes in given.values())
    assert [call_id for call_id, _ in made.results()] == list(given)


@given(st.lists(FOOTPRINTS, min_size=1, max_size=8), st.integers(1, 4), st.randoms())
def test_a_batch_that_is_left_to_run_always_ends(
    footprints: list[Footprint], parallel: int, random: object
) -> None:
    """Whatever finishes first, something can start until every call is settled: no deadlock."""
    made = batch(*footprints, parallel=parallel)
    while not made.is_done:
        started(made)
        executing = made.live("executing")
        assert executing
        made.settle(random.choice(executing), DONE)  # type: ignore[attr-defined]


@given(st.lists(st.sampled_from(PATHS), max_size=4), st.sampled_from(PATHS))
def test_places_agree_with_the_plain_definition(taken: list[str], path: str) -> None:
    """The index finds an overlap exactly where comparing every pair would."""
    places = TakenPlaces()
    for each in taken:
        places.add(writes(each))
    assert places.clash(reads(path)) == any(overlap(path, each) for each in taken)
