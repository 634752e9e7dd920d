"""Converse replies become events: counts after the stop, exceptions as failures, hidden thinking kept."""

from __future__ import annotations

import json
from typing import Any

import pytest

from turnout import ProviderError, StreamError, decode
from turnout.model import Opaque
from turnout.streaming.eventstream import encode_message

CLAUDE = "bedrock:us.anthropic.claude-sonnet-4-5-20250929-v1:0"


def event(name: str, **payload: Any) -> bytes:
    return encode_message({":event-type": name, ":message-type": "event"}, json.dumps(payload).encode())


def delta(index: int, **payload: Any) -> bytes:
    return event("contentBlockDelta", contentBlockIndex=index, delta=payload, p="abc")


def exception(name: str, message: str) -> bytes:
    head = {":exception-type": name, ":message-type": "exception"}
    return encode_message(head, json.dumps({"message": message}).encode())


STOP = event("messageStop", stopReason="end_turn")
USAGE = {"inputTokens": 9, "outputTokens": 4, "totalTokens": 13, "cacheReadInputTokens": 2}
COUNTS = event("metadata", usage=USAGE, metrics={"latencyMs": 1})


def test_the_counts_come_after_the_stop() -> None:
    """They belong to the reply; without them it is whole all the same."""
    turn = decode(CLAUDE, delta(0, text="Hi") + STOP + COUNTS)
    assert turn.usage is not None
    assert (turn.text, turn.stop, turn.usage.total, turn.usage.cached_input) == ("Hi", "end", 13, 2)
    assert decode(CLAUDE, delta(0, text="Hi") + STOP).text == "Hi"


def test_a_stream_without_its_stop_was_cut() -> None:
    """What had arrived is kept."""
    with pytest.raises(StreamError) as caught:
        decode(CLAUDE, event("messageStart", role="assistant") + delta(0, text="Hi"))
    assert (caught.value.kind, caught.value.turn.text) == ("truncated", "Hi")  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "message", "kind"),
    [
        ("throttlingException", "Too many requests", "rate_limit"),
        ("serviceUnavailableException", "Try again", "overloaded"),
        ("internalServerException", "Unexpected", "server"),
        ("modelStreamErrorException", "The model failed", "server"),
        ("modelTimeoutException", "Too slow", "timeout"),
        ("validationException", "Input is too long for requested model.", "context_too_long"),
        ("validationException", "Malformed input request", "invalid_request"),
    ],
)
@pytest.mark.parametrize("to", [CLAUDE, CLAUDE.replace("bedrock", "bedrock@invoke")])
def test_an_exception_is_a_failure_of_its_kind(name: str, message: str, kind: str, to: str) -> None:
    """In the middle of a stream, behind Converse and behind InvokeModel."""
    with pytest.raises(ProviderError) as caught:
        decode(to, exception(name, message))
    assert (caught.value.kind, caught.value.message, caught.value.code) == (kind, message, name)


def test_a_damaged_message_is_a_failure() -> None:
    """The checksum of the second message is wrong; the first one was read."""
    body = bytearray(delta(0, text="Hi") + STOP)
    body[-1] ^= 1
    with pytest.raises(StreamError, match="damaged message") as caught:
        decode(CLAUDE, bytes(body))
    assert caught.value.turn is not None and caught.value.turn.text == "Hi"


def test_thinking_keeps_its_signature_and_what_is_hidden() -> None:
    """Both go back to the model."""
    body = delta(0, reasoningContent={"text": "So"}) + delta(0, reasoningContent={"signature": "c2ln"})
    body += event("contentBlockStop", contentBlockIndex=0) + delta(
        1, reasoningContent={"redactedContent": "aGk="}
    )
    turn = decode(CLAUDE, body + STOP)
    assert [block.residue.data for block in turn.blocks if block.residue] == [
        {"signature": "c2ln"},
        {"redacted": "aGk="},
    ]
    assert turn.thinking == "So"


def test_blocks_may_overlap() -> None:
    """Each delta names its block."""
    start = {"toolUse": {"toolUseId": "t1", "name": "look"}}
    body = delta(0, text="A") + event("contentBlockStart", contentBlockIndex=1, start=start)
    body += delta(1, toolUse={"input": '{"a":'}) + delta(0, text="B") + delta(1, toolUse={"input": "1}"})
    turn = decode(CLAUDE, body + event("messageStop", stopReason="tool_use"))
    assert turn.text == "AB"
    assert [(call.name, call.arguments) for call in turn.tool_calls] == [("look", {"a": 1})]


def test_tools_that_bedrock_runs_are_kept_whole() -> None:
    """They are not calls of ours."""
    use = {"toolUseId": "t1", "name": "nova_code_interpreter", "type": "server_tool_use"}
    body = event("contentBlockStart", contentBlockIndex=0, start={"toolUse": use})
    body += delta(0, toolUse={"input": '{"snippet": "1+1"}'}) + event("contentBlockStop", contentBlockIndex=0)
    turn = decode("bedrock:us.amazon.nova-2-lite-v1:0", body + STOP)
    assert not turn.tool_calls
    [block] = turn.blocks
    assert isinstance(block, Opaque) and block.residue is not None
    assert block.residue.data["block"]["toolUse"]["input"] == {"snippet": "1+1"}


def test_cited_text_is_text_with_its_sources() -> None:
    """Streamed and whole, the same."""
    citation = {"title": "T", "location": {"documentChunk": {"documentIndex": 0, "start": 0, "end": 1}}}
    streamed = decode(CLAUDE, delta(0, text="Said.") + delta(0, citation=citation) + STOP)
    content = [{"citationsContent": {"content": [{"text": "Said."}], "citations": [citation]}}]
    whole = decode(CLAUDE, {"output": {"message": {"content": content}}, "stopReason": "end_turn"})
    assert streamed.blocks == whole.blocks
    assert streamed.text == "Said."


def test_what_is_not_a_reply_is_said() -> None:
    """A refusal in a body, or something else."""
    with pytest.raises(ProviderError, match="model identifier is invalid"):
        decode(CLAUDE, {"message": "The provided model identifier is invalid."})
    with pytest.raises(StreamError, match="not a reply of Converse"):
        decode(CLAUDE, {"a": 1, "b": 2})
