"""What Converse refuses in a conversation (rules BDK-01 to BDK-08). The shapes of fields are in `shapes`.

Bedrock checks the shape of a body itself, and the model's own server the conversation. The texts
are those that were seen or documented.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ..chat.view import array, mapping, text
from ..problem import Problem
from ..reading import repeats
from . import shapes
from .view import ConverseMessage, ConverseRequest, ConverseRule, view_converse

NOWHERE = ConverseMessage("", "", ())


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """Everything in this body that Bedrock would refuse, rule by rule."""
    request = view_converse(body, model)
    for rule in RULES:
        yield from rule(request)


def messages_are_given(request: ConverseRequest) -> Iterator[Problem]:
    messages = request.body.get("messages")
    if not isinstance(messages, list | tuple) or not messages:
        answer = "The messages field is required. Add a conversation and try again."
        yield Problem("BODY", "messages", answer, "send the conversation as `messages`")
    for message in request.messages:
        if not message.blocks:
            answer = f"The content field in the Message object at {message.path} is empty. Add a ContentBlock"
            yield Problem("BDK-02", message.path, answer, "leave the message out, or say something in it")


def roles_alternate(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-02: user first, then in turn."""
    for before, message in pairwise([NOWHERE, *request.messages]):
        if not before.path and message.role == "assistant":
            answer = (
                "A conversation must start with a user message. Try again with a conversation that starts "
                "with a user message."
            )
            yield Problem("BDK-02", message.path, answer, "begin with a message of the user", "warning")
        elif before.role and message.role == before.role:
            answer = (
                "A conversation must alternate between user and assistant roles. Make sure the conversation "
                "alternates between user and assistant roles and try again."
            )
            yield Problem("BDK-02", message.path, answer, "join the two messages", _if_strict(request))


def _if_strict(request: ConverseRequest) -> Any:
    """Recorded: neighbours of one role were accepted by some models (3 of 455)."""
    return "refused" if request.family == "nova" else "warning"


def last_is_the_user(request: ConverseRequest) -> Iterator[Problem]:
    """A last message of the assistant is a prefill, which few models take."""
    if request.messages and request.messages[-1].role == "assistant":
        path = request.messages[-1].path
        answer = "This model does not support assistant message prefill. End with a user message."
        yield Problem("BDK-02", path, answer, "end with a message of the user", "warning")


def texts_say_something(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-02: no blank text."""
    for _, block in request.blocks():
        if block.kind == "text" and not text(block.value).strip():
            answer = (
                f"The text field in the ContentBlock object at {block.path} is blank. Add text to the text "
                "field, and try again."
            )
            yield Problem("BDK-02", block.path, answer, "leave the block out")


def calls_are_answered(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-01: all results of a turn's calls stand in the next message, one for each call."""
    for message, following in pairwise([*request.messages, NOWHERE]):
        calls, results = message.call_ids, following.result_ids if following.role == "user" else []
        if message.role != "assistant":
            for block in message.blocks:
                if block.is_call:
                    answer = f"The toolUse block at {block.path} can only be in an assistant message."
                    yield Problem("BDK-01", block.path, answer, "send calls under the assistant's role")
            continue
        missing = [id for id in calls if id not in results]
        if missing:
            answer = (
                f"Expected toolResult blocks at {following.path or 'the next message'}.content for the "
                f"following Ids: {', '.join(missing)}"
            )
            yield Problem("BDK-01", message.path, answer, "answer each call in the next message")


def results_answer_calls(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-01: no result without a call in the message before, and none twice."""
    for before, message in pairwise([NOWHERE, *request.messages]):
        results = [block for block in message.blocks if block.is_result]
        if message.role != "user":
            continue
        calls = before.call_ids if before.role == "assistant" else []
        stray = [block for block in results if block.id not in calls]
        again = {path for path, _ in repeats((block.path, block.id) for block in results)}
        if stray or again:
            answer = (
                f"The number of toolResult blocks at {message.path}.content exceeds the number of toolUse "
                "blocks of previous turn."
            )
            path = stray[0].path if stray else next(iter(again))
            yield Problem("BDK-01", path, answer, "answer each call of the turn before once")


def results_come_first(request: ConverseRequest) -> Iterator[Problem]:
    """Recorded in 105 of 106 requests; Claude refuses other blocks before its results (ANT-02)."""
    for message in request.messages:
        if message.role != "user":
            continue
        others = False
        for block in message.blocks:
            if block.is_result and others:
                answer = f"{block.path}: toolResult blocks must come before other blocks of the message."
                level: Any = "refused" if request.family == "claude" else "warning"
                yield Problem("BDK-07", block.path, answer, "put the results first", level)
                break
            others = others or not block.is_result


def calls_come_last(request: ConverseRequest) -> Iterator[Problem]:
    """Recorded in 105 of 105 requests."""
    for message in request.messages:
        called = False
        for block in message.blocks:
            if called and not block.is_call and block.kind != "cachePoint":
                answer = f"{block.path}: a block after toolUse blocks."
                yield Problem("BDK-08", block.path, answer, "put the calls last", "warning")
                break
            called = called or block.is_call


def ids_are_unique(request: ConverseRequest) -> Iterator[Problem]:
    """Within one message."""
    for message in request.messages:
        ids = ((block.path, block.id) for block in message.blocks if block.is_call)
        for path, id in repeats(ids):
            answer = f"The toolUse blocks at {message.path}.content contain duplicate Ids: {id}"
            yield Problem("BDK-01", path, answer, "give each call an id of its own")


def tools_are_declared(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-03: calls and results need `toolConfig`, whatever may be called now."""
    tools = array(mapping(request.body.get("toolConfig")).get("tools"))
    if tools:
        return
    found = next((block for _, block in request.blocks() if block.is_call or block.is_result), None)
    if found is not None:
        answer = "The toolConfig field must be defined when using toolUse and toolResult content blocks."
        yield Problem("BDK-03", found.path, answer, "declare the tools that the history calls")


def failed_results_say_why(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-04: a failed result has content."""
    for _, block in request.blocks():
        held = mapping(block.value)
        if block.is_result and held.get("status") == "error" and not array(held.get("content")):
            answer = f"The content field at {block.path}.toolResult cannot be empty when status is error."
            yield Problem("BDK-04", block.path, answer, "say what went wrong")


def reasoning_is_signed(request: ConverseRequest) -> Iterator[Problem]:
    """BDK-06: Claude takes back only thoughts that it signed, and only from the assistant."""
    for message, block in request.blocks():
        if block.kind != "reasoningContent":
            continue
        if message.role != "assistant":
            answer = f"The reasoningContent block at {block.path} can only be in an assistant message."
            yield Problem("BDK-06", block.path, answer, "send thoughts under the assistant's role")
        shown = mapping(mapping(block.value).get("reasoningText"))
        if request.family == "claude" and shown and not text(shown.get("signature")):
            answer = (
                f"The model returned the following errors: {block.path}.thinking.signature: Field required"
            )
            yield Problem("BDK-06", block.path, answer, "leave out thoughts without a signature")


def documents_have_a_text(request: ConverseRequest) -> Iterator[Problem]:
    """A message that shows a document says something too; no two documents have one name."""
    for message in request.messages:
        kinds = [block.kind for block in message.blocks]
        if "document" in kinds and "text" not in kinds:
            answer = f"The message at {message.path} has a document and no text. Add a text block."
            yield Problem("BDK-10", message.path, answer, "say what to do with the document", "warning")
    named = (
        (block.path, text(mapping(block.value).get("name")))
        for _, block in request.blocks()
        if block.kind == "document"
    )
    for path, name in repeats(named):
        answer = f"The document name {name} is used more than once. Use unique names and try again."
        yield Problem("BDK-10", path, answer, "give each document a name of its own", "warning")


RULES: tuple[ConverseRule, ...] = (
    messages_are_given,
    roles_alternate,
    last_is_the_user,
    texts_say_something,
    calls_are_answered,
    results_answer_calls,
    results_come_first,
    calls_come_last,
    ids_are_unique,
    tools_are_declared,
    failed_results_say_why,
    reasoning_is_signed,
    documents_have_a_text,
    *shapes.RULES,
)
