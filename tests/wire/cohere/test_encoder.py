"""Messages for Cohere: plans beside calls, citations with their text, results as text."""

from __future__ import annotations

from typing import Any

from turnout import History, decode, ingest, render
from turnout.model import Media, Opaque, Outcome, Text, ToolCall

TO = "cohere:command-a-03-2025"
CITED = {"start": 0, "end": 2, "text": "20", "sources": [{"type": "tool", "id": "w:0"}]}
REPLY = {
    "message": {
        "role": "assistant",
        "content": [{"type": "text", "text": "20 degrees"}],
        "citations": [CITED],
    },
    "finish_reason": "COMPLETE",
}
PLANNED = {
    "message": {
        "tool_plan": "I will look.",
        "tool_calls": [{"id": "a", "type": "function", "function": {"name": "weather", "arguments": "{}"}}],
    },
    "finish_reason": "TOOL_CALL",
}


def messages(history: History, to: str = TO, **options: Any) -> list[dict[str, Any]]:
    return render(history, to, **options).json["messages"]  # type: ignore[no-any-return]


def planned() -> History:
    history = History("h")
    history.user("weather?")
    called = history.append(decode(TO, PLANNED, turn_key=history.next_key()))
    history.settle(called.tool_calls[0].id, Outcome("complete", "20"))
    return history


def test_a_plan_goes_back_as_a_plan() -> None:
    """Also to another model of Cohere; others read it as words of the model."""
    assert messages(planned())[1]["tool_plan"] == "I will look."
    assert messages(planned(), "cohere:command-r-08-2024")[1]["tool_plan"] == "I will look."
    assert "I will look." in messages(planned(), "openai:gpt-4o")[1]["content"]


def test_words_beside_calls_are_a_plan() -> None:
    """Cohere has a place for them; a content beside calls is not what its models write."""
    history = History("h")
    history.user("go")
    said = history.reply("openai:gpt-4o", [Text("Looking."), ToolCall(name="look")])
    history.settle(said.tool_calls[0].id, Outcome("error", "no such file"))
    assistant, result = messages(history)[1:3]
    assert assistant["tool_plan"] == "Looking." and "content" not in assistant
    assert (
        result["content"].startswith("Error: ") and result["tool_call_id"] == assistant["tool_calls"][0]["id"]
    )


def test_citations_go_back_only_to_the_model_that_wrote_them() -> None:
    """They count letters of the text, so they go with the text alone."""
    history = History("h")
    history.user("how warm?")
    history.append(decode(TO, REPLY, turn_key=history.next_key()))
    history.user("and tomorrow?")
    assert messages(history)[1] == {"role": "assistant", "content": "20 degrees", "citations": [CITED]}
    assert "citations" not in messages(history, "cohere:command-r-08-2024")[1]


def test_damaged_citations_are_left_out_with_a_line() -> None:
    """A place that is not a number would be refused."""
    body = {
        "messages": [
            {"role": "user", "content": "a"},
            {"role": "assistant", "content": "b", "citations": [{}]},
        ]
    }
    history = ingest({**body, "model": "command-a-03-2025"}, "cohere")
    history.user("c")
    request = render(history, TO)
    assert "citations" not in request.json["messages"][1]
    assert any("citations left out" in line for line in request.report.changes)


def test_images_of_tools_follow_in_a_message_of_the_user() -> None:
    """Results are texts; nothing stands between the results."""
    history = History("h")
    history.user("draw")
    said = history.reply(TO, [ToolCall(name="draw"), ToolCall(name="draw")])
    image = Media("image/png", "iVBORw0KGgo=")
    for call in said.tool_calls:
        history.settle(call.id, Outcome("complete", (Text("done"), image)))
    roles = [message["role"] for message in messages(history, "cohere:command-a-vision-07-2025")]
    assert roles == ["user", "assistant", "tool", "tool", "user"]


def test_a_plan_without_calls_is_text() -> None:
    """A block of a damaged history: the words are not lost."""
    history = History("h")
    history.user("go")
    history.reply(TO, [Opaque("tool_plan", "A plan.")])
    history.user("on")
    assert messages(history)[1] == {"role": "assistant", "content": "A plan."}
