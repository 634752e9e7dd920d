"""A reply as OpenAI's Responses."""

from __future__ import annotations

from tests.simulate.targets import speaker

from turnout.plain import loads
from turnout.wire.responses.scripted_reply import REPLY
from turnout.wire.shared.reply import Call, ReplyParts, Say, Think

AUTHOR = speaker("openai-responses:gpt-5.1")
SAID = ReplyParts((Think("Hm."), Say("I look."), Call("read", {"path": "a.txt"})))


def test_a_response_is_a_list_of_items() -> None:
    """It repeats fields of the request."""
    response = REPLY.whole(SAID, AUTHOR, {"instructions": "Be brief."})

    assert [item["type"] for item in response["output"]] == ["reasoning", "message", "function_call"]
    assert (response["status"], response["instructions"]) == ("completed", "Be brief.")


def test_a_limit_makes_it_incomplete() -> None:
    """The reason stands apart from the status."""
    response = REPLY.whole(ReplyParts((Say("Once"),), stop="length"), AUTHOR, None)

    assert response["status"] == "incomplete"
    assert response["incomplete_details"] == {"reason": "max_output_tokens"}


def test_the_last_event_holds_the_whole_response() -> None:
    """Events are numbered."""
    held = REPLY.whole(SAID, AUTHOR, None)
    stream = REPLY.stream(held, AUTHOR, ())
    events = [loads(frame.data) for frame in (*stream.body, *stream.ending)]

    assert events[-1]["response"] == held
    assert [event["sequence_number"] for event in events] == list(range(len(events)))


def test_copilot_gives_an_item_another_id_in_every_event() -> None:
    """So items are known by their index."""
    copilot = speaker("copilot:gpt-5.3-codex")
    frames = REPLY.stream(REPLY.whole(SAID, copilot, None), copilot, ()).body
    ids = [event["item_id"] for frame in frames if "item_id" in (event := loads(frame.data))]

    assert len(set(ids)) == len(ids)
