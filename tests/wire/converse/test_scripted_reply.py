"""What the simulator writes as Bedrock, botocore reads."""

from __future__ import annotations

from typing import Any

from botocore.eventstream import EventStreamBuffer
from tests.botocore_shapes import refusals_of_shape
from tests.simulate.targets import sent

from turnout.plain import loads
from turnout.simulate.script import step
from turnout.wire.shared.reply import Call, Say, Think

CLAUDE = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
PARTS = [Think("Hm."), Say("Let me look."), Call("look", {"path": "a"})]


def _shape() -> Any:
    from botocore.session import get_session

    model = get_session().get_service_model("bedrock-runtime")
    return model.operation_model("ConverseStream").output_shape.members["stream"]


def test_every_event_of_a_stream_has_the_shape_of_the_service() -> None:
    """Names, members and required fields, by botocore's model."""
    buffer = EventStreamBuffer()
    buffer.add_data(sent(CLAUDE, step(PARTS), streamed=True))
    found = [(message.headers[":event-type"], loads(message.payload)) for message in buffer]
    names = [name for name, _ in found]
    assert (names[0], names[-2:]) == ("messageStart", ["messageStop", "metadata"])
    for name, payload in found:
        assert list(refusals_of_shape(payload, _shape().members[name])) == []


def test_a_whole_reply_has_the_shape_of_the_service() -> None:
    """But for the form of the message, which requests share."""
    body = loads(sent(CLAUDE, step(PARTS), streamed=False))
    assert list(body) == ["metrics", "output", "stopReason", "usage"]
    assert [next(iter(block)) for block in body["output"]["message"]["content"]] == [
        "reasoningContent",
        "text",
        "toolUse",
    ]
