"""A conversation of many turns, told to a history step by step: for disks that fail in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from turnout.history.log import History
from turnout.model import ModelTurn, Origin, Outcome, Text, ToolCall

MODEL = "openai:gpt-5.1"


def steps(history: History, turns: int) -> Iterator[Callable[[], object]]:
    """What happens, one write after the other; each may be left out when it fails."""
    for number in range(turns):
        text = f"question {number} " * (1 + number % 40)
        yield lambda text=text: history.user(text)
        yield lambda: history.writer.draft(_half(history))  # type: ignore[union-attr]
        yield lambda number=number: history.reply(MODEL, _calls(number))
        yield from _work(history)
        yield lambda number=number: history.reply(MODEL, f"answer {number}")


def _half(history: History) -> ModelTurn:
    return ModelTurn(
        history.next_key(), Origin("openai", "", "gpt-5.1"), (Text("Well, "),), stop="interrupted"
    )


def _calls(number: int) -> list[ToolCall]:
    return [ToolCall(f"call_{number}_{at}", "work", {"n": at}) for at in range(3)]


def _work(history: History) -> Iterator[Callable[[], object]]:
    calls = [item.call.id for item in history.open_calls]
    for call in calls:
        yield lambda call=call: history.start(call)
    for call in calls:
        yield lambda call=call: history.settle(call, Outcome("complete", f"done {call} " * 20))
