"""A server's tool as one of ours: its risk, its rules, and what its schema may not do."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread
from typing import Any

import pytest
from tests.simulate.virtual import run as virtually
from tests.tools.schedule.scheduling import Desk, call, go

from turnout.errors import UsageError
from turnout.model import Outcome
from turnout.tools.declare.context import ToolContext
from turnout.tools.declare.tool import Tool
from turnout.tools.mcp.offering import make_tool
from turnout.tools.mcp.pins import OfferedTool, ServerOffer


async def echo(tool: OfferedTool, arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
    return Outcome("complete", {"tool": tool.name, "arguments": dict(arguments)})


def offered(**fields: Any) -> Tool:
    [tool] = ServerOffer.of("s", "1", [{"name": "t", "inputSchema": {"type": "object"}, **fields}]).tools
    return make_tool("s", tool, echo, 5.0)


def test_a_tool_is_risky_unless_the_server_says_that_it_only_reads() -> None:
    """Without a hint nothing is assumed."""
    assert offered().risk == "risky"
    assert offered(annotations={"readOnlyHint": False}).risk == "risky"
    assert offered(annotations={"readOnlyHint": "yes"}).risk == "risky"
    assert offered(annotations={"readOnlyHint": True}).risk == "read"


def test_a_tool_may_leave_the_machine_unless_the_server_says_otherwise() -> None:
    """By default a tool may contact other machines."""
    assert offered().leaves and not offered(annotations={"openWorldHint": False}).leaves
    assert offered().source == "mcp"


@pytest.mark.parametrize(("hints", "seconds"), [({"readOnlyHint": True}, 10), ({}, 40)])
def test_calls_run_at_the_same_time_only_where_the_server_says_that_they_read(
    hints: dict[str, bool], seconds: float
) -> None:
    """Four calls of ten seconds take ten with the hint; without it, what they change is not known: forty."""

    async def slowly(tool: OfferedTool, arguments: Mapping[str, Any], context: ToolContext) -> Outcome:
        await asyncio.sleep(10)
        return Outcome("complete", "done")

    schema = {"name": "t", "inputSchema": {"type": "object"}, "annotations": hints}
    [tool] = ServerOffer.of("s", "1", [schema]).tools
    _, took = virtually(_four_calls(make_tool("s", tool, slowly, 60.0)))
    assert took == pytest.approx(seconds)


async def _four_calls(tool: Tool) -> None:
    await Desk(tool).run(*(call("mcp__s__t", str(at)) for at in range(4)))


def test_arguments_of_any_name_reach_the_server() -> None:
    """Names that are no Python names, and names that our own functions use."""
    names = ["self", "context", "arguments", "a-b", "class", "tool"]
    schema = {"type": "object", "properties": {name: {"type": "integer"} for name in names}}
    desk = Desk(offered(inputSchema=schema))
    arguments = {name: at for at, name in enumerate(names)}
    go(desk.run(call("mcp__s__t", "a", **arguments)))
    assert desk.text("a") == Outcome("complete", {"tool": "t", "arguments": arguments}).text


class Listener:
    """A web server that remembers whether anyone came."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        listener = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                listener.seen.append(self.path)
                self.send_response(200)
                self.end_headers()
                self.wfile.write(b'{"type": "object"}')

            def log_message(self, *_: Any) -> None:
                return None

        self.server = HTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/schema.json"


@pytest.fixture
def listener() -> Iterator[Listener]:
    found = Listener()
    thread = Thread(target=found.server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    yield found
    found.server.shutdown()
    found.server.server_close()


@pytest.mark.parametrize("word", ["$ref", "$dynamicRef", "$recursiveRef"])
@pytest.mark.parametrize("place", ["top", "property", "list"])
def test_a_schema_cannot_make_us_fetch_anything(listener: Listener, word: str, place: str) -> None:
    """Our validator would follow a reference to any address or file, on the server's word."""
    reference: dict[str, Any] = {word: listener.url}
    schema = {
        "top": {"type": "object", **reference},
        "property": {"type": "object", "properties": {"a": reference}},
        "list": {"type": "object", "anyOf": [{}, {"properties": {"a": {"items": [reference]}}}]},
    }[place]
    with pytest.raises(UsageError, match="outside of themselves"):
        offered(inputSchema=schema)
    assert listener.seen == []


def test_a_schema_of_an_unknown_kind_is_read_as_the_usual_one(listener: Listener) -> None:
    """Its own description would have to be fetched, too."""
    inner = {"$id": "x", "$schema": listener.url, "type": "string"}
    tool = offered(inputSchema={"$schema": listener.url, "type": "object", "properties": {"a": inner}})
    assert listener.seen == [] and tool.fits({"a": "b"}) and not tool.fits({"a": 1})


def test_references_within_a_schema_work() -> None:
    """`$ref` to `$defs` of the same schema is kept."""
    schema = {
        "type": "object",
        "properties": {"a": {"$ref": "#/$defs/n"}},
        "$defs": {"n": {"type": "integer"}},
    }
    draft = {"$schema": "http://json-schema.org/draft-07/schema#"}
    tool = offered(inputSchema={**draft, **schema})
    assert tool.fits({"a": 1}) and not tool.fits({"a": "b"})


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "properties": {"a": {"type": "nothing"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/nowhere"}}},
        {"type": "object", "properties": {"a": {"description": "x" * 200_000}}},
    ],
    ids=["no object", "no type", "dangling", "huge"],
)
def test_a_tool_with_a_schema_that_is_none_is_refused(schema: Any) -> None:
    """The error is raised when the tool is made."""
    with pytest.raises(UsageError):
        offered(inputSchema=schema)


def test_a_description_without_end_is_refused() -> None:
    """Beyond the limit the tool is not offered."""
    with pytest.raises(UsageError, match="30,000 characters"):
        offered(description="x" * 30_000)
