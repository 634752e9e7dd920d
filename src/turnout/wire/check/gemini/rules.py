"""What Gemini generateContent refuses (rules GEM-01 to GEM-17): contents and tool config.

A turn of calls is followed directly by as many responses. They are paired by id if there is
one, else by name. Keys are read in camelCase and snake_case, as the server does. Rules for
schemas are in `schema`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ..chat.view import array, brief, is_redacted, text
from ..model_limits import temperature_problem
from ..problem import Level, Problem
from . import schema as gemini_schema
from .view import DATA, CallStep, Content, GeminiRequest, Rule, field, view_body

NOWHERE = Content("", "", ())
ROLES = ("user", "model")
DEEPEST = 60
BASE64 = re.compile(r"[A-Za-z0-9+/_-]*={0,2}")


def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """Everything in this body that the server would refuse, rule by rule."""
    request = view_body(body, model)
    for rule in RULES:
        yield from rule(request)


def something_is_asked(request: GeminiRequest) -> Iterator[Problem]:
    if not request.contents and "input" not in request.body:  # an interaction has its own fields
        answer = "* GenerateContentRequest.contents: contents is not specified"
        yield Problem("BODY", "contents", answer, "send the conversation as `contents`, a list of turns")


def every_call_is_answered(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-01: as many responses follow as there were calls."""
    for step in request.steps():
        if not step.is_answered:
            answer = (
                "Please ensure that the number of function response parts is equal to the number of "
                "function call parts of the function call turn."
            )
            yield Problem("GEM-01", step.path, answer, "answer each call, if only as interrupted")


def calls_follow_the_user(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-02: a turn of calls comes right after the user or a response."""
    for before, content in pairwise((NOWHERE, *request.contents)):
        if content.calls and content.role == "model" and before.role in ("model", ""):
            answer = (
                "Please ensure that function call turn comes immediately after a user turn or after a "
                "function response turn."
            )
            # Recorded: a turn of calls after another one, both answered after the second, status 200.
            level: Level = "warning" if before.calls else "refused"
            yield Problem("GEM-02", content.path, answer, "join neighbouring model turns into one", level)


def responses_follow_calls(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-03: a turn of responses comes right after the calls."""
    answered = {response.path for step in request.steps() for response in step.answers}
    for content in request.contents:
        if any(response.path not in answered for response in content.responses):
            answer = "Please ensure that function response turn comes immediately after a function call turn."
            yield Problem("GEM-03", content.path, answer, "send the response right after its call, or not")


def roles_are_two(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-04: user and model, the user first and last."""
    for content in request.contents:
        if content.role not in ROLES:
            answer = "Please use a valid role: user, model."
            yield Problem("GEM-04", f"{content.path}.role", answer, "send results as user, system text apart")
        wrong = content.responses if content.role == "model" else content.calls
        if wrong and content.role in ROLES:
            answer = (
                f"Please use a valid role: user, model. Function {wrong[0].kind}s do not suit {content.role}."
            )
            yield Problem("GEM-04", content.path, answer, "send calls as model and responses as user")
    first, last = request.contents[:1], request.contents[-1:]
    if first and first[0].role == "model" and not first[0].calls:
        answer = "Please ensure that multiturn requests start with a user turn."
        # No refusal of this was seen; only that the last turn is the user's is enforced (crewAI#6973).
        yield Problem("GEM-04", first[0].path, answer, "begin with a user turn", "warning")
    if last and last[0].role == "model" and not last[0].calls:
        answer = "Please ensure that multiturn requests end with a user role or a function response."
        yield Problem("GEM-04", last[0].path, answer, "end with a user turn")


def responses_are_objects(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-05: a response is an object and has the name of its call."""
    for content in request.contents:
        for response in content.responses:
            value = field(response.raw, "response")
            if value is not None and not isinstance(value, Mapping):
                path = f"{response.path}.response"
                answer = f"Invalid value at '{path}' (type.googleapis.com/google.protobuf.Struct)"
                yield Problem("GEM-05", path, answer, "wrap the result: {output: …} or {error: …}")
            if not response.name:
                answer = f"{response.path}.name: [REQUIRED_FIELD_MISSING] Name cannot be empty."
                yield Problem("GEM-05", response.path, answer, "name the function that was called")
    for step in request.steps():
        yield from _name_problems(step)


def values_are_shallow(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-05, a limit of protobuf: JSON of more than about 60 levels is refused."""
    for content in request.contents:
        values = [(f"{call.path}.args", field(call.raw, "args")) for call in content.calls]
        values += [(f"{item.path}.response", field(item.raw, "response")) for item in content.responses]
        for path, value in values:
            if _is_deep(value):
                answer = (
                    f"Invalid JSON payload received. Message too deep. Max recursion depth reached: {path}"
                )
                yield Problem("GEM-05", path, answer, "send the value as JSON text under a name")


def _is_deep(value: Any) -> bool:
    level = [value] if isinstance(value, Mapping | list | tuple) else []
    for _ in range(DEEPEST):
        inside = (part for item in level for part in (item.values() if isinstance(item, Mapping) else item))
        level = list({id(part): part for part in inside if isinstance(part, Mapping | list | tuple)}.values())
    return bool(level)


def _name_problems(step: CallStep) -> Iterator[Problem]:
    wanted = Counter(call.name for call in step.calls)
    if not step.is_answered or wanted == Counter(response.name for response in step.answers):
        return
    for response in step.answers:
        if response.name and not wanted[response.name]:
            answer = (
                "Please ensure that the function response name matches the function call name: "
                f"'{brief(response.name)}' was not called."
            )
            yield Problem("GEM-05", f"{response.path}.name", answer, "use the name of the call")
        wanted[response.name] -= 1


def ids_are_echoed(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-06: Gemini 3 gives calls ids and wants them back."""
    if request.version < 3:
        return
    for step in request.steps():
        ids = {call.id for call in step.calls}
        if "" in ids or not step.is_answered:
            continue
        for response in step.answers:
            if response.id not in ids:
                answer = (
                    f"{response.path}.id: '{brief(response.id)}' is the id of no call. Please ensure that "
                    "the number of function response parts is equal to the number of function call parts of "
                    "the function call turn."
                )
                yield Problem("GEM-06", f"{response.path}.id", answer, "echo the id of the call")


def calls_are_signed(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-07 and GEM-08: in the current turn of Gemini 3 the first call of each step is signed."""
    if request.version < 3:
        return
    for position, content in request.current_turn():
        if content.role != "model" or not content.calls or content.calls[0].signature:
            continue
        if request.continues_calls(position):
            continue  # parallel calls: the first of the step is signed
        # A signature on a later call was moved there: the server requires it on the first.
        moved = any(call.signature for call in content.calls)
        answer = (
            "Function call is missing a thought_signature in functionCall parts. This is required for tools "
            "to work correctly, and missing thought_signature may lead to degraded model performance. "
            f"Additional data, function call `default_api:{brief(content.calls[0].name)}` , "
            f"position {position + 1}."
        )
        advice = (
            "put the signature back on the first call"
            if moved
            else "send the call's own thoughtSignature, or skip_thought_signature_validator if it has none"
        )
        yield Problem("GEM-08" if moved else "GEM-07", content.calls[0].path, answer, advice)


def parts_hold_one_thing(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-15: a turn has parts, a part one kind of data, and responses stand before text."""
    for content in request.contents:
        if not content.parts:
            answer = f"* GenerateContentRequest.{content.path}.parts: contents.parts must not be empty."
            yield Problem("GEM-15", content.path, answer, "leave the turn out")
        other = False
        for path, part in content.parts:
            held = [key for key in DATA if field(part, key) is not None]
            # Keys that are not known may be data of a newer kind.
            if len(held) > 1 or not part.keys() - NO_DATA - {key for key in part if part[key] is None}:
                answer = (
                    f"* GenerateContentRequest.{path}.data: required oneof field 'data' must have one "
                    "initialized field"
                )
                yield Problem("GEM-15", path, answer, "give each part one of text, functionCall and so on")
            elif other and "functionResponse" in held:
                answer = "Please ensure that function response parts come before other parts of the turn."
                yield Problem("GEM-15", path, answer, "put functionResponse parts first")
            other = other or "functionResponse" not in held


def signatures_are_base64(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-15, a rule of protobuf: a signature is bytes, written as base64."""
    for content in request.contents:
        for path, part in content.parts:
            signature = field(part, "thoughtSignature")
            if signature is None or is_redacted(signature):
                continue
            if not isinstance(signature, str) or not BASE64.fullmatch(signature):
                answer = f"Invalid value at '{path}.thought_signature' (TYPE_BYTES), Base64 decoding failed"
                advice = "send the signature as it came; without one, skip_thought_signature_validator"
                yield Problem("GEM-15", f"{path}.thought_signature", answer, advice)


# Fields of a part that are not data. A part with only a signature comes from some servers.
NO_DATA = {"thought", "partMetadata", "part_metadata", "videoMetadata", "video_metadata"}


def names_are_allowed_with_force(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-16: allowedFunctionNames go with mode ANY or VALIDATED."""
    config = field(field(request.body, "toolConfig"), "functionCallingConfig")
    names, mode = field(config, "allowedFunctionNames"), text(field(config, "mode")).upper()
    if array(names) and mode not in ("ANY", "VALIDATED"):
        path = "tool_config.function_calling_config.allowed_function_names"
        answer = f"{path}: should only be set when the function calling mode is ANY or VALIDATED."
        yield Problem("GEM-16", path, answer, "set mode ANY, or leave the names out")


def old_models_take_no_response_parts(request: GeminiRequest) -> Iterator[Problem]:
    """GEM-17: only Gemini 3 takes images inside a response."""
    if not 0 < request.version < 3:
        return
    for content in request.contents:
        for response in content.responses:
            if array(field(response.raw, "parts")):
                answer = (
                    f"{response.path}.parts: multimodal function responses are not supported by this model."
                )
                yield Problem(
                    "GEM-17", response.path, answer, "send inlineData as a part of its own after it"
                )


def the_temperature_fits(request: GeminiRequest) -> Iterator[Problem]:
    """OPT-01: up to 2, as Vertex says it."""
    value = field(field(request.body, "generationConfig"), "temperature")
    yield from temperature_problem(value, 2, _VERTEX_WORDS.format, "generation_config.temperature")


_VERTEX_WORDS = (
    "Unable to submit request because it has a temperature value of {:g} but the supported range is from 0 "
    "(inclusive) to 2.0001 (exclusive). Update the value and try again."
)


RULES: tuple[Rule, ...] = (
    something_is_asked,
    every_call_is_answered,
    calls_follow_the_user,
    responses_follow_calls,
    roles_are_two,
    responses_are_objects,
    values_are_shallow,
    ids_are_echoed,
    calls_are_signed,
    parts_hold_one_thing,
    signatures_are_base64,
    names_are_allowed_with_force,
    old_models_take_no_response_parts,
    the_temperature_fits,
    *gemini_schema.RULES,
)
