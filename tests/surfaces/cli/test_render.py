"""`turnout render` and `turnout check`: from a body that was refused to one that passes."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from tests.handoff.scenario import (
    answered,
    asked,
    call,
    function_call,
    function_response,
    item_call,
    item_output,
    item_said,
    result,
    said,
    tool_result,
    tool_use,
    turn,
    user,
)

from turnout import check, ingest
from turnout.providers import PROVIDERS
from turnout.surfaces.cli import main

BROKEN = [user("go"), said(None, call("a"), call("b")), result("b", "B"), user("and?")]
BODIES: dict[str, Any] = {
    "openai-chat": {"model": "gpt-4o", "messages": BROKEN},
    "openai-responses": {
        "model": "gpt-5.1",
        "input": [
            item_said("go", "user"),
            item_call("a"),
            item_call("b"),
            item_output("b"),
            item_said("and?", "user"),
        ],
    },
    "anthropic": {
        "model": "claude-sonnet-4-5",
        "max_tokens": 100,
        "messages": [asked("go"), answered(tool_use("a"), tool_use("b")), asked(tool_result("b"), "and?")],
    },
    "gemini": {
        "contents": [
            turn("user", "go"),
            turn("model", function_call("a"), function_call("b")),
            turn("user", function_response("b")),
            turn("user", "and?"),
        ]
    },
    "icontent": [
        {"speaker": "human", "blocks": [{"type": "text", "text": "go"}]},
        {
            "speaker": "ai",
            "blocks": [
                {"type": "tool_call", "id": "hist_tool_a", "name": "a", "parameters": {}},
                {"type": "tool_call", "id": "hist_tool_b", "name": "b", "parameters": {}},
            ],
        },
        {"speaker": "tool", "blocks": [{"type": "tool_response", "callId": "hist_tool_b", "result": "B"}]},
        {"speaker": "human", "blocks": [{"type": "text", "text": "and?"}]},
    ],
}
TARGETS = {
    "openai": "openai:gpt-4o",
    "openai-responses": "openai-responses:gpt-5.1",
    "anthropic": "anthropic:claude-sonnet-4-5",
    "gemini": "gemini:gemini-3-pro-preview",
    "mistral": "mistral:mistral-large-latest",
}


def run(*arguments: str, stdin: Any = None) -> Result:
    given = stdin if isinstance(stdin, bytes | str | type(None)) else json.dumps(stdin)
    return CliRunner().invoke(main, list(arguments), input=given)


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    path = tmp_path / "conversation.json"
    path.write_text(json.dumps(BODIES["openai-chat"]))
    return path


# ---- render


@pytest.mark.parametrize("to", TARGETS)
@pytest.mark.parametrize("source", BODIES)
def test_every_format_is_rendered_for_every_api(source: str, to: str) -> None:
    """The body on stdout passes the check; what was resolved is on stderr."""
    told = run("render", "--from", source, "--to", TARGETS[to], stdin=BODIES[source])
    assert told.exit_code == 0
    assert check(to, told.stdout, model=TARGETS[to].partition(":")[2]) == []
    assert "synthetic" in told.stderr and "unknown" in told.stderr


def test_a_file_and_stdin_give_the_same_bytes(conversation: Path) -> None:
    """It does not matter where the conversation is read from."""
    options = ("render", "--from", "openai-chat", "--to", TARGETS["anthropic"])
    from_file, from_stdin = run(*options, str(conversation)), run(*options, stdin=BODIES["openai-chat"])
    assert from_file.stdout == from_stdin.stdout and json.loads(from_file.stdout)


def test_what_the_body_asks_for_is_asked_of_the_target() -> None:
    """Limits, streaming and tools come along; what cannot is named on stderr; an option counts more."""
    body = {
        **BODIES["anthropic"],
        "stream": True,
        "temperature": 0.5,
        "container": "c_1",
        "tools": [{"type": "web_search_20250305", "name": "web_search"}, {"name": "a"}, {"name": "b"}],
        "anthropic_version": "bedrock-2023-05-31",
    }
    told = run("render", "--from", "anthropic", "--to", TARGETS["openai"], stdin=body)
    made = json.loads(told.stdout)
    assert (made["max_completion_tokens"], made["temperature"], made["stream"]) == (100, 0.5, True)
    assert told.stderr.count("dropped_tool web_search") == 1
    assert "container left out" in told.stderr and "dropped anthropic_version" in told.stderr
    again = run(
        *("render", "--from", "anthropic", "--to", TARGETS["anthropic"], "--max-tokens", "7", "--no-stream"),
        stdin=body,
    )
    made = json.loads(again.stdout)
    assert made["container"] == "c_1" and made["max_tokens"] == 7 and "stream" not in made
    assert made["tools"][0]["type"] == "web_search_20250305"


def test_foreign_thinking_is_an_option_of_render() -> None:
    """`--foreign-thinking as_text` hands on what another model thought."""
    thought = {"type": "thinking", "thinking": "It is Oslo.", "signature": "c2ln"}
    body = {"model": "claude-sonnet-4-5", "messages": [asked("go"), answered(thought, "Oslo"), asked("on")]}
    options = ("render", "--from", "anthropic", "--to", TARGETS["openai"])
    assert "It is Oslo." not in run(*options, stdin=body).stdout
    assert "It is Oslo." in run(*options, "--foreign-thinking", "as_text", stdin=body).stdout
    assert run(*options, "--foreign-thinking", "keep", stdin=body).exit_code == 2


def test_a_bare_list_of_messages_is_enough() -> None:
    """A whole request body is not needed."""
    assert json.loads(run("render", "--to", TARGETS["openai"], stdin=BROKEN).stdout)["messages"]


@pytest.mark.parametrize(
    "name", [name for known in PROVIDERS.values() for name in (known.name, *known.aliases)]
)
def test_any_name_of_a_provider_names_its_format(name: str) -> None:
    """`--from` and `--api` take what `--to` takes."""
    empty = {"messages": [], "contents": [], "input": []}
    assert run("render", "--from", name, "--to", TARGETS["openai"], stdin=empty).exit_code == 0
    assert run("check", "--api", name, stdin=empty).exit_code in (0, 1)


def test_tools_come_from_a_file(tmp_path: Path, conversation: Path) -> None:
    """`--tools` is a JSON list, and its tools are in the body."""
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"name": "look", "description": "Look.", "parameters": {"type": "object"}}]))
    told = run("render", "--to", TARGETS["anthropic"], "--tools", str(tools), str(conversation))
    names = [tool["name"] for tool in json.loads(told.stdout)["tools"]]
    assert names == ["look", "read_file"]
    assert "stub declarations" in told.stderr


def test_system_text_can_be_given(conversation: Path) -> None:
    """`--system` replaces the system prompt of the conversation."""
    told = run("render", "--to", TARGETS["openai"], "--system", "Be brief.", str(conversation))
    assert json.loads(told.stdout)["messages"][0] == {"role": "system", "content": "Be brief."}


def test_options_are_those_of_render(conversation: Path) -> None:
    """Options of the command reach the body as those of `turnout.render` do."""
    told = run(
        "render",
        "--to",
        "openai:gpt-5.1",
        "--effort",
        "high",
        "--max-tokens",
        "99",
        "--stream",
        str(conversation),
    )
    body = json.loads(told.stdout)
    assert (body["reasoning_effort"], body["max_completion_tokens"], body["stream"]) == ("high", 99, True)
    off = run("render", "--to", "kimi:kimi-k2.5", "--no-thinking", str(conversation))
    assert json.loads(off.stdout)["thinking"] == {"type": "disabled"}


def test_an_envelope_says_where_and_how(conversation: Path) -> None:
    """Method, url, headers without secrets, and the body."""
    told = json.loads(run("render", "--to", TARGETS["anthropic"], "--envelope", str(conversation)).stdout)
    assert told["method"] == "POST" and told["url"].endswith("/v1/messages")
    assert told["headers"]["anthropic-version"] and told["body"]["messages"]
    other = run(
        "render", "--to", "compatible:m", "--base-url", "http://h/v1", "--envelope", str(conversation)
    )
    assert json.loads(other.stdout)["url"] == "http://h/v1/chat/completions"


def test_the_report_can_be_written_to_a_file(tmp_path: Path, conversation: Path) -> None:
    """`--report` writes the whole report as JSON."""
    report = tmp_path / "report.json"
    run("render", "--to", TARGETS["mistral"], "--report", str(report), str(conversation))
    told = json.loads(report.read_text())
    assert told["format"] == "mistral"
    assert len(told["calls"]) == len(told["results"]) == 2
    assert told["synthetic"][0]["reason"] == "unknown"
    assert any("bridge" in line for line in told["changes"])


def test_an_origin_lets_signed_thinking_through() -> None:
    """Who wrote it is not in the file; told who, it goes back to them."""
    thought = {"type": "thinking", "thinking": "hm", "signature": "c2ln"}
    messages = [asked("go"), answered(thought, "so"), asked("on")]
    options = ("render", "--from", "anthropic", "--to", TARGETS["anthropic"])
    assert "c2ln" not in run(*options, stdin=messages).stdout
    assert "c2ln" in run(*options, "--origin", TARGETS["anthropic"], stdin=messages).stdout


@pytest.mark.parametrize(
    ("arguments", "stdin", "said"),
    [
        (("--to", "opnai:gpt-4o"), BROKEN, "did you mean"),
        (("--to", "openai:gpt-4o", "--from", "sonnet"), BROKEN, "not a message format"),
        (("--to", "openai:gpt-4o"), "not json", "JSON"),
        (("--to", "openai:gpt-4o"), "7", "give a list of messages"),
        (("--to", "openai:gpt-4o", "--effort", "huge"), BROKEN, "effort 'huge'"),
        (("--to", "openai:gpt-4o", "--tool-choice", "nothing"), BROKEN, "nothing"),
    ],
)
def test_what_cannot_be_rendered_is_said_in_one_line(
    arguments: tuple[str, ...], stdin: Any, said: str
) -> None:
    """Exit code 2, the reason on stderr, nothing on stdout."""
    told = run("render", *arguments, stdin=stdin)
    assert told.exit_code == 2
    assert said in told.stderr and told.stdout == ""
    assert "Traceback" not in told.stderr


@pytest.mark.parametrize("tools", ["not json", '{"name": "look"}', '["look"]', "7"])
def test_a_tools_file_that_holds_no_tools_is_refused(tmp_path: Path, tools: str) -> None:
    """With exit code 2 and the form that is expected."""
    path = tmp_path / "tools.json"
    path.write_text(tools)
    told = run("render", "--to", TARGETS["openai"], "--tools", str(path), stdin=BROKEN)
    assert told.exit_code == 2 and "tool" in told.stderr
    assert told.exception is None or isinstance(told.exception, SystemExit)


def test_a_file_that_is_not_there_is_named() -> None:
    """The error names the path."""
    told = run("render", "--to", TARGETS["openai"], "nowhere.json")
    assert told.exit_code == 2 and "nowhere.json" in told.stderr


# ---- check

RULES = {"openai-chat": "OAC-01", "openai-responses": "OAR-03", "anthropic": "ANT-01", "gemini": "GEM-01"}


@pytest.mark.parametrize(("api", "rule"), RULES.items())
def test_what_would_be_refused_is_shown_as_a_table(api: str, rule: str) -> None:
    """Exit code 1; the rule, where, the provider's answer, and what to do."""
    told = run("check", "--api", api, stdin=BODIES[api])
    assert told.exit_code == 1
    assert rule in told.stdout and "what to do" in told.stdout


@pytest.mark.parametrize("api", RULES)
def test_problems_come_as_json_too(api: str) -> None:
    """`--json` prints the same problems for programs."""
    told = run("check", "--api", api, "--json", stdin=BODIES[api])
    problems = json.loads(told.stdout)
    assert told.exit_code == 1
    assert all({"rule", "path", "answer", "advice"} <= set(problem) for problem in problems)
    assert RULES[api] in {problem["rule"] for problem in problems}


@pytest.mark.parametrize("to", TARGETS)
def test_what_render_prints_passes_the_check_in_silence(to: str, tmp_path: Path) -> None:
    """Anyone with a 400 in hand: check says why, render gives a body that passes."""
    body = tmp_path / "body.json"
    body.write_bytes(run("render", "--to", TARGETS[to], stdin=BROKEN).stdout_bytes)
    told = run("check", "--api", to, "--model", TARGETS[to].partition(":")[2], str(body))
    assert (told.exit_code, told.stdout, told.stderr) == (0, "", "")
    assert json.loads(run("check", "--api", to, "--json", str(body)).stdout or "[]") == []


def test_the_model_decides_where_the_body_does_not_name_it() -> None:
    """Gemini 3 wants signatures; the body does not say which Gemini it is for."""
    body = {
        "contents": [
            turn("user", "go"),
            turn("model", function_call("a")),
            turn("user", function_response("a")),
        ]
    }
    assert run("check", "--api", "gemini", "--model", "gemini-2.5-flash", stdin=body).exit_code == 0
    told = run("check", "--api", "gemini", "--model", "gemini-3-pro", stdin=body)
    assert told.exit_code == 1 and "GEM-07" in told.stdout


def test_a_providers_own_rules_are_added_to_the_formats() -> None:
    """An id that OpenAI takes is too short for Mistral."""
    body = {"model": "some-model", "messages": [user("go"), said(None, call("a")), result("a")]}
    assert run("check", "--api", "openai", stdin=body).exit_code == 0
    assert "MIS-01" in run("check", "--api", "mistral", stdin=body).stdout


@pytest.mark.parametrize("body", ["not json", "[]", "7", "{", '"text"'])
def test_a_body_that_is_none_is_a_problem(body: str) -> None:
    """Text that is not a JSON object is a problem, not a crash."""
    told = run("check", "--api", "openai", stdin=body)
    assert told.exit_code == 1 and "BODY" in told.stdout


def test_an_api_that_nobody_knows_is_refused() -> None:
    """An unknown API is a usage error."""
    told = run("check", "--api", "antropic", stdin={})
    assert told.exit_code == 2 and "anthropic" in told.stderr


def test_the_commands_work_as_programs(tmp_path: Path) -> None:
    """In a pipe, as users type them."""
    program = [sys.executable, "-m", "turnout"]
    rendered = subprocess.run(
        [*program, "render", "--from", "anthropic", "--to", TARGETS["openai"]],
        input=json.dumps(BODIES["anthropic"]).encode(),
        capture_output=True,
        check=True,
    )
    checked = subprocess.run(
        [*program, "check", "--api", "openai"], input=rendered.stdout, capture_output=True, check=False
    )
    assert (checked.returncode, checked.stdout) == (0, b"")
    assert b"missing_result" in rendered.stderr


def test_rendering_does_not_change_what_was_ingested() -> None:
    """The bodies here hold the same conversation in five formats."""
    for source, body in BODIES.items():
        history = ingest(body, source)
        assert [len(turn.blocks) for turn in history.turns] == [1, 2, 1]


EVIL = "\x1b]0;owned\x07\x9b2J\u202e\x7f"


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "--api", "openai"),
        ("check", "--api", "openai", "--json"),
        ("render", "--to", "openai:gpt-4o", "--envelope"),
        ("decode", "--api", "openai"),
        ("decode", "--api", "openai", "--final"),
    ],
)
def test_what_a_file_holds_steers_no_terminal(arguments: tuple[str, ...]) -> None:
    """A conversation and a reply are somebody else's words, whichever command shows them."""
    body: Any = {"model": "gpt-4o", "messages": [user(EVIL), said(EVIL, call(EVIL)), user(EVIL)]}
    if arguments[0] == "decode":
        body = {"choices": [{"message": said(EVIL, call(EVIL)), "finish_reason": EVIL}], "error": None}
    done = CliRunner().invoke(main, list(arguments), input=json.dumps(body))

    assert done.output.strip()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", done.output)
