"""A history as rows for a template: who wrote each, with what outcome, and what happened between them.

Only the rows of one page are made into HTML. A long text is shown in part; its whole is one link away.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from typing import Any

from markupsafe import Markup
from msgspec import Struct, field

from ...history.ledger import ToolInteraction
from ...history.log import History
from ...model import (
    Block,
    Code,
    Compaction,
    Content,
    Entry,
    Media,
    ModelTurn,
    Note,
    Opaque,
    Outcome,
    Settled,
    Started,
    SystemTurn,
    Text,
    Thinking,
    ToolCall,
    UserTurn,
    block_text,
)
from ...providers.cost import cost_of_turn
from ..shared.clean_text import one_line, printable
from ..shared.html_markdown import code_html, is_diff, markdown_html, plain_html
from .masked_json import SEALED, pretty_json

MOST_ROWS = 40
PAGE_SIZE = 120_000
"""Characters of HTML after which a page ends, so that a first screen stays small."""
SHOWN = 12_000
"""Characters of one text that a page shows."""
COLOURS = 12
PROVIDER_COLOURS = (
    *("anthropic", "openai", "gemini", "kimi", "deepseek", "mistral", "xai", "qwen", "openrouter"),
    *("bedrock", "zai", "cohere"),
)
IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class BlockView(Struct):
    """One block as HTML. `left_out` characters are not shown; `call` is set for a call."""

    kind: str
    html: Markup = Markup("")
    title: str = ""
    left_out: int = 0
    call: CallView | None = None
    image: str = ""  # where the image is
    size: int = 0


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
    text: str
    status: str


class ConversationRow(Struct):
    """A turn, or something that happened between turns (`kind` "mark")."""

    kind: str
    place: int
    who: str = ""
    colour: str = ""
    at: float = 0.0
    number: int = 0
    text: str = ""
    blocks: list[BlockView] = field(default_factory=list)
    bars: list[TimelineBar] = field(default_factory=list)
    stop: str = ""
    tokens: str = ""
    cost: float | None = None
    key: str = ""

    @property
    def size(self) -> int:
        return 400 + sum(block.size for block in self.blocks)


class ConversationReader:
    """One history with the times of its entries; makes rows of the part that is asked for."""

    def __init__(self, history: History, times: Sequence[float], media_base: str = "") -> None:
        self._history = history
        self._media_base = media_base  # "" puts images into the page itself
        self.shows_all = not media_base
        self._times = {
            id(entry): (number, at)
            for number, (entry, at) in enumerate(zip(history.entries, times, strict=False), 1)
        }
        self._started: dict[str, float] = {}
        self._settled: dict[str, float] = {}
        self._asked: dict[str, str] = {}
        self._read_times()
        self.outline = list(self._outline())

    def _read_times(self) -> None:
        for entry in self._history.entries:
            at = self._time_of(entry)
            match entry:
                case Started(call_id):
                    self._started[call_id] = at
                case Settled(call_id):
                    self._settled[call_id] = at
                case Note("waiting_call", dict(data)):
                    self._asked[str(data.get("call_id", ""))] = str(data.get("kind", ""))

    def _time_of(self, entry: Entry) -> float:
        return self._times.get(id(entry), (0, 0.0))[1]

    def _outline(self) -> Iterator[tuple[ConversationRow, Entry | None]]:
        """Every row without its blocks, in order, with the entry that fills it."""
        expected, number = "", 0
        for entry in self._history.standing:
            place, at = self._times.get(id(entry), (0, 0.0))
            row = ConversationRow("mark", place, at=at)
            match entry:
                case UserTurn() | SystemTurn() | ModelTurn():
                    number += 1
                    row.number, row.key = number, entry.key
                    row.kind = "model" if isinstance(entry, ModelTurn) else "user"
                    if isinstance(entry, SystemTurn):
                        row.kind = "system"
                    if isinstance(entry, ModelTurn):
                        row.who = str(entry.origin)
                        row.colour = provider_colour(entry.origin.provider)
                        if expected and row.who != expected:
                            text = f"Answered by {row.who} in place of {expected}"
                            yield ConversationRow("mark", place, text=text, at=at, stop="switch"), None
                        expected = row.who
                    yield row, entry
                case Note("switch", dict(data)):
                    expected = str(data.get("target", ""))
                    row.text, row.stop = f"Switched to {expected}", "switch"
                    yield row, None
                case Compaction():
                    row.text, row.stop = _compaction_text(entry), "compaction"
                    yield row, entry
                case Note(kind, data) if kind in NOTE_TEXTS:
                    row.text = NOTE_TEXTS[kind] + _note_detail(data)
                    row.stop = kind
                    yield row, None

    # One page of rows

    def rows_from(self, first: int) -> tuple[list[ConversationRow], bool]:
        """The rows from a place on, and whether there are more behind them."""
        chosen = [pair for pair in self.outline if pair[0].place >= first]
        rows = self._filled_rows(chosen)
        return rows, len(rows) < len(chosen)

    def last_rows(self, before: int | None = None) -> tuple[list[ConversationRow], bool]:
        """The last rows before a place, and whether there are more in front of them."""
        chosen = [pair for pair in self.outline if before is None or pair[0].place < before]
        rows = self._filled_rows(chosen[::-1])
        return rows[::-1], len(rows) < len(chosen)

    def all_rows(self) -> list[ConversationRow]:
        return [self._filled_row(row, entry) for row, entry in self.outline]

    def _filled_rows(self, chosen: Sequence[tuple[ConversationRow, Entry | None]]) -> list[ConversationRow]:
        rows: list[ConversationRow] = []
        size = 0
        for row, entry in chosen:
            rows.append(self._filled_row(row, entry))
            size += rows[-1].size
            if len(rows) >= MOST_ROWS or size >= PAGE_SIZE:
                break
        return rows

    def _filled_row(self, row: ConversationRow, entry: Entry | None) -> ConversationRow:
        match entry:
            case UserTurn() | SystemTurn():
                row.blocks = [self._block_view(block, row.place, at) for at, block in enumerate(entry.blocks)]
            case ModelTurn():
                row.blocks = [self._block_view(block, row.place, at) for at, block in enumerate(entry.blocks)]
                row.bars = self._timeline(entry)
                row.cost = cost_of_turn(entry)
                row.tokens = _usage_text(entry)
                row.stop = "" if entry.stop in ("", "end", "tool_calls") else entry.stop
            case Compaction(_, summary) if summary:
                row.blocks = [self._text_view(summary, "summary")]
        return row

    # Blocks

    def _block_view(self, block: Block, place: int, at: int) -> BlockView:
        match block:
            case Text():
                return self._text_view(block.text, "text")
            case Thinking():
                return self._text_view(block.text, "thinking")
            case ToolCall():
                return self._call_block(block, place)
            case Media() | Code() | Opaque():
                return self._content_view(block, f"{place}/{at}")

    def _content_view(self, block: Content, place: str) -> BlockView:
        match block:
            case Media():
                return self._media_view(block, place)
            case Code():
                shown, left_out = self._shown_part(block.source)
                output = f"\n{code_html(block.output[:SHOWN])}" if block.output else ""
                html = code_html(shown, block.language.lower()) + output
                return _view("code", html, one_line(block.language, 40), left_out)
            case Opaque():
                shown, left_out = self._shown_part(block.text)
                return _view("opaque", plain_html(shown), one_line(block.kind, 80), left_out)
        return self._text_view(block.text, "text")

    def _text_view(self, text: str, kind: str) -> BlockView:
        shown, left_out = self._shown_part(SEALED.sub(_length_mark, text))
        return _view(kind, markdown_html(shown), "", left_out)

    def _shown_part(self, text: str) -> tuple[str, int]:
        return (text, 0) if self.shows_all else (text[:SHOWN], max(0, len(text) - SHOWN))

    def _media_view(self, media: Media, place: str) -> BlockView:
        title = one_line(f"{media.mime} {media.name}".strip(), 120)
        view = _view("media", plain_html(one_line(block_text(media), 300)), title, 0)
        if media.mime in IMAGES and media.data:
            if self._media_base:
                view.image = f"{self._media_base}/{place}"
            else:
                view.image = f"data:{media.mime};base64,{_base64_only(media.data)}"
                view.size += len(media.data)
        return view

    def _call_block(self, call: ToolCall, place: int) -> BlockView:
        interaction = self._history.ledger.get(call.id) or ToolInteraction(call, "")
        view = self._call_view(interaction, place)
        size = len(view.arguments) + sum(block.size for block in view.result)
        return BlockView("call", call=view, size=size + 600)

    def _call_view(self, interaction: ToolInteraction, place: int) -> CallView:
        call, outcome = interaction.call, interaction.outcome
        began, ended = self._started.get(call.id), self._settled.get(call.id)
        approval = "waits for approval" if self._asked.get(call.id) == "approval" and not outcome else ""
        if interaction.changed_arguments is not None:
            approval = "arguments were changed before it ran"
        elif outcome is not None and outcome.status == "denied":
            approval = "denied"
        return CallView(
            id=one_line(call.id, 120),
            name=one_line(call.name, 120) or "(no name)",
            arguments=self._arguments_html(interaction),
            status=interaction.status,
            result=[] if outcome is None else self._result_views(outcome, call.id),
            synthetic=outcome.reason.replace("_", " ") or "no result came"
            if outcome is not None and outcome.synthetic
            else "",
            seconds=max(0.0, ended - began) if began and ended else None,
            approval=approval,
            fault=one_line(call.fault, 80),
            source=outcome.source if outcome is not None else "",
            is_open=outcome is not None and outcome.status != "complete",
        )

    def _result_views(self, outcome: Outcome, call_id: str) -> list[BlockView]:
        views = []
        for at, block in enumerate(outcome.content):
            if isinstance(block, Text):
                shown, left_out = self._shown_part(SEALED.sub(_length_mark, block.text))
                views.append(_view("result", code_html(shown), "", left_out))
            else:
                views.append(self._content_view(block, f"{call_id}/{at}"))
        return views

    def _arguments_html(self, interaction: ToolInteraction) -> Markup:
        """Arguments of one text are shown as that text: a command, a patch. Others as JSON."""
        arguments = interaction.arguments
        shown = list(arguments.items())
        if interaction.call.fault and interaction.call.raw:
            return Markup(code_html(self._shown_part(interaction.call.raw)[0]))
        lines = []
        for name, value in shown[:50]:
            if isinstance(value, str) and ("\n" in value or len(shown) == 1):
                part, left = self._shown_part(SEALED.sub(_length_mark, value))
                more = f"\n… {left:,} characters more" if left else ""
                lines.append(f"<dt>{_name_html(name)}</dt><dd>{code_html(part + more, _language(part))}</dd>")
            else:
                text = value if isinstance(value, str) else pretty_json(value)
                part = self._shown_part(text)[0][:4000]
                lines.append(
                    f"<dt>{_name_html(name)}</dt><dd><code>{Markup.escape(printable(part))}</code></dd>"
                )
        return Markup(f"<dl>{''.join(lines)}</dl>" if lines else "")

    # Parallel calls

    def _timeline(self, turn: ModelTurn) -> list[TimelineBar]:
        spans = [
            (call, self._started[call.id], self._settled[call.id])
            for call in turn.tool_calls
            if call.id in self._started and call.id in self._settled
        ]
        if len(spans) < 2:
            return []
        first, last = min(began for _, began, _ in spans), max(ended for _, _, ended in spans)
        whole = max(last - first, 1e-6)
        ledger = self._history.ledger
        return [
            TimelineBar(
                one_line(call.name, 40),
                round(100 * (began - first) / whole, 2),
                round(max(1.0, 100 * (ended - began) / whole), 2),
                f"{ended - began:.2f} s",
                ledger[call.id].status,
            )
            for call, began, ended in spans
        ]


NOTE_TEXTS = {
    "recovery": "The request was refused and sent again: ",
    "discarded": "A reply was cut off and discarded: ",
    "unreadable_entry": "An entry here cannot be read: ",
    "torn_tail": "The end of the file was torn off: ",
    "late_outcome": "An outcome came after its turn was sealed: ",
    "orphaned_result": "A result answered no call: ",
    "duplicate_outcome": "A call had a second result, which was left out: ",
}
"""Notes that a reader should see, and how they begin."""


def provider_colour(provider: str) -> str:
    """The class of a provider's colour: the same on every page."""
    if provider in PROVIDER_COLOURS:
        return f"p{PROVIDER_COLOURS.index(provider)}"
    return f"p{sha256(provider.encode()).digest()[0] % COLOURS}"


def _view(kind: str, html: str, title: str, left_out: int) -> BlockView:
    return BlockView(kind, Markup(html), title, left_out, size=len(html) + 200)


def _compaction_text(entry: Compaction) -> str:
    if entry.through_key:
        pinned = f"; {len(entry.pinned)} pinned turns stay" if entry.pinned else ""
        return f"Compacted: a summary replaces the turns above{pinned}"
    return f"Compacted: {len(entry.shortened)} results were shortened"


def _note_detail(data: Any) -> str:
    if isinstance(data, dict):
        words = [
            f"{name}: {value}" for name, value in data.items() if isinstance(value, str) and name != "data"
        ]
        return one_line("; ".join(words), 300)
    return one_line(data, 300) if isinstance(data, str) else ""


def _usage_text(turn: ModelTurn) -> str:
    used = turn.usage
    if used is None or (used.input is None and used.output is None):
        return ""
    cached = f", {used.cached_input:,} cached" if used.cached_input else ""
    return f"{used.input or 0:,} in{cached}, {used.output or 0:,} out"


def _language(text: str) -> str:
    return "diff" if is_diff(text) or text.startswith("*** Begin Patch") else "text"


def _name_html(name: str) -> str:
    return str(Markup.escape(one_line(name, 80)))


def _length_mark(found: Any) -> str:
    return f"[{len(found[0]):,} characters left out]"


def _base64_only(data: str) -> str:
    return "".join(letter for letter in data if letter.isascii() and (letter.isalnum() or letter in "+/="))
