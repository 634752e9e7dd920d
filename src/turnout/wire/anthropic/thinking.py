"""How Claude is asked to think, and which sampling it takes while it thinks: on every host of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..options import Options
from ..request import Setting
from ..shared.growing_bytes import Wire
from ..shared.limits import nearest_effort
from ..shared.offered_tools import is_forced
from ..shared.open_loop import Loop

DEFAULT_MAX_TOKENS = 8_192
MIN_BUDGET = 1_024
BUDGETS = {"none": 1_024, "minimal": 1_024, "low": 2_048, "medium": 8_192, "high": 16_384}


def add_thinking(
    fields: Wire, setting: Setting, loop: Loop, choice: str, options: Options, changes: list[str]
) -> None:
    """Add `thinking` and `output_config` to the fields, as far as the model takes them."""
    kinds, efforts = setting.facts.thinking, setting.facts.efforts
    if options.effort and efforts:
        fields["output_config"] = {"effort": nearest_effort(options.effort, efforts, changes)}
    if not options.thinking:
        if options.thinking is False and "adaptive" in kinds and "off" in kinds:
            fields["thinking"] = {"type": "disabled"}
        elif options.thinking is False and "adaptive" in kinds:
            changes.append(f"thinking stays on: {setting.model} cannot switch it off")
    elif "adaptive" in kinds and (options.budget is None or "manual" not in kinds):
        fields["thinking"] = {"type": "adaptive"}
    elif "manual" not in kinds:
        changes.append(f"thinking left out: {setting.model} does not think")
    elif is_forced(choice):
        changes.append("ANT-24 thinking switched off: the API refuses it with a forced tool choice")
    elif loop.open and not loop.thinks:
        changes.append("ANT-16 thinking switched off: the open tool loop began without it")
    else:
        _add_budget(fields, setting, options, changes)
    if options.budget is not None and "budget_tokens" not in fields.get("thinking", {}):
        changes.append(f"budget left out: {setting.model} takes no budget here")
    as_budget = options.budget is None and "thinking" in fields
    if options.effort not in (None, "none") and not efforts and not as_budget:
        changes.append(f"effort left out: {setting.model} takes no effort here")


def _add_budget(fields: Wire, setting: Setting, options: Options, changes: list[str]) -> None:
    usual = BUDGETS.get(options.effort or "medium", BUDGETS["high"])
    wanted = budget = usual if options.budget is None else options.budget
    if options.max_tokens is None:
        fields["max_tokens"] = min(budget + DEFAULT_MAX_TOKENS, setting.facts.output)
    budget = min(budget, fields["max_tokens"] - 1)
    if budget < MIN_BUDGET:
        changes.append("ANT-23 thinking switched off: max_tokens leaves no room for it")
        return
    if options.budget is not None and budget != wanted:
        changes.append(f"budget {wanted} sent as {budget}: it must be below max_tokens")
    fields["thinking"] = {"type": "enabled", "budget_tokens": budget}


def accepted_sampling(
    given: Mapping[str, Any], fields: Wire, setting: Setting, changes: list[str]
) -> dict[str, Any]:
    """The sampling that the model takes, with the thinking that the fields ask for."""
    thinks = fields.get("thinking", {}).get("type") == "enabled"
    refused = [
        name
        for name, value in given.items()
        if not setting.facts.sampling or (thinks and not _goes_with_thinking(name, value))
    ]
    if refused:
        changes.append(f"ANT-22 {', '.join(refused)} left out: the model refuses it, or does while it thinks")
    return {name: value for name, value in given.items() if name not in refused}


def _goes_with_thinking(name: str, value: float | None) -> bool:
    if name == "temperature":
        return value == 1
    return name == "top_p" and value is not None and 0.95 <= value <= 1
