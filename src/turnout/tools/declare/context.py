"""What a running tool knows about its call, and how it reports while it runs.

A context can be made without a scheduler (`ToolContext(workspace=...)`), so that a test can call the
tool. `cancelled` is set before an asynchronous tool is cancelled. For a tool in a thread it is the
only sign: check it between two steps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from threading import Event
from typing import Any, Protocol, TypeAlias, TypeVar

from msgspec import Struct

from ...plain import dumps
from .events import ToolProgress
from .problems import shorten_text
from .provided import find_provided

T = TypeVar("T")
LINE = 2000
"""Characters of one step of progress that are shown."""


class CancelFlag(Protocol):
    """The part of `threading.Event` that a tool may use."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


class Question(Struct, frozen=True):
    """A question of a tool to the user; they may also answer something else than the `choices`."""

    text: str
    choices: tuple[str, ...] = ()


Asker: TypeAlias = Callable[[Question], Awaitable[str | None]]
"""The function that asks the user a question; None means no answer."""


class ToolContext:
    """One call's view of the session: its id, where it works, where it reports.

    `state` belongs to the session; `shared` to the session and all its subagents.
    """

    def __init__(
        self,
        call_id: str = "",
        name: str = "",
        *,
        workspace: Any = None,
        state: dict[str, Any] | None = None,
        shared: dict[str, Any] | None = None,
        report: Callable[[ToolProgress], None] | None = None,
        cancelled: CancelFlag | None = None,
        spawn: Any = None,
        environment: Mapping[str, str] | None = None,
        ask: Asker | None = None,
        provides: Sequence[Any] = (),
    ) -> None:
        self.call_id = call_id
        self.name = name
        self.workspace = workspace
        self.state: dict[str, Any] = {} if state is None else state
        self.shared: dict[str, Any] = {} if shared is None else shared
        self.cancelled: CancelFlag = Event() if cancelled is None else cancelled
        self.spawn = spawn
        self.environment = environment
        self.ask = ask
        self._report = report
        self._provides = provides

    def provided_value(self, kind: type[T]) -> T:
        """What the session provides of this type: `World(provides=[…])`."""
        found: T = find_provided(kind, self._provides, f"tool {self.name}")
        return found

    def progress(self, step: Any) -> None:
        """Report progress: a number from 0 to 1, or a line of text."""
        if isinstance(step, int | float) and not isinstance(step, bool):
            self._report_event(ToolProgress(self.call_id, fraction=min(max(float(step), 0.0), 1.0)))
        else:
            self._report_event(
                ToolProgress(
                    self.call_id, text=shorten_text(step if isinstance(step, str) else dumps(step), LINE)
                )
            )

    def output(self, text: str) -> None:
        """Show a piece of output now. What was shown is kept if the call is stopped before it returns."""
        self._report_event(ToolProgress(self.call_id, output=text))

    def _report_event(self, event: ToolProgress) -> None:
        if self._report is not None:
            self._report(event)
