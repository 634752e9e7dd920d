"""Items of Responses that the client runs and that have special forms: shells, patches, the computer.

For every other API they are ordinary calls with ordinary results. The whole item is kept, so
that OpenAI gets back what it wrote.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from ..model import Status
from ..plain import dict_in, dumps, list_in, text_in

Wire = dict[str, Any]


class ClientItem(Struct, frozen=True):
    """How one kind of item holds its call."""

    tool: str  # the name of the tool, for APIs whose calls have names
    arguments_field: str  # the field that holds the arguments


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
"""Items that OpenAI accepts without their ids, by its specification; measured for the first three."""

MARKS = frozenset({"type", "id", "call_id", "status", "caller", "execution", "created_by", "environment"})
"""Fields of a call that are not arguments."""


def is_client_run(item: Wire) -> bool:
    """Whether the client runs this call. OpenAI also hosts a tool search and a shell."""
    kind = item.get("type")
    if kind == "tool_search_call":
        return item.get("execution") == "client"
    # A shell in a container of OpenAI runs there; its output comes with the reply.
    place = text_in(dict_in(item.get("environment")).get("type"))
    return isinstance(kind, str) and kind in CLIENT_ITEMS and not place.startswith("container")


def arguments_in(item: Wire) -> Any:
    """The arguments of the call: the fields of the item that hold them, as one object."""
    arguments_field = CLIENT_ITEMS[item["type"]].arguments_field
    given = item.get(arguments_field)
    rest = {name: value for name, value in item.items() if name not in MARKS and name != arguments_field}
    rest = {name: value for name, value in rest.items() if value not in (None, "", [], {})}
    if isinstance(given, dict):
        return {**given, **rest}
    if isinstance(given, str) and not rest:
        return given  # arguments as text are parsed later, as for every call
    return rest if given is None else {arguments_field: given, **rest}


def without_nulls(item: Wire) -> Wire:
    """The item without null fields: clients write them, and the API refuses some."""
    kept = {name: value for name, value in item.items() if value is not None}
    return {
        name: {key: inner for key, inner in value.items() if inner is not None}
        if isinstance(value, dict)
        else value
        for name, value in kept.items()
    }


def has_tied_id(item: Wire) -> bool:
    """Whether the item must be sent with its id, which ties it to the reasoning before it."""
    return bool(item.get("id")) and text_in(item.get("type")) not in UNTIED


def output_status(item: Wire) -> Status:
    match item.get("status"):
        case "in_progress" | "incomplete":
            return "interrupted"
        case "failed":
            return "error"
    return "complete"


def output_text(item: Wire) -> str:
    """The result of the call as text; never empty for a command or a patch."""
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
    texts = [text_in(run.get("stdout")).rstrip("\n"), text_in(run.get("stderr")).rstrip("\n")]
    return "\n".join([*(text for text in texts if text), f"[{ended}]"])


def qualified_name(item: Wire) -> str:
    """The name of a function with its namespace: two namespaces may have a function of that name.

    Measured: a function that a tool search loaded alone has its own name as namespace.
    """
    name, namespace = text_in(item.get("name")), text_in(item.get("namespace"))
    return f"{namespace}.{name}" if namespace and namespace != name else name
