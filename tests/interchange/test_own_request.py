"""The next request of another agent from its records as they are, and what its provider answers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.interchange.agent_homes import program_files

from turnout.interchange.foreign import READERS
from turnout.interchange.own_request import own_refusal
from turnout.interchange.rescue import examine_found
from turnout.interchange.rescue_places import FoundSession

CLAUDE, GPT, GEMINI = "anthropic:claude-sonnet-5", "openai-responses:gpt-5.2", "gemini:gemini-2.5-pro"
TARGETS = {
    "claude-code": CLAUDE,
    "codex": GPT,
    "gemini-cli": GEMINI,
    "pi": CLAUDE,
    "qwen-code": "qwen:qwen3-max",
}
Records = list[dict[str, Any]]


def records_of(program: str) -> Records:
    data = program_files(Path("/srv/project"))[program][1]
    return [json.loads(line) for line in data.split(b"\n") if line]


def refusal_of(program: str, records: Records) -> str:
    """The answer of the provider, and the verdict agrees with it."""
    data = b"\n".join(json.dumps(record).encode() for record in records) + b"\n"
    found = own_refusal(READERS[program](data, "k").heard, TARGETS[program], program)
    return "" if found is None else found.answer


@pytest.mark.parametrize("program", TARGETS)
def test_a_session_that_is_well_is_not_refused(program: str) -> None:
    """The samples of every program."""
    assert refusal_of(program, records_of(program)) == ""


def _pi(records: Records, role: str) -> list[int]:
    return [at for at, each in enumerate(records) if each.get("message", {}).get("role") == role]


def _orphan(records: Records) -> Records:
    stray = json.loads(json.dumps(records[_pi(records, "toolResult")[0]]))
    stray["message"]["toolCallId"] = "toolu_foreign"
    return _linked([*records, stray])


def _twice(records: Records) -> Records:
    at = _pi(records, "toolResult")[0]
    return _linked([*records[:at], records[at], *records[at:]])


def _misplaced(records: Records) -> Records:
    at = _pi(records, "toolResult")[0]
    return _linked([*records[:at], *records[at + 1 :], records[at]])


def _reused_id(records: Records) -> Records:
    return json.loads(json.dumps(records).replace('"t2"', '"t1"'))  # type: ignore[no-any-return]


def _foreign_id(records: Records) -> Records:
    text = json.dumps(records).replace('"t1"', '"functions.read:0"')
    return json.loads(text)  # type: ignore[no-any-return]


def _linked(records: Records) -> Records:
    """The records in a chain again: pi reads along the parents."""
    parent = None
    for number, record in enumerate(records):
        if record.get("type") == "message":
            record = records[number] = {**record, "id": f"m{number}", "parentId": parent}
            parent = record["id"]
    return records


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (_orphan, "unexpected `tool_use_id` found in `tool_result` blocks: toolu_foreign"),
        (_twice, "each tool_use must have a single result"),
        (_misplaced, "`tool_use` ids were found without `tool_result` blocks immediately after"),
        (_reused_id, "each tool_use must have a single result"),
        (_foreign_id, "String should match pattern"),
    ],
)
def test_each_damage_is_told_in_the_words_of_the_provider(
    damage: Callable[[Records], Records], words: str, tmp_path: Path
) -> None:
    """Orphaned, doubled and misplaced results, ids that are used twice or are foreign."""
    records = damage(records_of("pi"))
    assert words in refusal_of("pi", records)
    path = tmp_path / "s.jsonl"
    path.write_bytes(b"\n".join(json.dumps(record).encode() for record in records))
    case = examine_found(FoundSession("pi", path, 0.0))
    assert case.is_stuck and words in case.verdict and "answers 400" in case.verdict


@pytest.mark.parametrize(
    ("block", "words"),
    [
        ({"type": "thinking", "thinking": "cut off"}, "signature"),
        ({"type": "thinking", "thinking": "hm", "signature": ""}, "Invalid `signature` in `thinking` block"),
        ({"type": "text", "text": ""}, "text content blocks must be non-empty"),
    ],
)
def test_claude_code_meets_its_own_blocks_again(block: dict[str, Any], words: str) -> None:
    """Thinking that was cut off, another provider's reasoning, empty text."""
    records = records_of("claude-code")
    reply = next(each for each in records if each.get("type") == "assistant")
    reply["message"]["content"].insert(0, block)
    assert words in refusal_of("claude-code", records)


def test_an_orphan_at_openai_and_at_a_chat_server() -> None:
    """Each says it differently."""
    codex = [each for each in records_of("codex") if each.get("payload", {}).get("type") != "function_call"]
    assert "No tool call found for function call output" in refusal_of("codex", codex)
    qwen = [each for each in records_of("qwen-code") if "functionCall" not in json.dumps(each)]
    for at, record in enumerate(qwen):
        record["parentUuid"] = qwen[at - 1]["uuid"] if at else None
    assert "must be a response to" in refusal_of("qwen-code", qwen)
