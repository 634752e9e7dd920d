"""Citations and cache marks of blocks."""

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


CITED = {"type": "char_location", "cited_text": "x", "document_index": 0}


def test_a_citation_names_its_place() -> None:
    """A citation without a required field is refused."""
    whole = {**CITED, "start_char_index": 0, "end_char_index": 1}
    assert rules_of(user(), assistant({"type": "text", "text": "x", "citations": [whole]}), user()) == []
    damaged = rules_of(user(), assistant({"type": "text", "text": "x", "citations": [CITED]}), user())
    assert set(damaged) == {"BODY"}


def test_a_cache_mark_lives_for_5_minutes_or_an_hour() -> None:
    """ANT-14: every other lifetime is refused."""
    for ttl, rules in (("1h", []), ("2h", ["ANT-14"])):
        mark = {"type": "ephemeral", "ttl": ttl}
        assert rules_of(user({"type": "text", "text": "x", "cache_control": mark})) == rules
