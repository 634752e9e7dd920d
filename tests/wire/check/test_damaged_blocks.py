"""Blocks that lost something on their way: `check` names each, and none of them is sent back as it was."""

from __future__ import annotations

from typing import Any

import pytest

from turnout import check, ingest, render

PDF = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "page one"}}
SEARCH = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {}}
FOUND = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_1"}
BAD_MARK = {"type": "forever"}
WEB = {"type": "web_search_result_location", "cited_text": "x"}

FROM_A_USER: dict[str, tuple[dict[str, Any], str]] = {
    "a document without a source": ({"type": "document"}, "document.source"),
    "a document with an empty source": ({"type": "document", "source": {}}, "document.source"),
    "an image with an empty source": ({"type": "image", "source": {}}, "image.source"),
    "citations that are a text": ({**PDF, "citations": "yes"}, "document.citations"),
    "citations that are a list": ({**PDF, "citations": []}, "document.citations"),
    "citations that are neither on nor off": (
        {**PDF, "citations": {"enabled": "x"}},
        "document.citations.enabled",
    ),
    "a cache mark of another kind": (
        {"type": "text", "text": "a", "cache_control": {"type": "forever"}},
        "text.cache_control",
    ),
    "a cache mark that is a text": (
        {"type": "text", "text": "a", "cache_control": "ephemeral"},
        "text.cache_control",
    ),
    "a cache mark without a kind": ({"type": "text", "text": "a", "cache_control": {}}, "text.cache_control"),
    "a cache mark that lives too long": (
        {"type": "text", "text": "a", "cache_control": {"type": "ephemeral", "ttl": "2h"}},
        "text.cache_control.ephemeral.ttl",
    ),
    "a thought": ({"type": "thinking", "thinking": "t", "signature": "c2ln"}, ""),
    "a block without a type": ({"text": "a"}, "type"),
}

FROM_THE_MODEL: dict[str, tuple[list[dict[str, Any]], str]] = {
    "citations that are a text": ([{"type": "text", "text": "a", "citations": "x"}], "0.text.citations"),
    "a citation that is a text": ([{"type": "text", "text": "a", "citations": ["x"]}], "0.text.citations.0"),
    "a citation without a kind": ([{"type": "text", "text": "a", "citations": [{}]}], "0.text.citations.0"),
    "a citation of no known kind": (
        [{"type": "text", "text": "a", "citations": [{"type": "page"}]}],
        "0.text.citations.0",
    ),
    "a citation without its place": (
        [{"type": "text", "text": "a", "citations": [WEB]}],
        "0.text.citations.0.web_search_result_location.encrypted_index",
    ),
    "a search result without its address": (
        [SEARCH, {**FOUND, "content": [{"type": "web_search_result"}]}, {"type": "text", "text": "a"}],
        "1.web_search_tool_result.content.0.url",
    ),
    "an MCP call without an id": ([{"type": "mcp_tool_use", "name": "x", "input": {}}], "0.mcp_tool_use.id"),
}


def asked(*messages: Any, **more: Any) -> dict[str, Any]:
    return {"model": "claude-sonnet-4-5", "max_tokens": 500, "messages": list(messages), **more}


def paths(api: str, body: Any) -> list[str]:
    return [problem.path for problem in check(api, body)]


def sent_again(body: Any, format: str, to: str) -> dict[str, Any]:
    return render(ingest(body, format=format), to=to).json


@pytest.mark.parametrize(("block", "path"), FROM_A_USER.values(), ids=FROM_A_USER)
def test_a_users_damaged_block_is_named_and_not_sent_back(block: dict[str, Any], path: str) -> None:
    body = asked({"role": "user", "content": [block, {"type": "text", "text": "what is it?"}]})

    assert f"messages.0.content.0.{path}".rstrip(".") in paths("anthropic", body)
    assert paths("anthropic", sent_again(body, "anthropic", "anthropic:claude-sonnet-4-5")) == []


@pytest.mark.parametrize(("blocks", "path"), FROM_THE_MODEL.values(), ids=FROM_THE_MODEL)
def test_a_models_damaged_block_is_named_and_not_sent_back(blocks: list[dict[str, Any]], path: str) -> None:
    body = asked(
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": blocks},
        {"role": "user", "content": "and?"},
    )

    assert f"messages.1.content.{path}" in paths("anthropic", body)
    assert paths("anthropic", sent_again(body, "anthropic", "anthropic:claude-sonnet-4-5")) == []


def test_blocks_inside_of_results_are_looked_at_too() -> None:
    result = {
        "type": "tool_result",
        "tool_use_id": "toolu_1",
        "content": [{"type": "document", "source": {}}],
    }
    body = asked(
        {"role": "user", "content": "go"},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}]},
        {"role": "user", "content": [result]},
    )

    assert paths("anthropic", body) == ["messages.2.content.0.content.0.document.source"]
    assert paths("anthropic", sent_again(body, "anthropic", "anthropic:claude-sonnet-4-5")) == []


@pytest.mark.parametrize(
    ("more", "path"),
    [
        (
            {"system": [{"type": "text", "text": "s", "cache_control": {"type": "x"}}]},
            "system.0.cache_control",
        ),
        (
            {"tools": [{"name": "f", "input_schema": {"type": "object"}, "cache_control": {"type": "x"}}]},
            "tools.0.cache_control",
        ),
        ({"cache_control": "x"}, "cache_control"),
    ],
)
def test_cache_marks_are_looked_at_wherever_they_stand(more: dict[str, Any], path: str) -> None:
    body = asked({"role": "user", "content": "hello"}, **more)

    assert paths("anthropic", body) == [path]


def test_whole_citations_and_marks_pass() -> None:
    """What stands beside a block is not refused for being there."""
    web = {**WEB, "encrypted_index": "Eo8B", "title": None, "url": "https://a.example"}
    mark = {"type": "ephemeral", "ttl": "1h"}
    body = asked(
        {"role": "user", "content": [{**PDF, "citations": {"enabled": True}, "cache_control": mark}]},
        {"role": "assistant", "content": [{"type": "text", "text": "a", "citations": [web]}]},
        {
            "role": "user",
            "content": [{"type": "text", "text": "b", "citations": None, "cache_control": None}],
        },
    )

    assert paths("anthropic", body) == []


def message(annotations: Any) -> dict[str, Any]:
    part = {"type": "output_text", "text": "a", "annotations": annotations}
    return {"type": "message", "role": "assistant", "content": [part]}


ITEMS: dict[str, tuple[dict[str, Any], str]] = {
    "a search without an id": ({"type": "web_search_call", "status": "completed"}, ".id"),
    "a search whose id is a number": ({"type": "web_search_call", "id": 5, "status": "completed"}, ".id"),
    "a search whose id is empty": ({"type": "web_search_call", "id": "", "status": "completed"}, ".id"),
    "an MCP call without an id": ({"type": "mcp_call", "name": "x", "arguments": "{}"}, ".id"),
    "a reference without an id": ({"type": "item_reference"}, ".id"),
    "a reference to null": ({"type": "item_reference", "id": None}, ".id"),
    "reasoning without a summary": ({"type": "reasoning", "encrypted_content": "gAAA"}, ".summary"),
    "reasoning with hidden content that is not": (
        {"type": "reasoning", "summary": [], "encrypted_content": "!! it was lost"},
        ".encrypted_content",
    ),
    "annotations that are a text": (message("x"), ".content[0].annotations"),
    "an annotation that is a text": (message(["x"]), ".content[0].annotations[0]"),
    "an annotation without a kind": (message([{"url": "x"}]), ".content[0].annotations[0]"),
    "an annotation of no known kind": (message([{"type": "x"}]), ".content[0].annotations[0]"),
    "an annotation without its place": (
        message([{"type": "url_citation", "url": "x"}]),
        ".content[0].annotations[0]",
    ),
}


@pytest.mark.parametrize(("item", "path"), ITEMS.values(), ids=ITEMS)
def test_a_damaged_item_is_named_and_not_sent_back(item: dict[str, Any], path: str) -> None:
    question = {"role": "user", "content": "go"}
    body = {"model": "gpt-5.1", "input": [question, item, message([]), question]}

    assert f"input[1]{path}" in paths("openai-responses", body)
    assert paths("openai-responses", sent_again(body, "openai-responses", "openai-responses:gpt-5.1")) == []


def test_a_reference_to_nothing_is_named() -> None:
    """What is left out of a body is said, also where it held nothing."""
    body = [{"role": "user", "content": "go"}, {"type": "item_reference"}]
    found = ingest(body, format="openai-responses").diagnostics

    assert [(item.code, item.detail) for item in found] == [("unknown_block", "item_reference without id")]


@pytest.mark.parametrize("key", ["name", "arguments"])
def test_a_call_without_a_part_of_it_is_named(key: str) -> None:
    call = {"type": "function_call", "call_id": "c", "name": "f", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c", "output": "x"}
    whole = {"model": "gpt-5.1", "input": [call, output]}
    damaged = {**whole, "input": [{name: call[name] for name in call if name != key}, output]}

    assert paths("openai-responses", whole) == []
    assert paths("openai-responses", damaged) == [f"input[0].{key}"]
