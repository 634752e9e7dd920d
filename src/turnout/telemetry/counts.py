"""What is counted and timed, per provider and model: calls, refusals, repairs, how long things took.

Numbers and fixed words only. The content is passed along by reference, for an exporter that
was configured to take it; nothing here reads it.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, Literal, Protocol, TypeAlias, get_args

from msgspec import Struct

from ..errors import FailureKind, ProviderError, StreamError
from ..history.log import History
from ..model import ModelTurn, Origin, Outcome, Usage
from ..tools.schedule.scheduler import ReportRunEnd

COUNTERS = (
    "tool_calls_total",
    "tool_calls_invalid_args",
    "tool_calls_repaired",
    "tool_api_400_total",
    "tool_loop_max_iterations",
)

GAVE_WAY = "gave_way_"
TOOK_OVER = "took_over_"
SWITCH_WORDS = (*get_args(FailureKind), "refusal", "empty")
"""Why another target was asked. A function's own words are counted as "judged": counters hold fixed words."""

Sink = Callable[[str, Origin, int], None]
Kind: TypeAlias = Literal["chat", "execute_tool", "invoke_agent"]
"""A request to a model, a call of a tool, a whole run: named as OpenTelemetry names them."""


class Operation(Struct):
    """One thing that takes time. Its fields are filled in until it has ended.

    `error` is a fixed word, "" if it succeeded. `asked` and `answered` are the content: a
    transcript and a turn, or arguments and an outcome.
    """

    kind: Kind
    origin: Origin
    conversation: str
    tool: str = ""
    call_id: str = ""
    host: str = ""
    seconds: float = 0.0
    first_chunk: float | None = None  # seconds until the first piece of a streamed reply
    usage: Usage | None = None
    stop: str = ""
    error: str = ""
    asked: Any = None
    answered: Any = None
    secrets: tuple[str, ...] = ()  # keys that must never be exported
    began: float = 0.0

    @property
    def subject(self) -> str:
        """What is timed: a tool, or a target."""
        return self.tool or str(self.origin)

    def mark_sent(self) -> None:
        """The request is sent now."""
        self.began, self.first_chunk = _now(), None

    def mark_first_chunk(self) -> None:
        """A piece of a streamed reply has arrived."""
        if self.first_chunk is None:
            self.first_chunk = _now() - self.began


class Timing(Struct):
    """How long one kind of operation took, over all of them."""

    count: int = 0
    total: float = 0.0
    longest: float = 0.0

    @property
    def mean(self) -> float:
        """Seconds on average."""
        return self.total / self.count if self.count else 0.0

    def add(self, seconds: float) -> None:
        """Add one measurement."""
        self.count += 1
        self.total += seconds
        self.longest = max(self.longest, seconds)


class Exporter(Protocol):
    """Where measurements go besides this process. What it raises is ignored."""

    def count(self, name: str, origin: Origin, by: int) -> None:
        """Something happened `by` times at this provider and model."""

    def begin(self, operation: Operation) -> Any:
        """An operation begins. What this gives back is passed to `end`."""

    def end(self, operation: Operation, begun: Any) -> None:
        """The operation is over; `begun` is what `begin` gave back."""


class Telemetry:
    """Counters and timings, readable in the process; `sink` gets every count, `exporter` everything."""

    def __init__(self, sink: Sink | None = None, exporter: Exporter | None = None) -> None:
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.timings: dict[tuple[str, str], Timing] = {}
        self._sink = sink
        self._exporter = exporter

    # Counting

    def count(self, name: str, origin: Origin, by: int = 1) -> None:
        """Add to a counter of this provider and model."""
        if not by:
            return
        self.counts[name, origin.provider, origin.model] += by
        if self._sink is not None:
            self._sink(name, origin, by)
        if self._exporter is not None:
            with suppress(Exception):
                self._exporter.count(name, origin, by)

    def count_reply(self, turn: ModelTurn) -> None:
        """Count the tool calls of a reply."""
        self.count("tool_calls_total", turn.origin, len(turn.tool_calls))

    def count_batch(self, origin: Origin, summary: Any) -> None:
        """Count the calls of a turn whose arguments were wrong, or were repaired."""
        self.count("tool_calls_invalid_args", origin, summary.invalid)
        self.count("tool_calls_repaired", origin, summary.repaired)

    def count_refusal(self, origin: Origin, status: int | None, tools: Any) -> None:
        """A 400 or 422 to a request with tools or tool history."""
        if status in (400, 422) and tools:
            self.count("tool_api_400_total", origin)

    def count_switch(self, left: Origin, taken: Origin, why: str) -> None:
        """Another target was asked: who gave way, who took over, and why, in a word."""
        word = why if why in SWITCH_WORDS else "judged"
        self.count(f"{GAVE_WAY}{word}", left)
        self.count(f"{TOOK_OVER}{word}", taken)

    def count_stopped_loop(self, origin: Origin) -> None:
        """Count a run that a guard stopped."""
        self.count("tool_loop_max_iterations", origin)

    def read(self, name: str, provider: str = "", model: str = "") -> int:
        """One counter, over all providers and models or some."""
        return sum(
            count
            for (counter, where, which), count in self.counts.items()
            if counter == name and provider in ("", where) and model in ("", which)
        )

    # Timing

    @contextmanager
    def measure(self, operation: Operation) -> Iterator[Operation]:
        """Time what happens inside, and export how it ended."""
        clock = asyncio.get_running_loop().time  # it can be read after the loop was closed
        began = operation.began = clock()
        begun = self._begin_export(operation)
        try:
            yield operation
        except BaseException as error:
            operation.error = operation.error or failure_word(error)
            raise
        finally:
            operation.seconds = clock() - began
            self._keep_timing(operation)
            if self._exporter is not None:
                with suppress(Exception):
                    self._exporter.end(operation, begun)

    def timing(self, kind: Kind | Literal["time_to_first_chunk"], subject: str) -> Timing:
        """How long that took for one target (`provider:model`), or one tool."""
        return self.timings.get((kind, subject), Timing())

    def _begin_export(self, operation: Operation) -> Any:
        with suppress(Exception):
            return None if self._exporter is None else self._exporter.begin(operation)

    def _keep_timing(self, operation: Operation) -> None:
        self._add_seconds(operation.kind, operation.subject, operation.seconds)
        if operation.first_chunk is not None:
            self._add_seconds("time_to_first_chunk", operation.subject, operation.first_chunk)

    def _add_seconds(self, kind: str, subject: str, seconds: float) -> None:
        self.timings.setdefault((kind, subject), Timing()).add(seconds)


class ToolWatch:
    """Times the tools of one session, each around its run."""

    def __init__(
        self,
        history: History,
        telemetry: Telemetry,
        current_secrets: Callable[[], Iterable[str]],
        current_origin: Callable[[], Origin],
    ) -> None:
        self._history = history
        self._telemetry = telemetry
        self._current_secrets = current_secrets
        self._current_origin = current_origin

    @contextmanager
    def __call__(self, call_id: str, tool: str, arguments: dict[str, Any]) -> Iterator[ReportRunEnd]:
        call = Operation("execute_tool", self._origin_of(call_id), self._history.key, tool, call_id)
        call.asked, call.secrets = arguments, tuple(self._current_secrets())

        def end_call(outcome: Outcome | None, trouble: str) -> None:
            call.answered, call.error = outcome, trouble

        with self._telemetry.measure(call):
            yield end_call

    def _origin_of(self, call_id: str) -> Origin:
        """The model that made the call; after a switch, the next request goes to another."""
        key = self._history.interaction(call_id).turn_key
        turns = (turn for turn in reversed(self._history.turns) if turn.key == key)
        turn = next(turns, None)
        return turn.origin if isinstance(turn, ModelTurn) else self._current_origin()


def failure_word(error: BaseException) -> str:
    """What went wrong, in one fixed word: never a message, which may quote content."""
    match error:
        case ProviderError() | StreamError():
            return error.kind
        case asyncio.CancelledError():
            return "cancelled"
        case _:
            return type(error).__name__


def _now() -> float:
    return asyncio.get_running_loop().time()
