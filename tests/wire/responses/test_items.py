"""Messages as items of Responses."""

from __future__ import annotations

from typing import Any

from tests.build import call, conversation, model, settled, user

import turnout
from turnout.model import Origin, Residue, Thinking
from turnout.wire.responses.items import is_models_own

HOME = "openai-responses:gpt-5.1"


def items_of(*steps: Any) -> list[dict[str, Any]]:
    return list(turnout.render(conversation(*steps), HOME).json["input"])


def test_a_call_and_its_output_are_items_of_their_own() -> None:
    """OAR-01: they are not parts of a message."""
    items = items_of(user("go"), model("I look.", call("read"), origin=HOME), settled("read", "done"))

    assert [item["type"] for item in items] == ["message", "message", "function_call", "function_call_output"]


def test_text_after_a_call_is_moved_before_it() -> None:
    """Some hosts refuse anything between a call and its output."""
    items = items_of(user("go"), model(call("read"), "I look.", origin=HOME), settled("read", "done"))

    assert [item["type"] for item in items][1:3] == ["message", "function_call"]


def test_reasoning_goes_back_without_its_id() -> None:
    """OAR-09: an id would tie it to an item that may be missing."""
    item = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2ln"}
    thought = Thinking("", Residue(Origin.parse(HOME), {"item": item}))
    items = items_of(user("go"), model(thought, "Done.", origin=HOME), user("And?"))

    assert items[1]["type"] == "reasoning" and "id" not in items[1]


def test_an_item_of_the_model_cannot_end_a_request() -> None:
    """An output or a message of the user can."""
    assert is_models_own({"type": "message", "role": "assistant"})
    assert is_models_own({"type": "web_search_call", "id": "ws_1"})
    assert not is_models_own({"type": "function_call_output", "call_id": "c"})
