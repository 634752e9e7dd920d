"""What Anthropic Messages refuses about thinking and the options that depend on it (ANT-16 to ANT-24).

Thinking is either manual (`enabled` with a budget) or `adaptive`. Manual thinking limits sampling
and tool choice, and must open the current tool loop.
"""

from __future__ import annotations

from collections.abc import Iterator

from ..chat.view import array, mapping, text
from ..model_limits import temperature_problem
from ..problem import Problem
from .view import AnthropicRequest, Block, Rule, Turn, may_be_paused

THOUGHTS = ("thinking", "redacted_thinking")
MIN_BUDGET = 1024


def thinking_opens_the_loop(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-16: with manual thinking, the open tool loop begins with a thought."""
    opening = _opening_of_the_loop(request.speakers)
    if not request.thinks_by_hand or not opening or opening.type in THOUGHTS:
        return
    answer = (
        f"{opening.path}.type: Expected `thinking` or `redacted_thinking`, but found `{opening.type}`. When "
        "`thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the "
        "lastmost set of `tool_use` and `tool_result` blocks)."
    )
    advice = "send the thinking that came with these calls; if there is none, disable thinking until they end"
    yield Problem("ANT-16", opening.path, answer, advice)


def _opening_of_the_loop(turns: list[Turn]) -> Block | None:
    """The first block of the turn that began the tool loop at the end of the request."""
    opening: Block | None = None
    place = len(turns) - 1
    while place > 0 and _is_only_results(turns[place]) and any(turns[place - 1].of_type("tool_use")):
        opening = turns[place - 1].blocks[0]
        place -= 2
    return opening


def _is_only_results(turn: Turn) -> bool:
    return bool(turn.blocks) and all(block.type == "tool_result" for block in turn.blocks)


def thoughts_are_signed(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-17: a thought is sent with its signature, a redacted one with its data."""
    advice = "drop thinking that was cut off or came from another provider"
    for block in request.blocks(*THOUGHTS):
        key = "signature" if block.type == "thinking" else "data"
        if block.raw.get(key) is None:
            answer = f"{block.path}.{block.type}.{key}: Field required"
            yield Problem("ANT-17", block.path, answer, advice)
        elif not text(block.raw[key]):
            answer = f"{block.path}: Invalid `{key}` in `{block.type}` block"
            yield Problem("ANT-17", block.path, answer, advice)


def no_last_thought_when_off(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-20: without thinking, the last assistant message must not contain thinking."""
    last = request.turns[-1] if request.turns else Turn("", "", [])
    off = request.thinking.get("type", "disabled") == "disabled" and not request.traits.thinks_unasked
    if last.role != "assistant" or not off or may_be_paused(last):
        return
    for block in last.of_type(*THOUGHTS):
        answer = (
            f"{block.path}: When thinking is disabled, an `assistant` message in the final position cannot "
            "contain `thinking`. To use thinking blocks, enable `thinking` in your request."
        )
        yield Problem("ANT-20", block.path, answer, "drop the thinking of the last message")
        return


def thinking_suits_the_model(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-21: each model knows some kinds of thinking and some levels of effort."""
    type, traits = request.thinking.get("type"), request.traits
    effort = text(mapping(request.body.get("output_config")).get("effort"))
    refused = type in ("enabled", "adaptive", "disabled") and type not in traits.thinking
    if refused or (type == "disabled" and effort in traits.disabled_efforts):
        way = (
            'Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.'
            if "adaptive" in traits.thinking
            else 'Use "thinking.type.enabled" with "budget_tokens".'
            if "enabled" in traits.thinking
            else "leave thinking out"
        )
        answer = f'"thinking.type.{type}" is not supported for this model. {way}'
        yield Problem("ANT-21", "thinking.type", answer, way)
    if effort and traits.efforts and effort not in traits.efforts:
        levels = ", ".join(sorted(traits.efforts))
        answer = f"This model does not support effort level '{effort}'. Supported levels: {levels}."
        yield Problem("ANT-21", "output_config.effort", answer, "choose a level that the model has")


def sampling_suits_thinking(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-22: newer models take only default sampling; manual thinking restricts it."""
    options = {key: request.body.get(key) for key in ("temperature", "top_p", "top_k")}
    given = {key: value for key, value in options.items() if isinstance(value, int | float)}
    for key, value in given.items():
        if not request.traits.sampling:
            if key == "top_k" or value != 1:
                answer = f"`{key}` is deprecated for this model."
                yield Problem("ANT-22", key, answer, f"leave {key} out")
        elif request.thinks_by_hand and _is_off(key, value):
            yield Problem("ANT-22", key, MANUAL_SAMPLING[key], f"leave {key} out")


MANUAL_SAMPLING = {
    "temperature": "`temperature` may only be set to 1 when thinking is enabled.",
    "top_p": "`top_p` must be greater than or equal to 0.95 or unset when thinking is enabled.",
    "top_k": "`top_k` must be unset when thinking is enabled.",
}


def _is_off(key: str, value: float) -> bool:
    return key == "top_k" or (value != 1 if key == "temperature" else value < 0.95)


def the_temperature_fits(request: AnthropicRequest) -> Iterator[Problem]:
    """OPT-01: 0 to 1, where the model takes one at all (anthropic-sdk-python#893)."""
    if request.traits.sampling and not request.thinks_by_hand:
        yield from temperature_problem(request.body.get("temperature"), 1, "temperature: range: 0..1".format)


def the_budget_fits(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-23: manual thinking has a budget of 1024 tokens or more, below max_tokens."""
    if not request.thinks_by_hand:
        return
    budget, limit = request.thinking.get("budget_tokens"), request.body.get("max_tokens")
    path = "thinking.enabled.budget_tokens"
    if budget is None:
        yield Problem("ANT-23", path, f"{path}: Field required", "give thinking a budget")
    elif not isinstance(budget, int) or budget < MIN_BUDGET:
        answer = f"{path}: Input should be greater than or equal to {MIN_BUDGET}"
        yield Problem("ANT-23", path, answer, f"give thinking {MIN_BUDGET} tokens or more")
    elif isinstance(limit, int) and limit <= budget and not _interleaves(request):
        answer = "`max_tokens` must be greater than `thinking.budget_tokens`."
        advice = "raise max_tokens or lower the budget; only interleaved thinking, a beta, may exceed it"
        yield Problem("ANT-23", "max_tokens", answer, advice)


def _interleaves(request: AnthropicRequest) -> bool:
    """Whether the model may think between calls (a beta): then the budget is for the whole turn."""
    betas = (*array(request.body.get("betas")), *array(request.body.get("anthropic_beta")))
    return any("interleaved-thinking" in text(beta) for beta in betas)


def forced_tools_suit_thinking(request: AnthropicRequest) -> Iterator[Problem]:
    """ANT-24: manual thinking and forced tools exclude each other; some models refuse any forced tool."""
    if mapping(request.body.get("tool_choice")).get("type") not in ("any", "tool"):
        return
    if not request.traits.forced_tools:
        answer = 'tool_choice: type "tool" and "any" are not supported for this model.'
        yield Problem("ANT-24", "tool_choice", answer, "use tool_choice auto and ask for the tool in words")
    elif request.thinks_by_hand:
        answer = "Thinking may not be enabled when tool_choice forces tool use."
        yield Problem("ANT-24", "tool_choice", answer, "use tool_choice auto, or adaptive thinking")


RULES: tuple[Rule, ...] = (
    thinking_opens_the_loop,
    thoughts_are_signed,
    no_last_thought_when_off,
    thinking_suits_the_model,
    sampling_suits_thinking,
    the_temperature_fits,
    the_budget_fits,
    forced_tools_suit_thinking,
)
