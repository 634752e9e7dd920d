"""What Anthropic Messages refuses (rules ANT-01 to ANT-30): the conversation itself.

A turn of results answers exactly the calls of the turn before it, and begins with them.
Thinking and model rules are in `anthropic_thinking`, tools and cache marks in `anthropic_tools`,
the keys that may be there at all in `anthropic_keys`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from . import (
    anthropic_blocks,
    anthropic_images,
    anthropic_keys,
    anthropic_marks,
    anthropic_thinking,
    anthropic_tools,
)
from .anthropic_keys import BLOCK_KEYS
from .anthropic_view import Block, Request, Rule, Turn, is_server_tool, may_be_paused, read
from .problem import Level, Problem
from .reading import Object, objects, repeats
from .view import array, is_redacted, mapping, shown, text

ID = re.compile(r"[a-zA-Z0-9_-]+")
RESULT_PARTS = ("text", "image", "document", "search_result", "tool_reference", "browser_state")
NOWHERE = Turn("", "", [])


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """Everything in this body that the server would refuse, rule by rule."""
    request = read(body, model)
    for rule in RULES:
        yield from rule(request)


def messages_are_objects(request: Request) -> Iterator[Problem]:
    messages = request.body.get("messages")
    advice = "send the conversation as `messages`, an array of objects"
    if not isinstance(messages, list | tuple) or not messages:
        wrong = "Field required" if "messages" not in request.body else "at least one message is required"
        yield Problem("BODY", "messages", f"messages: {wrong}", advice)
    for place, message in enumerate(array(messages)):
        if not isinstance(message, Mapping):
            path = f"messages.{place}"
            yield Problem("BODY", path, f"{path}: Input does not match the expected shape.", advice)


def every_call_is_answered(request: Request) -> Iterator[Problem]:
    """ANT-01: the calls of a turn are answered in the next one."""
    for turn, following in pairwise([*request.speakers, NOWHERE]):
        if turn.role != "assistant":
            for block in turn.of_type("tool_use"):
                answer = f"{block.path}: `tool_use` blocks can only be in `assistant` messages"
                yield Problem("ANT-01", block.path, answer, "send calls under the assistant's role")
            continue
        if _pairs_by_count(request, turn, following):
            continue
        answered = set(following.ids("tool_result", "tool_use_id"))
        missing = [id for id in turn.ids("tool_use", "id") if id and id not in answered]
        if missing:
            answer = (
                f"{turn.path}: `tool_use` ids were found without `tool_result` blocks immediately after: "
                f"{', '.join(shown(id) for id in missing)}. Each `tool_use` block must have a corresponding "
                "`tool_result` block in the next message."
            )
            yield Problem("ANT-01", turn.path, answer, "answer each call, if only as interrupted")


def _pairs_by_count(request: Request, calls: Turn, results: Turn) -> bool:
    ids, answered = calls.ids("tool_use", "id"), results.ids("tool_result", "tool_use_id")
    return not request.traits.pairs_by_id and len(ids) == len(answered)


def results_come_first(request: Request) -> Iterator[Problem]:
    """ANT-02: in the turn that answers calls, nothing stands before the results."""
    for turn in request.turns:
        if turn.role != "user":
            continue
        rest = iter(turn.blocks)
        opening = next((block for block in rest if block.type != "tool_result"), None)
        late = [block for block in rest if block.type == "tool_result"]
        if opening and late:
            answer = (
                f"{turn.path}: Did not find {len(late)} `tool_result` block(s) at the beginning of this "
                "message. Messages following `tool_use` blocks must begin with a matching number of "
                "`tool_result` blocks."
            )
            yield Problem("ANT-02", late[0].path, answer, "put the results first, then text and images")


def every_result_has_its_call(request: Request) -> Iterator[Problem]:
    """ANT-03: a result answers a call of the turn just before."""
    for before, turn in pairwise([NOWHERE, *request.speakers]):
        if turn.role == "assistant":
            for block in turn.of_type("tool_result"):
                answer = f"{block.path}: `tool_result` blocks can only be in `user` messages"
                yield Problem("ANT-03", block.path, answer, "send results under the user's role")
            continue
        if _pairs_by_count(request, before, turn):
            continue
        calls = set(before.ids("tool_use", "id")) if before.role == "assistant" else set()
        for block in turn.of_type("tool_result"):
            id = text(block.raw.get("tool_use_id"))
            if id and id not in calls:
                answer = (
                    f"{block.path}: unexpected `tool_use_id` found in `tool_result` blocks: {shown(id)}. "
                    "Each `tool_result` block must have a corresponding `tool_use` block in the previous "
                    "message."
                )
                yield Problem("ANT-03", block.path, answer, "send the result right after its call, or not")


def one_result_each(request: Request) -> Iterator[Problem]:
    """ANT-04: a call has a single result."""
    for turn in request.turns:
        results = ((block.path, text(block.raw.get("tool_use_id"))) for block in turn.of_type("tool_result"))
        for path, id in repeats(results):
            answer = (
                f"{path}: each tool_use must have a single result. "
                f"Found multiple `tool_result` blocks with id: {shown(id)}"
            )
            yield Problem("ANT-04", path, answer, "keep one result")


def call_ids_are_unique(request: Request) -> Iterator[Problem]:
    """ANT-05: no two calls of a turn share an id, and better none of the whole request."""
    used: set[str] = set()
    for turn in request.turns:
        calls = [(block.path, text(block.raw.get("id"))) for block in turn.of_type("tool_use")]
        within = dict(repeats(calls))
        for path, id in calls:
            if is_redacted(id) or not (path in within or id in used):
                continue
            # Recorded: an id that was used in an earlier turn, status 200.
            level: Level = "refused" if path in within else "warning"
            answer, advice = f"{path}: `tool_use` ids must be unique", "give each call an id of its own"
            yield Problem("ANT-05", path, answer, f"{advice}: {shown(id)} is used twice", level)
        used.update(id for _, id in calls if id)


def ids_are_plain(request: Request) -> Iterator[Problem]:
    """ANT-06: an id has letters, digits, _ and -, and at least one of them."""
    for block in request.blocks("tool_use", "tool_result"):
        key = "id" if block.type == "tool_use" else "tool_use_id"
        path = f"{block.path}.{block.type}.{key}"
        if block.raw.get(key) is None:
            yield Problem("ANT-06", path, f"{path}: Field required", "give the call an id")
        elif not ID.fullmatch(text(block.raw[key])):
            answer = f"{path}: String should match pattern '^[a-zA-Z0-9_-]+$'"
            yield Problem("ANT-06", path, answer, "project foreign ids to letters, digits, _ and -")


def arguments_are_objects(request: Request) -> Iterator[Problem]:
    """ANT-07: the input of a call is an object."""
    for block in request.blocks("tool_use"):
        if not isinstance(block.raw.get("input"), Mapping):
            path = f"{block.path}.tool_use.input"
            wrong = "Input should be a valid dictionary" if "input" in block.raw else "Field required"
            yield Problem("ANT-07", path, f"{path}: {wrong}", "send the arguments as an object, {} for none")


def calls_come_last(request: Request) -> Iterator[Problem]:
    """ANT-31: text after a call was refused for a while."""
    for turn in request.turns:
        called = False
        for block in turn.blocks:
            if called and block.type == "text" and turn.role == "assistant":
                answer = (
                    f"{turn.path}: `tool_use` ids were found without `tool_result` blocks immediately after"
                )
                yield Problem("ANT-31", block.path, answer, "put the text before the calls", "warning")
                break
            called = called or block.type == "tool_use"


def nothing_is_empty(request: Request) -> Iterator[Problem]:
    """ANT-10: no blank text, no message without content but a last one of the assistant."""
    messages = list(objects(request.body.get("messages")))
    for place, message in messages:
        last = place == len(array(request.body["messages"])) - 1 and message.get("role") == "assistant"
        spared = last or message.get("output_config")  # a system message may only set options
        if message.get("content") in (None, "", []) and not spared:
            answer = (
                f"messages.{place}: all messages must have non-empty content "
                "except for the optional final assistant message"
            )
            yield Problem("ANT-10", f"messages.{place}", answer, "leave the message out")
    spoken = [block for turn in request.turns for block in turn.of_type("text")]
    system = [Block(f"system.{place}", "text", block) for place, block in objects(request.body.get("system"))]
    final = request.turns[-1].blocks[-1:] if request.turns and request.turns[-1].role == "assistant" else []
    beside_calls = {block.path for block in _blanks_beside_calls(request)}
    for block in spoken + system:
        whole = block.path.endswith(".content") and not block.text  # the empty message, said above
        if block.text.strip() or whole or block in final or block.raw.get("cache_control"):
            continue
        wrong = "must contain non-whitespace text" if block.text else "must be non-empty"
        answer = f"{block.path.split('.')[0]}: text content blocks {wrong}"
        level: Level = "warning" if block.path in beside_calls else "refused"
        yield Problem("ANT-10", block.path, answer, "leave blank text blocks out", level)


def _blanks_beside_calls(request: Request) -> Iterator[Block]:
    """Recorded: a text of one space in a turn that makes calls, status 200. An empty text is refused."""
    for turn in request.turns:
        if turn.role == "assistant" and any(turn.of_type("tool_use")):
            yield from (block for block in turn.of_type("text") if block.text)


def prefill_ends_in_no_blank(request: Request) -> Iterator[Problem]:
    """ANT-11 and ANT-12: how a request may end with words put into the model's mouth."""
    last = request.turns[-1] if request.turns else NOWHERE
    if last.role != "assistant" or may_be_paused(last) or any(last.of_type("tool_use")):
        return
    if not request.traits.prefill:
        answer = (
            "This model does not support assistant message prefill. "
            "The conversation must end with a user message."
        )
        yield Problem("ANT-12", last.path, answer, "end with a user message")
    final = last.blocks[-1] if last.blocks else Block("", "", {})
    if final.type == "text" and final.text != final.text.rstrip() and final.text.strip():
        answer = "messages: final assistant content cannot end with trailing whitespace"
        yield Problem("ANT-11", final.path, answer, "strip the end of the text")


def a_user_speaks_first(request: Request) -> Iterator[Problem]:
    """ANT-13: the first message is the user's, and there are no other roles."""
    first = request.turns[0] if request.turns else NOWHERE
    # Recorded: a conversation that the assistant opens, in its own words or with the server's search,
    # status 200. Only ordinary blocks tell that the user was forgotten; a compaction may open it too.
    if first.role == "assistant" and all(block.type in BLOCK_KEYS for block in first.blocks):
        answer = 'messages: first message must use the "user" role'
        yield Problem("ANT-13", first.path, answer, "begin with a user message", "warning")
    for turn in request.turns:
        if turn.role not in ("user", "assistant", "system"):
            answer = f"{turn.path}.role: Input should be 'user' or 'assistant'"
            yield Problem("ANT-13", turn.path, answer, "send results as user, system text as system")


def system_messages_keep_their_place(request: Request) -> Iterator[Problem]:
    """ANT-26: a system message is for newer models, after a user's turn and before the model's."""
    for before, turn, after in zip(
        [NOWHERE, *request.turns], request.turns, [*request.turns[1:], NOWHERE], strict=False
    ):
        if turn.role != "system":
            continue
        if not request.traits.system_messages:
            answer = "role 'system' is not supported on this model"
        # Recorded: one after an assistant turn that ends with the server's search result, status 200.
        elif before.role != "user" and not any(map(is_server_tool, before.blocks[-1:])):
            answer = f"{turn.path}: role 'system' must follow a user message"
        elif after.role not in ("assistant", ""):
            answer = f"{turn.path}: role 'system' must precede an assistant message or end the conversation"
        elif any(turn.of_type("image", "document", "tool_use", "tool_result", "thinking")):
            answer = f"{turn.path}: role 'system' takes text only"
        else:
            continue
        yield Problem("ANT-26", turn.path, answer, "put the text into system, or into the user's message")


def results_are_content(request: Request) -> Iterator[Problem]:
    """ANT-28: a result holds a string or content blocks, an error text only."""
    for block in request.blocks("tool_result"):
        content, path = block.raw.get("content"), f"{block.path}.tool_result.content"
        if content is not None and not isinstance(content, str | list | tuple):
            yield Problem("ANT-28", path, f"{path}: Input should be a valid list", "send the result as text")
        for place, part in enumerate(array(content)):
            yield from _part_problems(f"{path}.{place}", mapping(part))
        yield from _error_problems(block, path)


def _part_problems(path: str, part: Object) -> Iterator[Problem]:
    type = text(part.get("type"))
    if type in RESULT_PARTS:
        return
    expected = ", ".join(f"'{known}'" for known in sorted(RESULT_PARTS))
    answer = (
        f"{path}: Input tag '{type}' found using 'type' does not match any of the expected tags: {expected}"
    )
    yield Problem("ANT-28", path, answer, "send the result as text, image, document or search_result")


def _error_problems(block: Block, path: str) -> Iterator[Problem]:
    if block.raw.get("is_error") is not True:
        return
    content = block.raw.get("content")
    if not content:
        answer = f"{block.path}.tool_result: content cannot be empty if `is_error` is true"
        yield Problem("ANT-28", path, answer, "say what went wrong")
    elif any(part.get("type") in RESULT_PARTS[1:] for _, part in objects(content)):
        answer = f'{block.path}.tool_result: all content must be type "text" if `is_error` is true'
        yield Problem("ANT-28", path, answer, "send only the text of the error")


def server_tools_stay_paired(request: Request) -> Iterator[Problem]:
    """ANT-30: what the server ran is sent back whole, the use before its result."""
    uses: dict[str, Block] = {}
    results: set[str] = set()
    for block in request.server_blocks():
        if not block.type.endswith("_tool_result"):
            uses[text(block.raw.get("id"))] = block
            continue
        id = text(block.raw.get("tool_use_id"))
        results.add(id)
        if id not in uses and not is_redacted(id):
            answer = (
                f"{block.path}: unexpected `tool_use_id` found in `{block.type}` blocks: {shown(id)}. Each "
                f"`{block.type}` block must have a corresponding `server_tool_use` block before it."
            )
            yield Problem("ANT-30", block.path, answer, "send the assistant's message back unchanged")
    yield from _unfinished_uses(request, uses, results)


def _unfinished_uses(request: Request, uses: dict[str, Block], results: set[str]) -> Iterator[Problem]:
    """A use may lack its result while the turn is paused, or while the server's code awaits a client."""
    open_ends = [turn for turn in request.turns if turn.role == "assistant"]
    excused = {
        block.path
        for place, turn in enumerate(open_ends)
        for block in turn.blocks
        if place == len(open_ends) - 1 or any(turn.of_type("tool_use"))
    }
    if any(is_redacted(id) for id in results):
        return
    for id, block in uses.items():
        if block.type == "server_tool_use" and id not in results and block.path not in excused:
            name = text(block.raw.get("name")) or "server"
            answer = (
                f"{block.path}: `{name}` tool use with id `{shown(id)}` was found without a corresponding "
                f"`{name}_tool_result` block"
            )
            yield Problem("ANT-30", block.path, answer, "send the assistant's message back unchanged")


RULES: tuple[Rule, ...] = (
    messages_are_objects,
    every_call_is_answered,
    results_come_first,
    every_result_has_its_call,
    one_result_each,
    call_ids_are_unique,
    ids_are_plain,
    arguments_are_objects,
    calls_come_last,
    nothing_is_empty,
    prefill_ends_in_no_blank,
    a_user_speaks_first,
    system_messages_keep_their_place,
    anthropic_keys.no_foreign_keys,
    results_are_content,
    server_tools_stay_paired,
    *anthropic_blocks.RULES,
    *anthropic_images.RULES,
    *anthropic_marks.RULES,
    *anthropic_tools.RULES,
    *anthropic_thinking.RULES,
)
