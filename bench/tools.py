"""What tools cost beside what they stand on: validation beside jsonschema-rs, a batch beside `gather`.

Both sides run in turn in one process, best of several rounds; the ratio is what counts.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from math import inf
from timeit import timeit
from typing import Any, Literal

from turnout.history.log import History
from turnout.model import ToolCall
from turnout.tools.confine.threads import Threads
from turnout.tools.declare.arguments import check_call
from turnout.tools.declare.tool import Tool, tool
from turnout.tools.policy.rules import Policy
from turnout.tools.schedule.scheduler import ToolScheduler

ROUNDS = 7


@tool
async def weather(city: str, unit: Literal["c", "f"] = "c") -> str:
    """Current weather."""
    return city


@tool
def read_file(path: str, offset: int = 1, limit: int | None = None) -> str:
    """Read a file."""
    return path


@tool(risk="write")
def edit_file(path: str, edits: list[dict[str, str]], create: bool = False) -> str:
    """Edit a file."""
    return path


@tool
async def nothing() -> str:
    """Do nothing."""
    return ""


@tool
async def wait(seconds: float) -> str:
    """Wait."""
    await asyncio.sleep(seconds)
    return ""


CALLS: list[tuple[Tool, dict[str, Any]]] = [
    (weather, {"city": "Bern"}),
    (read_file, {"path": "src/turnout/model.py", "offset": 1, "limit": 200}),
    (edit_file, {"path": "a.py", "edits": [{"old": "x" * 200, "new": "y" * 200}] * 20}),
]


def best(work: Callable[[], float], rounds: int = ROUNDS) -> float:
    return min(work() for _ in range(rounds))


def timed(statement: str, names: dict[str, Any], times: int = 20_000) -> float:
    """Seconds of one run of a statement."""
    return timeit(statement, globals=names, number=times) / times


def validation() -> Iterator[str]:
    for made, arguments in CALLS:
        call = ToolCall("c", made.name, arguments, raw="as the model wrote it")
        names = {"check": check_call, "made": made, "call": call, "validator": made.validator}
        names["arguments"] = call.arguments
        bare, ours = inf, inf
        for _ in range(500):  # in turn and short, so that what else the machine does meets neither
            bare = min(bare, timed("validator.is_valid(arguments)", names, 1000))
            ours = min(ours, timed("check(made, call)", names, 1000))
        yield f"{made.name}: {ours * 1e6:.2f} us beside {bare * 1e6:.2f} us bare: {ours / bare:.2f} times"


def batch_of(made: Tool, size: int, arguments: dict[str, Any]) -> tuple[ToolScheduler, Any]:
    history = History("bench")
    turn = history.reply("a:b", [ToolCall(str(n), made.name, arguments) for n in range(size)])
    return ToolScheduler([made], history, policy=Policy("full")), turn


async def batch(made: Tool, size: int, arguments: dict[str, Any], listens: bool = False) -> float:
    scheduler, turn = batch_of(made, size, arguments)
    seen: list[Any] = []
    before = time.perf_counter()
    await scheduler.run(turn.tool_calls, seen.append if listens else None)
    return time.perf_counter() - before


async def gathered(made: Tool, size: int, arguments: dict[str, Any]) -> float:
    before = time.perf_counter()
    await asyncio.gather(*(made(**arguments) for _ in range(size)))
    return time.perf_counter() - before


async def in_threads(size: int) -> float:
    threads = Threads()
    before = time.perf_counter()
    await asyncio.gather(*(threads.start(lambda: "") for _ in range(size)))
    return time.perf_counter() - before


def awaited(work: Callable[[], Any]) -> float:
    return best(lambda: asyncio.run(work()))


def scheduling() -> Iterator[str]:
    for size in (1, 5, 50):
        bare = awaited(lambda: gathered(nothing, size, {})) / size  # noqa: B023
        ours = awaited(lambda: batch(nothing, size, {})) / size  # noqa: B023
        heard = awaited(lambda: batch(nothing, size, {}, True)) / size  # noqa: B023
        yield (
            f"{size} calls: {ours * 1e6:.0f} us a call, {heard * 1e6:.0f} with events, "
            f"beside {bare * 1e6:.0f} us with gather"
        )
    yield f"a plain function in a thread: {awaited(lambda: in_threads(8)) / 8 * 1e6:.0f} us a call"
    waited = awaited(lambda: batch(wait, 5, {"seconds": 0.05}))
    yield f"5 tools that each wait 50 ms: {waited * 1e3:.1f} ms, {waited / 0.05:.2f} times one of them"


def run() -> None:
    print("arguments checked, beside jsonschema-rs alone")
    for line in validation():
        print(f"  {line}")
    print("a batch of calls, beside asyncio.gather of the bare functions")
    for line in scheduling():
        print(f"  {line}")
    names = {"tool": tool, "read_file": read_file}
    building = best(lambda: timed("tool(read_file.function)", names, 200))
    reading = best(lambda: timed("read_file.spec", names))
    print(f"a tool made: {building * 1e6:.0f} us, once; its schema read: {reading * 1e9:.0f} ns")


if __name__ == "__main__":
    run()
