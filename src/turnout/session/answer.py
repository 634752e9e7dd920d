"""The answer to a prompt: one run to its end, and another where a typed answer does not fit."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import aclosing
from copy import deepcopy
from typing import Any, Generic, TypeVar

from msgspec import Struct

from ..errors import TurnoutError
from ..model import ModelTurn, Usage
from ..providers.cost import total_usage
from ..streaming.events import TextDelta, TextEnd, ToolCallStart
from ..streaming.partial import PartialArguments
from .events import Cancelled, Complete, Discarded, Failed, SessionEvent, Waiting
from .run import Events
from .typed import AnswerProblem, Shape

OutputT = TypeVar("OutputT")
CORRECTIONS = 2
"""How often a model is asked again whose answer does not fit."""

StartRun = Callable[..., Events]


class Answer(Struct, Generic[OutputT], frozen=True):
    """The answer to a prompt. `output` is the typed value, if one was asked for."""

    text: str
    turn: ModelTurn
    usage: Usage
    cost: float | None = None
    output: OutputT = None  # type: ignore[assignment]  # None only where no type was asked for


async def ask_until_it_fits(
    start_run: StartRun, prompt: Any, shape: Shape | None, corrections: int, options: dict[str, Any]
) -> Answer[Any]:
    """The answer. One that does not fit is asked for again with the problem, a few times at most."""
    if shape is None:
        return await _answer_of(start_run(prompt, **options))
    answers: list[Answer[Any]] = []
    while True:
        answers.append(await _answer_of(start_run(prompt, **options, schema=shape.schema)))
        try:
            return _sum_up(answers, shape.read(answers[-1].text))
        except AnswerProblem as problem:
            if len(answers) > corrections:
                raise
            prompt = shape.correction(problem)
            if key := options.get("key"):  # each correction is a prompt of its own
                options = {**options, "key": f"{key}+{len(answers)}"}


async def partial_values(
    start_run: StartRun, prompt: Any, shape: Shape, options: dict[str, Any]
) -> AsyncIterator[Any]:
    """The value as far as it has arrived, each time that it grew; the last one is typed and whole."""
    so_far, shown = PartialArguments(), None
    async with aclosing(start_run(prompt, **options, schema=shape.schema)) as events:
        async for event in events:
            match event:
                case Discarded() | ToolCallStart() | TextEnd():  # the text so far is not the answer
                    so_far = PartialArguments()
                case TextDelta(text):
                    so_far.feed(text)
                    if (value := shape.unwrap(so_far.view())) and value != shown:
                        shown = deepcopy(value)
                        yield shown
                case _ if (answer := _answer_in(event)) is not None:
                    yield shape.read(answer.text)


async def _answer_of(events: Events) -> Answer[Any]:
    async with aclosing(events):
        async for event in events:
            if (answer := _answer_in(event)) is not None:
                return answer
    raise TurnoutError("bug: the run ended without a terminal event")  # pragma: no cover


def _answer_in(event: SessionEvent) -> Answer[Any] | None:
    """The answer, if this event brings it; raises where it brings a failure."""
    match event:
        case Complete(turn, usage, cost):
            return Answer(turn.text, turn, usage, cost)
        case Failed(error):
            raise error
        case Waiting():
            raise TurnoutError(f"{event.detail}; give the answer with session.answer(call_id, outcome)")
        case Cancelled():
            raise TurnoutError("the run was cancelled; ask again, or resume with session.go_on()")
    return None


def _sum_up(answers: list[Answer[Any]], value: Any) -> Answer[Any]:
    """The last answer, with the tokens and the money of all tries."""
    last = answers[-1]
    costs = [answer.cost for answer in answers]
    cost = None if None in costs else sum(cost for cost in costs if cost is not None)
    return Answer(last.text, last.turn, total_usage(answer.usage for answer in answers), cost, value)
