"""The documents that asked for turnout: their sequences, acceptance conditions and regressions."""

from __future__ import annotations

import re
from typing import Any

import pytest
from tests.build import call, conversation, model, settled, shape, user
from tests.founding import CONVERSATION

from turnout import History, Outcome, ToolCall, check, ingest, render, transcript
from turnout.model import Origin, Residue, Thinking

FORMATS = {
    "openai:gpt-5.1": r"call_[1-6]",
    "anthropic:claude-sonnet-4-5": r"toolu_[1-6]",
    "kimi:kimi-k2.5": r"functions\.(list_directory:0|read_file:[1-5])",
    "mistral:mistral-large-latest": r"[A-Za-z0-9]{9}",
}
EVERYWHERE = (*FORMATS, "openai-responses:gpt-5.1", "gemini:gemini-3-pro", "deepseek:deepseek-reasoner")


@pytest.fixture
def history() -> History:
    """chat, thinking, one call with its result, thinking, five calls with one result, thinking, text."""
    return ingest(CONVERSATION, format="icontent")


@pytest.mark.parametrize("target", EVERYWHERE)
def test_five_calls_and_one_result_give_five_results_in_call_order(history: History, target: str) -> None:
    """Section 7.3: C1 real; C3 real; C2, C4, C5, C6 synthetic; thinking changes nothing of it."""
    rendered = transcript(history, target)
    results = [item for message in rendered.messages for item in message.responses]
    assert [item.call_id for item in results] == [f"hist_tool_{number}" for number in range(1, 7)]
    real = {item.call_id for item in results if not item.outcome.synthetic}
    assert real == {"hist_tool_1", "hist_tool_3"}
    assert shape(rendered.messages) == [
        "user",
        "model(list_directory)",
        "tool(list_directory)",
        "model(read_file,read_file,read_file,read_file,read_file)",
        "tool(read_file,read_file,read_file,read_file,read_file)",
        "model",
        "user",
    ]


@pytest.mark.parametrize(("target", "pattern"), FORMATS.items())
def test_each_family_gets_the_ids_it_wants(history: History, target: str, pattern: str) -> None:
    """Section 7.4: C* becomes call_*, toolu_*, functions.{tool}:{index} or nine alphanumerics."""
    report = transcript(history, target).report
    assert all(re.fullmatch(pattern, item.projected) for item in report.calls)
    assert report.calls == report.results
    assert len({item.projected for item in report.calls}) == 6


def test_the_report_says_what_the_specification_asks_for(history: History) -> None:
    """Section 10: ids seen, ids emitted, dedupe decisions, synthetic reasons, the format chosen."""
    report = transcript(history, "mistral:mistral-large-latest").report
    assert report.seen == tuple(f"hist_tool_{number}" for number in range(1, 7))
    assert report.format == "mistral"
    assert {item.call_id: item.reason for item in report.synthetic} == {
        f"hist_tool_{number}": "unknown" for number in (2, 4, 5, 6)
    }
    assert report.deduplicated == ()


def hostile() -> list[Any]:
    """Orphans, duplicates, misplaced and unnamed results, in one Chat conversation."""

    def calls(*ids: str) -> dict[str, Any]:
        made = [{"id": i, "type": "function", "function": {"name": "f", "arguments": "{}"}} for i in ids]
        return {"role": "assistant", "content": None, "tool_calls": made}

    def result(id: str, text: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": id, "content": text}

    return [
        result("ghost", "no call"),
        {"role": "user", "content": "go"},
        calls("a", "b", "functions.f:0"),
        {"role": "user", "content": "in between"},
        result("b", "B"),
        result("a", "A"),
        result("a", "A again"),
        calls("a"),
        {"role": "user", "content": "next"},
    ]


@pytest.mark.parametrize("target", EVERYWHERE)
def test_acceptance_1_pairing(target: str) -> None:
    """Every emitted call has exactly one emitted result."""
    report = render(ingest(hostile(), format="openai-chat"), target).report
    assert sorted(report.calls, key=str) == sorted(report.results, key=str)
    assert len(report.calls) == 4


@pytest.mark.parametrize("target", EVERYWHERE)
def test_acceptance_2_placement(target: str) -> None:
    """Results stand where the provider's protocol wants them: its own rules find nothing."""
    request = render(ingest(hostile(), format="openai-chat"), target)
    assert check(target.partition(":")[0], request.body, model=request.target.model) == []


@pytest.mark.parametrize("target", EVERYWHERE)
def test_acceptance_3_ids(target: str) -> None:
    """Projected ids are distinct, and of the format of the provider."""
    report = render(ingest(hostile(), format="openai-chat"), target).report
    projected = [item.projected for item in report.calls]
    assert len(set(projected)) == len(projected)


@pytest.mark.parametrize("target", EVERYWHERE)
def test_acceptance_4_no_duplicate_effective_completion(target: str) -> None:
    """One result a call; which one was kept is said."""
    request = render(ingest(hostile(), format="openai-chat"), target)
    assert request.body.count(b"A again") == 0
    assert "duplicate_outcome" in {item.code for item in request.report.deduplicated}


@pytest.mark.parametrize("target", EVERYWHERE)
def test_acceptance_5_thinking_among_calls_stays_valid(target: str) -> None:
    """Thinking of any origin, mixed with calls and text, never makes a request invalid."""
    own = Thinking("mine", Residue(Origin.parse(target), {"signature": "c2ln", "field": "reasoning_content"}))
    alien = Thinking("theirs", Residue(Origin("xai", "", "grok-4"), {"field": "reasoning_content"}))
    history = conversation(
        user("go"),
        model(alien, "text", call("f", "1"), origin="xai:grok-4"),
        settled("1"),
        model(own, call("f", "2"), origin=target),
        settled("2"),
    )
    for thinking in (True, False, None):
        request = render(history, target, thinking=thinking)
        assert check(target.partition(":")[0], request.body, model=request.target.model) == []
        assert b"theirs" not in request.body


def chained() -> History:
    """A conversation whose last reply OpenAI has stored."""
    history = conversation(user("go"))
    reply = Residue(Origin("openai-responses", "", "gpt-5.1"), {"response_id": "resp_1"})
    turn = history.reply("openai-responses:gpt-5.1", [ToolCall("call_1", "f", {})], residue=reply)
    history.settle(turn.tool_calls[0].id, Outcome("complete", "42"))
    return history


def items(request: Any) -> list[str]:
    return [item["type"] for item in request.json["input"]]


def test_no_function_call_ever_stands_inside_message_content() -> None:
    """The regression of seed 004: calls are items of their own, never parts of a message."""
    for chain in (True, False):
        for item in render(chained(), "openai-responses:gpt-5.1", chain=chain).json["input"]:
            parts = item.get("content", [])
            assert isinstance(parts, str) or all(part["type"] != "function_call" for part in parts)


def test_a_chained_request_skips_the_calls_that_the_provider_holds() -> None:
    """Seed 004's rule where it is true: with previous_response_id only the outputs are sent."""
    request = render(chained(), "openai-responses:gpt-5.1", chain=True)
    assert request.json["previous_response_id"] == "resp_1"
    assert items(request) == ["function_call_output"]


def test_a_stateless_request_sends_both_items() -> None:
    """Without a chain the call and its output are both there, and nothing is stored."""
    request = render(chained(), "openai-responses:gpt-5.1")
    assert items(request) == ["message", "function_call", "function_call_output"]
    assert request.json["store"] is False


def test_another_model_does_not_chain_to_what_it_did_not_say() -> None:
    """A response id belongs to its issuer; another target gets the whole history."""
    request = render(chained(), "openai-responses:gpt-4o", chain=True)
    assert items(request) == ["message", "function_call", "function_call_output"]
