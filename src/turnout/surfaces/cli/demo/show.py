"""The demo on a screen: coloured in a terminal, plain when piped. Every line is kept for the page."""

from __future__ import annotations

from typing import Any

import click
from msgspec import Struct

from ....history.log import History
from ....model import Outcome
from ....rendering.policy import WORDING
from ....session.events import Cancelled, Complete, Failed, SessionEvent, Status
from ....simulate.scripted import ScriptedTransport
from ....tools.declare.events import ToolResult, ToolState
from ...shared.clean_text import printable
from ..output import table
from .stage import Verdict
from .story import Step

COLOURS: dict[str, dict[str, Any]] = {
    "step": {"fg": "cyan", "bold": True},
    "tools": {"fg": "blue"},
    "result": {"dim": True},
    "synthetic": {"fg": "yellow"},
    "status": {"fg": "magenta"},
    "answer": {"fg": "white"},
    "accepted": {"fg": "green"},
    "refused": {"fg": "red", "bold": True},
    "event": {"fg": "yellow", "bold": True},
}
EVENTS = {
    "deny": "the user refuses a call",
    "cancel": "the user stops a tool that takes too long",
    "crash": "the process is killed in the middle of a tool; the next one goes on from the store",
    "approve": "the user approves an edit",
    "failover": "this provider is overloaded; the next one takes over",
}


MADE_UP = ("cancelled", "interrupted")


class Line(Struct, frozen=True):
    """One thing that was shown."""

    kind: str
    text: str


class Show:
    """Tells the story as it happens."""

    def __init__(self) -> None:
        self.lines: list[Line] = []
        self._running: list[str] = []
        self._seen = 0
        self._told: set[str] = set()

    def step(self, step: Step) -> None:
        self._say("step", f"\n{step.target}")
        self._say("answer", f"  > {step.prompt}")
        if step.event:
            self._say("event", f"  ! {EVENTS[step.event]}")

    def event(self, step: Step, event: SessionEvent) -> None:
        match event:
            case ToolState(_, name, "executing"):
                self._running.append(name)
            case ToolResult():
                self._result(event)
            case Status(kind, detail, target) if kind != "tools":
                self._say("status", f"  {kind}: {detail}{f' -> {target}' if target else ''}")
            case Complete(turn):
                self._say("answer", f"  {turn.origin.provider}: {printable(turn.text)}")
            case Cancelled():
                self._say("event", "  stopped; the history is valid at once")
            case Failed(error):
                self._say("refused", f"  failed: {error}")

    def _result(self, event: ToolResult) -> None:
        if self._running:
            together = f"{len(self._running)} in parallel: " if len(self._running) > 1 else "1 tool: "
            self._say("tools", f"  {together}{', '.join(self._running)}")
            self._running = []
        outcome = event.outcome
        self._told.add(event.call_id)
        first = printable(outcome.text).strip().partition("\n")[0][:70]
        if outcome.status in MADE_UP:
            self._made_up(event.name, outcome)
        elif outcome.status != "complete":
            self._say(
                "synthetic", f"    {event.name}: {outcome.status} ({outcome.reason or 'error'}) {first}"
            )
        else:
            self._say("result", f"    {event.name}: {first}")

    def _made_up(self, name: str, outcome: Outcome) -> None:
        """Whether it is heard of in time or found in the history afterwards."""
        why = WORDING.get(outcome.reason, "")
        self._say("synthetic", f"    {name}: {outcome.status}, made up by turnout: {why}")

    def verdict(self, transport: ScriptedTransport, history: History) -> None:
        """What had to be made up in this step, and what the providers said to the requests."""
        self._running = []
        for item in history.ledger:
            if item.outcome is not None and item.outcome.synthetic and item.call.id not in self._told:
                self._made_up(item.call.name, item.outcome)
            self._told.add(item.call.id)
        for seen in list(transport.seen)[self._seen :]:
            if seen.problems:
                self._say("refused", f"  {seen.provider} refused: {seen.problems[0].answer}")
            else:
                size = f"{len(seen.body):,} bytes"
                self._say(
                    "accepted", f"  {seen.provider} {'accepted' if seen.status < 400 else seen.status} {size}"
                )
        self._seen = len(transport.seen)

    def summary(self, verdicts: list[Verdict], seconds: float) -> None:
        head = ("provider", "requests", "accepted", "refused", "failed", "seconds", "a naive replay gets")
        rows = [
            (
                v.provider,
                str(v.requests),
                str(v.accepted),
                str(v.refused),
                str(v.failed),
                f"{v.seconds:.1f}",
                v.naive,
            )
            for v in verdicts
        ]
        self._say("answer", "\n" + table(head, rows))
        refused = sum(not verdict.naive.startswith("200") for verdict in verdicts)
        self._say(
            "step",
            f"\nOne conversation, {len(verdicts)} providers, {sum(v.requests for v in verdicts)} requests, "
            f"{sum(v.refused for v in verdicts)} refused. Sent as it came, {refused} of {len(verdicts)} "
            f"would have refused it. {seconds:.1f} s.",
        )

    def _say(self, kind: str, text: str) -> None:
        self.lines.append(Line(kind, text))
        click.secho(text, **COLOURS[kind])
