"""Faults of a stream: truncated, garbled, with pings."""

from __future__ import annotations

import pytest
from tests.simulate.failing_replies import answered
from tests.simulate.targets import TARGETS

from turnout.errors import StreamError
from turnout.simulate import script
from turnout.targets.reply import decode


@pytest.mark.parametrize("fault", [script.Truncate(), script.Truncate(after=2), script.Reset()])
@pytest.mark.parametrize("name", TARGETS)
def test_a_reply_without_its_end_is_not_taken_for_whole(name: str, fault: script.Fault) -> None:
    """All may have been said: without the provider's last event the reply was cut short."""
    answer = answered(name, [script.Say("Reading it."), script.Call("read", {"path": "a"}), fault])

    with pytest.raises(StreamError) as raised:
        decode(name, answer.body)
    assert raised.value.kind == "truncated"


@pytest.mark.parametrize("fault", [script.Garble(after=3), script.Garble(after=3, bytes=True)])
@pytest.mark.parametrize("name", TARGETS)
def test_a_payload_that_is_no_json_is_a_failure(name: str, fault: script.Fault) -> None:
    """Garbage in mid stream ends the reply."""
    answer = answered(name, [script.Say("Reading it. It is a long file."), fault])

    with pytest.raises(StreamError):
        decode(name, answer.body)


@pytest.mark.parametrize("name", TARGETS)
def test_signs_of_life_say_nothing(name: str) -> None:
    """Pings and odd cuts leave the reply as it was."""
    answer = answered(name, [script.Say("All is well."), script.Pings(5, after=1), script.Split(1)])

    assert decode(name, answer.body).text == "All is well."
    assert max(len(piece) for piece in answer.pieces if isinstance(piece, bytes)) == 1
