"""Anthropic Messages, as the encoder writes it."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, model, settled, system, user
from tests.handoff.scenario import answered, asked, claude, thought, tool_result, tool_use

from turnout import History, Media, Opaque, Origin, Outcome, Residue, Text, Thinking, check, ingest, render

CLAUDE = "anthropic:claude-sonnet-4-5"
PNG = "iVBORw0KGgo="
MARK = {"type": "ephemeral"}


def messages(history: History, to: str = CLAUDE, **options: Any) -> list[dict[str, Any]]:
    return list(render(history, to, **options).json["messages"])


def types(message: dict[str, Any]) -> list[str]:
    return [block["type"] for block in message["content"]]


def test_roles_alternate_and_results_come_first() -> None:
    """Results and what the user said after them share one message."""
    history = conversation(
        user("a"),
        user("b"),
        model("c"),
        model(call("f", "1"), call("g", "2")),
        settled("1"),
        settled("2"),
        user("d"),
    )
    sent = messages(history)
    assert [m["role"] for m in sent] == ["user", "assistant", "user"]
    assert types(sent[1]) == ["text", "tool_use", "tool_use"]
    assert types(sent[2]) == ["tool_result", "tool_result", "text"]


def test_system_text_in_mid_conversation_is_heard_from_the_user_after_the_results() -> None:
    """ANT-02: results come first in the message; the system text follows as a reminder."""
    history = conversation(user("go"), model(call("f", "1")), settled("1"), system("mind"), user("on"))
    assert types(messages(history)[2]) == ["tool_result", "text", "text"]


@pytest.mark.parametrize("status", ["error", "cancelled", "interrupted"])
def test_what_did_not_complete_is_an_error(status: Any) -> None:
    """Failed, cancelled and interrupted results carry is_error."""
    history = conversation(user("go"), model(call("f", "1")), settled("1", Outcome(status, "why")))
    (result,) = messages(history)[2]["content"]
    assert result["is_error"] is True and "why" in result["content"]


def test_a_result_with_media_is_a_list_of_blocks() -> None:
    """The text comes first, then the image."""
    pdf = Media("application/pdf", "JVBERi0xLjQK", name="a.pdf")
    outcome = Outcome("complete", (Text("here"), Media("image/png", PNG), pdf))
    history = conversation(user("go"), model(call("f", "1")), settled("1", outcome))
    (result,) = messages(history)[2]["content"]
    assert [block["type"] for block in result["content"]] == ["text", "image", "document"]


def test_a_request_begins_and_ends_with_the_user() -> None:
    """One constant text each, and the report names the rule."""
    request = render(conversation(model("hello")), CLAUDE)
    assert [m["role"] for m in request.json["messages"]] == ["user", "assistant", "user"]
    assert [line.split()[0] for line in request.report.changes] == ["ANT-13", "ANT-12"]


def test_a_paused_turn_goes_back_unchanged() -> None:
    """The provider goes on with its own turn: no filler, and its unanswered tool stays."""
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    origin = Origin.parse(CLAUDE)
    history = conversation(user("go"))
    history.reply(
        origin,
        [Text("let me see"), Opaque("server_tool_use", "", Residue(origin, {"block": use}))],
        stop="paused",
    )
    request = render(history, CLAUDE)
    assert types(request.json["messages"][-1]) == ["text", "server_tool_use"]
    assert request.report.changes == ()
    assert check("anthropic", request.body) == []


def server_tools(*blocks: dict[str, Any]) -> History:
    return claude(asked("go"), answered(*blocks), asked("on"))


USE = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "x"}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1", "content": []}


def test_what_a_paused_turn_waited_for_stands_in_the_next() -> None:
    """The provider's tool and its result share the assistant's message, though they came in two replies."""
    said = {"type": "text", "text": "so"}
    history = claude(asked("go"), answered(USE), answered(FOUND, said), asked("on"))
    request = render(history, CLAUDE)

    shown = [types(message) for message in request.json["messages"]]
    assert shown == [["text"], ["server_tool_use", "web_search_tool_result", "text"], ["text"]]
    assert check("anthropic", request.body) == []


def test_a_paused_turn_that_nobody_went_on_with_tells_its_use_in_words() -> None:
    """A use whose result never came is a 400 once something follows it; the report says what was done."""
    said = {"type": "text", "text": "let me see"}
    history = claude(asked("go"), answered(said, USE))
    render(history, CLAUDE)
    history.user("stop")
    request = render(history, CLAUDE)

    assert [types(message) for message in request.json["messages"]] == [["text"], ["text", "text"], ["text"]]
    assert "[server_tool_use]" in request.json["messages"][1]["content"][1]["text"]
    assert any(line.startswith("ANT-30") for line in request.report.changes)
    alone = claude(asked("go"), answered(USE), asked("stop"))
    assert check("anthropic", render(alone, CLAUDE).body) == []


@pytest.mark.parametrize("to", ["anthropic:claude-opus-4-8", "anthropic:claude-sonnet-4-6"])
def test_a_paused_turn_of_another_claude_is_over(to: str) -> None:
    """Only the model that paused goes on; to others the request ends with the user, as every request."""
    history = claude(asked("go"), answered({"type": "text", "text": "let me see"}, USE))
    request = render(history, to)

    assert [message["role"] for message in request.json["messages"]] == ["user", "assistant", "user"]
    assert check(to, request.body) == []


def test_a_paused_turn_without_what_it_paused_for_is_over() -> None:
    """A turn of words alone would be read as the beginning of an answer, which newer models refuse."""
    to = Origin.parse("anthropic:claude-opus-4-8")
    history = conversation(user("go"))
    history.reply(to, [Text("let me see")], stop="paused")
    assert check("anthropic", render(history, to).body) == []


def test_a_provider_run_tool_goes_back_as_a_pair_or_in_words() -> None:
    """Half a pair is a 400; what it says is not lost, and the report names its kind."""
    assert types(messages(server_tools(USE, FOUND, {"type": "text", "text": "so"}))[1]) == [
        "server_tool_use",
        "web_search_tool_result",
        "text",
    ]
    half = render(server_tools(USE, {"type": "text", "text": "so"}), CLAUDE)
    assert types(half.json["messages"][1]) == ["text", "text"]
    assert "[server_tool_use]" in half.json["messages"][1]["content"][0]["text"]
    assert any(line.startswith("ANT-30") for line in half.changes)


def test_a_result_without_its_use_is_told_in_words_in_a_paused_turn_too() -> None:
    """Recorded with ids that do not fit: the use waits, and the result belongs to no use that is here."""
    stray = {
        **FOUND,
        "tool_use_id": "srvtoolu_other",
        "content": [{"type": "web_search_result", "title": "x"}],
    }
    history = claude(asked("go"), answered(USE, stray), asked("on"))
    request = render(history, CLAUDE)
    assert types(request.json["messages"][1]) == ["text", "text"]
    assert any(line.startswith("ANT-30 web_search_tool_result sent as text") for line in request.changes)


def test_what_needs_a_beta_header_is_told_in_words() -> None:
    """Blocks of a beta are refused without its header; what they say goes on as text."""
    advisor = {**USE, "name": "advisor"}
    advice = {
        "type": "advisor_tool_result",
        "tool_use_id": "srvtoolu_1",
        "content": {"type": "advisor_result"},
    }
    request = render(server_tools(advisor, advice, {"type": "text", "text": "so"}), CLAUDE)
    assert set(types(request.json["messages"][1])) == {"text"}
    assert any(line.startswith("ANT-30 advisor_tool_result sent as text") for line in request.changes)


def test_cache_markers_stand_on_tools_and_system_and_never_in_messages() -> None:
    """At most four are taken; those that came in with a history are not sent again."""
    marked = {**FOUND, "cache_control": MARK}
    history = claude(
        asked({"type": "text", "text": "go", "cache_control": MARK}), answered(USE, marked, "so"), asked("on")
    )
    body = render(history, CLAUDE, system="Be brief.", tools=[{"name": "a"}, {"name": "b"}]).json
    assert body["cache_control"] == MARK and body["system"][0]["cache_control"] == MARK
    assert ["cache_control" in tool for tool in body["tools"]] == [False, True]
    assert "cache_control" not in str(body["messages"])


def test_caching_can_be_switched_off() -> None:
    """Without it the request holds no cache mark."""
    body = render(
        conversation(user("go")), CLAUDE, system="Be brief.", tools=[{"name": "a"}], cache=False
    ).json
    assert "cache_control" not in str(body) and body["system"] == "Be brief."


def test_a_document_of_text_goes_back_as_the_document_it_was() -> None:
    """To every model of its provider; to everybody else as text."""
    source = {"type": "text", "media_type": "text/plain", "data": "the facts"}
    document = {"type": "document", "title": "facts.txt", "source": source, "cache_control": MARK}
    history = claude(asked("read", document))
    assert messages(history)[0]["content"][1] == {"type": "document", "title": "facts.txt", "source": source}
    assert messages(history, "anthropic:claude-opus-4-8")[0]["content"][1]["type"] == "document"
    (said,) = render(history, "openai:gpt-5.1").json["messages"]
    assert [part["text"] for part in said["content"]] == ["read", "facts.txt\n\nthe facts"]


def test_citations_go_back_with_their_text() -> None:
    """Anthropic takes back the citations that it gave."""
    cited = [
        {
            "type": "char_location",
            "cited_text": "x",
            "document_index": 0,
            "document_title": None,
            "start_char_index": 0,
            "end_char_index": 1,
        }
    ]
    origin = Origin.parse(CLAUDE)
    history = conversation(
        user("go"), model(Text("so", Residue(origin, {"citations": cited})), origin=CLAUDE), user("on")
    )
    assert messages(history)[1]["content"][0]["citations"] == cited


def test_pictures_that_a_model_made_are_told_in_words() -> None:
    """Images stand only in messages of the user, so a text takes their place."""
    history = conversation(user("draw"), model(Media("image/png", PNG), "done"), user("on"))
    assert types(messages(history)[1]) == ["text", "text"]


def test_thinking_stays_in_old_turns() -> None:
    """So that nothing changes in what was sent when a turn is over."""
    history = claude(
        asked("go"),
        answered(thought(), tool_use()),
        asked(tool_result()),
        answered(thought(), "so"),
        asked("on"),
    )
    assert [types(m)[0] for m in messages(history, thinking=True) if m["role"] == "assistant"] == [
        "thinking"
    ] * 2


def test_a_thought_before_the_first_word_of_a_loop_is_enough_for_all_of_it() -> None:
    """ANT-16 looks at the message that opened the run of calls and results."""
    own = Thinking("hm", Residue(Origin.parse(CLAUDE), {"signature": "c2ln"}))
    history = conversation(
        user("go"),
        model(own, call("a", "1"), origin=CLAUDE),
        settled("1"),
        model(call("b", "2"), origin=CLAUDE),
        settled("2"),
    )
    assert render(history, CLAUDE, thinking=True).json["thinking"]["type"] == "enabled"


def test_a_budget_leaves_room_for_the_answer() -> None:
    """ANT-23: max_tokens is larger than the budget."""
    body = render(conversation(user("go")), CLAUDE, thinking=True).json
    assert 1_024 <= body["thinking"]["budget_tokens"] < body["max_tokens"]


@pytest.mark.parametrize(
    ("max_tokens", "budget", "sent"),
    [
        (2_000, None, 1_999),
        (2_000, 1_999, 1_999),
        (2_000, 2_000, 1_999),
        (2_000, 1_500, 1_500),
        (1_025, None, 1_024),
    ],
)
def test_a_budget_is_below_the_limit_on_the_answer(max_tokens: int, budget: int | None, sent: int) -> None:
    """ANT-23: max_tokens must be greater than the budget, if only by one."""
    request = render(conversation(user("go")), CLAUDE, thinking=True, max_tokens=max_tokens, budget=budget)
    assert request.json["thinking"] == {"type": "enabled", "budget_tokens": sent}
    assert check("anthropic", request.body) == []


def test_a_limit_that_leaves_no_room_switches_thinking_off() -> None:
    """A budget below 1,024 would be refused."""
    request = render(conversation(user("go")), CLAUDE, thinking=True, max_tokens=1_024)
    assert "thinking" not in request.json
    assert any(change.startswith("ANT-23") for change in request.report.changes)


def optional_parameters(count: int) -> dict[str, Any]:
    properties = {f"p{n}": {"type": "string"} for n in range(count)}
    return {"type": "object", "properties": properties, "additionalProperties": False}


@pytest.mark.parametrize(
    ("counts", "strict"),
    [
        ([13], [True]),
        ([13, 13], [True, False]),  # at most 24 over all
        ([24], [False]),  # fewer than 24 in one
        ([23, 1], [True, True]),
        ([0] * 21, [True] * 20 + [False]),  # at most 20 tools
    ],
)
def test_strict_tools_that_leave_too_much_open_go_without_the_promise(
    counts: list[int], strict: list[bool]
) -> None:
    """Anthropic compiles so much freedom and no more: the first tools have the promise, others are named."""
    tools = [{"name": f"t{n}", "parameters": optional_parameters(count)} for n, count in enumerate(counts)]
    request = render(History("h"), CLAUDE, tools=tools, strict=True)

    assert ["strict" in tool for tool in request.json["tools"]] == strict
    told = [line.split()[-1] for line in request.report.changes if "ANT-09 strict left out" in line]
    assert len(told) == strict.count(False)
    assert check("anthropic", request.body) == []


@pytest.mark.parametrize("to", [CLAUDE, "anthropic:claude-opus-4-8"])
def test_a_block_of_tomorrow_goes_back_as_it_was(to: str) -> None:
    """Kinds that only Anthropic can know are kept for it, and sent as text to others."""
    hologram = {"type": "hologram", "depth": {"near": "so far"}}
    asked = {"role": "user", "content": [{"type": "text", "text": "see"}, hologram]}
    said = {"role": "assistant", "content": [hologram, {"type": "text", "text": "yes"}]}
    history = ingest([asked, said, {"role": "user", "content": "on"}], "anthropic", CLAUDE)

    sent = render(history, to).json["messages"]
    assert (sent[0]["content"][1], sent[1]["content"][0]) == (hologram, hologram)
    assert render(history, "openai:gpt-5.1").body.count(b"[hologram]") == 2
