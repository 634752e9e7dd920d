"""A session as a file: JSON lines that can be read back, and Markdown for people.

Markdown holds the whole conversation, also what a compaction replaced; only what was rewound is left out.
Control codes for terminals are removed. HTML is written by `surfaces.shared.conversation_html`, which the
pages use too.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from msgspec import Struct

from ..declarations import specs_of
from ..diagnostic import Diagnostic
from ..errors import CorruptHistory
from ..history.codec import dump_history
from ..history.log import History
from ..model import (
    Block,
    Code,
    Compaction,
    Media,
    ModelTurn,
    Note,
    Outcome,
    SystemTurn,
    Thinking,
    ToolCall,
    UserTurn,
    block_text,
)
from ..plain import clean_text, dumps, loads
from ..store.ports import SessionHeader, StoredSession
from ..store.recover import history_of_stored
from ..tools.confine.output import readable


class TranscriptPiece(Struct, frozen=True):
    """One piece of an export: who wrote it, and what kind of text it is."""

    kind: str  # user, system, summary, text, thinking, call, result, media
    text: str
    who: str = ""
    status: str = ""
    media: Media | None = None


def export(history: History, form: str, title: str = "") -> bytes:
    """The session as `jsonl` or `markdown`."""
    return FORMS[form](history, title)


# JSON lines


def to_jsonl(history: History, title: str = "") -> bytes:
    """Header and entries, one a line; `from_jsonl` reads it back."""
    header, _, rest = dump_history(history).partition(b"\n")
    fields = loads(header)
    return dumps({**fields, "title": title}).encode() + b"\n" + rest if title else header + b"\n" + rest


class ImportedSession(Struct, frozen=True):
    """The session of a JSON lines file."""

    history: History
    title: str = ""


def from_jsonl(data: bytes, key: str = "") -> ImportedSession:
    """The session of a file that `to_jsonl` wrote, under its own key or another.

    A last line that is cut off, and lines that cannot be read, are kept as notes and reported.
    """
    first, *lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    header = _read_header(first, key)
    torn = lines.pop() if lines and lines[-1].strip() else b""
    entries = [line for line in lines if line.strip()]
    if torn and _is_whole(torn):
        entries.append(torn)
        torn = b""
    history = history_of_stored(StoredSession(header, tuple(entries)))
    if torn:
        history.note("torn_tail", clean_text(torn.decode(errors="replace")))
        detail = f"{len(torn)} bytes after entry {len(entries)}"
        history.diagnostics.append(Diagnostic("history", "torn_tail", "", detail))
    return ImportedSession(history, header.title)


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _read_header(line: bytes, key: str) -> SessionHeader:
    try:
        fields: Any = loads(line)
    except (ValueError, RecursionError) as error:
        raise CorruptHistory(
            f"the first line is not the header of a session ({error}); give an export of turnout", line
        ) from error
    if not isinstance(fields, dict) or "turnout" not in fields or not isinstance(fields.get("key"), str):
        raise CorruptHistory("the first line is not the header of a session; give an export of turnout", line)
    tools = specs_of(fields.get("tools") or ())
    title, system = (
        value if isinstance(value := fields.get(name), str) else "" for name in ("title", "system")
    )
    return SessionHeader(key or fields["key"], title, system, tools)


# For people


def pieces_of(history: History) -> Iterator[TranscriptPiece]:
    """The conversation from its beginning, each result right after its call."""
    if history.system:
        yield TranscriptPiece("system", history.system)
    for entry in history.standing:
        match entry:
            case SystemTurn() | UserTurn():
                kind = "system" if isinstance(entry, SystemTurn) else "user"
                yield from (_piece_of_block(block, kind, "") for block in entry.blocks)
            case ModelTurn():
                yield from _reply_pieces(entry, history)
            case Compaction(through_key, summary) if through_key:
                yield TranscriptPiece("summary", summary)
            case Note("torn_tail" | "unreadable_entry"):
                yield TranscriptPiece("summary", "An entry here could not be read.")


def _reply_pieces(turn: ModelTurn, history: History) -> Iterator[TranscriptPiece]:
    who = str(turn.origin)
    for block in turn.blocks:
        yield _piece_of_block(block, "text", who)
        if isinstance(block, ToolCall) and (interaction := history.ledger.get(block.id)) is not None:
            yield _piece_of_outcome(interaction.outcome, block.name)


def _piece_of_block(block: Block, kind: str, who: str) -> TranscriptPiece:
    match block:
        case Thinking():
            return TranscriptPiece("thinking", block.text, who)
        case ToolCall():
            return TranscriptPiece("call", dumps(block.arguments), block.name)
        case Media():
            return TranscriptPiece("media", block_text(block), who, media=block)
        case Code():
            return TranscriptPiece("code", block.source, block.language)
    return TranscriptPiece(kind, block_text(block), who)


def _piece_of_outcome(outcome: Outcome | None, name: str) -> TranscriptPiece:
    if outcome is None:
        return TranscriptPiece("result", "", name, "pending")
    media = next((block for block in outcome.content if isinstance(block, Media)), None)
    text = "\n".join(block_text(block) for block in outcome.content) or outcome.reason
    return TranscriptPiece("result", text, name, outcome.status, media)


def without_control_codes(text: str) -> str:
    """The text without control codes for terminals."""
    return readable(clean_text(text).encode())


# Markdown


def to_markdown(history: History, title: str = "") -> bytes:
    """The conversation as a document."""
    lines = [f"# {_one_line(title or history.key)}"]
    before = ""
    for piece in pieces_of(history):
        heading = {"user": "User", "system": "System", "summary": "Summary"}.get(piece.kind, piece.who)
        if piece.kind in ("user", "system", "summary", "text", "thinking") and heading != before:
            lines.append(f"## {_one_line(heading)}")
            before = heading
        lines.append(_markdown_of(piece))
    return ("\n\n".join(line for line in lines if line) + "\n").encode()


def _markdown_of(piece: TranscriptPiece) -> str:
    text = without_control_codes(piece.text)
    match piece.kind:
        case "thinking":
            return "\n".join(f"> {line}" for line in text.splitlines()) if text.strip() else ""
        case "call":
            return f"**{_one_line(piece.who)}**\n\n{_code_fence(text, 'json')}"
        case "result":
            return f"*{piece.status}*\n\n{_code_fence(text)}"
        case "code":
            return _code_fence(text, _one_line(piece.who))
        case "media":
            return f"*{_one_line(text)}*"
    return text


def _code_fence(text: str, language: str = "") -> str:
    """A fence longer than any inside the text."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _one_line(text: str) -> str:
    return " ".join(without_control_codes(text).split())


FORMS: dict[str, Callable[[History, str], bytes]] = {
    "jsonl": to_jsonl,
    "markdown": to_markdown,
}
