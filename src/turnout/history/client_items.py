"""Items of Responses that the client runs itself, in forms of their own: shells, patches, the computer.

To every other API they are ordinary calls with ordinary results. The item rides along whole, so
that OpenAI gets back what it wrote.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..model import Status
from ..plain import dict_in, dumps, list_in, text_in

Wire = dict[str, Any]


class ClientItem(Struct, frozen=True):
    """How one kind of item says its call."""

    tool: str  # what the tool is called where calls have names
    said_in: str  # the field that holds the arguments


CLIENT_ITEMS = {
    "local_shell_call": ClientItem("local_shell", "action"),
    "shell_call": ClientItem("shell", "action"),
    "apply_patch_call": ClientItem("apply_patch", "operation"),
    "computer_call": ClientItem("computer", "action"),
    "tool_search_call": ClientItem("tool_search", "arguments"),
}
CALL_OF_OUTPUT = {
    "local_shell_call_output": "local_shell_call",
    "shell_call_output": "shell_call",
    "apply_patch_call_output": "apply_patch_call",
    "computer_call_output": "computer_call",
    "tool_search_output": "tool_search_call",
}

UNTIED = frozenset(
    {
        "additional_tools",
        "tool_search_call",
        "tool_search_output",
        "shell_call",
        "shell_call_output",
        "configuration_update",
        "compaction",
        "mcp_approval_response",
    }
)
"""Items that OpenAI takes back without their ids: its specification says so; recorded for the first three."""

MARKS = frozenset({"type", "id", "call_id", "status", "caller", "execution", "created_by", "environment"})
"""Fields of a call that say nothing about what is to be done."""


def is_client_run(item: Wire) -> bool:
    """Whether the client runs this call: OpenAI has a tool search and a shell of its own, too."""
    kind = item.get("type")
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    # A shell in a container of OpenAI's runs there; its output comes with the reply.
    place = text_in(dict_in(item.get("environment")).get("type"))
    return isinstance(kind, str) and kind in CLIENT_ITEMS and not place.startswith("container")


def arguments_in(item: Wire) -> Any:
    """What the tool is asked to do: the fields of the item that say it, as one object."""
    said_in = CLIENT_ITEMS[item["type"]].said_in
    said = item.get(said_in)
    rest = {name: value for name, value in item.items() if name not in MARKS and name != said_in}
    rest = {name: value for name, value in rest.items() if value not in (None, "", [], {})}
    if isinstance(said, dict):
        return {**said, **rest}
    if isinstance(said, str) and not rest:
        return said  # arguments as text are read like those of every call
    return rest if said is None else {said_in: said, **rest}


def without_nulls(item: Wire) -> Wire:
    """The item without fields that clients fill with null, and the API refuses here and there."""
    kept = {name: value for name, value in item.items() if value is not None}
    return {
        name: {key: inner for key, inner in value.items() if inner is not None}
        if isinstance(value, dict)
        else value
        for name, value in kept.items()
    }


def has_tied_id(item: Wire) -> bool:
    """Whether the item must go back by an id, which ties it to the reasoning before it."""
    return bool(item.get("id")) and text_in(item.get("type")) not in UNTIED


def output_status(item: Wire) -> Status:
    match item.get("status"):
        case "in_progress" | "incomplete":
            return "interrupted"
        case "failed":
            return "error"
    return "complete"


def output_text(item: Wire) -> str:
    """What came of the call, in words; never empty for what a command or a patch left behind."""
    output = item.get("output")
    match item.get("type"):
        case "shell_call_output":
            return "\n".join(_run_text(dict_in(run)) for run in list_in(output)) or "[no output]"
        case "apply_patch_call_output":
            return text_in(output) or f"[{text_in(item.get('status')) or 'completed'}]"
        case "tool_search_output":
            return dumps({"tools": list_in(item.get("tools"))})
        case "computer_call_output":
            checks, address = item.get("acknowledged_safety_checks"), text_in(item.get("current_url"))
            said = [f"acknowledged: {dumps(checks)}" if checks else "", f"at {address}" if address else ""]
            return "\n".join(text for text in said if text)
    return output if isinstance(output, str) else "" if output is None else dumps(output)


def _run_text(run: Wire) -> str:
    """One command's output, and how it ended."""
    outcome = dict_in(run.get("outcome"))
    ended = "timed out" if outcome.get("type") == "timeout" else f"exit code {outcome.get('exit_code')}"
    said = [text_in(run.get("stdout")).rstrip("\n"), text_in(run.get("stderr")).rstrip("\n")]
    return "\n".join([*(text for text in said if text), f"[{ended}]"])


def qualified_name(item: Wire) -> str:
    """A function's name, with its namespace: two namespaces may each have a function of that name.

    Recorded: a function that a tool search loaded by itself is its own namespace.
    """
    name, namespace = text_in(item.get("name")), text_in(item.get("namespace"))
    return f"{namespace}.{name}" if namespace and namespace != name else name
