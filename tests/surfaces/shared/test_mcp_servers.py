"""MCP servers in the program: trusted step by step, used like other tools, gone when it ends."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.surfaces.cli.oneshot import run
from tests.surfaces.places import User, simulated
from tests.surfaces.program import Program
from tests.tools.confine.test_process import carriers
from tests.tools.mcp.workshop import HERE, offer, tools

from turnout.simulate import Call
from turnout.wire.shared.offered_tools import STUB_DESCRIPTION

pytest.importorskip("mcp")

OPENAI = ("-m", "openai:gpt-4o")
TRUST = "/mcp trust rough\nyes\nyes\n"


def with_server(user: User) -> Path:
    """The server that was written by hand, in the user's own configuration; gives the folder it keeps."""
    kept = user.home.parent / "kept"
    kept.mkdir()
    offer(kept, *tools("echo", annotations={"readOnlyHint": True, "openWorldHint": False}))
    args = ["-I", "-S", str(HERE / "rough_server.py"), str(kept)]
    settings = user.home / ".config/turnout/mcp.json"
    settings.parent.mkdir(parents=True)
    settings.write_text(json.dumps({"mcpServers": {"rough": {"command": sys.executable, "args": args}}}))
    return kept


def offered(user: User) -> list[list[str]]:
    """The tools of MCP servers that each request so far offers; what only the history knows is no offer."""
    assert user.simulation is not None
    declared = [json.loads(seen.body).get("tools", ()) for seen in user.simulation.exchanges]
    tools = [[tool["function"] for tool in each] for each in declared]
    return [[tool["name"] for tool in each if _is_offered(tool)] for each in tools]


def _is_offered(tool: dict[str, Any]) -> bool:
    return bool(tool["name"].startswith("mcp__") and tool["description"] != STUB_DESCRIPTION)


def test_one_shot_starts_no_server_that_nobody_has_seen(tmp_path: Path) -> None:
    """An untrusted server is not started; stderr says how to trust it."""
    with simulated(tmp_path, ["Hello."]) as user:
        kept = with_server(user)
        ran = run(user, "run", *OPENAI, "--approval-mode", "full", "-p", "hello")

        assert ran.code == 0 and "MCP server rough is not used" in ran.err
        assert "/mcp trust rough" in ran.err
        assert not (kept / "starts").exists() and offered(user) == [[]]


def test_a_trusted_server_is_used_in_both_programs_and_gone_afterwards(tmp_path: Path) -> None:
    """Trust is given in the conversation, once for the start and once for what is offered."""
    calls: list[Any] = [[Call("mcp__rough__echo", {"text": "over there"})], "It answered."]
    with simulated(tmp_path, calls * 2) as user:
        kept = with_server(user)
        talk = run(user, "chat", *OPENAI, stdin=f"{TRUST}ask it\n/mcp\n")
        shot = run(user, "run", *OPENAI, "-p", "ask it", "--output-format", "json")

        assert "MCP server rough is not used: review it with /mcp trust rough" in talk.out
        assert "start it? (yes/no)" in talk.out and "use its tools? (yes/no)" in talk.out
        assert "rough is ready, 1 tools" in talk.out and "over there" in talk.out
        assert (shot.code, shot.result["text"], shot.result["denials"]) == (0, "It answered.", [])
        assert "MCP" not in shot.err
        assert offered(user) == [["mcp__rough__echo"]] * 4
    assert (kept / "heard").read_text().count("over there") == 2
    assert carriers(str(kept)) == []


def test_a_no_leaves_everything_as_it_was(tmp_path: Path) -> None:
    """A server that the user declines is not started."""
    with simulated(tmp_path, ["Hello."]) as user:
        kept = with_server(user)
        ran = run(user, "chat", *OPENAI, stdin="/mcp trust rough\nno\nhello\n/mcp trust nobody\n/mcp fly x\n")

        assert "rough is unchanged" in ran.out and not (kept / "starts").exists()
        assert "no MCP server called 'nobody'" in ran.out and "trust|distrust|restart" in ran.out


def test_a_server_that_changes_is_out_until_its_change_was_seen(tmp_path: Path) -> None:
    """Before the next turn its tools are gone; the difference is shown; then the new ones are there."""
    script: list[Any] = [[Call("mcp__rough__change", {})], "Changed.", "Without.", "With."]
    with simulated(tmp_path, script) as user:
        kept = with_server(user)
        offer(kept, *tools("change"))
        offer(
            kept,
            *tools("change"),
            *tools("send_all", description="Sends all that you have."),
            file="next.json",
        )
        lines = f"{TRUST}go\nand now?\n/mcp\n/mcp trust rough\nyes\nand then?\n/mcp distrust rough\n/mcp\n"
        ran = run(user, "chat", *OPENAI, "--approval-mode", "full", stdin=lines)

    assert offered(user) == [["mcp__rough__change"]] * 2 + [
        [],
        ["mcp__rough__change", "mcp__rough__send_all"],
    ]
    assert "what it offers has changed since it was trusted" in ran.out
    changes = ran.out[ran.out.index("Changed since you last agreed") :]
    assert "Sends all that you have." in changes
    assert "rough is untrusted" in changes
    assert carriers(str(kept)) == []


def test_a_real_server_in_a_real_terminal(tmp_path: Path) -> None:
    """First its command is shown, then all that it offers; before that the model hears nothing of it."""
    pytest.importorskip("mcp_server_time")
    script: list[Any] = ["Hello.", [Call("mcp__time__get_current_time", {"timezone": "UTC"})], "It is late."]
    with simulated(tmp_path, script) as user:
        settings = user.home / ".config/turnout/mcp.json"
        settings.parent.mkdir(parents=True)
        server = {"command": sys.executable, "args": ["-m", "mcp_server_time", "--local-timezone", "UTC"]}
        settings.write_text(json.dumps({"mcpServers": {"time": server}}))
        with Program((*OPENAI, "--no-store"), user.environment, user.folder, rows=60) as program:
            program.wait(r"MCP server time is not used.*^❯ ?$")
            program.say("hello")
            program.settled(r"Hello\.")
            program.say("/mcp")
            program.wait(r"time\s+untrusted")
            program.say("/mcp trust time")
            asked = program.wait(r"runs \[.*start it\? \(yes/no\)")
            assert '"-m","mcp_server_time"' in "".join(asked.split()), "whole, wherever a long path wraps it"
            program.say("yes")
            program.wait(r"mcp__time__get_current_time.*use its tools\? \(yes/no\)")
            program.say("yes")
            program.settled(r"time is ready, 2 tools")
            program.say("how late is it?")
            program.settled(r"● mcp__time__get_current_time.*It is late\.")
            assert program.terminal.strange == []
        assert user.simulation is not None
        first, second, _ = (seen.body for seen in user.simulation.exchanges)
        assert b"mcp__time" not in first and b"mcp__time" in second
