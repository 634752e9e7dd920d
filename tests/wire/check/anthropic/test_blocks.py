"""Required fields of single blocks."""

from __future__ import annotations

from typing import Any

from turnout.wire.check import check

MODEL = "claude-sonnet-4-5"


def rules_of(*messages: dict[str, Any], **fields: Any) -> list[str]:
    body = {"model": MODEL, "max_tokens": 4096, "messages": list(messages), **fields}
    return [problem.rule for problem in check("anthropic", body)]


def user(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "user", "content": list(blocks) or "go"}


def assistant(*blocks: dict[str, Any]) -> dict[str, Any]:
    return {"role": "assistant", "content": list(blocks)}


def test_a_block_has_a_type_and_its_fields() -> None:
    """A block without one of them is refused."""
    assert "BODY" in rules_of(user({"text": "hi"}))
    assert "BODY" in rules_of(user({"type": "image"}))
    source = {"type": "url", "url": "https://example.com/a.png"}
    assert rules_of(user({"type": "image", "source": source})) == []


def test_server_tools_belong_to_the_assistant() -> None:
    """ANT-30: and their ids have the prefix of the server."""
    use = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
    assert "ANT-30" in rules_of(user(use))
    assert "ANT-30" in rules_of(user(), assistant({**use, "id": "call_1"}))


def test_only_the_assistant_thinks() -> None:
    """ANT-17: and signatures are base64."""
    thought = {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}
    assert rules_of(user(thought)) == ["ANT-17"]
    assert rules_of(user(), assistant({**thought, "signature": "not base64!"}), user()) == ["ANT-17"]
