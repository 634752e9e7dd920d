"""Converse requests are read: blocks of one key, tools in toolConfig, media as bytes or in S3."""

from __future__ import annotations

from typing import Any

from turnout import ingest, read_request, render
from turnout.model import Media, ModelTurn, Opaque, Text, Thinking, UserTurn

CLAUDE = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"
CONFIG = {
    "tools": [
        {"toolSpec": {"name": "f", "description": "F.", "inputSchema": {"json": {"type": "object"}}}},
        {"systemTool": {"name": "nova_grounding"}},
        {"cachePoint": {"type": "default"}},
    ],
    "toolChoice": {"any": {}},
}


def blocks(*content: Any, role: str = "user") -> tuple[Any, ...]:
    [turn] = ingest([{"role": role, "content": list(content)}], "bedrock-converse", CLAUDE).turns
    assert isinstance(turn, UserTurn | ModelTurn)
    return turn.blocks


def test_calls_and_results_are_paired_by_their_ids() -> None:
    """A result may hold JSON, which is read as its text."""
    history = ingest(
        [
            {"role": "user", "content": [{"text": "go"}]},
            {
                "role": "assistant",
                "content": [{"toolUse": {"toolUseId": "1", "name": "f", "input": {"a": 1}}}],
            },
            {
                "role": "user",
                "content": [
                    {"toolResult": {"toolUseId": "1", "content": [{"json": {"b": 2}}], "status": "error"}}
                ],
            },
        ],
        "bedrock-converse",
    )
    [item] = history.ledger
    assert (item.call.name, item.call.arguments, item.status) == ("f", {"a": 1}, "error")
    assert item.outcome is not None and item.outcome.text == '{"b":2}'


def test_thinking_keeps_what_its_model_wants_back() -> None:
    """A signature, or hidden data; a cache point is not content."""
    shown, hidden = blocks(
        {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2ln"}}},
        {"reasoningContent": {"redactedContent": "aGk="}},
        {"cachePoint": {"type": "default"}},
        role="assistant",
    )
    assert isinstance(shown, Thinking) and isinstance(hidden, Thinking)
    assert shown.residue is not None and shown.residue.data == {"signature": "c2ln"}
    assert hidden.residue is not None and hidden.residue.data == {"redacted": "aGk="}


def test_media_is_read_with_its_type_and_place() -> None:
    """boto3 holds bytes where the body has base64."""
    image, video, document = blocks(
        {"image": {"format": "png", "source": {"bytes": b"\x89PNG\r\n\x1a\n"}}},
        {"video": {"format": "three_gp", "source": {"s3Location": {"uri": "s3://bucket/v"}}}},
        {
            "document": {
                "format": "txt",
                "name": "d",
                "source": {"text": "words"},
                "citations": {"enabled": True},
            }
        },
    )
    assert image == Media("image/png", "iVBORw0KGgo=")
    assert (video.mime, video.uri) == ("video/3gpp", "s3://bucket/v")
    assert isinstance(document, Text) and document.text == "d\n\nwords"


def test_tools_that_bedrock_ran_are_kept_whole() -> None:
    """They are neither calls nor results of ours."""
    use = {"toolUseId": "1", "name": "nova_code_interpreter", "input": {}, "type": "server_tool_use"}
    done = {"toolUseId": "1", "content": [{"json": {"stdOut": "2"}}], "type": "nova_code_interpreter_result"}
    found = blocks({"toolUse": use}, {"toolResult": done}, {"text": "2"}, role="assistant")
    assert [type(block) for block in found] == [Opaque, Opaque, Text]


def test_what_a_request_asks_for_is_read_and_written_again() -> None:
    """Tools, choice, limits, thinking, a schema, and fields that only Converse has."""
    body = {
        "messages": [{"role": "user", "content": [{"text": "hi"}]}],
        "system": [{"text": "S"}, {"cachePoint": {"type": "default", "ttl": "1h"}}],
        "inferenceConfig": {"maxTokens": 5_000, "stopSequences": ["END"]},
        "toolConfig": CONFIG,
        "additionalModelRequestFields": {"top_k": 9},
        "guardrailConfig": {"guardrailIdentifier": "abc", "guardrailVersion": "DRAFT"},
        "requestMetadata": {"team": "a"},
    }
    inbound = read_request(body, "bedrock-converse", CLAUDE)
    assert [tool.name for tool in inbound.history.tools] == ["f", "systemTool"]
    asked = inbound.options
    assert (asked.max_tokens, asked.stop, asked.top_k, asked.cache_ttl) == (5_000, ("END",), 9, "1h")
    assert (asked.tool_choice, asked.metadata) == ("required", {"team": "a"})
    sent = render(inbound.history, CLAUDE, options=asked).json
    for name in ("inferenceConfig", "additionalModelRequestFields", "guardrailConfig", "requestMetadata"):
        assert sent[name] == body[name]
    assert sent["toolConfig"]["toolChoice"] == {"any": {}}
    assert {"systemTool": {"name": "nova_grounding"}} in sent["toolConfig"]["tools"]
