"""Commands: streamed, bounded in time and memory, and gone with everything they started."""

from __future__ import annotations

import asyncio
import os
import resource
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.tools.schedule.scheduling import quickest

from turnout.tools.confine import process, supervise
from turnout.tools.confine.output import Capture
from turnout.tools.confine.process import Finished

SOAK = bool(os.environ.get("TURNOUT_SOAK"))
MANNERS = ("auto", "tree")  # with a process namespace where we may have one, and without


@pytest.fixture
def name() -> Iterator[str]:
    """A word that the test puts on its commands; whatever carries it must be gone in the end."""
    word = f"turnout-test-{secrets.token_hex(6)}"
    yield word
    assert carriers(word) == []


def carriers(word: str) -> list[str]:
    """Living processes that have the word in their command line or environment."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            facts = (
                Path(f"/proc/{number}/cmdline").read_bytes() + Path(f"/proc/{number}/environ").read_bytes()
            )
            state = Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if word.encode() in facts and state != b"Z" and int(number) != os.getpid():
            found.append(facts.replace(b"\0", b" ").decode(errors="replace"))
    return found


async def bash(script: str, *words: str, **options: Any) -> tuple[Finished, bytes]:
    output = bytearray()
    folder = os.open(options.pop("folder", "/"), os.O_RDONLY | os.O_DIRECTORY)
    environment = {**process.environment(os.environ), **options.pop("environment", {})}
    try:
        finished = await process.run_command(
            ["bash", "--noprofile", "--norc", "-c", script, *words],
            folder=folder,
            environment=environment,
            on_output=options.pop("on_output", output.extend),
            **options,
        )
    finally:
        os.close(folder)
    return finished, bytes(output)


def run_bash(script: str, *words: str, **options: Any) -> tuple[Finished, bytes]:
    return asyncio.run(bash(script, *words, **options))


@pytest.mark.parametrize("isolation", MANNERS)
@pytest.mark.parametrize(
    ("script", "code", "number"),
    [("true", 0, 0), ("exit 3", 3, 0), ("kill -KILL $$", None, 9), ("kill -TERM $$", None, 15)],
)
def test_the_end_of_a_command_is_told_as_it_was(
    isolation: str, script: str, code: int | None, number: int
) -> None:
    """Exit codes and signals come through the processes in between."""
    finished, _ = run_bash(script, isolation=isolation)
    assert (finished.code, finished.signal, finished.timed_out, finished.left) == (code, number, False, 0)


def test_a_command_that_is_not_there_says_so() -> None:
    """The error number of the failed start comes back, and no exit code."""

    async def start() -> Finished:
        folder = os.open("/", os.O_RDONLY)
        try:
            return await process.run_command(["no-such-program"], folder=folder, environment={"PATH": "/bin"})
        finally:
            os.close(folder)

    finished = asyncio.run(start())
    assert (finished.code, finished.errno) == (None, 2)


def test_output_and_errors_come_together_in_order(tmp_path: Path) -> None:
    """As they would stand in a terminal, from the folder that was given."""
    _, output = run_bash("echo one; echo two >&2; echo three; pwd", folder=tmp_path)
    assert output.decode() == f"one\ntwo\nthree\n{tmp_path}\n"


def test_output_arrives_while_the_command_runs(tmp_path: Path) -> None:
    """The first line is there before the last one is printed: the command waits until it was seen."""
    arrived: list[bytes] = []

    def heard(data: bytes) -> None:
        arrived.append(data)
        (tmp_path / "heard").touch()

    line = "echo a; until test -e $1/heard; do sleep 0.01; done; echo b"
    finished, _ = run_bash(line, "x", str(tmp_path), on_output=heard, timeout=20)
    assert (finished.code, arrived) == (0, [b"a\n", b"b\n"])


def test_a_command_has_no_input_and_no_terminal() -> None:
    """Nothing can wait for a key or ask for a password."""
    finished, output = run_bash("cat; tty; (exec 3</dev/tty) 2>/dev/null && echo has a terminal; true")
    assert finished.code == 0
    assert output == b"not a tty\n"


def test_a_command_inherits_no_descriptor() -> None:
    """Not our sockets, not our files; only what it is handed on purpose."""
    with socket.socket() as listening, open(os.devnull) as file:
        os.set_inheritable(listening.fileno(), False)
        os.set_inheritable(file.fileno(), True)
        _, output = run_bash("for fd in /proc/$$/fd/*; do echo ${fd##*/}; done")
    assert set(output.split()) <= {b"0", b"1", b"2", b"3", b"255"}  # 3 and 255 are bash's own


TREES = {
    "sleeps": "sleep 300",
    "ignores": "trap '' TERM INT HUP; sleep 300 & wait; sleep 300",
    "setsid": "setsid sleep 300 & sleep 300",
    "orphan": "(setsid sleep 300 &) ; (sleep 300 &) ; sleep 300",
    "daemon": "(setsid env -i bash -c \"exec -a '$0' sleep 300\" &) ; sleep 300",
    "stopped": "sleep 300 & kill -STOP $!; sleep 300",
    "many": "for i in {1..40}; do setsid sleep 300 & done; sleep 300",
    "breeds": "while :; do (setsid sleep 300 &); sleep 0.005; done",
}


@pytest.mark.parametrize("isolation", MANNERS)
@pytest.mark.parametrize("tree", TREES)
def test_a_timeout_ends_the_whole_tree(name: str, isolation: str, tree: str) -> None:
    """Also what left the process group, the session and the environment, or will not listen."""
    started = time.monotonic()
    finished, _ = run_bash(TREES[tree], name, environment={"NAME": name}, timeout=0.2, isolation=isolation)
    assert finished.timed_out
    assert finished.left == 0
    assert time.monotonic() - started < 15
    assert carriers(name) == []


HOPS = "exec \"$1\" -I -S -c 'import os\nwhile True:\n    if os.fork(): os._exit(0)' $0"


@pytest.mark.parametrize("isolation", MANNERS)
def test_a_process_that_never_stays_is_caught(name: str, isolation: str) -> None:
    """It forks and exits without end, so that its number is never the one that was seen."""
    finished, _ = run_bash(HOPS, name, sys.executable, environment={"NAME": name}, isolation=isolation)
    assert (finished.code, finished.left) == (0, 0)
    time.sleep(0.05)
    assert carriers(name) == []


def test_a_number_used_again_is_left_alone() -> None:
    """A signal goes to the process that was seen, told by its start time."""
    other = subprocess.Popen(["sleep", "60"])
    try:
        facts = supervise.process_facts(other.pid)
        assert facts is not None
        supervise.send_signal(other.pid, str(int(facts[2]) - 1), signal.SIGKILL)
        time.sleep(0.05)
        assert other.poll() is None
        supervise.send_signal(other.pid, facts[2], signal.SIGKILL)
        assert other.wait(5) == -signal.SIGKILL
    finally:
        other.kill()
        other.wait()


def test_a_command_has_a_session_of_its_own() -> None:
    """Keys pressed in our terminal do not reach it, and it cannot reach our terminal."""
    _, output = run_bash("cut -d' ' -f6 /proc/$$/stat", isolation="tree")
    assert int(output) not in (os.getsid(0), 0)


@pytest.mark.parametrize("isolation", MANNERS)
def test_what_a_command_leaves_running_ends_with_it(name: str, isolation: str) -> None:
    """A result is final: nothing goes on changing files after it."""
    script = "setsid sleep 300 & (sleep 300 &) ; echo done"
    finished, output = run_bash(script, name, environment={"NAME": name}, isolation=isolation)
    assert (finished.code, finished.timed_out, output) == (0, False, b"done\n")
    assert carriers(name) == []


def test_a_polite_command_may_clean_up() -> None:
    """It is asked first, and has a moment for its lock files."""
    script = "trap 'echo cleaned; exit 7' TERM; sleep 300 & wait"
    finished, output = run_bash(script, timeout=0.3)
    assert (finished.code, finished.timed_out, output) == (7, True, b"cleaned\n")


@pytest.mark.soak
def test_cancelled_commands_leave_nothing_behind(name: str) -> None:
    """Cancelled at any moment of its life, a tree is gone when the cancellation comes back."""

    async def cancelled(trial: int) -> float:
        tree = list(TREES.values())[trial % 4]
        run = asyncio.create_task(
            bash(tree, name, environment={"NAME": name}, isolation=MANNERS[trial % 2], grace=0.2)
        )
        await asyncio.sleep(0.013 * (trial % 9))
        started = time.monotonic()
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        return time.monotonic() - started

    async def all_of_them() -> list[float]:
        return [await cancelled(trial) for trial in range(200 if SOAK else 20)]

    descriptors = len(os.listdir("/proc/self/fd"))
    times = asyncio.run(all_of_them())
    assert sorted(times)[len(times) // 2] < 1.0 and max(times) < 10  # a busy machine may hold up some
    time.sleep(0.3)  # one that was cancelled before it had begun needs a moment to see it
    assert carriers(name) == []
    assert len(os.listdir("/proc/self/fd")) <= descriptors


@pytest.mark.parametrize("isolation", MANNERS)
def test_a_cooperative_command_stops_within_a_quarter_second(name: str, isolation: str) -> None:
    """From the cancellation to the moment when no process is left."""

    async def once() -> float:
        run = asyncio.create_task(bash("sleep 300", name, environment={"NAME": name}, isolation=isolation))
        await asyncio.sleep(0.15)
        started = time.monotonic()
        run.cancel()
        await asyncio.wait([run])
        return time.monotonic() - started

    assert quickest(lambda: asyncio.run(once()), 0.25) < 0.25


HARNESS = """
import asyncio, os, sys
from turnout.tools.confine import process
asyncio.run(process.run_command(
    ["bash", "-c", "setsid sleep 300 & sleep 300"], folder=os.open("/", os.O_RDONLY),
    environment={"PATH": os.environ["PATH"], "NAME": sys.argv[1]}, isolation=sys.argv[2]))
"""


@pytest.mark.parametrize("isolation", MANNERS)
def test_when_we_are_killed_our_commands_end(name: str, isolation: str) -> None:
    """Even by a signal that cannot be caught."""
    harness = subprocess.Popen([sys.executable, "-c", HARNESS, name, isolation])
    wait_until(lambda: sum("sleep 300" in line for line in carriers(name)) >= 2)
    harness.send_signal(signal.SIGKILL)
    harness.wait()
    wait_until(lambda: carriers(name) == [])


def wait_until(condition: Any, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it never came to be"
        time.sleep(0.02)


def test_a_command_that_kills_its_supervisor_gets_no_further(name: str) -> None:
    """Without a namespace it can reach it; its processes are then found by their mark."""
    script = "(setsid sleep 300 &) ; sleep 0.1; kill -KILL $PPID; sleep 300"
    finished, _ = run_bash(script, name, environment={"NAME": name}, isolation="tree", timeout=20)
    assert finished.signal == signal.SIGKILL
    assert carriers(name) == []


def test_a_namespace_hides_everyone_else() -> None:
    """Where we have one, a command cannot even name a process that is not its own."""
    finished, output = run_bash(
        "ps -e -o pid= | wc -l; kill -0 $1 2>/dev/null && echo reachable", "x", str(os.getpid())
    )
    if not finished.isolated:
        pytest.skip("a process namespace needs the superuser")
    assert int(output) < 8


HOLDER = """
import os, socket, sys
socket.send_fds(socket.socket(fileno=int(sys.argv[1])), [b"x"], [1])
print("sent", flush=True)
"""


def test_a_held_pipe_cannot_hang_us() -> None:
    """Someone out of reach keeps our output open: when the command is over, we stop listening."""
    ours, theirs = socket.socketpair()

    async def hold() -> tuple[Finished, bytes]:
        script = 'exec "$1" -c "$2" "$3"'
        words = (sys.executable, HOLDER, str(theirs.fileno()))
        return await bash(script, "x", *words, keep_open=[theirs.fileno()], timeout=20)

    with ours, theirs:
        started = time.monotonic()
        finished, output = asyncio.run(hold())
        assert (finished.code, output) == (0, b"sent\n")
        assert time.monotonic() - started < 10
        _, held, _, _ = socket.recv_fds(ours, 10, 1)
        assert held, "nothing held the pipe, so nothing was shown"
        os.close(held[0])


class Ticker:
    """How late the loop ran while something else went on."""

    def __init__(self) -> None:
        self.lag = 0.0

    async def run(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.005)
            self.lag = max(self.lag, time.monotonic() - before - 0.005)


@pytest.mark.soak
def test_a_flood_of_output_keeps_memory_flat() -> None:
    """A gigabyte through a pipe: two ends are kept, the rest passes, and the loop stays awake."""
    size = 1024 * 1024 * 1024 if SOAK else 64 * 1024 * 1024
    capture, ticker = Capture(), Ticker()

    async def flood() -> Finished:
        ticking = asyncio.create_task(ticker.run())
        finished, _ = await bash("head -c $1 /dev/zero | tr '\\0' x", "x", str(size), on_output=capture.feed)
        ticking.cancel()
        return finished

    run_bash("true")  # whatever the first run allocates is not the flood's
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    finished = asyncio.run(flood())
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    captured = capture.close()
    assert (finished.code, captured.size) == (0, size)
    assert grown < 8 * 1024, f"{grown} KiB"
    assert len(captured.text) < 66 * 1024
    assert ticker.lag < 2.0  # on an idle machine 50 ms


def test_an_endless_flood_is_ended_by_the_clock(name: str) -> None:
    """`yes` has no end of its own."""
    capture = Capture()
    finished, _ = run_bash("yes", name, on_output=capture.feed, timeout=0.5, environment={"NAME": name})
    assert finished.timed_out
    assert capture.ends.size > 1_000_000


def test_the_environment_is_a_short_list() -> None:
    """Keys and tokens of ours are unknown to a command; so are settings that run code."""
    ours = {
        "PATH": "/usr/bin:.:bin::/bin",
        "HOME": "/home/me",
        "LC_ALL": "C.UTF-8",
        "OPENAI_API_KEY": "canary",
        "AWS_SECRET_ACCESS_KEY": "canary",
        "LC_TOKEN_1": "canary",
        "LD_PRELOAD": "canary",
        "BASH_ENV": "canary",
        "GIT_SSH_COMMAND": "canary",
        "PYTHONPATH": "canary",
        "http_proxy": "http://me:canary@proxy",
    }
    kept = process.environment(ours)
    assert "canary" not in " ".join(kept.values())
    assert (kept["PATH"], kept["HOME"], kept["LC_ALL"]) == ("/usr/bin:/bin", "/home/me", "C.UTF-8")
    assert process.environment(ours, allow=["OPENAI_API_KEY"])["OPENAI_API_KEY"] == "canary"
    assert process.environment({})["PATH"]


def test_commands_run_from_any_thread() -> None:
    """A loop in another thread than the main one can run them too."""
    results: list[Finished] = []
    thread = threading.Thread(target=lambda: results.append(run_bash("exit 4")[0]))
    thread.start()
    thread.join()
    assert results[0].code == 4


def test_commands_run_side_by_side() -> None:
    """Ten at once get each their own output."""

    async def ten() -> Sequence[tuple[Finished, bytes]]:
        return await asyncio.gather(*(bash("sleep 0.05; echo $1", "x", str(number)) for number in range(10)))

    assert [output for _, output in asyncio.run(ten())] == [b"%d\n" % number for number in range(10)]
