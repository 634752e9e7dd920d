"""A session as a file: JSON lines that can be read back, Markdown and HTML for people.

For people the whole conversation is told, also what a compaction put aside; only what was
rewound is left out. Whatever would steer a terminal or a browser is taken out or escaped, and
the page needs nothing from anywhere.
"""

from __future__ import annotations

import html
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
from ..plain import clean, dumps, loads
from ..store.ports import Header, Stored
from ..store.recover import retold
from ..tools.confine.output import readable

IMAGES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})


class Piece(Struct, frozen=True):
    """One thing that the conversation is told in: who, and what kind of text."""

    kind: str  # user, system, summary, text, thinking, call, result, media
    text: str
    who: str = ""
    status: str = ""
    media: Media | None = None


def export(history: History, form: str, title: str = "") -> bytes:
    """The session as `jsonl`, `markdown` or `html`."""
    return FORMS[form](history, title)


# JSON lines


def to_jsonl(history: History, title: str = "") -> bytes:
    """Header and entries, one a line; `from_jsonl` reads it back."""
    header, _, rest = dump_history(history).partition(b"\n")
    told = loads(header)
    return dumps({**told, "title": title}).encode() + b"\n" + rest if title else header + b"\n" + rest


class Imported(Struct, frozen=True):
    """What a file of lines held."""

    history: History
    title: str = ""


def from_jsonl(data: bytes, key: str = "") -> Imported:
    """The session of a file that `to_jsonl` wrote, under its own key or another.

    A last line that is cut off, and lines that make no sense, are kept as notes and said.
    """
    first, *lines = data.removeprefix(b"\xef\xbb\xbf").split(b"\n")
    header = _header(first, key)
    torn = lines.pop() if lines and lines[-1].strip() else b""
    entries = [line for line in lines if line.strip()]
    if torn and _is_whole(torn):
        entries.append(torn)
        torn = b""
    history = retold(Stored(header, tuple(entries)))
    if torn:
        history.note("torn_tail", clean(torn.decode(errors="replace")))
        detail = f"{len(torn)} bytes after entry {len(entries)}"
        history.diagnostics.append(Diagnostic("history", "torn_tail", "", detail))
    return Imported(history, header.title)


def _is_whole(line: bytes) -> bool:
    try:
        return isinstance(loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _header(line: bytes, key: str) -> Header:
    try:
        told: Any = loads(line)
    except (ValueError, RecursionError) as error:
        raise CorruptHistory(f"the first line is not a session's header ({error})", line) from error
    if not isinstance(told, dict) or "turnout" not in told or not isinstance(told.get("key"), str):
        raise CorruptHistory("the first line is not a session's header; is this an export of turnout?", line)
    tools = specs_of(told.get("tools") or ())
    title, system = (
        value if isinstance(value := told.get(name), str) else "" for name in ("title", "system")
    )
    return Header(key or told["key"], title, system, tools)


# For people


def pieces(history: History) -> Iterator[Piece]:
    """The conversation from its beginning, results right behind their calls."""
    if history.system:
        yield Piece("system", history.system)
    for entry in history.standing:
        match entry:
            case SystemTurn() | UserTurn():
                kind = "system" if isinstance(entry, SystemTurn) else "user"
                yield from (_said(block, kind, "") for block in entry.blocks)
            case ModelTurn():
                yield from _reply(entry, history)
            case Compaction(through_key, summary) if through_key:
                yield Piece("summary", summary)
            case Note("torn_tail" | "unreadable_entry"):
                yield Piece("summary", "Something that could not be read stood here.")


def _reply(turn: ModelTurn, history: History) -> Iterator[Piece]:
    who = str(turn.origin)
    for block in turn.blocks:
        yield _said(block, "text", who)
        if isinstance(block, ToolCall) and (told := history.ledger.get(block.id)) is not None:
            yield _came_of(told.outcome, block.name)


def _said(block: Block, kind: str, who: str) -> Piece:
    match block:
        case Thinking():
            return Piece("thinking", block.text, who)
        case ToolCall():
            return Piece("call", dumps(block.arguments), block.name)
        case Media():
            return Piece("media", block_text(block), who, media=block)
        case Code():
            return Piece("code", block.source, block.language)
    return Piece(kind, block_text(block), who)


def _came_of(outcome: Outcome | None, name: str) -> Piece:
    if outcome is None:
        return Piece("result", "", name, "pending")
    media = next((block for block in outcome.content if isinstance(block, Media)), None)
    text = "\n".join(block_text(block) for block in outcome.content) or outcome.reason
    return Piece("result", text, name, outcome.status, media)


def shown(text: str) -> str:
    """A text without anything that steers a terminal."""
    return readable(clean(text).encode())


# Markdown


def to_markdown(history: History, title: str = "") -> bytes:
    """The conversation as a document."""
    lines = [f"# {_one_line(title or history.key)}"]
    before = ""
    for piece in pieces(history):
        heading = {"user": "User", "system": "System", "summary": "Summary"}.get(piece.kind, piece.who)
        if piece.kind in ("user", "system", "summary", "text", "thinking") and heading != before:
            lines.append(f"## {_one_line(heading)}")
            before = heading
        lines.append(_markdown(piece))
    return ("\n\n".join(line for line in lines if line) + "\n").encode()


def _markdown(piece: Piece) -> str:
    text = shown(piece.text)
    match piece.kind:
        case "thinking":
            return "\n".join(f"> {line}" for line in text.splitlines()) if text.strip() else ""
        case "call":
            return f"**{_one_line(piece.who)}**\n\n{_fenced(text, 'json')}"
        case "result":
            return f"*{piece.status}*\n\n{_fenced(text)}"
        case "code":
            return _fenced(text, _one_line(piece.who))
        case "media":
            return f"*{_one_line(text)}*"
    return text


def _fenced(text: str, language: str = "") -> str:
    """A fence that nothing inside can close."""
    longest = max((len(run) for run in re.findall(r"`{3,}", text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _one_line(text: str) -> str:
    return " ".join(shown(text).split())


# HTML

STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem }
section { margin: 1rem 0; padding: .5rem 1rem; border-left: 4px solid #bbb }
.user { border-color: #27c; background: #f2f7ff }
.system, .summary { border-color: #a80; background: #fffaf0 }
.error, .interrupted, .cancelled, .denied { border-color: #c33 }
h2 { font-size: .85rem; color: #666; margin: 0 }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; margin: .25rem 0; unicode-bidi: isolate }
details pre, .call pre { font: 13px/1.4 ui-monospace, monospace }
img { max-width: 100% }
@media (prefers-color-scheme: dark) {
  body { background: #161616; color: #ddd } .user { background: #1a2433 }
  .system, .summary { background: #2a2413 }
}
"""
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def to_html(history: History, title: str = "") -> bytes:
    """The conversation as one page that loads nothing and runs nothing."""
    name = _escaped(_one_line(title or history.key))
    body = "\n".join(_section(piece) for piece in pieces(history) if piece.text.strip() or piece.media)
    page = (
        f'<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">\n'
        f'<meta name="viewport" content="width=device-width">\n<title>{name}</title>\n'
        f"<style>{STYLE}</style>\n</head>\n<body>\n<h1>{name}</h1>\n{body}\n</body>\n</html>\n"
    )
    return page.encode()


def _section(piece: Piece) -> str:
    heading = _escaped(
        _one_line({"user": "User", "text": piece.who}.get(piece.kind, f"{piece.kind} {piece.who}"))
    )
    content = f"<pre>{_escaped(shown(piece.text))}</pre>{_image(piece.media)}"
    if piece.kind in ("thinking", "result"):
        state = f" ({piece.status})" if piece.status else ""
        opened = " open" if piece.status not in ("", "complete") else ""
        content = f"<details{opened}><summary>{heading}{state}</summary>{content}</details>"
        return f'<section class="{piece.kind} {piece.status}">{content}</section>'
    return f'<section class="{piece.kind}"><h2>{heading}</h2>{content}</section>'


def _image(media: Media | None) -> str:
    """Pictures that are in the session itself; nothing is fetched, and no SVG, which could run."""
    if media is None or media.mime not in IMAGES or not re.fullmatch(r"[A-Za-z0-9+/=\s]+", media.data):
        return ""
    return f'<img alt="{_escaped(media.name)}" src="data:{media.mime};base64,{media.data}">'


def _escaped(text: str) -> str:
    return html.escape(text, quote=True)


FORMS: dict[str, Callable[[History, str], bytes]] = {
    "jsonl": to_jsonl,
    "markdown": to_markdown,
    "html": to_html,
}
