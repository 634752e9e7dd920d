"""Messages for Ollama's own chat: objects as arguments, results by name, images beside the text."""

from __future__ import annotations

from typing import Any

from turnout import History, decode, render
from turnout.model import Media, Outcome, SystemTurn, Text, ToolCall

TO = "ollama:qwen3:4b"
IMAGE = Media("image/png", "iVBORw0KGgo=")
LINK = Media("image/png", uri="https://example.com/a.png")


def messages(history: History, to: str = TO, **options: Any) -> list[dict[str, Any]]:
    return render(history, to, **options).json["messages"]  # type: ignore[no-any-return]


def test_calls_and_results_have_no_ids() -> None:
    """Arguments are objects; a result names its tool and stands at the place of its call."""
    history = History("h")
    history.user("go")
    said = history.reply("openai:gpt-4o", [ToolCall(name="read", arguments={"path": p}) for p in "ab"])
    for call, text in zip(said.tool_calls, ("A", "B"), strict=True):
        history.settle(call.id, Outcome("complete", text))
    assert messages(history)[1:] == [
        {
            "role": "assistant",
            "content": "",
            "tool_calls": [{"function": {"name": "read", "arguments": {"path": p}}} for p in "ab"],
        },
        {"role": "tool", "content": "A", "tool_name": "read"},
        {"role": "tool", "content": "B", "tool_name": "read"},
    ]


def test_images_stand_beside_the_text() -> None:
    """Only bytes: a link is written as text, and the report says so."""
    history = History("h")
    history.user([Text("what is this?"), IMAGE, LINK])
    request = render(history, "ollama:llava")
    (message,) = request.json["messages"]
    assert message["images"] == [IMAGE.data] and "https://example.com/a.png" in message["content"]
    assert any("links to images" in line for line in request.report.changes)


def test_its_own_thinking_goes_back_and_that_of_others_does_not() -> None:
    """In the field in which it came; with thinking off it stays out."""
    body = {
        "message": {"role": "assistant", "content": "4", "thinking": "2+2"},
        "done": True,
        "done_reason": "stop",
    }
    history = History("h")
    history.user("2+2?")
    history.append(decode(TO, body, turn_key=history.next_key()))
    history.user("sure?")
    assert messages(history)[1]["thinking"] == "2+2"
    assert "thinking" not in messages(history, "ollama:qwen3:8b")[1]
    assert "thinking" not in messages(history, thinking=False)[1]


def test_neighbours_of_one_role_are_joined() -> None:
    """Chat templates want alternation; system text in mid conversation is a reminder of the user."""
    history = History("h", system="Be brief.")
    history.user("one")
    history.append(SystemTurn(history.next_key(), (Text("By the way."),)))
    history.user([Text("two"), IMAGE])
    system, user = messages(history, "ollama:llava")
    assert system == {"role": "system", "content": "Be brief."}
    assert user["content"].startswith("one\n\n<system-reminder>") and user["content"].endswith("two")
    assert user["images"] == [IMAGE.data]


def test_images_of_a_tool_follow_its_result() -> None:
    """In a message of the user that says where they come from."""
    history = History("h")
    history.user("draw")
    said = history.reply(TO, [ToolCall(name="draw")])
    history.settle(said.tool_calls[0].id, Outcome("complete", (Text("done"), IMAGE)))
    tool, user = messages(history, "ollama:llava")[2:]
    assert tool["content"] == "done" and user == {
        "role": "user",
        "content": "From draw:",
        "images": [IMAGE.data],
    }


def test_a_conversation_begins_and_ends_with_the_user() -> None:
    """Fillers are named in the report."""
    history = History("h")
    history.reply(TO, [Text("Hello.")])
    request = render(history, TO)
    assert [message["role"] for message in request.json["messages"]] == ["user", "assistant", "user"]
    assert sum("filler" in line for line in request.report.changes) == 2
