"""What a running tool knows of its call, and how it reports back while it runs.

A context can be made without a scheduler (`ToolContext(workspace=...)`), so that a tool
is tested by calling it. `cancelled` is set before an asynchronous tool is cancelled and
is the only sign a tool in a thread gets: ask it between two steps.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from threading import Event
from typing import Any, Protocol, TypeAlias

from msgspec import Struct

from ...plain import dumps
from .events import ToolProgress
from .problems import shorten_text

LINE = 2000
"""Characters of one step of progress that are shown."""


class CancelFlag(Protocol):
    """The part of `threading.Event` that a tool may use."""

    def is_set(self) -> bool: ...

    def wait(self, timeout: float | None = None) -> bool: ...


class Question(Struct, frozen=True):
    """Something a tool wants to know of the user; `choices` are offered, not imposed."""

    text: str
    choices: tuple[str, ...] = ()


Asker: TypeAlias = Callable[[Question], Awaitable[str | None]]
"""Any surface that can put a question to the user; None is no answer."""


class ToolContext:
    """One call's view of the session: who it is, where it works, whom it tells.

    `state` is the session's own; `shared` it has in common with all its subagents.
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

    def progress(self, step: Any) -> None:
        """Say how far you are: a number from 0 to 1, or a line of text."""
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
