"""Servers that people use: two from PyPI always, two from npm where node and they are found.

make servers                        puts those from npm where they are found
TURNOUT_NPM=/path/to/node_modules   another folder with @modelcontextprotocol/server-…
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from msgspec.structs import replace
from tests.tools.mcp.workshop import QUICK, Workshop, work

from turnout.model import Media, Text
from turnout.tools.mcp.config import McpServer

ROOT = Path(__file__).parents[3]
PATIENT = replace(QUICK, start=60.0)


def workshop(folder: Path, name: str, command: str, *args: str) -> Workshop:
    return Workshop(folder, McpServer(name, "mcp.json", command, args), PATIENT, HOME=str(folder))


def installed(module: str) -> list[str]:
    """How a server from PyPI is started with this Python; nothing is downloaded, nothing is skipped."""
    assert find_spec(module), f"{module} is missing: run `make setup`"
    return [sys.executable, "-m", module]


def npm(package: str) -> list[str]:
    """How a server from npm is started, if node and an installed copy are here."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    places = [
        os.environ.get("TURNOUT_NPM", ""),
        str(ROOT / ".npm/node_modules"),
        "/usr/lib/node_modules",
        "/usr/local/lib/node_modules",
    ]
    for place in filter(None, places):
        program = Path(place) / "@modelcontextprotocol" / package / "dist" / "index.js"
        if program.is_file():
            return [node, str(program.resolve())]
    pytest.skip(f"@modelcontextprotocol/{package} is not installed; `make servers` puts it here")


def test_the_time_server_tells_the_time(tmp_path: Path) -> None:
    """A published server of others works as it is."""
    at = workshop(tmp_path, "time", *installed("mcp_server_time"))

    async def story() -> None:
        added = (await at.agree()).added
        assert added == ("mcp__time__convert_time", "mcp__time__get_current_time")
        assert {at.registry[name].risk for name in added} == {"read"}
        told = json.loads((await at.ask("get_current_time", timezone="Asia/Tokyo")).text)
        assert told["datetime"].endswith("+09:00")
        wrong = await at.ask("get_current_time", timezone="Nowhere")
        assert wrong.status == "error" and "Nowhere" in wrong.text

    work(at, story, limit=120)


def test_the_git_server_reads_and_changes_a_repository(tmp_path: Path) -> None:
    """Tools that read and tools that write."""
    command = installed("mcp_server_git")
    for words in (["init", "-q"], ["config", "user.email", "a@b.c"], ["config", "user.name", "A"]):
        subprocess.run(["git", *words], cwd=tmp_path, check=True)
    (tmp_path / "hello.txt").write_text("hello\n")
    at = workshop(tmp_path, "git", *command, "--repository", str(tmp_path))
    here = str(tmp_path)

    async def story() -> None:
        await at.agree()
        assert at.registry["mcp__git__git_status"].risk == "read"
        assert at.registry["mcp__git__git_commit"].risk == "risky"
        assert "hello.txt" in (await at.ask("git_status", repo_path=here)).text
        await at.ask("git_add", repo_path=here, files=["hello.txt"])
        assert (await at.ask("git_commit", repo_path=here, message="Say hello")).status == "complete"
        assert "Say hello" in (await at.ask("git_log", repo_path=here)).text

    work(at, story, limit=120)


def test_the_filesystem_server_keeps_to_its_folder(tmp_path: Path) -> None:
    """A path outside is refused by the server."""
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("inside")
    (tmp_path / "b.txt").write_text("outside")
    at = workshop(tmp_path, "files", *npm("server-filesystem"), str(tmp_path / "in"))

    async def story() -> None:
        await at.agree()
        assert at.registry["mcp__files__write_file"].risk == "risky"
        assert (await at.ask("read_text_file", path=str(tmp_path / "in" / "a.txt"))).text == "inside"
        assert (await at.ask("read_text_file", path=str(tmp_path / "b.txt"))).status == "error"
        written = await at.ask("write_file", path=str(tmp_path / "in" / "c.txt"), content="new")
        assert written.status == "complete" and (tmp_path / "in" / "c.txt").read_text() == "new"

    work(at, story, limit=120)


def test_the_everything_server_shows_every_kind_of_result(tmp_path: Path) -> None:
    """Text, images, resources and structured content."""
    at = workshop(tmp_path, "all", *npm("server-everything"))

    async def story() -> None:
        await at.agree()
        assert (await at.ask("echo", message="hi")).text == "Echo: hi"
        assert any(isinstance(block, Media) for block in (await at.ask("get-tiny-image")).content)
        weather = (await at.ask("get-structured-content", location="New York")).content
        assert len(weather) == 1 and isinstance(weather[0], Text) and "temperature" in weather[0].text
        assert "[resource demo://" in (await at.ask("get-resource-links", count=2)).text
        seen = json.loads((await at.ask("get-env")).text)
        assert not [name for name in seen if "KEY" in name or "TOKEN" in name]

    work(at, story, limit=120)
