"""Calls of Responses that the client runs itself: shells, patches, the computer, free text, tool searches.

They are calls with outcomes: OpenAI gets them back as they were, everyone else as ordinary calls.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.handoff.judges import complaints
from tests.handoff.places import PLACES

from turnout import History, Opaque, Outcome, ToolCall, decode, ingest, render
from turnout.providers import Target, target

GPT, OTHER_GPT = "openai-responses:gpt-5.1", "openai-responses:gpt-5-mini"
CLAUDE = "anthropic:claude-sonnet-4-5"
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9Q"
    "DwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

LOCAL_SHELL = {
    "type": "local_shell_call",
    "id": "lsh_1",
    "call_id": "c1",
    "status": "completed",
    "action": {"type": "exec", "command": ["ls", "-a"], "env": {}, "working_directory": "/src"},
}
SHELL = {
    "type": "shell_call",
    "id": "sh_1",
    "call_id": "c1",
    "status": "completed",
    "action": {"commands": ["ls -a ~/Desktop"], "max_output_length": 8912, "timeout_ms": None},
}
PATCH = {
    "type": "apply_patch_call",
    "id": "apc_1",
    "call_id": "c1",
    "status": "completed",
    "operation": {"type": "update_file", "path": "a.py", "diff": "@@\n-1\n+2"},
}
COMPUTER = {
    "type": "computer_call",
    "id": "cu_1",
    "call_id": "c1",
    "status": "completed",
    "action": {"type": "click", "button": "left", "x": 3, "y": 4},
    "pending_safety_checks": [],
}
CUSTOM = {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "sql", "input": "SELECT 1"}
SEARCH = {
    "type": "tool_search_call",
    "id": "tsc_1",
    "call_id": "c1",
    "execution": "client",
    "status": "completed",
    "arguments": {"goal": "weather"},
}
RUN = {"stdout": "a.txt\n", "stderr": "warning\n", "outcome": {"type": "exit", "exit_code": 2}}
FOUND = {"type": "function", "name": "get_weather", "parameters": {"type": "object", "properties": {}}}

PAIRS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "local shell": (LOCAL_SHELL, {"type": "local_shell_call_output", "id": "c1", "output": "a.txt"}),
    "shell": (SHELL, {"type": "shell_call_output", "call_id": "c1", "output": [RUN]}),
    "patch": (
        PATCH,
        {"type": "apply_patch_call_output", "call_id": "c1", "status": "failed", "output": "no such line"},
    ),
    "computer": (
        COMPUTER,
        {
            "type": "computer_call_output",
            "call_id": "c1",
            "output": {"type": "computer_screenshot", "image_url": PIXEL},
        },
    ),
    "custom": (CUSTOM, {"type": "custom_tool_call_output", "call_id": "c1", "output": "1 row"}),
    "tool search": (
        SEARCH,
        {
            "type": "tool_search_output",
            "call_id": "c1",
            "execution": "client",
            "status": "completed",
            "tools": [FOUND],
        },
    ),
}
TOOLS_FOUND = json.dumps({"tools": [FOUND]}, separators=(",", ":"))
SAID: dict[str, tuple[str, dict[str, Any], str]] = {
    "local shell": ("local_shell", LOCAL_SHELL["action"], "a.txt"),  # type: ignore[dict-item]
    "shell": ("shell", SHELL["action"], "a.txt\nwarning\n[exit code 2]"),  # type: ignore[dict-item]
    "patch": ("apply_patch", PATCH["operation"], "no such line"),  # type: ignore[dict-item]
    "computer": ("computer", COMPUTER["action"], ""),  # type: ignore[dict-item]
    "custom": ("sql", {"input": "SELECT 1"}, "1 row"),
    "tool search": (
        "tool_search",
        {"goal": "weather"},
        json.dumps({"tools": [FOUND]}, separators=(",", ":")),
    ),
}


def conversation(*items: dict[str, Any]) -> History:
    asked = {"type": "message", "role": "user", "content": "go"}
    return ingest([asked, *items], "openai-responses", GPT)


def sent(history: History, to: str | Target = GPT, **options: Any) -> list[dict[str, Any]]:
    """The items of a request, without the user's words."""
    body = render(history, to, **options).json
    return [item for item in body["input"] if item.get("role") != "user"]


def reply(*items: dict[str, Any]) -> Any:
    body = {"id": "resp_1", "status": "completed", "store": False, "output": list(items)}
    return decode(GPT, body, turn_key="t.1")


# In the history


@pytest.mark.parametrize("what", PAIRS)
def test_they_are_calls_with_outcomes(what: str) -> None:
    history = conversation(*PAIRS[what])
    name, arguments, text = SAID[what]

    (call,) = history.turns[1].tool_calls  # type: ignore[union-attr]
    outcome = history.interaction(call.id).outcome
    assert (call.name, call.arguments) == (name, arguments)
    assert outcome is not None and outcome.text == text
    assert outcome.status == ("error" if what == "patch" else "complete")
    assert not history.diagnostics


@pytest.mark.parametrize("what", PAIRS)
def test_a_reply_makes_the_same_calls(what: str) -> None:
    """What comes live is what is read from a request."""
    (heard,) = conversation(PAIRS[what][0]).turns[1].tool_calls  # type: ignore[union-attr]
    (call,) = reply(PAIRS[what][0]).tool_calls
    assert (call.name, call.arguments, call.raw_id) == (heard.name, heard.arguments, heard.raw_id)


def test_what_openai_runs_itself_is_no_call_of_ours() -> None:
    """A shell in OpenAI's container, and a tool search of its own, come with their outputs."""
    hosted = {**SHELL, "environment": {"type": "container_reference", "container_id": "cntr_1"}}
    output = {"type": "shell_call_output", "id": "sho_1", "call_id": "c1", "output": [RUN]}
    searched = {**SEARCH, "execution": "server", "call_id": None}
    found = {"type": "tool_search_output", "id": "tso_1", "execution": "server", "tools": [FOUND]}
    for items in ((hosted, output), (searched, found)):
        told = reply(*items)
        assert [type(block) for block in told.blocks] == [Opaque, Opaque] and told.stop == "end"
        history = conversation(*items)
        assert not any(True for _ in history.ledger)
        assert [item["type"] for item in sent(history)][:2] == [items[0]["type"], items[1]["type"]]


# Back to OpenAI


@pytest.mark.parametrize("to", [GPT, OTHER_GPT])
@pytest.mark.parametrize("what", [what for what in PAIRS if what != "computer"])
def test_openai_gets_them_back_as_they_were(what: str, to: str) -> None:
    """Without the item's id, which would tie it to reasoning; call and output agree on the call's."""
    call, output = sent(conversation(*PAIRS[what]), to)
    recorded_call, recorded_output = PAIRS[what]

    assert call["call_id"] == output.get("call_id", output.get("id")) != "c1"
    assert _without_ids(call) == _without_ids(recorded_call)
    assert _without_ids(output) == _without_ids(recorded_output)
    assert complaints(render(conversation(*PAIRS[what]), to), target(to)) == []


def _without_ids(item: dict[str, Any]) -> dict[str, Any]:
    kept = {key: value for key, value in item.items() if key not in ("id", "call_id")}
    if "action" in kept:
        kept["action"] = {key: value for key, value in kept["action"].items() if value is not None}
    return kept


def test_the_computer_goes_back_to_its_own_model_with_its_id() -> None:
    """The API insists on this id, and the id on the reasoning before it (OAR-09)."""
    thought = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}
    history = conversation(thought, *PAIRS["computer"])

    reasoning, call, output = sent(history)
    assert (reasoning["id"], call["id"]) == ("rs_1", "cu_1")
    assert output["output"] == {"type": "computer_screenshot", "image_url": PIXEL}
    for to, options in ((OTHER_GPT, {}), (GPT, {"thinking": False})):
        kinds = [item["type"] for item in sent(history, to, **options)]
        assert kinds == ["function_call", "function_call_output"]


def test_a_computer_that_shows_nothing_is_an_ordinary_call() -> None:
    """Its output must be a picture; a call that was interrupted has none."""
    history = conversation(COMPUTER)
    history.user("never mind")
    assert [item["type"] for item in sent(history)] == ["function_call", "function_call_output"]


@pytest.mark.parametrize("what", ["local shell", "shell", "patch", "custom", "tool search"])
def test_a_result_of_our_own_takes_the_form_of_its_call(what: str) -> None:
    """As when a session ran the command: the text of the result is all there is."""
    history = History("h")
    history.user("go")
    history.append(reply(PAIRS[what][0]))
    history.settle(history.open_calls[0].call.id, Outcome("complete", "done"))

    call, output = sent(history)
    assert call["type"] == PAIRS[what][0]["type"]
    expected = "function_call_output" if what == "tool search" else PAIRS[what][1]["type"]
    assert output["type"] == expected and "done" in json.dumps(output)
    assert complaints(render(history, GPT), target(GPT)) == []


def test_a_failed_command_has_an_exit_code() -> None:
    history = conversation(SHELL)
    history.settle(history.open_calls[0].call.id, Outcome("error", "no such file"))
    (run,) = sent(history)[1]["output"]
    assert run == {"stdout": "Error: no such file", "stderr": "", "outcome": {"type": "exit", "exit_code": 1}}


@pytest.mark.parametrize(
    "damaged",
    [
        {**SHELL, "action": {"commands": "ls"}},
        {**LOCAL_SHELL, "action": None},
        {**PATCH, "operation": {"type": "rename_file", "path": "a"}},
    ],
)
def test_a_damaged_item_is_an_ordinary_call(damaged: dict[str, Any]) -> None:
    """One damaged item would have the whole request refused."""
    output = {"type": "function_call_output", "call_id": "c1", "output": "done"}
    assert [item["type"] for item in sent(conversation(damaged, output))] == [
        "function_call",
        "function_call_output",
    ]


def test_a_damaged_output_is_written_anew() -> None:
    output = {"type": "shell_call_output", "call_id": "c1", "output": [{"stdout": "a.txt"}]}
    (run,) = sent(conversation(SHELL, output))[1]["output"]
    assert run["outcome"] == {"type": "exit", "exit_code": 0} and "a.txt" in run["stdout"]


# To everyone else


@pytest.mark.parametrize("place", PLACES, ids=lambda place: str(place.origin))
def test_others_get_ordinary_calls(place: Target) -> None:
    """Valid everywhere, and nothing of them is lost."""
    items = [
        {**item, "call_id": f"c{at}"} if "call_id" in item else {**item, "id": f"c{at}"}
        for at, pair in enumerate(PAIRS.values())
        for item in pair
    ]
    history = conversation(*items)
    request = render(history, place)
    assert complaints(request, place) == []
    text = json.dumps(request.json)
    for said in ("working_directory", "~/Desktop", "exit code 2", "no such line", "SELECT 1", "get_weather"):
        assert said in text or (said == "exit code 2" and "exit_code" in text)


# Items that OpenAI runs itself, and unknown ones


WEB = {
    "type": "web_search_call",
    "id": "ws_1",
    "status": "completed",
    "action": {"type": "search", "query": "tides", "sources": None},
}
SAYS = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "High at noon."}]}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "ZW5j"}


def test_what_openai_ran_goes_back_with_all_the_reasoning_it_is_tied_to() -> None:
    """Recorded with store false: reasoning and item by their ids, then words without one."""
    history = conversation(THOUGHT, WEB, SAYS)
    reasoning, search, said = sent(history)
    assert (reasoning["id"], search["id"], said["content"]) == ("rs_1", "ws_1", "High at noon.")
    assert search["action"] == {"type": "search", "query": "tides"}


@pytest.mark.parametrize(
    ("items", "to", "options"),
    [
        ((THOUGHT, WEB, SAYS), OTHER_GPT, {}),
        ((THOUGHT, WEB, SAYS), GPT, {"thinking": False}),
        (({**THOUGHT, "encrypted_content": None}, WEB, SAYS), GPT, {}),
        ((THOUGHT, WEB, SAYS), CLAUDE, {}),
        ((THOUGHT, WEB, SAYS), "gemini:gemini-2.5-pro", {}),
    ],
)
def test_where_it_cannot_go_back_it_is_told_and_named(items: Any, to: str, options: Any) -> None:
    history = conversation(*items)
    request = render(history, to, **options)
    report = request.report
    assert "ws_1" not in str(
        request.json
    ) and '[web_search_call] {\\"action\\":{\\"query\\":\\"tides\\"}}' in (json.dumps(request.json))
    named = [*report.changes, *(f"{item.code} {item.detail}" for item in report.diagnostics)]
    assert any("web_search_call" in line for line in named)


def test_what_nobody_thought_about_is_tied_to_nothing() -> None:
    """A list of tools comes before the first thought; it goes back beside calls of our own."""
    listed = {"type": "mcp_list_tools", "id": "mcpl_1", "server_label": "docs", "tools": []}
    call = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "add", "arguments": "{}"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "3"}
    kinds = [item["type"] for item in sent(conversation(listed, THOUGHT, call, output))]
    assert kinds == ["mcp_list_tools", "reasoning", "function_call", "function_call_output"]


def test_an_answer_to_a_question_that_is_not_sent_is_told() -> None:
    """An approval answers a request by its id: alone it would be refused."""
    asked = {"type": "mcp_approval_request", "id": "mcpr_1", "name": "ask", "arguments": "{}"}
    approved = {"type": "mcp_approval_response", "approval_request_id": "mcpr_1", "approve": True}
    history = conversation(THOUGHT, {**asked, "server_label": "docs"}, approved)
    assert [item["type"] for item in sent(history)][-1] == "mcp_approval_response"
    assert "mcp_approval_response" not in [item["type"] for item in sent(history, OTHER_GPT)]
    assert "approve" in json.dumps(render(history, OTHER_GPT).json)


@pytest.mark.parametrize("to", [GPT, OTHER_GPT, CLAUDE])
def test_an_item_of_tomorrow_is_kept_or_told(to: str) -> None:
    item = {"type": "hologram_call", "depth": {"near": "so far"}}
    history = conversation(item, SAYS)
    assert ("unknown_block", "hologram_call") in [(found.code, found.detail) for found in history.diagnostics]
    text = json.dumps(render(history, to).json)
    assert "so far" in text and (item in sent(history, to) if to != CLAUDE else "[hologram_call]" in text)


def test_tools_that_were_loaded_on_the_way_stay_loaded() -> None:
    """Items without an id stand by themselves; the tool that they load is not declared as gone."""
    loaded = {"type": "additional_tools", "role": "developer", "tools": [FOUND]}
    call = {"type": "function_call", "call_id": "c1", "name": "get_weather", "namespace": "get_weather"}
    output = {"type": "function_call_output", "call_id": "c1", "output": "sunny"}
    history = conversation(loaded, {**call, "arguments": "{}"}, output)
    request = render(history, OTHER_GPT)
    kinds = [item["type"] for item in request.json["input"]]
    assert kinds == ["message", "additional_tools", "function_call", "function_call_output"]
    assert "tools" not in request.json


# Namespaces


def test_two_namespaces_with_a_function_of_one_name_are_two_tools() -> None:
    calls = [
        {"type": "function_call", "call_id": f"c{at}", "name": "find", "namespace": space, "arguments": "{}"}
        for at, space in enumerate(("crm", "shop"))
    ]
    outputs = [
        {"type": "function_call_output", "call_id": f"c{at}", "output": f"r{at}"}
        for at, _ in enumerate(calls)
    ]
    history = conversation(*calls, *outputs)

    assert [call.name for call in history.turns[1].tool_calls] == ["crm.find", "shop.find"]  # type: ignore[union-attr]
    assert [call.name for call in reply(*calls).tool_calls] == ["crm.find", "shop.find"]
    back = [(item["namespace"], item["name"]) for item in sent(history) if item["type"] == "function_call"]
    assert back == [("crm", "find"), ("shop", "find")]
    said = render(history, CLAUDE).json["messages"][1]["content"]
    assert len({block["name"] for block in said}) == 2


def test_a_function_that_was_loaded_by_itself_is_its_own_namespace() -> None:
    """Recorded: what a tool search loads is called with its own name as the namespace."""
    call = {"type": "function_call", "call_id": "c", "name": "get_weather", "namespace": "get_weather"}
    (heard,) = reply({**call, "arguments": "{}"}).tool_calls
    assert heard.name == "get_weather"


def test_a_call_that_learns_its_namespace_late_is_one_call() -> None:
    """The name that a call began with is the name that it keeps."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "find", "arguments": ""}
    begun = {"type": "response.output_item.added", "output_index": 0, "item": item}
    whole = {**item, "namespace": "crm", "arguments": "{}"}
    done = {"type": "response.output_item.done", "output_index": 0, "item": whole}
    ended = {"type": "response.completed", "response": {"status": "completed", "output": [whole]}}
    stream = "".join(f"data: {json.dumps(event)}\n\n" for event in (begun, done, ended))
    turn = decode(GPT, stream.encode())
    assert [type(block) for block in turn.blocks] == [ToolCall]


# Chat


def test_a_custom_call_of_chat_goes_back_as_one() -> None:
    """A tool that takes free text is called with `custom` there; elsewhere it is a function of one text."""
    call = {"id": "c1", "type": "custom", "custom": {"name": "sql", "input": "SELECT 1"}}
    said = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {"role": "tool", "tool_call_id": "c1", "content": "1 row"}
    history = ingest([{"role": "user", "content": "go"}, said, answer], "openai-chat", "openai:gpt-5.1")

    (back,) = render(history, "openai:gpt-5-mini").json["messages"][1]["tool_calls"]
    assert back == {**call, "id": back["id"]}
    for to in ("openai-responses:gpt-5.1", "mistral:mistral-large-latest", CLAUDE):
        request = render(history, to)
        assert '{"input":"SELECT 1"}' in request.body.decode().replace("\\", "")
        assert complaints(request, target(to)) == []


def test_the_address_that_a_screenshot_shows_is_told_to_others() -> None:
    """It stands beside the picture, in a field that only OpenAI has."""
    output = {**PAIRS["computer"][1], "current_url": "https://example.org/form"}
    history = ingest([{"role": "user", "content": "?"}, COMPUTER, output], "openai-responses", GPT)
    assert "https://example.org/form" in render(history, CLAUDE).body.decode()
    assert render(history, GPT).json["input"][2]["current_url"] == "https://example.org/form"
