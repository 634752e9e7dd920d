"""S-07, S-08, S-30 and S-32 to S-34: each by itself, on the request that its own provider gets."""

from __future__ import annotations

from typing import Any

import pytest
from tests.build import call, conversation, model, settled, user
from tests.scenarios.reading import CLAUDE, GEMINI, GEMINI_3, KIMI, MISTRAL, OPENAI, messages, request

from turnout import Thinking, check, render
from turnout.history.log import History

GEMINIS = (GEMINI, GEMINI_3)


def sent(history: History, to: str, **options: Any) -> list[dict[str, Any]]:
    """The messages of a request that its provider takes."""
    made = render(history, to, **options)
    assert check(to.partition(":")[0], made.body, model=made.target.model) == []
    return list(made.json.get("messages") or made.json["contents"])


@pytest.mark.parametrize("to", [OPENAI, KIMI])
def test_s_07_a_tool_message_without_a_call_is_not_sent(to: str) -> None:
    """Every tool message stands behind the call it answers; one that answers nobody is left out."""
    assert [message["role"] for message in messages("s_07_tool_message_without_call", to)] == ["user"] * 2
    made = request("s_07_tool_message_without_call", to)
    assert b"tool_calls" not in made.body  # and no call is made up for it


def test_s_08_a_tool_result_without_a_call_is_not_sent() -> None:
    """The block goes, what the user said beside it stays, and no tool_use is made up."""
    told = messages("s_08_tool_result_without_call", CLAUDE)
    blocks = [block for message in told for block in message["content"]]
    assert [block["type"] for block in blocks] == ["text"] * len(blocks)
    assert blocks[-1]["text"] == "next"


def test_s_30_no_tool_message_follows_a_user_message_on_mistral() -> None:
    """A result that nobody asked for is left out, so `tool` never stands right after `user`."""
    roles = [message["role"] for message in messages("s_30_tool_right_after_user", MISTRAL)]
    assert "tool" not in roles and set(roles) == {"user"}


@pytest.mark.parametrize("thinking", [True, False])
def test_s_32_claude_is_never_left_with_its_own_words_last(thinking: bool) -> None:
    """A history that ends with the model gets a user message to go on from; its signed thinking stays."""
    told = messages("s_32_ends_with_signed_thinking", CLAUDE, thinking=thinking)
    assert [message["role"] for message in told] == ["user", "assistant", "user"]
    assert told[-1]["content"][0]["text"].strip()
    if thinking:
        assert told[1]["content"][0]["signature"] == "c2ln"


def test_s_32_an_answered_call_needs_no_filler_on_claude() -> None:
    """The results are the user's message: nothing is put behind them."""
    turn = model(Thinking("hm"), call("f"), origin=CLAUDE)
    told = sent(conversation(user("go"), turn, settled("f")), CLAUDE)
    assert [block["type"] for block in told[-1]["content"]] == ["tool_result"]


@pytest.mark.parametrize("to", GEMINIS)
def test_s_33_gemini_ends_with_the_user(to: str) -> None:
    """A user turn is appended behind the model's, but not between a call and its response."""
    told = messages("s_33_gemini_ends_with_the_model", to)
    assert [content["role"] for content in told] == ["user", "model", "user"]
    open_loop = sent(conversation(user("go"), model(call("f"), origin=to), settled("f")), to)
    assert [content["role"] for content in open_loop] == ["user", "model", "user"]
    assert [set(part) & {"functionResponse", "text"} for part in open_loop[-1]["parts"]] == [
        {"functionResponse"}
    ]


@pytest.mark.parametrize("to", GEMINIS)
def test_s_34_the_response_comes_right_after_the_call_on_gemini(to: str) -> None:
    """What the user said in between stands behind the response."""
    told = messages("s_34_response_apart_from_its_call", to)
    at = next(n for n, content in enumerate(told) if any("functionCall" in part for part in content["parts"]))
    following = [part for content in told[at + 1 :] for part in content["parts"]]
    assert "functionResponse" in following[0]
    assert following[1] == {"text": "wait"}


@pytest.mark.parametrize("to", GEMINIS)
def test_s_34_interleaved_turns_are_told_pair_by_pair_on_gemini(to: str) -> None:
    """call A, call B, response A, response B becomes A, its response, B, its response."""
    history = messages_of_two_calls(to)
    kinds = [
        (content["role"], next(iter(set(part) & {"functionCall", "functionResponse", "text"})))
        for content in sent(history, to)
        for part in content["parts"]
    ]
    pair = [("model", "functionCall"), ("user", "functionResponse")]
    assert kinds == [("user", "text"), *pair, *pair]


def messages_of_two_calls(to: str) -> History:
    from turnout import ingest

    def part(kind: str, name: str) -> dict[str, Any]:
        return {kind: {"name": name, "args" if kind == "functionCall" else "response": {}}}

    contents = [
        {"role": "user", "parts": [{"text": "go"}]},
        {"role": "model", "parts": [part("functionCall", "a")]},
        {"role": "model", "parts": [part("functionCall", "b")]},
        {"role": "user", "parts": [part("functionResponse", "a")]},
        {"role": "user", "parts": [part("functionResponse", "b")]},
    ]
    return ingest(contents, format="gemini", origin=to)
