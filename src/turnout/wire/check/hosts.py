"""The other servers that speak Chat, each with what it checks beyond or short of the wire's contract.

Where a server hands the request on, the maker of the model judges it: OpenRouter and
Copilot answer with the maker's text in an envelope of their own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import deepseek, kimi, mistral, models
from .chat import (
    CONTRACT,
    EVERYWHERE,
    HOSTED,
    OPENAI,
    PAIRING,
    SERVICE,
    arguments_are_strings,
    judge,
    messages_present,
)
from .model_limits import temperature_up_to
from .pairing import DROP_ORPHAN, ORPHAN, REPEATED, UNANSWERED, Rule, faults, orphans, unanswered
from .problem import Level, Problem
from .reading import repeats
from .view import Message, View, array, is_empty, is_redacted, mapping, shown, text

Violations = Callable[..., Iterator[Problem]]


def checker(rules: tuple[Rule, ...]) -> Violations:
    """The `violations` of a server that is nothing but its rules."""

    def violations(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
        return judge(rules, body, model=model)

    return violations


def for_family(family: str, rules: tuple[Rule, ...]) -> Rule:
    """Rules that hold only for models of one family."""

    def of_the_family(seen: View) -> Iterator[Problem]:
        if seen.family == family:
            for rule in rules:
                yield from rule(seen)

    return of_the_family


# Qwen on DashScope: QWN-01 to QWN-03

_QWEN_UNANSWERED = (
    '<400> InternalError.Algo.InvalidParameter: An assistant message with "tool_calls" must be followed by '
    'tool messages responding to each "tool_call_id". The following tool_call_ids did not have response '
    "messages: "
)
_QWEN_ORPHAN = (
    '<400> InternalError.Algo.InvalidParameter: messages with role "tool" must be a response to a preceeding '
    'message with "tool_calls".'
)
_QWEN_THINKERS = ("thinking", "qwq", "qvq", "qwen3.8-max")
_QWEN_HYBRID = re.compile(
    r"(?:^|/)qwen3-\d{1,3}(?:\.\d)?b(?:-a\d{1,2}b)?$"
)  # open weights: thinking unless told


def _qwen_thinks(seen: View) -> bool:
    asked = seen.body.get("enable_thinking")
    if isinstance(asked, bool):
        return asked
    return any(name in seen.model for name in _QWEN_THINKERS) or bool(_QWEN_HYBRID.search(seen.model))


def qwen_choice_is_free(seen: View) -> Iterator[Problem]:
    choice = seen.body.get("tool_choice")
    if _qwen_thinks(seen) and (choice == "required" or isinstance(choice, Mapping)):
        answer = (
            "<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set "
            "to required or object in thinking mode"
        )
        yield Problem("QWN-02", "tool_choice", answer, "use auto or none, or send enable_thinking: false")


def qwen_streams_thinking(seen: View) -> Iterator[Problem]:
    streams = seen.body.get("stream") is True
    if _QWEN_HYBRID.search(seen.model) and _qwen_thinks(seen) and not streams:
        answer = "parameter.enable_thinking must be set to false for non-streaming calls"
        advice = "send stream: true, or enable_thinking: false"
        yield Problem("QWN-03", "enable_thinking", answer, advice)
    budget = seen.body.get("thinking_budget")
    if budget is not None and (not isinstance(budget, int) or isinstance(budget, bool) or budget <= 0):
        answer = "The thinking_budget parameter must be a positive integer"
        yield Problem("QWN-03", "thinking_budget", answer, "send a positive whole number, or leave it out")


QWEN: tuple[Rule, ...] = (
    *CONTRACT,
    *SERVICE,
    unanswered("QWN-01", _QWEN_UNANSWERED),
    orphans("QWN-01", _QWEN_ORPHAN),
    qwen_choice_is_free,
    qwen_streams_thinking,
)


# xAI: XAI-01, XAI-02

_XAI_EMPTY = "Invalid request content: Each message must have at least one content element."


def xai_messages_have_content(seen: View) -> Iterator[Problem]:
    for message in seen.messages:
        if _is_hollow(message) and not message.raw.get("reasoning_content"):
            path = f"{message.path}.content"
            yield Problem("XAI-01", path, _XAI_EMPTY, "give the message text, or leave it out")


def xai_reasoning_is_no_content(seen: View) -> Iterator[Problem]:
    """Reasoning beside calls is taken and ignored (recorded); alone it makes an empty message."""
    for message in seen.messages:
        if _is_hollow(message) and message.raw.get("reasoning_content"):
            advice = "leave a message out that holds nothing but reasoning"
            yield Problem("XAI-02", f"{message.path}.reasoning_content", _XAI_EMPTY, advice)


def _is_hollow(message: Message) -> bool:
    """[] never counts as content, "" and null do beside calls; an empty result is still a result."""
    if message.content == []:
        return True
    return message.role == "assistant" and is_empty(message.content) and not message.calls


XAI: tuple[Rule, ...] = (
    messages_present,
    arguments_are_strings,
    *SERVICE,
    *PAIRING,
    xai_messages_have_content,
    xai_reasoning_is_no_content,
)


# Groq has the one field of OAC-12 that was seen to be refused; it takes `reasoning` back.


def groq_takes_no_reasoning_content(seen: View) -> Iterator[Problem]:
    for message in seen.messages:
        if message.raw.get("reasoning_content") is not None:
            at = f"messages.{message.index}"
            answer = (
                f"'{at}' : for 'role:{message.role}' the following must be satisfied"
                f"[('{at}' : property 'reasoning_content' is unsupported)]"
            )
            advice = "leave reasoning_content out, or send it as `reasoning`"
            yield Problem("OAC-12", f"{message.path}.reasoning_content", answer, advice)


GROQ: tuple[Rule, ...] = (*HOSTED, groq_takes_no_reasoning_content)


# What a maker behind a gateway says about pairing and ids, in the gateway's name.

_CLAUDE_ID = re.compile(r"[a-zA-Z0-9_-]+")
CLAUDE_ID_ADVICE = "use letters, digits, underscores and dashes, the same on the call and its result"
_GEMINI_COUNT = (
    "Please ensure that the number of function response parts is equal to the number of function call parts "
    "of the function call turn."
)


def _upstream(seen: View, kind: str, index: int, ids: str) -> str:
    """The maker's words for one fault of pairing."""
    if seen.family == "gemini":
        return _GEMINI_COUNT
    if seen.family != "claude":
        return {"orphan": ORPHAN, "unanswered": UNANSWERED + ids, "repeated": REPEATED + ids}[kind]
    if kind == "orphan":
        return (
            f"messages.{index}.content.0: unexpected `tool_use_id` found in `tool_result` blocks: {ids}. "
            "Each `tool_result` block must have a corresponding `tool_use` block in the previous message."
        )
    if kind == "repeated":
        return f"each tool_use must have a single result. Found multiple `tool_result` blocks with id: {ids}"
    return (
        f"messages.{index}: `tool_use` ids were found without `tool_result` blocks immediately after: {ids}. "
        "Each `tool_use` block must have a corresponding `tool_result` block in the next message."
    )


def upstream_pairing(rule: str, wrap: Callable[[str], str]) -> Rule:
    def pairs_upstream(seen: View) -> Iterator[Problem]:
        for fault in faults(seen):
            index = int(re.sub(r"\D", "", fault.path) or 0)
            answer = wrap(_upstream(seen, fault.kind, index, fault.shown))
            advice = DROP_ORPHAN if fault.kind == "orphan" else "send one result for each call, at once"
            yield Problem(rule, fault.path, answer, advice)

    return pairs_upstream


def claude_ids(rule: str, wrap: Callable[[str], str]) -> Rule:
    """Claude's ids: letters, digits, _ and -, each used for one call."""

    def ids_fit_upstream(seen: View) -> Iterator[Problem]:
        used: set[str] = set()
        for message in seen.assistants() if seen.family == "claude" else ():
            calls = [(f"{call.path}.id", text(call.id)) for call in message.calls]
            within = dict(repeats(calls))
            for path, id in calls:
                if not _CLAUDE_ID.fullmatch(id):
                    answer = f"{path}: tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
                    yield Problem(rule, path, wrap(answer), CLAUDE_ID_ADVICE)
                elif (path in within or id in used) and not is_redacted(id):
                    answer = wrap(f"{path}: `tool_use` ids must be unique")
                    level: Level = "refused" if path in within else "warning"  # ANT-05
                    yield Problem(rule, path, answer, "give every call of the conversation its own id", level)
            used.update(id for _, id in calls)

    return ids_fit_upstream


# GitHub Copilot: COP-01, COP-02, COP-05


def _from_copilot(message: str) -> str:
    return f'{{"message":"{message}","code":"invalid_request_body"}}'


def copilot_new_models_answer_elsewhere(seen: View) -> Iterator[Problem]:
    if models.gpt_version(seen.model) < (5, 0) or "gpt-5-mini" in seen.model or not seen.tools:
        return
    if seen.body.get("reasoning_effort") != "none":
        answer = (
            "CAPIError: 400 Function tools with reasoning_effort are not supported for "
            f"{shown(seen.model)} in /v1/chat/completions."
        )
        yield Problem("COP-02", "tools", answer, "use Copilot's /responses for this model")


def copilot_takes_no_prefill(seen: View) -> Iterator[Problem]:
    last = seen.messages[-1] if seen.messages else None
    if last and last.role == "assistant" and not last.calls:
        answer = (
            "This model does not support assistant message prefill. The conversation must end with a user "
            "message."
        )
        yield Problem("COP-05", last.path, answer, "end with a user message or a tool result")


COPILOT: tuple[Rule, ...] = (
    *CONTRACT,
    *SERVICE,
    upstream_pairing("COP-01", _from_copilot),
    claude_ids("COP-01", _from_copilot),
    copilot_new_models_answer_elsewhere,
    copilot_takes_no_prefill,
)


# OpenRouter: ORT-01, ORT-02, and the makers' own rules


def _from_openrouter(raw: str) -> str:
    return (
        f"{{'error': {{'message': 'Provider returned error', 'code': 400, 'metadata': {{'raw': '{raw}'}}}}}}"
    )


_DETAILS = ("reasoning.summary", "reasoning.encrypted", "reasoning.text")


def details_are_whole(seen: View) -> Iterator[Problem]:
    advice = "send reasoning_details back exactly as they came"
    for message in seen.messages:
        details = message.raw.get("reasoning_details")
        path = f"{message.path}.reasoning_details"
        if details is None:
            continue
        if not isinstance(details, list | tuple):
            answer = f"{path}: Invalid input: expected array"
            yield Problem("ORT-02", path, answer, advice)
        for index, detail in enumerate(array(details)):
            if mapping(detail).get("type") not in _DETAILS:
                answer = f"{path}[{index}].type: Invalid input: expected one of {', '.join(_DETAILS)}"
                yield Problem("ORT-02", f"{path}[{index}]", answer, advice)


def open_loop_has_details(seen: View) -> Iterator[Problem]:
    """What the makers refuse when it is lost; whether there was any shows in the model and the request."""
    if not (lost := _lost_upstream(seen)):
        return
    for message in _open_loop(seen):
        if message.calls and not message.raw.get("reasoning_details"):
            path = f"{message.path}.reasoning_details"
            advice = "send reasoning_details back as they came, or switch reasoning off"
            yield Problem("ORT-02", path, _from_openrouter(lost), advice)
            return
        if message.calls and seen.family == "claude":
            return  # ANT-16: the message that opens the loop; those after it may go on without a thought


def _lost_upstream(seen: View) -> str:
    """Gemini 3 signs every step; Claude up to 4.5 must see its thinking while thinking is on."""
    if seen.family == "gemini" and models.gemini_version(seen.model) >= 3:
        return (
            "Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream "
            "error: Function call is missing a thought_signature in functionCall parts."
        )
    if seen.family == "claude" and models.claude_version(seen.model) <= (4, 5) and _reasons(seen):
        return (
            "Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a "
            "final `assistant` message must start with a thinking block"
        )
    return ""


def _reasons(seen: View) -> bool:
    reasoning = mapping(seen.body.get("reasoning"))
    if reasoning.get("enabled") is False or reasoning.get("effort") == "none":
        return False
    return any(reasoning.get(key) for key in ("enabled", "effort", "max_tokens"))


def _open_loop(seen: View) -> tuple[Message, ...]:
    """The messages since the last word of the user; none when the model has to answer the user."""
    start = max((i for i, message in enumerate(seen.messages) if message.role == "user"), default=-1)
    return seen.messages[start + 1 :]


OPENROUTER: tuple[Rule, ...] = (
    *CONTRACT,
    upstream_pairing("ORT-01", _from_openrouter),
    claude_ids("ORT-01", _from_openrouter),
    details_are_whole,
    open_loop_has_details,
    for_family("mistral", (mistral.ids_have_nine_characters, mistral.roles_follow)),
    for_family("kimi", kimi.BEHIND_A_GATEWAY),
    for_family("deepseek", deepseek.BEHIND_A_GATEWAY),
)

# Hosts of open models check little; an R1 does not take its reasoning back anywhere.
OPEN_MODELS: tuple[Rule, ...] = (*HOSTED, deepseek.r1_gets_no_reasoning)
COMPATIBLE: tuple[Rule, ...] = EVERYWHERE
DOUBLEWORD: tuple[Rule, ...] = (
    *EVERYWHERE,
    temperature_up_to(2, "Validation: Temperature must be between 0 and 2, got {:g}"),
)


# OpenAI's name stands for the format too. A model that OpenAI cannot be serving is on its
# way to somebody who speaks the format, so only the wire and the model's maker have a say.

ELSEWHERE: tuple[Rule, ...] = (
    *EVERYWHERE,
    for_family("kimi", kimi.BEHIND_A_GATEWAY),
    for_family("deepseek", deepseek.BEHIND_A_GATEWAY),
)


def openai(body: Mapping[str, Any], *, model: str = "") -> Iterator[Problem]:
    """What OpenAI, or whoever the model says it is for, would refuse."""
    name = model or text(body.get("model"))
    return judge(ELSEWHERE if models.is_elsewhere(name) else OPENAI, body, model=name)
