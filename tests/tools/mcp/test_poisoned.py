"""A hostile server does no harm: to other tools, to our memory, to our time, or to the user's trust."""

from __future__ import annotations

import asyncio
import resource
import socket
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tools.declare.bombs import doubling
from tests.tools.declare.test_schema_cost import LONGEST_HOLD, longest_hold
from tests.tools.mcp.workshop import HERE, QUICK, Workshop, lines, offer, rough, tools, work

from turnout.model import Media
from turnout.tools.builtin import BUILTIN
from turnout.tools.mcp.config import McpServer

MEGABYTE = 1024 * 1024


def test_a_poisoned_server_of_the_official_package_does_no_harm(tmp_path: Path) -> None:
    """One story: its names, its floods, its silence, its fall, and the orders that it comes back with."""
    args = (str(HERE / "poisoned_server.py"), str(tmp_path))
    server = McpServer("poisoned", "mcp.json", sys.executable, args)
    at = Workshop(tmp_path, server, replace(QUICK, start=30.0))
    for tool in BUILTIN:
        at.registry.add(tool)

    async def names() -> None:
        update = await at.agree()
        assert all(name.startswith("mcp__poisoned__") and len(name) <= 64 for name in update.added)
        assert len(update.added) == 9, "the nine tools that can be offered, each under a name of its own"
        assert all(at.registry[tool.name] is tool for tool in BUILTIN)
        assert "mcp__git__git_status" not in at.registry
        left_out = " ".join(at.status.left_out)
        assert "twice" in left_out and "outside of themselves" in left_out and "broken" in left_out

    async def floods() -> None:
        flood = await at.ask("huge", size=8 * MEGABYTE)
        assert flood.status == "complete" and len(flood.text) < 50_000
        too_much = await at.ask("huge", size=20 * MEGABYTE)
        assert too_much.status == "error" and "too long" in too_much.text
        images = await at.ask("images", size=5000)
        assert sum(isinstance(block, Media) for block in images.content) == 20
        assert (await at.ask("huge", size=3)).text == "xxx"

    async def silence() -> None:
        asking = asyncio.ensure_future(at.ask("hang"))
        while not (tmp_path / "hangs").exists():
            await asyncio.sleep(0.01)
        began = time.monotonic()
        at.desk.scheduler.cancel()
        assert (await asking).status == "cancelled" and time.monotonic() - began < 10

    async def fall() -> None:
        (tmp_path / "turned").touch()
        assert "is unknown whether" in (await at.ask("crash")).text
        await at.until("unapproved", 30)
        assert "has changed its tools" in (await at.ask("huge", size=3)).text
        review = at.servers.review("poisoned")
        assert review and any("+ <IMPORTANT>" in line and "<U+202E>" in line for line in review.changes)
        assert len(at.servers.update(at.registry).removed) == 9

    async def story() -> None:
        await names()
        await floods()
        await silence()
        await fall()

    work(at, story, limit=120)


def test_a_message_without_end_is_not_kept(tmp_path: Path) -> None:
    """However long a line is, it costs neither the memory nor the connection."""
    at = rough(tmp_path)

    async def story() -> None:
        await at.agree()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        assert "too long" in (await at.ask("huge", text=str(80 * MEGABYTE))).text
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 * 1024
        assert (await at.ask("echo", text="on")).text == "on"

    work(at, story)


def test_a_large_answer_does_not_hold_up_the_loop(tmp_path: Path) -> None:
    """It is parsed in a thread."""
    at = rough(tmp_path)
    lags: list[float] = []

    async def tick() -> None:
        while True:
            began = time.monotonic()
            await asyncio.sleep(0.01)
            lags.append(time.monotonic() - began - 0.01)

    async def story() -> None:
        await at.agree()
        ticking = asyncio.ensure_future(tick())
        assert (await at.ask("huge", text=str(12 * MEGABYTE))).status == "complete"
        ticking.cancel()
        assert max(lags) < 5.0

    work(at, story)


def test_a_flood_of_changes_is_one_change(tmp_path: Path) -> None:
    """The tools are listed again once, not once per message."""
    at = rough(tmp_path)

    async def story() -> None:
        await at.agree()
        assert (await at.ask("flood")).text == "flooded"
        assert (await at.ask("echo", text="calm")).text == "calm"
        looks = [line for line in lines(tmp_path, "heard") if "tools/list" in line]
        assert len(looks) < 20

    work(at, story)


def test_a_server_that_never_stops_changing_is_looked_at_now_and_then(tmp_path: Path) -> None:
    """Each look makes it say that it changed: that is no reason to look without a pause."""
    at = rough(tmp_path, limits=replace(QUICK, relist_pause=0.2))

    async def story() -> None:
        await at.agree()
        (tmp_path / "restless").touch()
        await at.ask("flood")
        await asyncio.sleep(0.8)
        looks = [line for line in lines(tmp_path, "heard") if "tools/list" in line]
        assert 2 < len(looks) < 10

    work(at, story)


def test_a_list_that_never_ends_is_refused(tmp_path: Path) -> None:
    """After a number of pages the server fails."""
    at = rough(tmp_path)
    (tmp_path / "endless").touch()

    async def story() -> None:
        await at.agree()
        assert at.status.state == "failed" and "longer than the limit" in at.status.detail

    work(at, story)


@pytest.mark.parametrize("many", [(600, 10), (3, 2_000_000)], ids=["too many", "too much"])
def test_a_list_that_is_too_long_is_refused(tmp_path: Path, many: tuple[int, int]) -> None:
    """By the number of tools, or by their size."""
    at = rough(tmp_path)
    count, size = many
    offer(tmp_path, *tools(*(f"t{at}" for at in range(count)), description="x" * size))

    async def story() -> None:
        await at.agree()
        assert at.status.state == "failed" and "over the limit" in at.status.detail

    work(at, story)


def test_an_answer_that_breaks_the_protocol_is_an_error_of_that_call(tmp_path: Path) -> None:
    """The connection stays, and the next call works."""
    at = rough(tmp_path)

    async def story() -> None:
        await at.agree()
        odd = await at.ask("odd")
        assert odd.status == "error" and "cannot be read" in odd.text and len(odd.text) < 1000
        assert (await at.ask("echo", text="on")).text == "on"

    work(at, story)


BOMBS = {
    "10,000 levels": "[" * 10_000 + "]" * 10_000,
    "300 levels": "[" * 300 + "]" * 300,
    "5 million lists": "[" + "[]," * 5_000_000 + "[]]",
    "not JSON": "[1, 2",
}


@pytest.mark.parametrize("tool", ["raw", "raw_backwards"])
@pytest.mark.parametrize("name", BOMBS)
def test_a_message_that_cannot_be_read_is_an_error_of_that_call(tmp_path: Path, name: str, tool: str) -> None:
    """At once: nobody waits for an answer that has come. The loop goes on meanwhile, the server too."""
    at = rough(tmp_path, limits=replace(QUICK, call=20.0))
    offer(tmp_path, *tools("echo", "raw", "raw_backwards"))
    (tmp_path / "raw").write_text(BOMBS[name])

    async def story() -> None:
        await at.agree()
        began = time.monotonic()
        outcome, held = await longest_hold(at.ask(tool))
        assert outcome.status == "error" and "the answer" in outcome.text
        assert time.monotonic() - began < 15 and held < LONGEST_HOLD
        assert (await at.ask("echo", text="on")).text == "on"

    work(at, story)


PROMISES = {
    "a pattern that backtracks": {"pattern": "^(a+)+$"},
    "definitions, each twice the one before": {"$ref": "#/$defs/d40"},
}


@pytest.mark.parametrize("name", PROMISES)
def test_the_schema_of_a_result_does_not_hold_up_the_loop(tmp_path: Path, name: str) -> None:
    """It is a stranger's too. One that cannot be afforded leaves its tool out."""
    at = rough(tmp_path)
    schema = {"type": "object", "$defs": doubling(40)["$defs"], "properties": {"n": PROMISES[name]}}
    if "pattern" in PROMISES[name]:
        del schema["$defs"]
    offer(tmp_path, *tools("echo"), *tools("raw", outputSchema=schema))
    (tmp_path / "raw").write_text('"' + "a" * 5000 + '!"')

    async def story() -> None:
        added = (await at.agree()).added
        if "mcp__rough__raw" not in added:
            assert "change the schema of its results, which cannot be used" in " ".join(at.status.left_out)
            return
        outcome, held = await longest_hold(at.ask("raw"))
        assert outcome.status == "error" and held < LONGEST_HOLD

    work(at, story)


def test_an_answer_that_breaks_the_tools_own_schema_is_an_error(tmp_path: Path) -> None:
    """The output schema of a tool is checked."""
    at = rough(tmp_path)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    offer(tmp_path, *tools("lie", outputSchema=schema))

    async def story() -> None:
        await at.agree()
        assert (await at.ask("lie")).status == "error"

    work(at, story)


def test_nothing_is_fetched_for_a_servers_schema(tmp_path: Path) -> None:
    """Neither for what goes in, which leaves the tool out, nor for what comes back."""
    with socket.create_server(("127.0.0.1", 0)) as trap:
        place = f"http://127.0.0.1:{trap.getsockname()[1]}/schema.json"
        inward = tools("echo", inputSchema={"type": "object", "$ref": place})
        outward = tools("lie", outputSchema={"type": "object", "properties": {"n": {"$ref": place}}})
        at = rough(tmp_path)
        offer(tmp_path, *inward, *outward)

        async def story() -> None:
            assert (await at.agree()).added == ("mcp__rough__lie",)
            assert "outside of themselves" in " ".join(at.status.left_out)
            assert (await at.ask("lie")).status == "error"

        work(at, story)
        trap.setblocking(False)
        with pytest.raises(BlockingIOError):
            trap.accept()


def test_a_server_is_ended_also_when_it_ignores_its_end(tmp_path: Path) -> None:
    """Neither a closed input nor a polite signal moves it; it is gone all the same."""
    at = rough(tmp_path, limits=replace(QUICK, start=0.5, attempts=1))
    program = "import signal, sys, time; signal.signal(15, signal.SIG_IGN); time.sleep(1000)"
    at.server = replace(at.server, args=("-I", "-S", "-c", program, str(tmp_path)))
    at.servers = at.open()

    async def story() -> None:
        began = time.monotonic()
        await at.agree()
        assert at.status.state == "failed" and time.monotonic() - began < 30

    work(at, story)


def test_leaving_in_the_middle_of_a_start_leaves_nothing_behind(tmp_path: Path) -> None:
    """Cancelled while it starts, a server leaves no process."""
    at = rough(tmp_path)
    (tmp_path / "silent").touch()

    async def story() -> None:
        launch = at.servers.review("rough")
        assert launch
        trusting = asyncio.ensure_future(at.servers.trust(launch))
        while not lines(tmp_path, "starts"):
            await asyncio.sleep(0.005)
        trusting.cancel()

    began = time.monotonic()
    work(at, story)
    assert time.monotonic() - began < 30
