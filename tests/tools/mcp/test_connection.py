"""The connection to one server: failures, restarts, calls and their ends."""

from __future__ import annotations

import asyncio
import sys
import time
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tools.mcp.workshop import QUICK, lines, rough, work

from turnout.tools.declare.events import ToolProgress
from turnout.tools.declare.registry import Registry


def test_a_server_that_falls_comes_back_and_its_call_is_not_repeated(tmp_path: Path) -> None:
    """The model reads that the effect of the call is unknown."""
    at = rough(tmp_path)

    async def story() -> None:
        await at.agree()
        fallen = await at.ask("crash")
        assert fallen.status == "error" and "is unknown whether" in fallen.text
        assert (await at.ask("echo", text="back")).text == "back"
        calls = [line for line in lines(tmp_path, "heard") if '"crash"' in line]
        assert len(calls) == 1 and len(lines(tmp_path, "starts")) == 2

    work(at, story)


def test_a_server_that_always_falls_is_given_up(tmp_path: Path) -> None:
    """A few tries, each a little later, and then the reason in words."""
    at = rough(tmp_path, limits=replace(QUICK, attempts=3))
    (tmp_path / "refuses").touch()

    async def story() -> None:
        await at.agree()
        assert at.status.state == "failed" and len(lines(tmp_path, "starts")) == 3
        assert at.status.detail == "it ended with exit code 1 (there is no licence for this machine)"
        (tmp_path / "refuses").unlink()
        await at.servers.restart("rough")
        assert at.status.state == "unapproved"

    work(at, story)


def test_a_server_that_never_answers_is_given_up_and_ended(tmp_path: Path) -> None:
    """After the time limit for a start, and no process is left."""
    at = rough(tmp_path, limits=replace(QUICK, start=0.3, attempts=2))
    (tmp_path / "silent").touch()

    async def story() -> None:
        await at.agree()
        assert at.status.state == "failed" and "did not answer within 0.3 seconds" in at.status.detail

    work(at, story)


def test_a_server_that_starts_slowly_holds_up_nobody(tmp_path: Path) -> None:
    """The session begins without it; its tools come at a later turn."""
    at = rough(tmp_path)
    work(at, at.agree)
    (tmp_path / "slow").touch()
    at.servers = at.open()

    async def story() -> None:
        at.servers.start()
        await at.servers.settle(0.05)
        assert not at.servers.update(Registry()) and at.status.state == "starting"
        (tmp_path / "slow").unlink()
        await at.servers.settle()
        assert "mcp__rough__echo" in at.servers.update(Registry()).added

    work(at, story)


def test_a_cancelled_call_is_cancelled_at_the_server(tmp_path: Path) -> None:
    """The server is told, and the connection stays."""
    at = rough(tmp_path)

    async def story() -> None:
        await at.agree()
        asking = asyncio.ensure_future(at.ask("hang"))
        while not any('"hang"' in line for line in lines(tmp_path, "heard")):
            await asyncio.sleep(0.005)
        began = time.monotonic()
        at.desk.scheduler.cancel()
        assert (await asking).status == "cancelled" and time.monotonic() - began < 10
        assert (await at.ask("echo", text="still here")).text == "still here"
        assert any("notifications/cancelled" in line for line in lines(tmp_path, "heard"))

    work(at, story)


def test_a_call_that_takes_too_long_is_stopped(tmp_path: Path) -> None:
    """The time limit of a call holds for servers too."""
    at = rough(tmp_path, limits=replace(QUICK, call=0.2))

    async def story() -> None:
        await at.agree()
        assert "0.2" in (await at.ask("hang")).text
        assert (await at.ask("echo", text="still here")).text == "still here"

    work(at, story)


def test_progress_of_a_server_is_progress_of_its_call(tmp_path: Path) -> None:
    """A part of a total is a fraction, a message is a line."""
    at = rough(tmp_path)

    async def story() -> None:
        await at.agree()
        await at.ask("progress")
        steps = [event for event in at.desk.events if isinstance(event, ToolProgress)]
        assert [step.text for step in steps if step.text] == ["step 1", "step 2", "step 3"]
        assert [step.fraction for step in steps if step.fraction] == [0.25, 0.5, 0.75]

    work(at, story)


def test_a_variable_that_is_missing_is_said_and_nothing_is_tried(tmp_path: Path) -> None:
    """The status names the variable, and no program is started."""
    at = rough(tmp_path, env={"X": "${NOT_SET}"})

    async def story() -> None:
        await at.agree()
        assert at.status.state == "failed" and "NOT_SET" in at.status.detail
        assert lines(tmp_path, "starts") == []

    work(at, story)


def test_without_the_package_a_server_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The status names the extra to install."""
    monkeypatch.setitem(sys.modules, "mcp", None)
    at = rough(tmp_path)

    async def story() -> None:
        await at.agree()
        assert at.status.state == "failed" and "pip install 'turnout[mcp]'" in at.status.detail

    work(at, story)


def test_the_package_is_loaded_with_the_first_connection_and_not_before() -> None:
    """Importing our module does not import theirs."""
    import subprocess

    code = "import sys, turnout.tools.mcp.servers; print(any(n.split('.')[0] == 'mcp' for n in sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
