"""Calls of Responses that are not function calls: shells, patches, the computer, free text.

A call and its output must have the same form (OAR-16, for custom tools). So a call keeps its
form only if its result can take it too. Otherwise both are those of a function.
"""

from __future__ import annotations

from typing import Any

from ...history.client_items import CALL_OF_OUTPUT, has_tied_id, without_nulls
from ...model import Media, Opaque, ToolCall, ToolResponse
from ..shared.content import base64_url, response_parts, response_text
from ..shared.growing_bytes import Wire
from ..shared.residues import fields_of, fits
from .shapes import CALLS, ITEMS, OUTPUTS, AnyItem

CUSTOM = "custom_tool_call"
OF_OTHER_APIS = ("function_result", "tool_result", "tool_use", "tool_call", "function_response")
"""Types of other APIs for calls and results: Responses refuses such items (OAR-13)."""
TIED = "computer_call"  # the only form whose id the API requires
PLAIN_TEXT = ("local_shell_call", "shell_call", "apply_patch_call")  # whose outputs hold no media


def form_of(call: ToolCall) -> str:
    """The kind of item that this call was when OpenAI made it; "" for a function call."""
    data = fields_of(call.residue)
    item = data.get("item")
    kind = str(item.get("type")) if isinstance(item, dict) else ""
    if isinstance(item, dict) and kind in CALLS and fits(without_nulls(item), CALLS[kind]):
        return kind
    is_text = call.arguments.keys() == {"input"} and isinstance(call.arguments["input"], str)
    return CUSTOM if data.get("custom") and is_text else ""


def own_item(block: Any) -> Wire:
    """The item that OpenAI, or a client of it, wrote for a block; {} for all others."""
    if not (held := _written_item(block)) or not fits(held, ITEMS.get(str(held.get("type")), AnyItem)):
        return {}
    return held if has_tied_id(held) else {name: value for name, value in held.items() if name != "id"}


def is_damaged(block: Any) -> bool:
    """Whether a block was an item that the API would refuse now."""
    return bool(_written_item(block)) and not own_item(block)


def _written_item(block: Any) -> Wire:
    item = fields_of(block.residue).get("item") if isinstance(block, Opaque) else None
    if not isinstance(item, dict) or item.get("type") in OF_OTHER_APIS:
        return {}
    return without_nulls(item)


def can_answer(form: str, response: ToolResponse) -> bool:
    """Whether an output of this form can hold the result."""
    if form in PLAIN_TEXT:
        return not response_parts(response)
    return form != TIED or _screenshot(response) is not None


def call_item(call: ToolCall, form: str, call_id: str, name: str) -> Wire:
    if form == CUSTOM:
        return {"type": CUSTOM, "call_id": call_id, "name": name, "input": call.arguments["input"]}
    item = without_nulls(fields_of(call.residue)["item"])
    if form != TIED:
        item.pop("id", None)  # ids would tie the call to reasoning that may not be there (OAR-09)
    return {**item, "call_id": call_id}


def output_item(call: ToolCall, form: str, response: ToolResponse, call_id: str, text: str) -> Wire:
    """The result in the form of its call: as the client wrote it, or made from its text."""
    if (held := _held_output(form, response)) is not None and text in _texts_of(response):
        return _with_call_id(held, response, call_id)
    match form:
        case "local_shell_call":
            # The specification has no call_id here: the id is the call's.
            return {"type": "local_shell_call_output", "id": call_id, "output": text}
        case "shell_call":
            return _shell_output(call, response, call_id, text)
        case "apply_patch_call":
            status = "completed" if response.outcome.status == "complete" else "failed"
            return {"type": "apply_patch_call_output", "call_id": call_id, "status": status, "output": text}
        case "computer_call":
            shown = _screenshot(response)
            return {"type": "computer_call_output", "call_id": call_id, "output": shown}
        case "tool_search_call":
            # Recorded: the API accepts the output of a function for a tool search of the client.
            return {"type": "function_call_output", "call_id": call_id, "output": text}
    raise AssertionError(f"no output of the form {form}")


def _texts_of(response: ToolResponse) -> tuple[str, str]:
    """The text of a result, plain and with its error mark. Any other text was shortened."""
    return response_text(response), response_text(response, marks_errors=True)


def _shell_output(call: ToolCall, response: ToolResponse, call_id: str, text: str) -> Wire:
    code = 0 if response.outcome.status == "complete" else 1
    run = {"stdout": text, "stderr": "", "outcome": {"type": "exit", "exit_code": code}}
    wire: Wire = {"type": "shell_call_output", "call_id": call_id, "output": [run]}
    if (limit := call.arguments.get("max_output_length")) is not None:
        wire["max_output_length"] = limit
    return wire


def _held_output(form: str, response: ToolResponse) -> Wire | None:
    """The output as the client wrote it, if the outcome did not change since."""
    if response.outcome.status not in ("complete", "error"):
        return None
    for block in response.outcome.content:
        item = fields_of(block.residue).get("output_item")
        kind = str(item.get("type")) if isinstance(item, dict) else ""
        if not isinstance(item, dict) or CALL_OF_OUTPUT.get(kind) != form:
            continue
        if fits(without_nulls(item), OUTPUTS[kind]):
            return item
    return None


def _with_call_id(item: Wire, response: ToolResponse, call_id: str) -> Wire:
    wire = {key: value for key, value in without_nulls(item).items() if key != "id"}
    wire["id" if "call_id" not in item else "call_id"] = call_id
    if "output" not in item and (shown := _screenshot(response)) is not None:
        wire["output"] = shown
    return wire


def _screenshot(response: ToolResponse) -> Wire | None:
    """The screenshot after the call. Media is kept apart from its item."""
    for block in response_parts(response):
        if isinstance(block, Opaque) and (file_id := fields_of(block.residue).get("file_id")):
            return {"type": "computer_screenshot", "file_id": file_id}
        if isinstance(block, Media) and block.mime.startswith("image/"):
            return {"type": "computer_screenshot", "image_url": block.uri or base64_url(block)}
    return None
