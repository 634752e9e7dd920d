"""Several processes and one store: leases, takeovers, refusals."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.laws.share import SOAK

from turnout.errors import SessionHeld
from turnout.model import Text
from turnout.store import Store, holder

ROOT = Path(__file__).parent.parent.parent


def process(*arguments: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.store.rivals", *map(str, arguments)]
    return subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def reports(rivals: list[subprocess.Popen[str]]) -> list[dict[str, Any]]:
    ended = [(rival, *rival.communicate()) for rival in rivals]
    for rival, _, errors in ended:
        assert not rival.returncode, errors[-2000:]
    return [json.loads(said.splitlines()[-1]) for _, said, _ in ended]


def test_a_stale_writer_never_appends(quick_folder: Path) -> None:
    """Two processes take the session from each other; places and epochs never run backwards."""
    path, count = quick_folder / "s.db", 250 if SOAK else 25
    told = reports([process("takeovers", path, name, count) for name in ("a", "b")])

    with Store(path, heartbeat=False) as store, store.log.database.read_connection() as connection:
        rows: list[Any] = connection.execute("SELECT number, id, data FROM entry ORDER BY number").fetchall()
    first = rows[0][0]
    epochs = [int(id.partition(".")[0]) for _, id, _ in rows]
    keys = [json.loads(data)["key"] for *_, data in rows]
    assert [number for number, *_ in rows] == list(range(first, first + len(rows)))
    assert epochs == sorted(epochs)
    assert sorted(keys) == sorted(key for report in told for key in report["written"])
    assert len(set(keys)) == len(keys)
    assert sum(report["taken"] for report in told) == 2 * count
    assert sum(report["refused"] for report in told) > 0, "nobody was ever too late: the test shows nothing"


def test_eight_processes_write_their_own_sessions(quick_folder: Path) -> None:
    """Nobody hears of a lock, and nothing is lost."""
    path, count = quick_folder / "s.db", 400 if SOAK else 60
    reports([process("neighbours", path, f"s{number}", count) for number in range(8)])

    with Store(path, heartbeat=False) as store:
        assert {line.id: line.turns for line in store.list()} == {f"s{n}": count for n in range(8)}
        assert store.check() == []


@pytest.fixture
def held(quick_folder: Path) -> Any:
    """A store of which another process has session `s` open."""
    rival = process("hold", quick_folder / "s.db", "s")
    assert rival.stdout is not None
    rival.stdout.readline()
    yield quick_folder / "s.db", rival
    rival.kill()
    rival.communicate()


def test_a_second_process_is_refused_at_once_and_told_who_has_it(held: Any) -> None:
    """Within a second, with the process, the machine and since when."""
    path, rival = held
    with Store(path) as store:
        began = time.monotonic()
        with pytest.raises(
            SessionHeld, match=rf"session s is open in process {rival.pid} on .+ since 20"
        ) as caught:
            store.open("s")
        assert time.monotonic() - began < 1
        assert caught.value.holder.pid == rival.pid
        assert store.list()[0].holder == caught.value.holder
        assert store.read("s").key == "s"  # to read takes no lease


def test_a_killed_process_holds_nothing(held: Any) -> None:
    """Its session can be opened the moment after, without waiting for the lease to expire."""
    path, rival = held
    rival.send_signal(signal.SIGKILL)
    rival.wait()
    with Store(path) as store:
        store.open("s").user("mine now")
        assert store.read("s").turns[-1].blocks == (Text("mine now"),)


def test_a_process_that_hangs_is_followed_when_its_lease_has_expired(held: Any) -> None:
    """Stopped for longer than its lease: the next one takes over; once awake it cannot append."""
    path, rival = held
    rival.send_signal(signal.SIGSTOP)
    with Store(path, clock=lambda: holder.clock() + 20) as store, pytest.raises(SessionHeld):
        store.open("s")
    with Store(path, clock=lambda: holder.clock() + 31) as store:
        store.open("s").user("mine now")
    rival.send_signal(signal.SIGCONT)


def test_a_living_process_keeps_its_lease_without_writing(quick_folder: Path) -> None:
    """Signs of life go on by themselves: a tool may run for an hour."""
    with Store(quick_folder / "s.db", lease=0.9) as one, Store(quick_folder / "s.db") as other:
        one.open("s")
        time.sleep(1.4)
        with pytest.raises(SessionHeld):
            other.open("s")


def test_a_busy_store_still_refuses_within_a_second(held: Any) -> None:
    """Someone else's long write does not hold up the answer."""
    path, _ = held
    writer = Store(path, heartbeat=False)
    with Store(path, heartbeat=False) as store, writer.log.database.write_transaction():
        began = time.monotonic()
        with pytest.raises(SessionHeld):
            store.open("s")
        assert time.monotonic() - began < 1


def test_leases_do_not_care_what_the_date_is(quick_folder: Path) -> None:
    """A day forwards or backwards, or 1970: no lease expires early, and the order stays."""
    now = [1_800_000_000.0]
    with Store(quick_folder / "s.db", wall_clock=lambda: now[0], heartbeat=False) as one:
        history = one.open("s")
        for jump in (86_400.0, -172_800.0, -now[0], 1e9):
            now[0] += jump
            history.user(f"at {now[0]}")
            with Store(quick_folder / "s.db", wall_clock=lambda: now[0], heartbeat=False) as other:
                with pytest.raises(SessionHeld):
                    other.open("s")
                assert other.read("s").turns == history.turns


def test_a_store_is_not_carried_through_a_fork(quick_folder: Path) -> None:
    """A child must open its own: SQLite's locks are the parent's."""
    with Store(quick_folder / "s.db", heartbeat=False) as store:
        history = store.open("s")
        child = os.fork()
        if not child:
            try:
                history.user("from the child")
                os._exit(0)
            except Exception as error:
                os._exit(7 if "fork" in str(error) else 1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        history.user("from the parent")
