"""Mistral: Chat messages under the rules of the model's own tokenizer.

The hosted API and vLLM both validate with what `mistral_common` publishes: nine-character
ids, as many results as calls, a fixed order of roles. Newer tokenizers ask less; models
named in `OLD` have the oldest ones.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import jsonschema_rs
from msgspec import Struct

from .chat import judge, messages_present, wrong_type
from .model_limits import temperature_problem
from .pairing import Rule
from .problem import Problem
from .view import Message, View, is_empty, is_redacted, shown, text

ID = re.compile(r"[a-zA-Z0-9]{9}")
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
OLD = ("open-mistral-7b", "open-mixtral", "mistral-tiny", "mistral-7b", "mixtral-8x", "codestral-22b")


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What the hosted Mistral API would refuse."""
    yield from judge(RULES, body, model=model)


def _is_old(seen: View) -> bool:
    return any(name in seen.model for name in OLD)


# MIS-01. The newest tokenizers take any id, but which model has which is not in the body.


def ids_have_nine_characters(seen: View) -> Iterator[Problem]:
    for path, id in _ids(seen):
        if not isinstance(id, str) or not (ID.fullmatch(id) or is_redacted(id)):
            yield _bad_id(path, id)


def last_nine_characters_fit(seen: View) -> Iterator[Problem]:
    """vLLM cuts longer ids to their last nine characters before it looks."""
    for path, id in _ids(seen):
        if not isinstance(id, str) or not (ID.fullmatch(id[-9:]) or is_redacted(id)):
            yield _bad_id(path, id)


def _bad_id(path: str, id: Any) -> Problem:
    answer = f"Tool call id was {shown(id)} but must be a-z, A-Z, 0-9, with a length of 9."
    return Problem("MIS-01", path, answer, "use nine letters and digits, the same on the call and its result")


def _ids(seen: View) -> Iterator[tuple[str, Any]]:
    for message in seen.messages:
        for call in message.calls:
            yield f"{call.path}.id", call.id
        if message.role == "tool":
            yield f"{message.path}.tool_call_id", message.answers


# MIS-02, MIS-03. A batch is an assistant message and the results up to the next one.
# The hosted API counts a first assistant message too (recorded), which mistral_common skips.


class Batch(Struct, frozen=True):
    path: str
    calls: list[Any]
    results: list[Message]


def _batches(seen: View) -> Iterator[Batch]:
    batch = Batch("messages", [], [])
    for message in seen.messages:
        if message.role == "tool":
            batch.results.append(message)
        elif message.role == "assistant":
            yield batch
            batch = Batch(message.path, [call.id for call in message.calls], [])
    yield batch


def results_are_counted(seen: View) -> Iterator[Problem]:
    """An id that does not belong is the better thing to say, as is a last message that may not be last."""
    for batch in _batches(seen):
        if len(batch.calls) == len(batch.results) or batch.path == _bad_end(seen):
            continue
        if _is_old(seen) or not any(_strays(batch)):
            answer = "Not the same number of function calls and responses"
            advice = "send exactly one tool message for each call, before the next assistant message"
            yield Problem("MIS-02", batch.path, answer, advice)


def results_match_calls(seen: View) -> Iterator[Problem]:
    if _is_old(seen):
        return
    for batch in _batches(seen):
        advice = "answer each call of the assistant message once, with its own id"
        for path, answer in _strays(batch):
            yield Problem("MIS-03", path, answer, advice)
        for id in _repeated(batch.calls):
            answer = f"Duplicate tool call id {shown(id)} in assistant message"
            yield Problem("MIS-03", f"{batch.path}.tool_calls", answer, "give each call its own id")


def _strays(batch: Batch) -> Iterator[tuple[str, str]]:
    wanted = {id for id in batch.calls if isinstance(id, str)}
    answered: set[str] = set()
    for message in batch.results:
        id = text(message.answers)
        if id in answered:
            yield message.path, f"Duplicate tool call id {shown(id)} in tool results"
        elif id not in wanted:
            yield message.path, f"Unexpected tool call id {shown(id)} in tool results"
        answered.add(id)


def _repeated(ids: list[Any]) -> Iterator[str]:
    once: set[str] = set()
    for id in ids:
        if isinstance(id, str) and id in once:
            yield id
        once.add(text(id))


# MIS-04, MIS-06: which role may follow which. A user may follow a tool on every current
# model (recorded with 200 on hosted ones in 2026); old servers wanted an assistant between.

AFTER: dict[str, tuple[str, ...]] = {
    "system": ("user", "assistant", "system"),
    "user": ("assistant", "system", "user"),
    "assistant": ("assistant", "user", "tool"),
    "tool": ("assistant", "tool", "user"),
}


def roles_follow(seen: View) -> Iterator[Problem]:
    for before, message in zip(seen.messages, seen.messages[1:], strict=False):
        allowed = AFTER.get(before.role)
        if allowed is None or message.role not in AFTER or (before.role, message.role) == ("user", "tool"):
            continue
        if message.role not in allowed or (_is_old(seen) and (before.role, message.role) == ("tool", "user")):
            yield _out_of_order("MIS-04", before, message)


def results_follow_calls(seen: View) -> Iterator[Problem]:
    for before, message in zip(seen.messages, seen.messages[1:], strict=False):
        if (before.role, message.role) == ("user", "tool"):
            yield _out_of_order("MIS-06", before, message)


def _out_of_order(rule: str, before: Message, message: Message) -> Problem:
    answer = f"Unexpected role '{message.role}' after role '{before.role}'"
    advice = "put results directly after their calls, system messages at the start or after a user message"
    if (before.role, message.role) == ("tool", "user"):
        advice = "put a short assistant message between the results and the user"
    return Problem(rule, f"{message.path}.role", answer, advice)


def conversation_starts(seen: View) -> Iterator[Problem]:
    if len(seen.messages) == 1 and seen.messages[0].role in ("assistant", "tool"):
        answer = "Conversation must start with a user message or system message"
        yield Problem("MIS-06", seen.messages[0].path, answer, "send the user's message too")


# MIS-05


def conversation_ends(seen: View) -> Iterator[Problem]:
    if path := _bad_end(seen):
        answer = "Expected last role User or Tool (or Assistant with prefix) for serving but got assistant"
        advice = "end with a user or tool message, or mark the last one with prefix: true"
        yield Problem("MIS-05", path, answer, advice)


def _bad_end(seen: View) -> str:
    last = seen.messages[-1] if len(seen.messages) > 1 else None
    bad = last and last.role == "assistant" and last.raw.get("prefix") is not True
    return last.path if last and bad else ""


def prefix_is_last(seen: View) -> Iterator[Problem]:
    for message in seen.messages[:-1]:
        if message.role == "assistant" and message.raw.get("prefix") is True:
            answer = "Assistant message with prefix True must be last message"
            yield Problem(
                "MIS-05", f"{message.path}.prefix", answer, "leave `prefix` out of earlier messages"
            )


# MIS-07


def old_models_say_or_call(seen: View) -> Iterator[Problem]:
    if not _is_old(seen):
        return
    for message in seen.assistants():
        if is_empty(message.content) != bool(message.calls):
            answer = "Assistant message must have either content or tool_calls, but not both."
            advice = "this model's tokenizer takes text or calls in one message: send two messages"
            yield Problem("MIS-07", message.path, answer, advice)


# MIS-08


def names_fit(seen: View) -> Iterator[Problem]:
    for path, name in _names(seen):
        if not isinstance(name, str) or not NAME.fullmatch(name):
            answer = (
                f"Function name was {shown(name)} but must be a-z, A-Z, 0-9, or contain underscores and "
                "dashes, with a maximum length of 64."
            )
            yield Problem("MIS-08", path, answer, "rename the tool, in `tools`, in calls and in results")


def _names(seen: View) -> Iterator[tuple[str, Any]]:
    for tool in seen.tools:
        yield f"{tool.path}.function.name", tool.name
    for message in seen.messages:
        for call in message.calls:
            yield f"{call.path}.function.name", call.name
        if message.role == "tool" and message.raw.get("name") is not None:
            yield f"{message.path}.name", message.raw["name"]


# MIS-09


@cache
def _draft7() -> jsonschema_rs.Draft7Validator:
    """The schema of schemas. Formats are left alone: patterns may be written for another engine."""
    return jsonschema_rs.Draft7Validator(
        {"$ref": "http://json-schema.org/draft-07/schema#"}, validate_formats=False
    )


def schemas_are_valid(seen: View) -> Iterator[Problem]:
    for tool in seen.tools:
        schema = tool.definition.get("parameters")
        if schema is None:
            continue
        if fault := _schema_fault(schema):
            path = f"{tool.path}.function.parameters"
            advice = "send a JSON Schema that is valid under draft 7"
            yield Problem("MIS-09", path, f"Invalid tool schema: {fault}", advice)


def _schema_fault(schema: Any) -> str:
    try:
        error = next(_draft7().iter_errors(schema), None)
    except (ValueError, TypeError, RecursionError) as unreadable:
        return shown(str(unreadable))
    return shown(error.message) if error else ""


# MIS-10


def tool_choice_is_known(seen: View) -> Iterator[Problem]:
    choice = seen.body.get("tool_choice")
    if choice is None or choice in ("auto", "none", "any", "required"):
        return
    named = isinstance(choice, Mapping) and isinstance(choice.get("function"), Mapping)
    if not named:
        answer = (
            f"Input should be 'auto', 'none', 'any' or 'required', or name a function; got {shown(choice)}"
        )
        yield Problem("MIS-10", "tool_choice", answer, "use auto, none, any, required, or name one function")


# MIS-11. Thinking in a system message is left alone: Magistral's own prompt has it.


def thinking_has_its_place(seen: View) -> Iterator[Problem]:
    for message in seen.messages:
        if message.role == "system" or (message.role == "assistant" and not _is_old(seen)):
            continue
        for path, part in message.parts():
            if part.get("type") == "thinking":
                answer = f"Unexpected content chunk types in {message.role} message: ['ThinkChunk']"
                advice = "thinking chunks belong into assistant messages of models that think"
                yield Problem("MIS-11", path, answer, advice)


def thinking_is_no_field(seen: View) -> Iterator[Problem]:
    for message in seen.assistants():
        if message.raw.get("reasoning_content") is not None:
            path = f"{message.path}.reasoning_content"
            answer = f"{path}: Extra inputs are not permitted"
            advice = "send reasoning as a content chunk of type thinking, or not at all"
            yield Problem("MIS-11", path, answer, advice)


# OAC-08, as far as it goes here: Mistral takes the arguments as text or as an object.


def arguments_are_readable(seen: View) -> Iterator[Problem]:
    for call in seen.calls():
        if not isinstance(call.arguments, str | Mapping):
            path = f"{call.path}.function.arguments"
            answer = wrong_type(path, "a string or an object", call.arguments)
            yield Problem("OAC-08", path, answer, 'send "{}" when there are no arguments')


# OPT-01. It was 1 until 2024, and 1.5 since.


def temperature_fits(seen: View) -> Iterator[Problem]:
    value = seen.body.get("temperature")
    bound = "greater than or equal to 0" if str(value).startswith("-") else "less than or equal to 1.5"
    return temperature_problem(value, 1.5, f"Input should be {bound}".format)


TOKENIZER: tuple[Rule, ...] = (
    results_are_counted,
    results_match_calls,
    roles_follow,
    results_follow_calls,
    conversation_starts,
    conversation_ends,
    prefix_is_last,
    old_models_say_or_call,
    names_fit,
    schemas_are_valid,
    thinking_has_its_place,
)
RULES: tuple[Rule, ...] = (
    messages_present,
    ids_have_nine_characters,
    *TOKENIZER,
    tool_choice_is_known,
    temperature_fits,
    thinking_is_no_field,
    arguments_are_readable,
)
