"""What OpenAI Responses refuses (rules OAR-01 to OAR-16).

`input` is a flat list of items: a call and its output are items like any message, tied
by `call_id` alone. A request that continues a stored response is chained: the server
holds the calls already, so an output may stand alone and nothing may be sent twice.
Hosted tools, references, computer and MCP items are passed over: they pair among themselves.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from . import responses_items, responses_reasoning
from .model_limits import openai_temperature
from .problem import Problem
from .reading import Object, objects, quoted, repeats
from .responses_view import CALLS, OUTPUTS, Request, Rule, kind, of_kind, own, parts, read
from .strict import strict_faults
from .view import is_redacted, text
from .view import kind as json_kind

USER_PARTS = ("input_text", "input_image", "input_file", "input_audio", "input_video", "computer_screenshot")
MODEL_PARTS = ("output_text", "refusal", "reasoning_text", "summary_text")
OUTPUT_PARTS = ("input_text", "input_image", "input_file")
# Named in the answer to any part that no role knows.
PARTS = ("input_text", "input_image", "output_text", "refusal", "input_file", "computer_screenshot")
ROLES = ("assistant", "system", "developer", "user")
ITEMS = ("message", "reasoning", "function_call", "function_call_output", "custom_tool_call")

# Shapes of other APIs in which a call or a result arrives here by mistake.
FOREIGN_ITEMS = ("function_result", "function_response", "tool_result", "tool_use", "tool_call")
CALL_PARTS = (*CALLS, *OUTPUTS, *(kind for kind in FOREIGN_ITEMS if kind != "function_result"))
STRAY_PARTS = (*USER_PARTS, *MODEL_PARTS, "text", "image_url")

# What a model puts out. After reasoning comes more of it, and a chained request has it stored.
HOSTED = (
    "web_search_call",
    "file_search_call",
    "code_interpreter_call",
    "image_generation_call",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "tool_search_call",
)
STORED = (*CALLS, "reasoning", *HOSTED)

ID_PREFIX = {"function_call": "fc", "reasoning": "rs", "message": "msg", "custom_tool_call": "ctc"}
MAX_ID = 64
MAX_OUTPUT = 10_485_760
NAME = re.compile(r"[a-zA-Z0-9_-]+")
MEDIA = re.compile(r"data:((?:audio|video)/[^;,]+)")


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """Everything in this body that OpenAI's server would refuse, rule by rule."""
    yield from judge(RULES, body, model=model)


def judge(rules: tuple[Rule, ...], body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """Apply rules to a body, reading it once."""
    request = read(body, model)
    for rule in rules:
        yield from rule(request)


def something_is_asked(request: Request) -> Iterator[Problem]:
    """Recorded: a stored `prompt` stands for the input, as a chain does."""
    if all(
        request.body.get(key) is None for key in ("input", "prompt", "previous_response_id", "conversation")
    ):
        answer = 'One of "input" or "previous_response_id" or "prompt" or "conversation_id" must be provided.'
        yield Problem("BODY", "input", answer, "send the conversation as `input`, a text or a list of items")


def calls_stand_beside_messages(request: Request) -> Iterator[Problem]:
    """OAR-01: a call is an item of its own, never part of a message."""
    advice = "send function_call and function_call_output as items of input, beside the messages"
    for path, _, part in parts(request):
        if text(part.get("type")) in CALL_PARTS:
            answer = f"Invalid value: '{part['type']}'. Supported values are: {quoted(PARTS)}."
            yield Problem("OAR-01", path, answer, advice)
    for path, item in of_kind(request, "message"):
        if item.get("role") == "tool":
            answer = f"Invalid value: 'tool'. Supported values are: {quoted(ROLES)}."
            yield Problem("OAR-01", f"{path}.role", answer, advice)
        if item.get("tool_calls") is not None:
            yield Problem("OAR-01", path, f"Unknown parameter: '{path}.tool_calls'.", advice)


def outputs_have_calls(request: Request) -> Iterator[Problem]:
    """OAR-02: an output answers a call of this input, or of the chain."""
    # A reference or a compaction may stand for the call.
    if request.chained or any(of_kind(request, "item_reference", "compaction")):
        return
    # Recorded: the client's answer to a tool_search_call as a function_call_output, status 200.
    calls = {text(item.get("call_id")) for _, item in request.items if kind(item).endswith("_call")}
    for path, item in of_kind(request, *OUTPUTS):
        call_id = text(item.get("call_id"))
        if call_id and call_id not in calls:
            words = "custom tool call" if kind(item).startswith("custom") else "function call"
            answer = f"No tool call found for {words} output with call_id {call_id}."
            yield Problem("OAR-02", path, answer, "send the call with the same call_id before its output")


def calls_have_outputs(request: Request) -> Iterator[Problem]:
    """OAR-03: every call is answered in the same request."""
    answered = {text(item.get("call_id")) for _, item in request.items if kind(item).endswith("_output")}
    for path, item in of_kind(request, *CALLS):
        call_id = text(item.get("call_id"))
        if call_id and call_id not in answered:
            words = "custom tool call" if kind(item).startswith("custom") else "function call"
            answer = f"No tool output found for {words} {call_id}."
            yield Problem("OAR-03", path, answer, "answer the call, if only to say that it was interrupted")


def nothing_comes_twice(request: Request) -> Iterator[Problem]:
    """OAR-04: item ids are unique, and so is call_id among calls and among outputs."""
    # Recorded: xAI takes two reasoning items of one id.
    items = () if request.foreign else request.items
    ids = ((f"input[{place}].id", text(item.get("id"))) for place, item in items)
    for path, item_id in repeats(ids):
        if is_redacted(item_id):
            continue
        answer = (
            f"Duplicate item found with id {item_id}. Remove duplicate items from your input and try again."
        )
        yield Problem("OAR-04", path, answer, "send each item once, or leave item ids out")
    for kinds, words in ((CALLS, "function_call"), (OUTPUTS, "function_call_output")):
        same = ((f"{path}.call_id", text(item.get("call_id"))) for path, item in of_kind(request, *kinds))
        for path, call_id in repeats(same):
            answer = f"Duplicate {words} for call_id {call_id}."
            yield Problem("OAR-04", path, answer, "give every call of the conversation its own call_id")


def chains_carry_only_news(request: Request) -> Iterator[Problem]:
    """OAR-05: what the chain holds is not sent again."""
    if not request.chained:
        return
    # Recorded: assistant messages without an id beside a conversation, status 200.
    stored = [
        (path, item)
        for path, item in of_kind(request, *STORED, "message")
        if kind(item) != "message" or (item.get("role") == "assistant" and item.get("id"))
    ]
    for path, item in stored:
        item_id = text(item.get("id")) or text(item.get("call_id")) or kind(item)
        answer = (
            f"Duplicate item found with id {item_id}. Remove duplicate items from your input and try again."
        )
        yield Problem("OAR-05", path, answer, "with previous_response_id send only outputs and new messages")


def ids_have_a_length(request: Request) -> Iterator[Problem]:
    """OAR-06: call_id has 1 to 64 characters, an item id at most 64."""
    advice = f"shorten ids to {MAX_ID} characters, the same way in a call and its output"
    for path, item in of_kind(request, *CALLS, *OUTPUTS):
        call_id = item.get("call_id")
        if not isinstance(call_id, str):
            answer = f"Missing required parameter: '{path}.call_id'."
            yield Problem("OAR-06", f"{path}.call_id", answer, "give the item the call_id of its call")
        elif not call_id:
            answer = f"Invalid '{path}.call_id': empty string. Expected a string with minimum length 1."
            yield Problem("OAR-06", f"{path}.call_id", answer, "give the call a call_id")
        elif len(call_id) > MAX_ID:
            yield Problem("OAR-06", f"{path}.call_id", _too_long(f"{path}.call_id", call_id), advice)
    for path, item in own(request, *ID_PREFIX):
        item_id = text(item.get("id"))
        if len(item_id) > MAX_ID and item_id.startswith(ID_PREFIX[kind(item)] + "_"):
            answer = _too_long(f"{path}.id", item_id)
            yield Problem("OAR-06", f"{path}.id", answer, "leave item ids out")


def _too_long(path: str, text: str) -> str:
    return (
        f"Invalid '{path}': string too long. Expected a string with maximum length {MAX_ID}, "
        f"but got a string with length {len(text)} instead."
    )


def item_ids_say_their_kind(request: Request) -> Iterator[Problem]:
    """OAR-07: an item id begins with the letters of its kind; call_id is another thing."""
    for path, item in own(request, *ID_PREFIX):
        item_id, prefix = text(item.get("id")), ID_PREFIX[kind(item)]
        # Copilot's ids are opaque and of some hundred characters; those pass.
        ours = 0 < len(item_id) <= MAX_ID and not is_redacted(item_id)
        if ours and not item_id.startswith(prefix):
            answer = f"Invalid '{path}.id': '{item_id}'. Expected an ID that begins with '{prefix}'."
            yield Problem("OAR-07", f"{path}.id", answer, "leave item ids out; call_id alone ties a pair")


def nothing_unstored_is_named(request: Request) -> Iterator[Problem]:
    """OAR-08: with store false the server knows no item by its id."""
    if request.body.get("store") is not False:
        return
    for path, item in of_kind(request, "item_reference", "reasoning"):
        # Open-weight hosts carry the reasoning itself as content.
        if text(item.get("encrypted_content")) or item.get("content") or request.foreign:
            continue
        answer = (
            f"Item with id '{text(item.get('id'))}' not found. Items are not persisted when `store` is set "
            "to false. Try again with `store` set to true, or remove this item from your input."
        )
        yield Problem("OAR-08", path, answer, "send the item whole, reasoning with its encrypted_content")


def reasoning_is_followed(request: Request) -> Iterator[Problem]:
    """OAR-09: reasoning sent with its id stands before what it led to."""
    if request.chained or request.foreign:
        return
    followers = [item for _, item in request.items[1:]] + [{}]
    for (place, item), follower in zip(request.items, followers, strict=False):
        if kind(item) != "reasoning" or not item.get("id") or _is_what_it_led_to(request, follower):
            continue
        answer = f"Item '{item['id']}' of type 'reasoning' was provided without its required following item."
        advice = "send the item that followed it with its own id, or drop the ids and send store: false"
        yield Problem("OAR-09", f"input[{place}]", answer, advice)


def _is_what_it_led_to(request: Request, item: Object) -> bool:
    """A server that stores knows the reasoning by its id, and the message after it by its own.

    Recorded: a message without an id after such reasoning, 400; with store false, status 200.
    """
    if kind(item) == "message":
        known = bool(item.get("id")) or request.body.get("store") is False
        return item.get("role") == "assistant" and known
    return bool(kind(item)) and not kind(item).endswith("_output")


def parts_follow_the_role(request: Request) -> Iterator[Problem]:
    """OAR-11: input parts for those who ask, output parts for the model, none outside a message."""
    for path, role, part in parts(request):
        given = text(part.get("type"))
        allowed = MODEL_PARTS if role == "assistant" else USER_PARTS
        if not given or given in allowed or given in CALL_PARTS or given == "function_result":
            continue
        listed_for_role = MODEL_PARTS[:2] if role == "assistant" else PARTS
        answer = f"Invalid value: '{given}'. Supported values are: {quoted(listed_for_role)}."
        advice = "use output_text for the assistant and input_text for everyone else"
        yield Problem("OAR-11", path, answer, advice)
    for path, item in of_kind(request, *STRAY_PARTS):
        answer = f"Invalid value: '{kind(item)}'. Supported values are: {quoted(ITEMS)}."
        yield Problem("OAR-11", path, answer, "put the part into the content of a message")
    for path, _, part in parts(request):
        yield from _refused_media("OAR-11", path, part)


def _refused_media(rule: str, path: str, part: Object) -> Iterator[Problem]:
    """Recorded refusal: a sound sent as a file."""
    media = MEDIA.match(text(part.get("file_data"))[:200])
    if part.get("type") == "input_file" and media:
        answer = (
            f"Invalid file data: '{path}.file_data'. Expected a base64-encoded data URL with a valid file "
            "MIME type (e.g. 'data:text/plain;base64,SGVsbG8sIFdvcmxkIQ=='), "
            f"but got unsupported MIME type '{media[1]}'."
        )
        yield Problem(rule, f"{path}.file_data", answer, "send a transcript instead")


def outputs_are_text_or_parts(request: Request) -> Iterator[Problem]:
    """OAR-12: an output is a string or input parts; failure is said in the text."""
    for path, item in of_kind(request, *OUTPUTS):
        output = item.get("output")
        if "is_error" in item:
            answer = f"Unknown parameter: '{path}.is_error'."
            yield Problem("OAR-12", f"{path}.is_error", answer, "say in the output that the call failed")
        if isinstance(output, str) and len(output) > MAX_OUTPUT:
            answer = (
                f"Invalid '{path}.output': string too long. Expected a string with maximum length "
                f"{MAX_OUTPUT}, but got a string with length {len(output)} instead."
            )
            yield Problem("OAR-12", f"{path}.output", answer, "shorten the output")
        elif not isinstance(output, str | list):
            yield Problem("OAR-12", f"{path}.output", _no_output(path, output), "send the output as a string")
        for index, part in objects(output):
            where = f"{path}.output[{index}]"
            if text(part.get("type")) not in OUTPUT_PARTS:
                answer = f"Invalid value: '{part.get('type')}'. Supported values are: {quoted(OUTPUT_PARTS)}."
                yield Problem("OAR-12", where, answer, "use input_text, input_image or input_file")
            yield from _refused_media("OAR-12", where, part)


def _no_output(path: str, output: Any) -> str:
    if output is None:
        return f"Missing required parameter: '{path}.output'."
    return (
        f"Invalid type for '{path}.output': expected one of a string or array of objects, "
        f"but got {json_kind(output)} instead."
    )


def results_have_one_name(request: Request) -> Iterator[Problem]:
    """OAR-13: the result of a call is a function_call_output, under no other name."""
    advice = "send {type: function_call_output, call_id, output}"
    for path, item in of_kind(request, *FOREIGN_ITEMS):
        answer = f"Invalid value: '{kind(item)}'. Supported values are: {quoted(ITEMS)}."
        yield Problem("OAR-13", path, answer, advice)
    for path, _, part in parts(request):
        if part.get("type") == "function_result":
            answer = f"Invalid value: 'function_result'. Supported values are: {quoted(PARTS)}."
            yield Problem("OAR-13", path, answer, advice)


def tools_are_flat(request: Request) -> Iterator[Problem]:
    """OAR-14: name and parameters stand on the tool itself."""
    # `strict` is required by the schema and left out in a third of the recorded 200s: it may be absent.
    for index, tool in objects(request.body.get("tools")):
        if tool.get("type") != "function":
            continue
        path, advice = f"tools[{index}]", "send {type: function, name, description, parameters, strict}"
        for key in ("name", "parameters"):
            if key not in tool or (key == "name" and not tool[key]):
                answer = f"Missing required parameter: '{path}.{key}'."
                yield Problem("OAR-14", path, answer, advice)
                break
        else:
            yield from _strict_problems(request, path, tool)
    for path, holder in (*own(request, "function_call"), *_own_tools(request)):
        name = text(holder.get("name"))
        if name and not NAME.fullmatch(name):
            answer = (
                f"Invalid '{path}.name': string does not match pattern. "
                "Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'."
            )
            yield Problem("OAR-14", f"{path}.name", answer, "use letters, digits, _ and - in tool names")


def _own_tools(request: Request) -> Iterator[tuple[str, Object]]:
    tools = () if request.foreign else objects(request.body.get("tools"))
    return ((f"tools[{index}]", tool) for index, tool in tools if tool.get("type") == "function")


def _strict_problems(request: Request, path: str, tool: Object) -> Iterator[Problem]:
    if tool.get("strict") is not True or request.foreign:
        return
    for fault in strict_faults(tool.get("parameters")):
        answer = f"Invalid schema for function '{tool.get('name')}': {fault}"
        yield Problem("OAR-14", f"{path}.parameters", answer, "send strict false, or a schema in its subset")
        return


def one_chain_only(request: Request) -> Iterator[Problem]:
    """OAR-15: a request continues a response or a conversation, not both."""
    if request.body.get("previous_response_id") and request.body.get("conversation"):
        answer = (
            "Mutually exclusive parameters: 'previous_response_id'. Ensure you are only providing one of: "
            "'previous_response_id' or 'conversation'."
        )
        yield Problem("OAR-15", "previous_response_id", answer, "send one of the two")


def custom_calls_have_custom_outputs(request: Request) -> Iterator[Problem]:
    """OAR-16: a custom call is answered by a custom output, a function call by a function's."""
    kinds: dict[str, set[str]] = defaultdict(set)
    for _, item in of_kind(request, *CALLS):
        kinds[text(item.get("call_id"))].add(kind(item))
    for path, item in of_kind(request, *OUTPUTS):
        call_id = text(item.get("call_id"))
        if call_id in kinds and kind(item).removesuffix("_output") not in kinds[call_id]:
            words = "custom tool call" if kind(item).startswith("custom") else "function call"
            answer = f"No tool call found for {words} output with call_id {call_id}."
            yield Problem("OAR-16", path, answer, "answer custom_tool_call with custom_tool_call_output")


def the_temperature_fits(request: Request) -> Iterator[Problem]:
    """OPT-01 and OPT-02, where OpenAI is the server."""
    return iter(()) if request.foreign else openai_temperature(request.body, request.model)


RULES: tuple[Rule, ...] = (
    something_is_asked,
    calls_stand_beside_messages,
    outputs_have_calls,
    calls_have_outputs,
    nothing_comes_twice,
    chains_carry_only_news,
    ids_have_a_length,
    item_ids_say_their_kind,
    nothing_unstored_is_named,
    responses_reasoning.summaries_are_parts,
    responses_reasoning.hidden_content_is_one_word,
    reasoning_is_followed,
    parts_follow_the_role,
    outputs_are_text_or_parts,
    results_have_one_name,
    responses_items.items_have_their_fields,
    responses_items.annotations_are_whole,
    tools_are_flat,
    one_chain_only,
    custom_calls_have_custom_outputs,
    the_temperature_fits,
)
