"""The common configuration of MCP servers: what is read, what is filled in, and what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnout.errors import UsageError
from turnout.tools.mcp.config import McpServer, expand_references, read_servers, references


def read(**servers: Any) -> dict[str, McpServer]:
    return read_servers(json.dumps({"mcpServers": servers}).encode(), "mcp.json")


def test_the_common_file_is_read_as_other_programs_write_it() -> None:
    """Commands and addresses, with fields that are other programs' own."""
    found = read(
        git={"command": "uvx", "args": ["mcp-server-git"], "env": {"A": "1"}, "alwaysAllow": ["git_log"]},
        docs={"type": "http", "url": "https://docs.example/mcp", "headers": {"X": "y"}, "timeout": 5},
    )
    assert found["git"] == McpServer("git", "mcp.json", "uvx", ("mcp-server-git",), {"A": "1"})
    assert found["docs"].url == "https://docs.example/mcp" and found["docs"].headers == {"X": "y"}


@pytest.mark.parametrize(
    "written", [{}, {"command": "a", "url": "https://b"}, {"command": ["a"]}, {"command": 3}]
)
def test_a_server_is_a_command_or_an_address(written: Any) -> None:
    """A command is a word and its arguments are a list: no text is ever given to a shell."""
    with pytest.raises(UsageError, match=r"mcp\.json"):
        read(odd=written)


def test_references_are_filled_in_from_the_users_environment() -> None:
    """`${NAME}` takes the value of a variable, `${NAME:-else}` a default."""
    server = McpServer("a", command="${BIN:-uvx}", args=("--in", "${PLACE}"), env={"TOKEN": "${API_TOKEN}"})
    full = expand_references(server, {"PLACE": "/srv", "API_TOKEN": "s3cret"})
    assert (full.command, full.args, full.env) == ("uvx", ("--in", "/srv"), {"TOKEN": "s3cret"})
    assert references(server) == ("BIN", "PLACE", "API_TOKEN")


def test_a_variable_that_is_not_set_is_named() -> None:
    """The error names the server and the variable."""
    with pytest.raises(UsageError, match="needs the variable PLACE"):
        expand_references(McpServer("a", command="b", args=("${PLACE}",)), {})


@pytest.mark.parametrize("field", [{"args": ("--key=${API_KEY}",)}, {"command": "x${GH_TOKEN}"}])
def test_a_secret_never_goes_into_a_command(field: Any) -> None:
    """Everyone on the machine can read the arguments of a process."""
    with pytest.raises(UsageError, match="pass it in env or headers"):
        expand_references(McpServer("a", **{"command": "b", **field}), {"API_KEY": "k", "GH_TOKEN": "t"})


def test_a_secret_never_goes_into_an_address() -> None:
    """Addresses end up in logs; headers do not."""
    with pytest.raises(UsageError, match="pass it in env or headers"):
        expand_references(McpServer("a", url="https://a.example/?k=${API_KEY}"), {"API_KEY": "k"})


def test_a_variable_of_the_servers_own_is_left_to_the_server() -> None:
    """Some servers fill in arguments themselves, from the variables that they were given."""
    server = McpServer("a", command="b", args=("--header", "X: ${AUTH}"), env={"AUTH": "Bearer ${MY_TOKEN}"})
    assert expand_references(server, {"MY_TOKEN": "t"}).args == ("--header", "X: ${AUTH}")


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://a/b", "unix:/x", "a.example"])
def test_only_http_is_an_address(url: str) -> None:
    """Other schemes are refused before anything is sent."""
    with pytest.raises(UsageError, match="http or https"):
        expand_references(McpServer("a", url=url), {})


def test_a_password_in_an_address_is_not_shown() -> None:
    """The summary of a server holds the address without it."""
    assert McpServer("a", url="https://me:pw@a.example/mcp").summary == "https://a.example/mcp"
