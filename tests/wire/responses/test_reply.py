"""Replies for clients of Responses."""

from __future__ import annotations

import json
from typing import Any

from tests.wire.reencoding import streamed, whole_body

from turnout import (
    Done,
    ReplyEncoder,
    StreamError,
    TextDelta,
    ThinkingDelta,
    ThinkingEnd,
    ToolCallComplete,
    ToolCallDelta,
    ToolCallStart,
    Usage,
)
from turnout.streaming.events import StreamEvent
from turnout.wire.shared.reply_blocks import turn_of_events

TOOLS = [
    {"type": "function", "name": "look"},
    {"type": "custom", "name": "apply_patch"},
    {"type": "local_shell"},
    {"type": "namespace", "name": "agents", "tools": [{"type": "function", "name": "spawn"}]},
]
ARGUMENTS = {
    "look": {"x": 1},
    "apply_patch": {"input": "*** Begin"},
    "local_shell": {"command": ["ls"]},
    "agents.spawn": {"n": 2},
}
SAID: list[StreamEvent] = [ThinkingDelta("hm"), ThinkingEnd(), TextDelta("So"), TextDelta(" be it.")]
CALLED: list[StreamEvent] = [
    event
    for name, arguments in ARGUMENTS.items()
    for event in (
        ToolCallStart(f"id_{name}", name),
        ToolCallDelta(f"id_{name}", json.dumps(arguments)),
        ToolCallComplete(f"id_{name}"),
    )
]
EVENTS = [*SAID, *CALLED, Done("tool_calls", "completed", Usage(3, 4))]
REQUEST = {"tools": TOOLS, "store": False, "instructions": "long"}


def frames(body: bytes) -> list[Any]:
    return [json.loads(frame.split("\ndata: ")[1]) for frame in body.decode().split("\n\n")[:-1]]


def test_every_item_is_done_and_the_numbers_count_up() -> None:
    """Codex takes items from there alone; the last event holds all of them again."""
    found = frames(streamed("responses", EVENTS, request=REQUEST))
    done = [frame["item"] for frame in found if frame["type"] == "response.output_item.done"]

    assert [frame["sequence_number"] for frame in found] == list(range(len(found)))
    assert found[-1]["type"] == "response.completed"
    assert found[-1]["response"]["output"] == done
    assert [item["type"] for item in done[:2]] == ["reasoning", "message"]
    assert found[-1]["response"]["usage"]["input_tokens"] == 3


def test_calls_go_back_in_the_form_in_which_their_tools_were_declared() -> None:
    """Free text for a custom tool, an action for a shell, the namespace beside the name."""
    whole = json.loads(whole_body("responses", turn_of_events(EVENTS), request=REQUEST))["output"]
    done = frames(streamed("responses", EVENTS, request=REQUEST))[-1]["response"]["output"]
    look, patch, shell, spawn = done[2:]

    assert whole == done
    assert (look["type"], json.loads(look["arguments"])) == ("function_call", {"x": 1})
    assert (patch["type"], patch["input"]) == ("custom_tool_call", "*** Begin")
    assert (shell["type"], shell["action"]) == ("local_shell_call", {"command": ["ls"]})
    assert (spawn["name"], spawn["namespace"]) == ("spawn", "agents")
    assert [item["call_id"] for item in done[2:]] == [f"id_{name}" for name in ARGUMENTS]


def test_ids_are_derived_from_the_id_of_the_response() -> None:
    """The same response has the same ids on every host; another one has others."""
    ids = [
        [item["id"] for item in json.loads(whole_body("responses", turn_of_events(EVENTS), id=id))["output"]]
        for id in ("r1", "r1", "r2")
    ]

    assert ids[0] == ids[1]
    assert not {*ids[0]} & {*ids[2]}


def test_the_fields_of_the_request_are_repeated_but_not_the_long_ones() -> None:
    """`store` tells the client whether the response can be named later."""
    response = json.loads(whole_body("responses", turn_of_events(EVENTS), request=REQUEST))

    assert response["store"] is False
    assert (response["instructions"], response["tools"]) == (None, [])


def test_a_failure_in_mid_stream_is_the_last_event() -> None:
    """Codex asks again after it, unless something follows."""
    encoder = ReplyEncoder("responses", model="m")
    encoder.start()
    encoder.feed(TextDelta("Hel"))
    (frame,) = frames(encoder.fail(StreamError("cut", kind="truncated")))

    assert frame["type"] == "response.failed"
    assert frame["response"]["error"]["message"] == "cut"
