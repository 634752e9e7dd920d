"""Runs one call without a session: for programs that have no loop of turns.

A loop of turns schedules whole turns on its `ToolScheduler` instead. A scheduler for each
call would lose parallelism, approvals and the order of writes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ... import plain
from ...history.log import History
from ...model import Outcome, ToolCall
from ..declare.registry import Registry
from ..declare.tool import Tool
from ..policy.rules import Policy
from .scheduler import ToolLimits, ToolScheduler


async def execute_tool_call(
    tools: Registry | Iterable[Tool],
    name: str,
    arguments: Mapping[str, Any] | str | None = None,
    *,
    policy: Policy | None = None,
    limits: ToolLimits | None = None,
    **ports: Any,
) -> Outcome:
    """Run one tool and return its outcome. `arguments` are an object, or the JSON text a model wrote.

    The caller has decided that the tool runs, so nothing is asked unless `policy` says so.
    `ports` are those of `ToolScheduler`.
    """
    history = History("single")
    turn = history.reply("local:single", _call_of(name, {} if arguments is None else arguments))
    scheduler = ToolScheduler(tools, history, policy=policy or Policy("full"), limits=limits, **ports)
    try:
        await scheduler.run(turn.tool_calls)
    finally:
        await scheduler.close()
    outcome = history.interaction(turn.tool_calls[0].id).outcome
    assert outcome is not None  # the scheduler settles every call
    return outcome


def _call_of(name: str, arguments: Mapping[str, Any] | str) -> ToolCall:
    found, fault = plain.arguments(arguments)
    raw = arguments if isinstance(arguments, str) else None
    return ToolCall("", name, found, raw_id="single", raw=raw, fault=fault)
