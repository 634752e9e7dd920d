"""A whole conversation as one HTML file that looks like its page, and loads and runs nothing."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from jinja2 import Environment
from msgspec import Struct

from ....diagnostic import Diagnostic
from ....history.log import History
from ....model import ModelTurn, Rewind
from ....store.summary_of_entries import tally_of
from ..clean_text import one_line, printable
from .drawing import make_environment, style_sheet
from .rows import ConversationReader, provider_colour

POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
LONGEST_SYSTEM = 20_000


class ConversationHead(Struct, frozen=True):
    """What stands above the turns, on a page and in an export."""

    id: str
    title: str
    turns: int
    cost: float | None
    models: list[tuple[str, str]]  # each with its colour
    system: str
    tools: list[str]
    rewound: int
    repairs: list[Diagnostic]


def conversation_head(history: History, title: str = "") -> ConversationHead:
    """The head of a conversation. Its turns and cost are those of the list of sessions."""
    counted = tally_of(history.entries)
    replies = [turn for turn in history.standing if isinstance(turn, ModelTurn)]
    models = {str(turn.origin): provider_colour(turn.origin.provider) for turn in replies}
    return ConversationHead(
        history.key,
        one_line(title or counted.title or history.key, 120),
        counted.turns,
        counted.cost,
        list(models.items()),
        printable(history.system[:LONGEST_SYSTEM]),
        [one_line(spec.name, 80) for spec in history.tools],
        sum(isinstance(entry, Rewind) for entry in history.entries),
        list(history.diagnostics),
    )


def export_page(history: History, title: str = "", times: Sequence[float] = ()) -> str:
    """The conversation as one file. `times` are those of its entries, where they are known."""
    rows = ConversationReader(history, times).all_rows()
    head = conversation_head(history, title)
    template = _environment().get_template("export.html")
    return template.render(head=head, rows=rows, style=style_sheet(), policy=POLICY)


@lru_cache(1)
def _environment() -> Environment:
    return make_environment()
