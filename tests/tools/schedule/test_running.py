"""The calls of several sessions at once: what one changes no other touches, and nobody waits for ever."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.model import Outcome
from turnout.tools.declare.footprint import Footprint
from turnout.tools.schedule.batch import Batch
from turnout.tools.schedule.running import RunningCalls

DONE = Outcome("complete", "done")
READ_A = Footprint(("a",))
WRITE_A = Footprint(("a",), changes=True)
WRITE_B = Footprint(("b",), changes=True)
COMMAND = Footprint(changes=True, alone=True)
READING_COMMAND = Footprint(everywhere=True)
WAITING_FOR_A_SUBAGENT = Footprint(counted=False)


def scheduled(running: RunningCalls, *footprints: Footprint) -> Batch:
    """A batch of one session of the tree, its calls "0", "1", ... all scheduled."""
    made = Batch([str(at) for at in range(len(footprints))], running=running)
    for at, footprint in enumerate(footprints):
        made.admit(str(at), footprint)
    return made


def start_all(made: Batch) -> tuple[str, ...]:
    ready = made.startable()
    for call_id in ready:
        made.start(call_id)
    made.queue_blocked()
    return ready


@pytest.mark.parametrize(
    ("one", "two", "together"),
    [
        (WRITE_A, WRITE_A, False),
        (WRITE_A, READ_A, False),
        (READ_A, READ_A, True),
        (WRITE_A, WRITE_B, True),
        (COMMAND, COMMAND, False),
        (COMMAND, WRITE_A, False),
        (COMMAND, READ_A, True),
        (COMMAND, READING_COMMAND, True),
        (READING_COMMAND, READING_COMMAND, True),
        (READING_COMMAND, WRITE_A, False),
        (WAITING_FOR_A_SUBAGENT, COMMAND, True),
    ],
)
def test_which_calls_of_two_sessions_run_at_the_same_time(
    one: Footprint, two: Footprint, together: bool
) -> None:
    """What changes a place keeps others from it; a command keeps out changes and commands, not reading."""
    for first, second in ((one, two), (two, one)):
        running = RunningCalls()
        here, there = scheduled(running, first), scheduled(running, second)
        assert start_all(here) == ("0",)
        assert start_all(there) == (("0",) if together else ())
        here.settle("0", DONE)
        assert together or start_all(there) == ("0",)


def test_the_limit_of_calls_at_once_is_one_for_all_sessions() -> None:
    """Two sessions with three calls each share three slots; waiting for a subagent takes none."""
    running = RunningCalls(parallel=3)
    parent = scheduled(running, WAITING_FOR_A_SUBAGENT, WAITING_FOR_A_SUBAGENT)
    here, there = scheduled(running, *[READ_A] * 2), scheduled(running, *[READ_A] * 3)
    assert start_all(parent) == ("0", "1")
    assert (start_all(here), start_all(there)) == (("0", "1"), ("0",))
    here.settle("0", DONE)
    assert start_all(there) == ("1",)


def test_a_tool_that_was_given_up_in_one_session_keeps_its_path_from_all() -> None:
    """Calls of another session that need the path are stuck until the tool has really ended."""
    running = RunningCalls()
    here, there = scheduled(running, WRITE_A), scheduled(running, WRITE_A)
    start_all(here)
    here.settle("0", Outcome("cancelled"), still_running=True)
    assert (there.startable(), there.stuck_calls()) == ((), ("0",))
    here.mark_ended("0")
    assert (there.startable(), there.stuck_calls()) == (("0",), ())


def test_a_tool_that_hangs_keeps_commands_that_read_only_from_its_own_path() -> None:
    """`cat a` is stuck while a change of a may still be under way; `ls` is not."""
    running = RunningCalls()
    here = scheduled(running, WRITE_A, Footprint(changes=True))
    start_all(here)
    for call_id in "01":
        here.settle(call_id, Outcome("cancelled"), still_running=True)
    there = scheduled(running, READING_COMMAND, Footprint(("a",), everywhere=True))
    assert (there.startable(), there.stuck_calls()) == (("0",), ("1",))


def test_a_change_that_waits_is_not_overtaken_by_reads_that_come_later() -> None:
    """Readers that take turns would otherwise keep it waiting for ever."""
    running = RunningCalls()
    reader, writer, late = (scheduled(running, each) for each in (READ_A, WRITE_A, READ_A))
    assert (start_all(reader), start_all(writer), start_all(late)) == (("0",), (), ())
    reader.settle("0", DONE)
    assert (start_all(late), start_all(writer)) == ((), ("0",))


def test_a_call_that_was_cancelled_while_it_waited_holds_nobody_back() -> None:
    """It leaves the queue, and the other batches are told that something became free."""
    running = RunningCalls()
    reader, writer, late = (scheduled(running, each) for each in (READ_A, WRITE_A, READ_A))
    running.watch(late.number, lambda: None)
    for each in (reader, writer, late):
        start_all(each)
    running.pumps_to_run(writer.number)
    writer.settle("0", Outcome("cancelled"))
    writer.queue_blocked()
    assert len(running.pumps_to_run(writer.number)) == 1
    assert start_all(late) == ("0",)


def test_a_batch_that_can_never_go_on_frees_what_it_held() -> None:
    """Its loop was closed around it: what it ran and what it waited for is not waited for any more."""
    running, closed = RunningCalls(parallel=2), [False]
    dead, queued, after = (scheduled(running, each) for each in (WRITE_A, WRITE_A, WRITE_A))
    for each in (dead, queued):
        running.watch(each.number, lambda: None, lambda: closed[0])
        start_all(each)
    running.forget_dead()
    assert after.startable() == ()
    closed[0] = True
    running.forget_dead()
    assert start_all(after) == ("0",) and running.room == 1


PATHS = ["a", "a/b", "c", ".", "/x"]
FOOTPRINTS = st.builds(
    Footprint,
    st.lists(st.sampled_from(PATHS), max_size=2).map(tuple),
    st.booleans(),
    st.booleans(),
    st.booleans(),
    st.integers(0, 9).map(bool),
)


def overlap(one: str, two: str) -> bool:
    """Written apart from the machine: equal, or one lies below the other."""
    if one.startswith("/") != two.startswith("/"):
        return False
    return one == two or "." in (one, two) or one.startswith(two + "/") or two.startswith(one + "/")


def spoils(one: Footprint, two: Footprint) -> bool:
    """Whether two calls at once could spoil each other's work."""
    if not (one.counted and two.counted):
        return False
    if one.alone or two.alone:
        return (one.alone or one.changes) and (two.alone or two.changes)
    if not (one.changes or two.changes):
        return False
    return bool(
        (one.everywhere and (two.changes or two.paths or two.everywhere))
        or (two.everywhere and (one.changes or one.paths or one.everywhere))
        or any(overlap(a, b) for a in one.paths for b in two.paths)
    )


@given(
    st.lists(st.lists(FOOTPRINTS, min_size=1, max_size=4), min_size=2, max_size=3),
    st.integers(1, 4),
    st.integers(0, 2**32),
)
def test_any_interleaving_of_sessions_keeps_the_laws(
    sessions: list[list[Footprint]], parallel: int, seed: int
) -> None:
    """No two calls that spoil each other at once, never too many, and all of them end: no deadlock."""
    dice, running = random.Random(seed), RunningCalls(parallel)
    batches = [scheduled(running, *footprints) for footprints in sessions]
    while not all(batch.is_done for batch in batches):
        for batch in dice.sample(batches, len(batches)):
            start_all(batch)
        at_work = [
            (batch, call_id, sessions[at][int(call_id)])
            for at, batch in enumerate(batches)
            for call_id in batch.live("executing")
        ]
        assert at_work
        assert sum(footprint.counted for _, _, footprint in at_work) <= parallel
        pairs = [(x, y) for i, x in enumerate(at_work) for y in at_work[i + 1 :] if x[0] is not y[0]]
        assert not [pair for pair in pairs if spoils(pair[0][2], pair[1][2])]
        batch, call_id, _ = dice.choice(at_work)
        batch.settle(call_id, DONE)
        waiting = [(each, call_id) for each in batches for call_id in each.live("scheduled")]
        if waiting and dice.random() < 0.2:
            batch, call_id = dice.choice(waiting)
            batch.settle(call_id, Outcome("cancelled"))
            batch.queue_blocked()
