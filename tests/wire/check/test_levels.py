"""A warning is what only some servers refuse: told when asked for, and never counted as a refusal."""

from __future__ import annotations

from typing import Any, NamedTuple

import pytest
from msgspec.json import encode
from tests.wire.check.bodies_chat import body, call, called, loop, result, said, tool, user

from turnout import check

Json = dict[str, Any]
USE = {"type": "tool_use", "id": "toolu_1", "name": "time", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "noon"}


def claude(*messages: tuple[str, Any]) -> Json:
    spoken = [{"role": role, "content": content} for role, content in messages]
    return {"model": "claude-sonnet-4-5", "max_tokens": 100, "messages": spoken}


def text(words: str) -> Json:
    return {"type": "text", "text": words}


def gemini(*contents: tuple[str, list[Json]]) -> Json:
    return {"contents": [{"role": role, "parts": parts} for role, parts in contents]}


def asks(name: str, signature: str = "c2ln") -> Json:
    part: Json = {"functionCall": {"id": name, "name": name, "args": {}}}
    return {**part, "thoughtSignature": signature} if signature else part


def answers(name: str) -> Json:
    return {"functionResponse": {"id": name, "name": name, "response": {"output": "1"}}}


class Warned(NamedTuple):
    """A body that a server was seen to take all the same, and a neighbour that is refused."""

    api: str
    rule: str
    taken: Json
    refused: Json


GO = ("user", [{"text": "Go."}])
CALLED = (("assistant", [USE]), ("user", [RESULT]))
TWO = ("user", [answers("a"), answers("b")])
WARNED = {
    "the assistant speaks first at Anthropic": Warned(
        "anthropic",
        "ANT-13",
        claude(("assistant", "Hi."), ("user", "Go.")),
        claude(("tool", "Hi."), ("user", "Go.")),
    ),
    "an id of an earlier turn at Anthropic": Warned(
        "anthropic",
        "ANT-05",
        claude(("user", "Go."), *CALLED, *CALLED),
        claude(("user", "Go."), ("assistant", [USE, USE]), ("user", [RESULT])),
    ),
    "a blank beside a call at Anthropic": Warned(
        "anthropic",
        "ANT-10",
        claude(("user", "Go."), ("assistant", [text(" "), USE]), ("user", [RESULT])),
        claude(("user", "Go."), ("assistant", [text(" ")]), ("user", "On.")),
    ),
    "text after a call at Anthropic": Warned(
        "anthropic",
        "ANT-31",
        claude(("user", "Go."), ("assistant", [USE, text("So.")]), ("user", [RESULT])),
        claude(("user", "Go."), ("assistant", [USE]), ("assistant", [text("So.")]), ("user", "On.")),
    ),
    "an id of an earlier turn, for Claude at Copilot": Warned(
        "copilot",
        "COP-01",
        body("claude-sonnet-4.5", user(), called(), result(), said(), user(), called(), result()),
        body("claude-sonnet-4.5", user(), called(call(), call()), result(), result()),
    ),
    "two neighbouring turns of calls at Gemini": Warned(
        "gemini:gemini-3-flash-preview",
        "GEM-02",
        gemini(GO, ("model", [asks("a")]), ("model", [asks("b", "")]), TWO),
        gemini(GO, ("model", [{"text": "So."}]), ("model", [asks("b")]), ("user", [answers("b")])),
    ),
    "the model speaks first at Gemini": Warned(
        "gemini",
        "GEM-04",
        gemini(("model", [{"text": "Hi."}]), GO),
        gemini(GO, ("model", [{"text": "Hi."}])),
    ),
    "null for the choice at Azure": Warned(
        "azure",
        "OAC-06",
        body("gpt-4.1", user(), tools=[tool()], tool_choice=None),
        body("gpt-4.1", user(), tools=[tool()], parallel_tool_calls=None),
    ),
    "an unanswered call at Ollama": Warned(
        "ollama",
        "OAC-01",
        body("qwen3", user(), called(call(), call("call_2")), result()),
        body("qwen3", user(), called(call(arguments="")), result()),
    ),
    "an unanswered call at LM Studio": Warned(
        "lmstudio",
        "OAC-01",
        body("qwen3", user(), called(call(), call("call_2")), result()),
        body("qwen3", user(), called(call(arguments=5)), result()),
    ),
    "a result of nobody at llama.cpp": Warned(
        "llamacpp", "OAC-02", body("qwen3", user(), result()), body("qwen3", user(), {"role": "tool"})
    ),
    "a call at the end at vLLM": Warned(
        "vllm",
        "OAC-01",
        body("qwen3", user(), called()),
        body("mistralai/Devstral-Small", user(), called(call("abcdefghi"))),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WARNED)
def test_what_a_server_was_seen_to_take_is_a_warning(name: str) -> None:
    """The list of refusals is empty; asked for warnings, the rule is named with its level."""
    seen = WARNED[name]

    assert check(seen.api, seen.taken) == []
    assert {(problem.rule, problem.level) for problem in check(seen.api, seen.taken, warnings=True)} == {
        (seen.rule, "warning")
    }


@pytest.mark.parametrize("name", WARNED)
def test_its_neighbour_is_refused(name: str) -> None:
    """The rule is no softer than what was seen."""
    seen = WARNED[name]

    problems = check(seen.api, seen.refused)

    assert problems and {problem.level for problem in problems} == {"refused"}


def test_refusals_are_listed_with_the_warnings() -> None:
    """Both of them, each with its level."""
    both = body("gpt-4.1", user(), result(), tools=[tool()], tool_choice=None)

    assert [problem.level for problem in check("azure", both)] == ["refused"]
    assert [problem.level for problem in check("azure", both, warnings=True)] == ["refused", "warning"]


# The request with its headers

IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
SEEN = body("gpt-4.1", user([IMAGE]))
VISION = {"Copilot-Vision-Request": "true", "X-Initiator": "user"}


class Sent(NamedTuple):
    """A request of somebody's HTTP library."""

    body: bytes
    headers: dict[str, str]


def rules(api: str, given: Any, **options: Any) -> list[str]:
    return [problem.rule for problem in check(api, given, **options)]


def test_images_at_copilot_need_their_header() -> None:
    """Judged only where headers are given, by whatever case they are written in."""
    assert rules("copilot", SEEN) == []
    assert rules("copilot", SEEN, headers={"X-Initiator": "user"}) == ["COP-06"]
    assert rules("copilot", SEEN, headers={name.lower(): value for name, value in VISION.items()}) == []
    assert rules("copilot", body("gpt-4.1", user()), headers={"x-initiator": "user"}) == []
    shown = {"type": "function_call_output", "call_id": "c", "output": [{"type": "input_image"}]}
    asked = {"type": "function_call", "call_id": "c", "name": "look", "arguments": "{}"}
    assert "COP-06" in rules("copilot", {"model": "gpt-5.2-codex", "input": [asked, shown]}, headers={})


@pytest.mark.parametrize(
    ("headers", "warned"),
    [
        ({}, ["COP-07"]),
        ({"X-Initiator": "robot"}, ["COP-07"]),
        ({"X-Initiator": "user"}, ["COP-07"]),
        ({"X-Initiator": "agent"}, []),
    ],
)
def test_who_began_a_request_to_copilot_is_a_warning(headers: dict[str, str], warned: list[str]) -> None:
    """Results of tools come last here, so an agent began it."""
    after_tools = loop("gpt-4.1")

    assert rules("copilot", after_tools, headers=headers) == []
    assert rules("copilot", after_tools, headers=headers, warnings=True) == warned


def test_a_request_is_checked_with_its_headers_in_any_form() -> None:
    """An object with body and headers, the envelope that `render --envelope` prints, or its JSON."""
    envelope = {"method": "POST", "url": "https://x", "headers": {"X-Initiator": "user"}, "body": SEEN}

    assert rules("copilot", Sent(encode(SEEN), {"X-Initiator": "user"})) == ["COP-06"]
    assert rules("copilot", envelope) == rules("copilot", encode(envelope)) == ["COP-06"]
    assert rules("copilot", envelope, headers=VISION) == []


def test_anthropic_wants_its_version() -> None:
    said_first = claude(("user", "Go."))

    assert rules("anthropic", said_first, headers={}) == ["ANT-32"]
    assert rules("anthropic", said_first, headers={"anthropic-version": "2023-06-01"}) == []


def test_a_beta_in_the_headers_changes_what_the_body_may_hold() -> None:
    """With interleaved thinking the budget is for all steps of a turn, and may exceed one reply."""
    thinking = {"type": "enabled", "budget_tokens": 2000}
    tight = {**claude(("user", "Go.")), "thinking": thinking}
    version = {"anthropic-version": "2023-06-01"}
    interleaved = {**version, "anthropic-beta": "interleaved-thinking-2025-05-14"}

    assert rules("anthropic", tight, headers=version) == ["ANT-23"]
    assert rules("anthropic", tight, headers=interleaved) == []
