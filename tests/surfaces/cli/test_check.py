"""`turnout check`: levels, the exit code, and a last line that repairs what it found."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from shlex import quote
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.wire.check.broken import BROKEN
from tests.wire.check.chat.bodies_chat import body, called, result, said, user

from turnout.surfaces.cli import main

ASSISTANT_FIRST = {"model": "claude-sonnet-4-5", "max_tokens": 9, "messages": [said("Hi."), user("Go.")]}
STRAY = body("gpt-4.1", user(), result())


def run(*arguments: str, stdin: Any = None) -> Result:
    return CliRunner().invoke(main, list(arguments), input=None if stdin is None else json.dumps(stdin))


def test_a_warning_is_shown_and_not_counted() -> None:
    """Exit code 0, and the level is in the table and in the JSON."""
    told = run("check", "--api", "anthropic", stdin=ASSISTANT_FIRST)
    listed = run("check", "--api", "anthropic", "--json", stdin=ASSISTANT_FIRST)

    assert told.exit_code == listed.exit_code == 0
    assert "warning" in told.stdout and "ANT-13" in told.stdout
    assert [(item["rule"], item["level"]) for item in json.loads(listed.stdout)] == [("ANT-13", "warning")]


def test_a_refusal_is_counted() -> None:
    """A request that would be refused ends with exit code 1."""
    assert run("check", "--api", "openai", stdin=STRAY).exit_code == 1


def test_headers_are_judged_where_they_are_given() -> None:
    """As options, or in the envelope that `render --envelope` prints."""
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
    shown = body("gpt-4.1", user([image]))

    assert run("check", "--api", "copilot", stdin=shown).exit_code == 0
    assert "COP-06" in run("check", "--api", "copilot", "--header", "X-Initiator: user", stdin=shown).stdout
    vision = ("--header", "X-Initiator:user", "--header", "Copilot-Vision-Request: true")
    assert run("check", "--api", "copilot", *vision, stdin=shown).stdout == ""
    assert run("check", "--api", "copilot", "--header", "nonsense", stdin=shown).exit_code == 2
    envelope = run("render", "--to", "copilot:gpt-4.1", "--envelope", stdin=shown["messages"])
    assert run("check", "--api", "copilot", stdin=json.loads(envelope.stdout)).stdout == ""


@pytest.mark.parametrize(
    ("api", "given", "line"),
    [
        ("openai", STRAY, "--from openai --to openai:gpt-4.1"),
        ("claude", ASSISTANT_FIRST, "--from anthropic --to anthropic:claude-sonnet-4-5"),
        ("gemini", {"contents": [{"role": "tool", "parts": [{"text": "x"}]}]}, "--to gemini:MODEL"),
        ("gemini:gemini-3-pro", {"contents": [{"role": "tool", "parts": [{"text": "x"}]}]}, ":gemini-3-pro"),
        ("venice", {**STRAY, "model": "a b"}, "--from compatible --to 'compatible:a b'"),
        ("openai", {"model": "gpt-5", "input": [{"type": "tool_use"}]}, "--to openai-responses:gpt-5"),
    ],
)
def test_the_last_line_repairs(api: str, given: Any, line: str, tmp_path: Path) -> None:
    """With the format, the target and the file; from a pipe, the file is the user's to name."""
    path = tmp_path / "my request.json"
    path.write_text(json.dumps(given))

    last = run("check", "--api", api, str(path)).stdout.splitlines()[-1].strip()

    assert last.startswith("turnout render --from ") and line in last
    assert shlex.split(last)[-1] == str(path)
    assert run("check", "--api", api, stdin=given).stdout.strip().endswith("< REQUEST")


@pytest.mark.parametrize("given", ["not json", '"text"', '{"model": "m"}'])
def test_nothing_is_promised_for_what_is_not_a_conversation(given: str) -> None:
    """No repair command is shown for a body that cannot be read as a conversation."""
    told = CliRunner().invoke(main, ["check", "--api", "openai"], input=given)
    assert told.exit_code == 1 and "turnout render" not in told.stdout


# Every body that breaks a rule, from the checkers' own tests


@pytest.mark.parametrize(("api", "rule", "given"), BROKEN)
def test_what_the_last_line_prints_would_pass(api: str, rule: str, given: Any, tmp_path: Path) -> None:
    """Whatever rule was broken, the command gives a body that nothing speaks against."""
    path = tmp_path / "request.json"
    path.write_text(json.dumps(given))
    line = run("check", "--api", api, str(path)).stdout.splitlines()[-1].strip()
    if not line.startswith("turnout render"):
        assert rule == "BODY"
        return
    words = shlex.split(line)[1:]

    made = run(*words)

    assert made.exit_code == 0, made.stderr
    target = words[words.index("--to") + 1]
    assert json.loads(run("check", "--api", target, "--json", stdin=json.loads(made.stdout)).stdout) == []


# The doctor and a request


@pytest.mark.parametrize(
    ("api", "given"),
    [
        ("openai", STRAY),
        ("openai", [user("hi")]),
        ("openai", body("google/gemini-3-pro", user())),
        ("anthropic", ASSISTANT_FIRST),
        ("anthropic", {"messages": [user([{"type": "tool_result", "tool_use_id": "a"}])]}),
        ("mistral", body("mistral-large-latest", user(), called())),
        ("kimi", body("kimi-k2.5", user())),
        ("gemini", {"contents": []}),
        ("openai-responses", {"input": "hi"}),
        ("openai-responses", {"headers": {}, "body": {"input": "hi"}}),
    ],
)
def test_the_doctor_sends_a_request_to_the_check(api: str, given: Any, tmp_path: Path) -> None:
    """It is no session; the command that reads it is named, with the API that it looks like."""
    path = tmp_path / "my request.json"
    path.write_text(json.dumps(given))

    told = run("doctor", str(path))

    assert told.exit_code == 2
    assert f"turnout check --api {api} {quote(str(path))}`" in told.stderr


@pytest.mark.parametrize("given", ["{", "7", "[]", '{"a": 1}', '[{"a": 1}]'])
def test_other_files_are_not_taken_for_requests(given: str, tmp_path: Path) -> None:
    """The doctor does not send a file to `turnout check` that is not a request."""
    path = tmp_path / "file.json"
    path.write_text(given)

    told = run("doctor", str(path))

    assert told.exit_code == 2 and "turnout check" not in told.stderr


@pytest.mark.parametrize("api", ["gemini@oauth", "gemini@oauth:gemini-2.5-pro", "gemini"])
def test_a_target_with_an_endpoint_names_whose_rules(api: str) -> None:
    """What `render` calls it, `check` knows too, envelope and all."""
    stray = {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {}}}]}
    enveloped = {"model": "gemini-2.5-pro", "project": "p", "request": {"contents": [stray]}}

    told = run("check", "--api", api, "--json", stdin=enveloped)

    assert [problem["rule"] for problem in json.loads(told.stdout)] == ["GEM-03"]


@pytest.mark.parametrize("api", ["bedrock@invoke:us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic"])
def test_a_reply_of_an_endpoint_is_read(api: str) -> None:
    """`decode --api provider@endpoint:model` reads what that endpoint answers."""
    text = {"type": "text", "text": "hi"}
    reply = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [text],
        "stop_reason": "end_turn",
    }
    told = run("decode", "--api", api, stdin=reply)

    assert told.exit_code == 0, told.stderr
    assert json.loads(told.stdout.splitlines()[0]) == {"type": "text_delta", "text": "hi"}
