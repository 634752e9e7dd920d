"""The outcomes that we write ourselves: for calls that did not run, or that did not end by themselves."""

from __future__ import annotations

from typing import Literal

from ...model import Content, Outcome, Text, ToolCall
from ..declare.problems import tool_error
from ..declare.result import error_outcome
from ..declare.tool import Tool

MAY_STILL_RUN = "It did not stop when told to and may still run."


def not_run_outcome(status: Literal["cancelled", "interrupted"]) -> Outcome:
    """For a call that was withdrawn before its tool started."""
    return Outcome(status, synthetic=True, reason="did_not_run")


def over_limit_outcome(call: ToolCall, limit: int) -> Outcome:
    """For a call beyond the limit of one turn."""
    message = f"This call was not run: one turn may hold {limit} calls. Make it again in the next turn."
    return error_outcome(tool_error("too_many_calls", call.name, message, limit=limit))


def path_in_use_outcome(tool: Tool) -> Outcome:
    """For a call whose path may still be changed by a tool that did not stop."""
    message = (
        f"{tool.name} was not run: an earlier call that was stopped may still be changing the same path. "
        "Inspect the current state before you try again."
    )
    return error_outcome(tool_error("path_in_use", tool.name, message))


def timeout_outcome(tool: Tool, seconds: float, output: str, given_up: bool, late: Outcome | None) -> Outcome:
    """For a call that took too long; `late` is what it gave back when it was stopped, if anything."""
    ending = MAY_STILL_RUN if given_up else "It was stopped."
    message = f"{tool.name} took longer than {seconds:g} s. {ending} It may have taken effect: inspect first."
    content: list[Content] = [Text(tool_error("timeout", tool.name, message, seconds=seconds))]
    content += [Text(output)] if output.strip() else []
    content += late.content if late else ()
    return Outcome("error", tuple(content), reason="stopped")


def stopped_outcome(
    status: Literal["cancelled", "interrupted"], output: str, given_up: bool, late: Outcome | None
) -> Outcome:
    """For a call that was cancelled while it ran; `late` is what it still gave back, if anything."""
    if late is not None:
        return Outcome(status, late.content, reason="stopped")
    texts = [f"Output until then:\n{output}"] if output.strip() else []
    texts += [MAY_STILL_RUN] if given_up else []
    return Outcome(status, tuple(Text(text) for text in texts), synthetic=True, reason="stopped")
