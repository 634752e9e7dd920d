"""A call with its one outcome: state, duration, approval. Parallel calls are also a small timeline."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup
from msgspec import Struct

from ....history.ledger import ToolInteraction
from ....history.log import History
from ....history.waiting import approved_calls, waiting_call_of
from ....model import Entry, ModelTurn, Outcome, Settled, Started, Text, ToolCall
from ..clean_text import one_line
from .blocks import BlockView, BlockWriter
from .markdown import code_html, is_diff
from .masked_json import pretty_json

MOST_ARGUMENTS = 50
LONGEST_VALUE = 4000
"""Characters of an argument that is not a text of its own."""


class CallView(Struct):
    """A call with its one outcome."""

    id: str
    name: str
    arguments: Markup
    status: str
    result: list[BlockView]
    synthetic: str = ""  # why turnout made the outcome
    seconds: float | None = None
    approval: str = ""
    fault: str = ""
    source: str = ""
    is_open: bool = False


class TimelineBar(Struct):
    """One call of a parallel batch, in percent of the batch."""

    name: str
    start: float
    width: float
    seconds: float
    status: str


class CallWriter:
    """Writes the calls of one history; `times` has the time of every entry."""

    def __init__(self, history: History, times: Sequence[float], blocks: BlockWriter) -> None:
        self._history = history
        self._blocks = blocks
        self._started: dict[str, float] = {}
        self._settled: dict[str, float] = {}
        self._asked: set[str] = set()
        self._approved = approved_calls(history)
        for entry, at in zip(history.entries, times, strict=False):
            self._read_time(entry, at)

    def _read_time(self, entry: Entry, at: float) -> None:
        match entry:
            case Started(call_id):
                self._started[call_id] = at
            case Settled(call_id):
                self._settled[call_id] = at
            case _ if (found := waiting_call_of(entry)) is not None and found.kind == "approval":
                self._asked.add(found.call_id)

    def block(self, call: ToolCall) -> BlockView:
        interaction = self._history.ledger.get(call.id) or ToolInteraction(call, "")
        view = self._view(interaction)
        size = len(view.arguments) + sum(block.size for block in view.result)
        return BlockView("call", call=view, size=size + 600)

    def _view(self, interaction: ToolInteraction) -> CallView:
        call, outcome = interaction.call, interaction.outcome
        began, ended = self._started.get(call.id), self._settled.get(call.id)
        return CallView(
            id=one_line(call.id, 120),
            name=one_line(call.name, 120) or "(no name)",
            arguments=self._arguments_html(interaction),
            status=interaction.status,
            result=[] if outcome is None else self._result_views(outcome, call.id),
            synthetic=_synthetic_reason(outcome),
            seconds=max(0.0, ended - began) if began and ended else None,
            approval=self._approval_of(interaction),
            fault=one_line(call.fault, 80),
            source=outcome.source if outcome is not None else "",
            is_open=outcome is not None and outcome.status != "complete",
        )

    def _approval_of(self, interaction: ToolInteraction) -> str:
        """What is on record about permission. A call that ran by a rule has no such record."""
        id, outcome = interaction.call.id, interaction.outcome
        if interaction.changed_arguments is not None:
            return "arguments were changed before it ran"
        if outcome is not None and outcome.status == "denied":
            return "not approved"
        if id in self._approved:
            return "approved"
        return "waits for approval" if id in self._asked and outcome is None else ""

    def _result_views(self, outcome: Outcome, call_id: str) -> list[BlockView]:
        return [
            self._blocks.result(block.text)
            if isinstance(block, Text)
            else self._blocks.content(block, f"{call_id}/{at}")
            for at, block in enumerate(outcome.content)
        ]

    def _arguments_html(self, interaction: ToolInteraction) -> Markup:
        """Arguments of one text are shown as that text: a command, a patch. Others as JSON."""
        call, shown = interaction.call, list(interaction.arguments.items())
        if call.fault and call.raw:
            return Markup(code_html(self._blocks.shown_part(call.raw)[0]))
        lines = [self._argument_html(name, value, len(shown) == 1) for name, value in shown[:MOST_ARGUMENTS]]
        return Markup(f"<dl>{''.join(lines)}</dl>" if lines else "")

    def _argument_html(self, name: str, value: object, is_only: bool) -> str:
        named = Markup.escape(one_line(name, 80))
        if isinstance(value, str) and ("\n" in value or is_only):
            part, left = self._blocks.shown_part(value)
            more = f"\n… {left:,} characters more" if left else ""
            code = code_html(part + more, _language(part))
            return f'<dt class="whole">{named}</dt><dd class="whole">{code}</dd>'
        text = value if isinstance(value, str) else pretty_json(value)
        part = self._blocks.shown_part(text)[0][:LONGEST_VALUE]
        return f"<dt>{named}</dt><dd><code>{Markup.escape(one_line(part, LONGEST_VALUE))}</code></dd>"

    # Parallel calls

    def timeline(self, turn: ModelTurn) -> list[TimelineBar]:
        """The calls of a turn that ran beside each other; nothing where fewer than two ran."""
        spans = [
            (call, self._started[call.id], self._settled[call.id])
            for call in turn.tool_calls
            if call.id in self._started and call.id in self._settled
        ]
        if len(spans) < 2:
            return []
        first, last = min(began for _, began, _ in spans), max(ended for _, _, ended in spans)
        whole = max(last - first, 1e-6)
        return [
            TimelineBar(
                one_line(call.name, 40),
                round(min(99.0, 100 * (began - first) / whole), 2),
                round(max(1.0, 100 * (ended - began) / whole), 2),
                max(0.0, ended - began),
                self._history.ledger[call.id].status,
            )
            for call, began, ended in spans
        ]


def _synthetic_reason(outcome: Outcome | None) -> str:
    if outcome is None or not outcome.synthetic:
        return ""
    return outcome.reason.replace("_", " ") or "no result came"


def _language(text: str) -> str:
    return "diff" if is_diff(text) or text.startswith("*** Begin Patch") else "text"
