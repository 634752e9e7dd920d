"""A server that is a program: its environment, its error output, and its end."""

from __future__ import annotations

import json
from pathlib import Path

from msgspec.structs import replace
from tests.tools.mcp.workshop import QUICK, rough, work


def test_a_program_that_is_not_there_is_named_as_such(tmp_path: Path) -> None:
    """The status says that it could not be started."""
    at = rough(tmp_path, limits=replace(QUICK, attempts=1))
    at.server = replace(at.server, command="no-such-program")
    at.servers = at.open()

    async def story() -> None:
        await at.agree()
        assert at.status.state == "failed" and "No such file or directory" in at.status.detail

    work(at, story)


def test_a_server_knows_no_more_of_our_environment_than_a_command(tmp_path: Path) -> None:
    """The short list, and its own variables."""
    at = rough(tmp_path, env={"MINE": "${CITY}"}, OPENAI_API_KEY="sk-canary", LANG="C.UTF-8", CITY="Oslo")

    async def story() -> None:
        await at.agree()
        seen = json.loads((await at.ask("environment")).text)
        assert seen["MINE"] == "Oslo" and seen["LANG"] == "C.UTF-8"
        assert not {"OPENAI_API_KEY", "CITY"} & seen.keys() and "sk-canary" not in str(seen)
        assert (await at.ask("where")).text == str(tmp_path)

    work(at, story)


def test_everything_that_a_server_started_ends_with_it(tmp_path: Path) -> None:
    """Also what left its group and its session."""
    at = rough(tmp_path)
    at.server = replace(at.server, env={"CARRIED": str(tmp_path)})
    at.servers = at.open()

    async def story() -> None:
        from tests.tools.confine.test_process import carriers

        await at.agree()
        await at.ask("children")
        assert len(carriers(str(tmp_path))) >= 3

    work(at, story)


def test_what_a_server_writes_beside_the_protocol_is_kept_in_bounds_and_harmless(tmp_path: Path) -> None:
    """The start and the end of it, without control characters."""
    at = rough(tmp_path)
    (tmp_path / "noisy").touch()

    async def story() -> None:
        await at.agree()
        assert (await at.ask("echo", text="fine")).text == "fine"
        await at.servers.close()
        assert "last words" in at.status.errors and "\x1b" not in at.status.errors
        assert len(at.status.errors) < 20_000

    work(at, story)
