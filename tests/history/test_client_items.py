"""Items of Responses with special forms, as ordinary calls and results."""

from __future__ import annotations

from typing import Any

import pytest

from turnout.history.client_items import (
    arguments_in,
    has_tied_id,
    is_client_run,
    output_status,
    output_text,
    qualified_name,
    without_nulls,
)


@pytest.mark.parametrize(
    ("item", "is_ours"),
    [
        ({"type": "local_shell_call"}, True),
        ({"type": "shell_call", "environment": {"type": "container_auto"}}, False),
        ({"type": "tool_search_call", "execution": "client"}, True),
        ({"type": "tool_search_call", "execution": "server"}, False),
        ({"type": "web_search_call"}, False),
    ],
)
def test_the_client_runs_some_items(item: dict[str, Any], is_ours: bool) -> None:
    """OpenAI also hosts a shell and a tool search."""
    assert is_client_run(item) is is_ours


def test_the_arguments_are_one_object() -> None:
    """Ids and states are not arguments; empty fields are left out."""
    item = {"type": "shell_call", "id": "sh_1", "call_id": "c", "action": {"commands": ["ls"]}, "note": None}
    assert arguments_in(item) == {"commands": ["ls"]}
    assert arguments_in({"type": "tool_search_call", "arguments": '{"q": 1}'}) == '{"q": 1}'


def test_a_result_has_text_and_a_status() -> None:
    """A command without output still says how it ended."""
    run = {"stdout": "a\n", "stderr": "", "outcome": {"type": "exit", "exit_code": 2}}
    item = {"type": "shell_call_output", "output": [run]}
    assert output_text(item) == "a\n[exit code 2]" and output_status(item) == "complete"
    assert output_text({"type": "apply_patch_call_output", "status": "failed"}) == "[failed]"
    assert output_status({"status": "incomplete"}) == "interrupted"


def test_an_item_may_be_sent_without_its_id() -> None:
    """Only some items are tied to the reasoning before them by their id."""
    assert has_tied_id({"type": "local_shell_call", "id": "x"})
    assert not has_tied_id({"type": "shell_call", "id": "x"})


def test_nulls_are_left_out_and_namespaces_are_part_of_the_name() -> None:
    """A function that was loaded alone has its own name as namespace."""
    assert without_nulls({"a": None, "b": {"c": None, "d": 1}}) == {"b": {"d": 1}}
    assert qualified_name({"name": "list", "namespace": "crm"}) == "crm.list"
    assert qualified_name({"name": "list", "namespace": "list"}) == "list"
