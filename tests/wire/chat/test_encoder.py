"""Chat Completions, as the encoder writes it: dialects are values, and each difference shows in one place."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, model, settled, system, user

from turnout import History, Media, Opaque, Origin, Outcome, Residue, Text, Thinking, check, render

OPENAI = "openai:gpt-4o"
MISTRAL = "mistral:mistral-large-latest"
OLLAMA = "ollama@chat:llama3.2"
PNG = "iVBORw0KGgo="


def messages(history: History, to: str, **options: Any) -> list[dict[str, Any]]:
    return list(render(history, to, **options).json["messages"])


def roles(history: History, to: str, **options: Any) -> list[str]:
    return [message["role"] for message in messages(history, to, **options)]


def looped(*more: Any) -> History:
    return conversation(
        user("go"), model("so", call("a", "1"), call("b", "2")), settled("1"), settled("2"), *more
    )


def test_results_follow_their_calls_one_message_each() -> None:
    """OAC-01: in the order of the calls, with nothing between them."""
    assert roles(looped(user("on")), OPENAI) == ["user", "assistant", "tool", "tool", "user"]


def test_media_of_tools_comes_in_one_user_message_after_the_last_result() -> None:
    """Tool messages hold text only, and nothing may stand between them."""
    history = conversation(
        user("go"),
        model(call("a", "1"), call("b", "2")),
        settled("1", (Text("one"), Media("image/png", PNG))),
        settled("2", (Media("image/png", PNG),)),
    )
    *_, shown = messages(history, OPENAI)
    assert roles(history, OPENAI) == ["user", "assistant", "tool", "tool", "user"]
    assert [part["type"] for part in shown["content"]] == ["text", "image_url", "text", "image_url"]
    assert shown["content"][0]["text"] == "From a:"


def test_mistral_gets_a_bridge_between_tool_and_user() -> None:
    """Also before pictures that a tool gave; the text is always the same, and the report names it."""
    request = render(looped(user("on")), MISTRAL)
    assert [m["role"] for m in request.json["messages"]][-3:] == ["tool", "assistant", "user"]
    assert request.json["messages"][-2]["content"] == "OK."
    assert any(line.startswith("bridge") for line in request.report.changes)
    pictured = conversation(user("go"), model(call("a", "1")), settled("1", (Media("image/png", PNG),)))
    assert roles(pictured, MISTRAL) == ["user", "assistant", "tool", "assistant", "user"]


def test_mistral_reads_the_tools_name_on_results() -> None:
    """Other servers get no name there."""
    assert [m["name"] for m in messages(looped(), MISTRAL) if m["role"] == "tool"] == ["a", "b"]
    assert all("name" not in message for message in messages(looped(), OPENAI))


@pytest.mark.parametrize(
    ("to", "role"), [(OPENAI, "system"), ("openai:gpt-5.1", "developer"), ("openai:o3", "developer")]
)
def test_system_text_goes_by_the_role_that_the_model_knows(to: str, role: str) -> None:
    """system, developer or user, depending on the model."""
    history = conversation(user("go"), system("by the way"), user("on"))
    sent = messages(history, to, system="Be brief.")
    assert [m["role"] for m in sent] == [role, "user", role, "user"]


def test_a_template_hears_system_text_in_mid_conversation_from_the_user() -> None:
    """Chat templates take one system message, at the top."""
    sent = messages(conversation(user("go"), system("by the way"), user("on")), OLLAMA, system="Be brief.")
    assert [m["role"] for m in sent] == ["system", "user"]
    assert "<system-reminder>\nby the way\n</system-reminder>" in sent[1]["content"]


def test_a_template_reads_neighbours_of_one_role_as_one() -> None:
    """Templates that require alternation get joined messages."""
    history = conversation(
        user("a"), user("b"), model("c"), model("d"), user("e", Media("image/png", PNG)), user("f")
    )
    sent = messages(history, "ollama@chat:llava")
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert sent[0]["content"] == "a\n\nb"
    assert roles(history, OPENAI) == ["user", "user", "assistant", "assistant", "user", "user"]


def test_messages_with_calls_are_never_joined_to_what_follows() -> None:
    """Text and a later call of one speaker join; a call and later text do not."""
    history = conversation(user("go"), model("a"), model("b", call("f", "1")), settled("1"), model("c"))
    assert roles(history, OLLAMA) == ["user", "assistant", "tool", "assistant", "user"]


def test_a_conversation_that_opens_with_the_model_gets_a_first_word() -> None:
    """Where templates want the user first; OpenAI itself does not mind."""
    history = conversation(model("hello"), user("hi"))
    assert roles(history, OLLAMA)[0] == "user"
    assert any("first-role filler" in line for line in render(history, OLLAMA).report.changes)
    assert roles(history, OPENAI)[0] == "assistant"


@pytest.mark.parametrize("to", [OPENAI, MISTRAL, OLLAMA, "kimi:kimi-k2.5"])
def test_nothing_to_send_is_still_a_request(to: str) -> None:
    """An empty history gets a filler of the user."""
    assert roles(History("h"), to) == ["user"]


def test_a_turn_of_foreign_thoughts_alone_leaves_nothing() -> None:
    """The turn is left out, since other servers cannot read its thinking."""
    history = conversation(user("go"), model(Thinking("hm"), origin="xai:grok-4"), user("well?"))
    assert roles(history, OPENAI) == ["user", "user"]


def test_a_turn_of_own_thoughts_alone_keeps_them() -> None:
    """DeepSeek wants its reasoning back; an assistant message needs words, so one constant text stands."""
    origin = "deepseek:deepseek-reasoner"
    thought = Thinking("hm", Residue(Origin.parse(origin), {"field": "reasoning_content"}))
    _, said, _ = messages(conversation(user("go"), model(thought, origin=origin), user("on")), origin)
    assert said == {"role": "assistant", "content": "(no text)", "reasoning_content": "hm"}


def test_thoughts_go_back_to_mistral_as_chunks() -> None:
    """MIS-11: thinking is a chunk of the content."""
    origin = "mistral:magistral-medium-latest"
    thought = Thinking("hm", Residue(Origin.parse(origin), {"thinking_chunk": {"closed": True}}))
    _, said, _ = messages(conversation(user("go"), model(thought, "so", origin=origin), user("on")), origin)
    assert said["content"] == [
        {"type": "thinking", "thinking": [{"type": "text", "text": "hm"}], "closed": True},
        {"type": "text", "text": "so"},
    ]


def test_copilot_gets_its_state_and_what_was_shown_with_it() -> None:
    """COP-03: never the one without the other."""
    origin = "copilot:claude-sonnet-4.5"
    owner = Origin.parse(origin)
    with_state = Thinking("hm", Residue(owner, {"reasoning_opaque": "b3BhcXVl"}))
    without = Thinking("hm", Residue(owner, {"field": "reasoning_text"}))
    _, said, _ = messages(
        conversation(user("go"), model(with_state, "so", origin=origin), user("on")), origin
    )
    assert (said["reasoning_text"], said["reasoning_opaque"]) == ("hm", "b3BhcXVl")
    _, said, _ = messages(conversation(user("go"), model(without, "so", origin=origin), user("on")), origin)
    assert set(said) == {"role", "content"}


def test_two_hundred_calls_go_out_in_groups() -> None:
    """OAC-05: at most 128 in one message; every group is answered before the next begins."""
    calls = [call("f", f"c{n}", n=n) for n in range(200)]
    history = conversation(user("go"), model("many", *calls), *[settled(f"c{n}", str(n)) for n in range(200)])
    sent = messages(history, OPENAI)
    assert [len(m["tool_calls"]) for m in sent if m["role"] == "assistant"] == [128, 72]
    assert [m["content"] for m in sent if m["role"] == "assistant"] == ["many", None]
    assert [m["content"] for m in sent if m["role"] == "tool"] == [str(n) for n in range(200)]
    assert any(line.startswith("OAC-05") for line in render(history, OPENAI).report.changes)


def test_groups_stay_the_same_when_the_conversation_goes_on() -> None:
    """OAC-05: the bytes of a split turn do not change later."""
    calls = [call("f", f"c{n}") for n in range(130)]
    history = conversation(user("go"), model(*calls), *[settled(f"c{n}") for n in range(130)])
    before = messages(history, OPENAI)
    history.reply(OPENAI, "done")
    assert messages(history, OPENAI)[: len(before)] == before


def test_files_go_as_each_server_reads_them() -> None:
    """The same file has another part at each server."""
    pdf = Media("application/pdf", "JVBERi0xLjQK", name="a.pdf")
    history = conversation(user("read", pdf))
    assert messages(history, OPENAI)[0]["content"][1]["file"]["filename"] == "a.pdf"
    assert messages(history, MISTRAL)[0]["content"][1]["type"] == "document_url"
    assert "cannot read it" in str(messages(history, "deepseek:deepseek-chat")[0]["content"])


def test_a_file_that_lies_at_the_provider_goes_back_to_it_alone() -> None:
    """Other accounts cannot read the file, so a text takes its place."""
    part = {"type": "file", "file": {"file_id": "file-1"}}
    held = Opaque("file", "[file file-1]", Residue(Origin.parse(OPENAI), {"part": part}))
    history = conversation(user("read", held))
    assert messages(history, OPENAI)[0]["content"][1] == part
    assert "[file file-1]" in str(messages(history, "azure:gpt-4o")[0]["content"])


def test_a_blank_block_is_no_part() -> None:
    """What only its provider understood may have no words at all."""
    origin = Origin.parse("groq:llama-3.3-70b-versatile")
    ran = Opaque("executed_tool", "", Residue(origin, {"executed_tool": {}}))
    history = conversation(user("go"), model(ran, "so", origin=str(origin)), user("on"))
    assert messages(history, str(origin))[1]["content"] == "so"


def test_an_error_is_marked_once() -> None:
    """A text that already says error gets no second mark."""
    history = conversation(
        user("go"),
        model(call("a", "1"), call("b", "2")),
        settled("1", "disk full", "error"),
        settled("2", Outcome("error", "Error: no such file")),
    )
    assert [m["content"] for m in messages(history, OPENAI)[2:]] == [
        "Error: disk full",
        "Error: no such file",
    ]


def test_usage_is_asked_for_where_a_stream_does_not_bring_it() -> None:
    """stream_options asks for the token counts."""
    assert render(looped(), OPENAI, stream=True).json["stream_options"] == {"include_usage": True}
    assert "stream_options" not in render(looped(), MISTRAL, stream=True).json


def test_a_model_that_knows_no_tools_reads_calls_in_words() -> None:
    """Nothing is declared, nothing is paired, and everything that was done and found is told."""
    history = conversation(
        user("go"),
        model("so", call("f", "1", n=1)),
        settled("1", (Text("42"), Media("image/png", PNG))),
        model("done"),
        user("on"),
    )
    request = render(history, "openai:o1-mini", tools=[{"name": "f"}])
    assert not {"tools", "tool_choice"} & set(request.json)
    assert [m["role"] for m in request.json["messages"]] == ["user", "assistant", "user", "assistant", "user"]
    told = str(request.json["messages"])
    assert '[I called f({"n":1})]' in told and "[f gave] 42" in told and "[image/png]" in told
    assert any("tools left out" in line for line in request.report.changes)


@pytest.mark.parametrize("to", ["openai:o1-mini", "openai:o1-preview-2024-09-12", "azure:o1-mini"])
def test_the_first_reasoning_models_hear_system_text_from_the_user(to: str) -> None:
    """They refuse the role developer, and system too; the report says what became of the text."""
    history = conversation(user("go"), model("so"), system("mind the gap"), user("on"))
    request = render(history, to, system="Be brief.")

    assert [m["role"] for m in request.json["messages"]] == ["user", "user", "assistant", "user", "user"]
    assert "Be brief." in request.json["messages"][0]["content"]
    assert any(line.startswith("OAC-15") for line in request.report.changes)
    assert check(to, request.body) == []
    assert render(history, "openai:o1", system="Be brief.").json["messages"][0]["role"] == "developer"


@pytest.mark.parametrize("name", ["21st_magic", "-x", "9" * 80, "größe", "-" * 64])
def test_kimi_gets_names_that_begin_with_a_letter(name: str) -> None:
    """In the declaration and in every call; the request knows the way back."""
    history = conversation(user("go"), model(call(name, "1")), settled("1"))
    request = render(history, "kimi:kimi-k2-0905-preview", tools=[{"name": name}])

    (sent,) = {tool["function"]["name"] for tool in request.json["tools"]}
    assert sent[0].isascii() and sent[0].isalpha() and len(sent) <= 64
    assert request.json["messages"][1]["tool_calls"][0]["function"]["name"] == sent
    assert request.names == {sent: name}
    assert check("kimi", request.body) == []


@pytest.mark.parametrize(("to", "taken"), [(OPENAI, 4), ("deepseek:deepseek-chat", 16), (MISTRAL, 20)])
def test_no_more_stop_words_are_sent_than_the_server_takes(to: str, taken: int) -> None:
    """The others are left out, and the report names how many."""
    request = render(conversation(user("go")), to, stop=[f"stop {n}" for n in range(20)])
    assert len(request.json["stop"]) == taken
    assert any("stop words left out" in line for line in request.report.changes) == (taken < 20)
