"""Schemas and arguments that would take for ever: refused beforehand, or checked where they can be ended."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

import pytest
from tests.tools.declare.bombs import ACCEPTED, REFUSED, TEXTS, diamonds, everyone_knows_everyone
from tests.tools.schedule.scheduling import Desk, call, go

from turnout import History, render
from turnout.errors import UsageError
from turnout.model import Outcome, ToolSpec
from turnout.providers import PROVIDERS
from turnout.session.session import Session
from turnout.streaming.events import Error
from turnout.targets.reply import ReplyReader
from turnout.tools.declare.arguments import is_costly
from turnout.tools.declare.schema_cost import pattern_states
from turnout.tools.declare.tool import Tool, tool
from turnout.tools.schedule.execute import execute_tool_call
from turnout.wire.options import Options
from turnout.world.ports import Outgoing
from turnout.world.world import World

LONGEST_HOLD = 0.1
"""Seconds of work in one go that nobody else of the loop may have to wait for."""


async def longest_hold(work: Awaitable[Any]) -> tuple[Any, float]:
    """What comes of the work, and the longest time for which it kept the loop to itself.

    Time of the processor, not of the clock: others use this machine too. What earlier tests left
    in memory is none of the garbage collector's business meanwhile.
    """
    gc.freeze()
    longest = 0.0

    async def watch() -> None:
        nonlocal longest
        last = time.thread_time()
        while True:
            await asyncio.sleep(0)
            now = time.thread_time()
            longest, last = max(longest, now - last), now

    watching = asyncio.ensure_future(watch())
    await asyncio.sleep(0)
    try:
        return await work, longest
    finally:
        watching.cancel()
        gc.unfreeze()


def stranger(schema: dict[str, Any], **options: Any) -> Tool:
    async def take(**arguments: Any) -> str:
        return "ran"

    return tool(take, name="take", parameters=schema, **options)


ANYTHING = {"type": "object", "properties": {"x": {}, "items": {"type": "array"}}}


class Canned:
    """A server whose answers were written before, so that nobody waits while it writes them."""

    def __init__(self, *bodies: bytes) -> None:
        self.bodies = list(bodies)

    @asynccontextmanager
    async def send(self, request: Outgoing) -> AsyncIterator[Canned]:
        self.body = self.bodies.pop(0)
        yield self

    status = 200
    headers: Mapping[str, str] = MappingProxyType({"content-type": "application/json"})

    @property
    async def chunks(self) -> AsyncIterator[bytes]:
        for start in range(0, len(self.body), 65_536):
            await asyncio.sleep(0)
            yield self.body[start : start + 65_536]


def answered(text: str, **more: Any) -> bytes:
    message = {"role": "assistant", "content": text or None, **more}
    finish = "tool_calls" if more else "stop"
    return json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": finish}]}).encode()


def called(name: str, arguments: str) -> bytes:
    function = {"name": name, "arguments": arguments}
    return answered("", tool_calls=[{"id": "c", "type": "function", "function": function}])


# Schemas


@pytest.mark.parametrize("name", REFUSED)
def test_a_schema_that_cannot_be_afforded_is_refused_at_once(name: str) -> None:
    """With the reason; it is not even compiled."""
    spent = []
    for _ in range(3):  # a busy neighbour makes a core slower too: the best of three is ours
        before = time.process_time()
        with pytest.raises(UsageError, match=r"limit|levels"):
            stranger(REFUSED[name])
        spent.append(time.process_time() - before)
    assert min(spent) < LONGEST_HOLD


@pytest.mark.parametrize("name", ACCEPTED)
def test_an_accepted_schema_never_holds_up_the_loop(name: str) -> None:
    """Whatever fits it or not: the call has its outcome, and others of the loop went on."""
    schema, arguments = ACCEPTED[name]
    made = stranger(schema)

    async def run() -> tuple[Outcome, float]:
        return await longest_hold(execute_tool_call([made], "take", json.dumps(arguments)))

    began = time.monotonic()
    outcome, held = asyncio.run(run())
    assert held < LONGEST_HOLD
    assert outcome.text == "ran" or "tool_error" in outcome.text
    assert time.monotonic() - began < 20


def test_a_check_that_takes_long_is_ended() -> None:
    """In a process of its own; the model is told, and the process is gone."""
    schema, arguments = ACCEPTED["a tree of 20 kinds, 40 levels"]

    async def run() -> tuple[Outcome, list[str]]:
        outcome = await execute_tool_call([stranger(schema)], "take", arguments)
        listed = await asyncio.create_subprocess_exec(
            *("ps", "--ppid", str(os.getpid()), "-o", "args"), stdout=asyncio.subprocess.PIPE
        )
        lines = (await listed.communicate())[0].decode().splitlines()
        return outcome, [line for line in lines if "checking_program" in line]

    outcome, left = asyncio.run(run())
    said = json.loads(outcome.text)["tool_error"]
    assert said["kind"] == "arguments_too_large" and "2 s" in said["problems"][0]["expected"]
    assert left == []


def test_a_cancel_does_not_wait_for_a_check() -> None:
    """The call has its outcome at once, and the process is ended."""
    schema, arguments = ACCEPTED["a tree of 20 kinds, 40 levels"]
    desk = Desk(stranger(schema))

    async def run() -> float:
        running = asyncio.ensure_future(desk.run(call("take", **arguments)))
        await asyncio.sleep(0.3)
        began = time.monotonic()
        desk.scheduler.cancel()
        await running
        return time.monotonic() - began

    assert go(run()) < 1
    assert desk.outcome("take").status == "cancelled"


def test_to_be_checked_apart_is_not_to_be_refused() -> None:
    """What fits runs, what does not is named as always."""
    made = stranger(
        {
            "type": "object",
            "properties": {
                "x": {"type": "string", "pattern": "^(a?){1000}a*$"},
                "n": {"type": "integer"},
            },
        }
    )
    arguments = {"x": "a" * 2000, "n": 1}
    assert is_costly(made, call("take", **arguments))
    assert asyncio.run(execute_tool_call([made], "take", arguments)).text == "ran"
    wrong = asyncio.run(execute_tool_call([made], "take", {**arguments, "n": "one"}))
    [problem] = json.loads(wrong.text)["tool_error"]["problems"]
    assert (problem["path"], problem["got"]) == ("n", 'string "one"')


@pytest.mark.parametrize("schema", [diamonds(40), everyone_knows_everyone(30)], ids=["diamonds", "everyone"])
@pytest.mark.parametrize("strict", [False, True])
def test_no_request_writes_out_references_without_end(schema: dict[str, Any], strict: bool) -> None:
    """For every provider, strict or not: what cannot be written out is sent as it is, and said."""
    spec = ToolSpec("f", "", schema)
    for name in PROVIDERS:
        history = History("h")
        history.user("hello")
        before = time.thread_time()
        request = render(history, f"{name}:some-model", tools=[spec], strict=strict)
        assert time.thread_time() - before < LONGEST_HOLD
        assert len(request.body) < 200_000


@pytest.mark.parametrize(
    ("pattern", "states"),
    [
        ("abc", 3),
        ("a{10}", 10),
        ("(a{10}b){10}", 110),
        (r"[a\]z]{3}", 3),
        (r"\{{5}", 5),
        ("a{2,}", 2),
        ("", 0),
    ],
)
def test_the_size_of_a_pattern_is_that_of_its_repetitions_written_out(pattern: str, states: int) -> None:
    """Nested counts multiply; classes and escapes are one each."""
    assert pattern_states(pattern) == states


# Arguments


KINDS = {"arguments_too_large", "unreadable_arguments", "truncated_arguments", "invalid_arguments"}


@pytest.mark.parametrize("name", TEXTS)
def test_arguments_that_are_too_much_are_a_clear_error(name: str) -> None:
    """Or they run. The loop is never held up: not by reading, checking, keeping or sending them."""

    async def run() -> tuple[Outcome | None, float]:
        model = Canned(called("take", TEXTS[name]), answered("done"))
        session = Session(
            "openai:gpt-5.1",
            tools=[stranger(ANYTHING)],
            api_key="k",
            options=Options(stream=False),
            world=World(transport=model),
        )
        _, held = await longest_hold(session.ask("go"))
        return next(iter(session.history.ledger)).outcome, held

    # A busy neighbour makes a core slower too: what is held each of three times is ours.
    for _ in range(3):
        outcome, held = asyncio.run(run())
        if held < LONGEST_HOLD:
            break
    assert held < LONGEST_HOLD
    assert outcome is not None
    if outcome.text != "ran":
        said = json.loads(outcome.text)["tool_error"]
        assert said["kind"] in KINDS and "take was not run" in said["message"]
        assert len(outcome.text) < 5000


@pytest.mark.parametrize("target", ["gemini:gemini-3-pro", "ollama:llama3.2"])
def test_arguments_that_come_as_values_are_measured_too(target: str) -> None:
    """Gemini and Ollama write an object, not a text: an event that holds too many values is not read."""
    lists = b"[" + b"[]," * 3_000_000 + b"[]]"
    event = {
        "gemini:gemini-3-pro": b'data: {"candidates": [{"content": {"role": "model", "parts": '
        b'[{"functionCall": {"name": "take", "args": {"x": %b}}}]}}]}\n\n',
        "ollama:llama3.2": b'{"message": {"role": "assistant", "content": ""}, "done": false}\n'
        b'{"message": {"role": "assistant", "content": "", "tool_calls": '
        b'[{"function": {"name": "take", "arguments": {"x": %b}}}]}, "done": false}\n',
    }[target]
    reader = ReplyReader(target)
    gc.freeze()
    before = time.thread_time()
    events = list(reader.feed(event % lists))
    took = time.thread_time() - before
    gc.unfreeze()
    assert took < 2 * LONGEST_HOLD  # nine megabytes in one chunk are more than a line carries
    assert [each.kind for each in events if isinstance(each, Error)] == ["too_large"]
    assert reader.failure is not None and "more than 100,000 values" in str(reader.failure)


def test_the_limit_of_one_calls_arguments_is_the_tools() -> None:
    """4 MB unless the tool says otherwise; the error names the limit and what came."""

    def error(made: Tool, size: int) -> str:
        text = json.dumps({"x": "y" * size})
        return asyncio.run(execute_tool_call([made], "take", text)).text

    usual, small, large = (stranger(ANYTHING, **more) for more in ({}, SMALL, LARGE))
    assert error(usual, 4_000_000) == "ran"
    said = json.loads(error(usual, 4_200_000))["tool_error"]
    assert said["kind"] == "arguments_too_large"
    assert "4,194,304 characters" in said["problems"][0]["expected"]
    assert said["problems"][0]["got"] == "4,200,009 characters"
    assert "1,000 characters" in error(small, 1_001)
    assert error(large, 6_000_000) == "ran"


SMALL, LARGE = {"argument_limit": 1000}, {"argument_limit": 8_000_000}


GROWTH = """
import asyncio, json, resource, sys
sys.path.insert(0, "")
from tests.tools.declare.bombs import TEXTS
from tests.tools.declare.test_schema_cost import ANYTHING, stranger
from turnout.model import call_with_arguments
from turnout.plain import arguments
from turnout.streaming.tracker import LONGEST
from turnout.tools.declare.arguments import check_call
made, text = stranger(ANYTHING), TEXTS[sys.argv[1]]
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
before = peak()
values, fault = arguments(text, LONGEST)
check_call(made, call_with_arguments(values, name="take", raw=text, fault=fault))
print(peak() - before)
"""


@pytest.mark.parametrize("name", ["10 MB of [],", "4 MB of [],", "4 MB of names", "4 MB of empty texts"])
def test_memory_does_not_grow_with_what_is_in_arguments(name: str) -> None:
    """A few copies of the text at most; 10 MB took 873 MB before."""
    ran = subprocess.run([sys.executable, "-c", GROWTH, name], capture_output=True, text=True, check=True)
    assert int(ran.stdout) < 64, "MB"
