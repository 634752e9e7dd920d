"""What Bedrock refuses in a conversation, rule by rule; and what it was seen to accept."""

from __future__ import annotations

from typing import Any

import pytest
from tests.corpus import exchanges, needs_corpus

from turnout import check

NOVA, CLAUDE = "amazon.nova-lite-v1:0", "anthropic.claude-sonnet-4"
CONFIG = {"tools": [{"toolSpec": {"name": "f", "inputSchema": {"json": {"type": "object"}}}}]}


def user(*blocks: Any) -> dict[str, Any]:
    return {"role": "user", "content": [{"text": b} if isinstance(b, str) else b for b in blocks]}


def model(*blocks: Any) -> dict[str, Any]:
    return {**user(*blocks), "role": "assistant"}


def use(id: str) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": id, "name": "f", "input": {}}}


def result(id: str, **fields: Any) -> dict[str, Any]:
    return {"toolResult": {"toolUseId": id, "content": [{"text": "ok"}], **fields}}


def rules(*messages: Any, model: str = CLAUDE, tools: bool = True, **options: Any) -> list[str]:
    body = {"messages": list(messages), **({"toolConfig": CONFIG} if tools else {})}
    return [problem.rule for problem in check("bedrock", body, model=model, **options)]


def test_a_sound_conversation_breaks_no_rule() -> None:
    """Calls answered in the next message, results first."""
    assert rules(user("go"), model("So", use("1"), use("2")), user(result("1"), result("2"), "on")) == []


@pytest.mark.parametrize(
    ("messages", "rule"),
    [
        ([user("go"), model(use("1"), use("2")), user(result("1"))], "BDK-01"),
        ([user("go"), model(use("1")), user("no")], "BDK-01"),
        ([user("go", result("1"))], "BDK-01"),
        ([user("go"), model(use("1")), user(result("1"), result("1"))], "BDK-01"),
        ([user("go"), model(use("1"), use("1")), user(result("1"))], "BDK-01"),
        ([user("go", use("1"))], "BDK-01"),
        ([user(" ")], "BDK-02"),
        ([{"role": "user", "content": []}], "BDK-02"),
        ([user("go"), model(use("1")), user(result("1", status="error", content=[]))], "BDK-04"),
        ([user("go"), model({"reasoningContent": {"reasoningText": {"text": "x"}}}), user("on")], "BDK-06"),
        ([user({"reasoningContent": {"redactedContent": "eA=="}}, "go")], "BDK-06"),
        ([user("go"), model(use("1")), user("first", result("1"))], "BDK-07"),
        ([user("go", {"video": {"format": "mp4", "source": {"bytes": "eA=="}}})], "BDK-09"),
        ([user("go", {"image": {"format": "bmp", "source": {"bytes": "eA=="}}})], "BDK-09"),
    ],
)
def test_each_rule_is_applied(messages: list[Any], rule: str) -> None:
    """One broken conversation each."""
    assert rule in rules(*messages)


def test_calls_need_declared_tools() -> None:
    """Also when none may be called now."""
    assert rules(user("go"), model(use("1")), user(result("1")), tools=False) == ["BDK-03"]


def test_neighbours_of_one_role_are_a_warning_for_most() -> None:
    """Recorded: 3 of 455 accepted requests had them. Nova refuses them."""
    assert rules(user("a"), user("b")) == []
    assert rules(user("a"), user("b"), warnings=True) == ["BDK-02"]
    assert rules(user("a"), user("b"), model=NOVA) == ["BDK-02"]


@needs_corpus
def test_every_recorded_request_that_was_accepted_is_accepted_here() -> None:
    """And of those that were refused for their shape, the reason is found."""
    for exchange in exchanges("bedrock_converse"):
        if isinstance(exchange.request, dict) and exchange.status == 200:
            found = check("bedrock", exchange.request, model=str(exchange.meta["model"]))
            assert found == [], exchange.id
    for exchange in exchanges("bedrock_invoke"):
        is_claude = "claude" in str(exchange.meta["model"])
        if isinstance(exchange.request, dict) and exchange.status == 200 and is_claude:
            found = check("bedrock-invoke", exchange.request, model=str(exchange.meta["model"]))
            assert found == [], exchange.id
