"""Requests that were written for Anthropic's API, sent to Claude on Vertex and behind InvokeModel."""

from __future__ import annotations

from typing import Any

import pytest
from tests.handoff.judges import complaints

from turnout import read_request, render
from turnout.targets.target import find_target
from turnout.wire.request import WireRequest

ANTHROPIC, VERTEX = "anthropic:claude-sonnet-5", "vertex:claude-sonnet-5"
INVOKE, CONVERSE = (f"bedrock{at}:us.anthropic.claude-sonnet-5" for at in ("@invoke", ""))
EDITS = {"edits": [{"type": "clear_tool_uses_20250919"}]}
BODY: dict[str, Any] = {
    "model": "claude-sonnet-5",
    "max_tokens": 100,
    "messages": [{"role": "user", "content": "go"}],
    "context_management": EDITS,
    "container": "container_01",
    "tools": [
        {"type": "bash_20250124", "name": "bash"},
        {"type": "web_search_20250305", "name": "web_search", "max_uses": 2},
        {"type": "code_execution_20250825", "name": "code_execution"},
    ],
}


def sent(
    to: str, body: dict[str, Any] = BODY, form: str = "anthropic", origin: str | None = None
) -> WireRequest:
    read = read_request(body, form, origin)
    made = render(read.history, to, options=read.options)
    assert complaints(made, find_target(to)) == []
    return made


@pytest.mark.parametrize("to", [VERTEX, INVOKE])
def test_fields_of_anthropics_api_go_with_claude(to: str) -> None:
    """A host that takes Anthropic's body gets its private fields, with the beta that they need."""
    made = sent(to)
    beta = made.json.get("anthropic_beta") or made.headers["anthropic-beta"].split(",")

    assert made.json["context_management"] == EDITS and beta == ["context-management-2025-06-27"]


@pytest.mark.parametrize("to", [VERTEX, INVOKE])
def test_what_only_anthropic_runs_is_left_out_and_named(to: str) -> None:
    """Code runs in containers of Anthropic's own platform; tools that the client runs go everywhere."""
    made = sent(to)
    kinds = [tool.get("type") for tool in made.json["tools"]]

    assert "container" not in made.json and any(
        each.startswith("container left out") for each in made.changes
    )
    assert "bash_20250124" in kinds and "code_execution_20250825" not in kinds
    assert ("web_search_20250305" in kinds) is (to == VERTEX)


def test_a_request_for_vertex_goes_home_and_to_its_maker() -> None:
    """What was written for Claude on Vertex is Anthropic's too, and not Gemini's."""
    body = {name: value for name, value in BODY.items() if name not in ("model", "container")}
    body |= {"anthropic_version": "vertex-2023-10-16", "tools": BODY["tools"][:1]}

    for to in (VERTEX, ANTHROPIC, INVOKE):
        assert sent(to, body, origin=VERTEX).json["context_management"] == EDITS
    gemini = sent("vertex:gemini-3-pro-preview", body, origin=VERTEX)
    assert "context_management" not in gemini.json and any(
        "context_management" in each for each in gemini.changes
    )


def test_converse_has_a_body_of_its_own() -> None:
    """The same model behind Converse gets no field of Anthropic's."""
    made = sent(CONVERSE)

    assert b"context_management" not in made.body and b"bash_2025" not in made.body
