"""The list of sessions, one conversation, and its files, as values for the templates."""

from __future__ import annotations

import base64
import binascii
import shlex
from collections.abc import Callable
from typing import Any

from msgspec import Struct

from ...errors import UsageError
from ...history.codec import decode_entry
from ...history.log import History
from ...model import Compaction, Media, ModelTurn, Origin, block_text
from ...store import SessionSummary, Store
from ..shared.clean_text import one_line, printable
from ..shared.conversation_html.blocks import IMAGES
from ..shared.conversation_html.export import conversation_head, export_page
from ..shared.conversation_html.masked_json import without_sealed
from ..shared.conversation_html.rows import MOST_ROWS, ConversationReader, ConversationRow, provider_colour
from ..shared.session_export import times_of_entries

PER_PAGE = 50
MOST_FOUND = 200
GROUPS: dict[str, Callable[[SessionSummary], str]] = {
    "provider": lambda line: Origin.parse(line.model).provider if line.model else "",
    "model": lambda line: line.model,
    "kind": lambda line: line.kind,
    "client": lambda line: line.id.partition("/")[0] if "/" in line.id else "",
}


class SessionRow(Struct):
    """One line of the list."""

    line: SessionSummary
    colour: str
    excerpt: str = ""


class OpenedSession(Struct):
    """A session as it is now, with the time of every entry."""

    id: str
    history: History
    summary: SessionSummary
    times: list[float]

    def reader(self, media_base: str) -> ConversationReader:
        return ConversationReader(self.history, self.times, media_base)


def open_for_reading(store: Store, id: str) -> OpenedSession:
    """Read a session. Nothing is written, and no lease is taken."""
    return OpenedSession(id, store.read(id), store.summary(id), times_of_entries(store, id))


# The list


def list_values(store: Store, query: dict[str, str]) -> dict[str, Any]:
    """What the list shows for a query."""
    words, group = query.get("words", "").strip(), query.get("group", "")
    wanted = {name: given for name in ("provider", "client") if (given := query.get(name, "").strip())}
    excerpts = {hit.session: hit.excerpt for hit in store.search(words, MOST_FOUND)} if words else {}
    number = _page_number(query)
    everything = bool(words or wanted or group)
    lines = store.list(limit=None if everything else number * PER_PAGE + 1, subagents="all" in query)
    if words:
        lines = [line for line in lines if line.id in excerpts]
    for name, given in wanted.items():
        lines = [line for line in lines if GROUPS[name](line) == given]
    shown = lines[(number - 1) * PER_PAGE : number * PER_PAGE]
    rows = [
        SessionRow(line, provider_colour(GROUPS["provider"](line)), one_line(excerpts.get(line.id, "")))
        for line in shown
    ]
    return {
        "rows": rows,
        "page": number,
        "has_more": len(lines) > number * PER_PAGE,
        "groups": _groups_of(lines, group) if group in GROUPS else None,
        "group": group,
        "group_names": list(GROUPS),
        "words": words,
        "is_filtered": bool(words or wanted) or number > 1,
        "provider": wanted.get("provider", ""),
        "client": wanted.get("client", ""),
    }


def _groups_of(lines: list[SessionSummary], by: str) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for line in lines:
        name = GROUPS[by](line) or "(none)"
        sums = found.setdefault(name, {"name": name, "sessions": 0, "turns": 0, "cost": 0.0, "size": 0})
        sums["sessions"] += 1
        sums["turns"] += line.turns
        sums["cost"] += line.cost or 0.0
        sums["size"] += line.size
    return sorted(found.values(), key=lambda sums: -sums["cost"])


def _page_number(query: dict[str, str]) -> int:
    given = query.get("page", "1")
    return max(1, min(int(given), 1_000_000)) if given.isdecimal() and len(given) < 8 else 1


# One conversation


def conversation_values(opened: OpenedSession, query: dict[str, str], base: str) -> dict[str, Any]:
    """One page of a conversation: its end, or before or from where the query says."""
    reader = opened.reader(f"{base}/media")
    first, before = _place_in(query, "from"), _place_in(query, "before")
    rows = reader.rows_from(first) if first is not None else reader.last_rows(before)
    has_earlier = bool(rows) and reader.outline[0][0].place < rows[0].place
    has_later = bool(rows) and rows[-1].place < reader.outline[-1][0].place
    return {
        **_shared_values(opened, base),
        "rows": rows,
        "earlier": rows[0].place if has_earlier else 0,
        "later": rows[-1].place + 1 if has_later else 0,
        "live_from": _live_place(rows) if not has_later else 0,
    }


def _place_in(query: dict[str, str], name: str) -> int | None:
    given = query.get(name, "")
    return int(given) if given.isdecimal() and len(given) < 10 else None


def _shared_values(opened: OpenedSession, base: str) -> dict[str, Any]:
    head = conversation_head(opened.history, opened.summary.title)
    return {
        "summary": opened.summary,
        "head": head,
        "title": head.title,
        "base": base,
        "commands": session_commands(opened.id),
        "is_live": opened.summary.holder is not None,
    }


def _live_place(rows: list[ConversationRow]) -> int:
    """From where a live session is drawn again: its last reply may still get outcomes."""
    replies = [row.place for row in rows if row.kind == "model"]
    return replies[-1] if replies else (rows[0].place if rows else 1)


def live_values(opened: OpenedSession, first: int, base: str, draft: bytes | None) -> dict[str, Any]:
    """The end of a conversation from a place on, and the reply that is being written."""
    reader = opened.reader(f"{base}/media")
    chosen = [pair for pair in reader.outline if pair[0].place >= first]
    rows = reader.last_rows() if len(chosen) > MOST_ROWS else reader.rows_from(first)
    return {**_shared_values(opened, base), "rows": rows, "draft": draft_text(draft)}


def draft_text(draft: bytes | None) -> str:
    """The text of the reply that is being written."""
    if not draft:
        return ""
    try:
        turn = decode_entry(draft)
    except Exception:
        return ""
    return printable(turn.text[-20_000:]) if isinstance(turn, ModelTurn) else ""


def session_commands(id: str) -> list[tuple[str, str]]:
    """What can be done with a session in a shell."""
    name = shlex.quote(id)
    return [
        ("Resume it", f"turnout -r {name}"),
        ("Resume a copy", f"turnout -r {name} --fork"),
        ("Export it", f"turnout sessions export {name} --to conversation.html"),
    ]


# Files


def media_of(opened: OpenedSession, place: str, at: str) -> tuple[str, bytes]:
    """An image of a conversation: of the entry at a place, or of the outcome of a call."""
    blocks: Any = ()
    if place.isdecimal() and 0 < int(place) <= len(opened.history.entries):
        blocks = getattr(opened.history.entries[int(place) - 1], "blocks", ())
    elif (found := opened.history.ledger.get(place)) is not None and found.outcome is not None:
        blocks = found.outcome.content
    block = blocks[int(at)] if at.isdecimal() and int(at) < len(blocks) else None
    if not isinstance(block, Media) or block.mime not in IMAGES:
        raise UsageError("there is no such image in this session; open the session's page again")
    try:
        return block.mime, base64.b64decode(block.data)
    except (binascii.Error, ValueError):
        raise UsageError("this image cannot be read; see `turnout doctor`") from None


def whole_text(opened: OpenedSession, place: str) -> str:
    """All texts of one entry, or of the outcome of a call."""
    if place.isdecimal() and 0 < int(place) <= len(opened.history.entries):
        entry = opened.history.entries[int(place) - 1]
        if isinstance(entry, Compaction):
            return printable(without_sealed(entry.summary))
        blocks = getattr(entry, "blocks", ())
        return "\n\n".join(printable(without_sealed(block_text(block))) for block in blocks)
    if (found := opened.history.ledger.get(place)) is not None and found.outcome is not None:
        return printable(without_sealed(found.outcome.text))
    raise UsageError("there is no such text in this session; open the session's page again")


def export_html(opened: OpenedSession) -> str:
    """The whole conversation as one file that looks like its page, and loads nothing."""
    return export_page(opened.history, opened.summary.title, opened.times)
