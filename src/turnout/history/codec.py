"""A history as JSON lines, both ways: a header, then one entry a line.

Entries are read by their types. What only a newer version knows is kept and reported: an
unknown block becomes an `Opaque` of kind `turnout:<type>`, an unknown entry a `Note`, and both
are written back as they were. Unknown fields of known types are ignored; a log is only
appended to, so they stay in the lines already written.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
from msgspec import Struct

from ..diagnostic import Diagnostic
from ..errors import CorruptHistory, UsageError
from ..model import Entry, ModelTurn, Note, Opaque, Origin, Residue, Settled, SystemTurn, ToolSpec, UserTurn
from ..plain import loads, plain
from .log import History

BOM = b"\xef\xbb\xbf"  # some editors write it at the start of a file
VERSION = 1
OURS = Origin("turnout")
"""The origin of blocks that only a newer version understands."""

UNKNOWN_BLOCK = "turnout:"
UNKNOWN_ENTRY = "unknown_entry"

BLOCKS = frozenset({"text", "thinking", "tool_call", "media", "code", "opaque"})
ENTRIES = frozenset(
    {"system_turn", "user_turn", "model_turn", "started", "settled", "compaction", "rewind", "note"}
)


class HistoryHeader(Struct, frozen=True):
    """The first line, before the entries."""

    turnout: int
    key: str
    system: str = ""
    tools: tuple[ToolSpec, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()


_encoder = msgspec.json.Encoder()
_entries: msgspec.json.Decoder[Entry] = msgspec.json.Decoder(Entry)
_headers = msgspec.json.Decoder(HistoryHeader)


# Whole histories


def dump_history(history: History) -> bytes:
    """The history as JSON lines; `load_history` reads them."""
    header = HistoryHeader(VERSION, history.key, history.system, history.tools, tuple(history.diagnostics))
    return b"\n".join([_encoder.encode(header), *map(encode_entry, history.entries), b""])


def load_history(data: bytes) -> History:
    """The history that `dump_history` wrote, of this version or another."""
    lines = [line for line in data.removeprefix(BOM).split(b"\n") if line.strip()]
    if not lines:
        raise CorruptHistory("the stored history is empty; give the bytes that dump_history wrote")
    header = _read_header(lines[0])
    try:
        history = History.replay(
            lines[1:], header.key, read=_read_line, system=header.system, tools=header.tools
        )
    except UsageError as error:
        raise CorruptHistory(str(error), lines[0]) from error
    known = set(header.diagnostics)
    found = [each for each in history.diagnostics if each not in known]
    history.diagnostics = [*header.diagnostics, *found]
    return history


def _read_line(history: History, line: bytes) -> Entry:
    entry = decode_entry(line)
    if not history.fits(entry):
        what = type(entry).__name__
        raise CorruptHistory(
            f"a {what} names a call or a turn that is not there; `turnout doctor` saves what can be read",
            entry,
        )
    history.diagnostics.extend(_diagnose_unknown(entry))
    return entry


def _diagnose_unknown(entry: Entry) -> Iterator[Diagnostic]:
    """A diagnostic for each part of an entry that only a newer version understands."""
    if _is_newer(entry):
        yield Diagnostic("history", "unknown_entry", "", entry.data["type"])  # type: ignore[union-attr]
    for block in _blocks_of(entry):
        if _is_unknown(block):
            yield Diagnostic("history", "unknown_block", "", block.kind)


def _read_header(line: bytes) -> HistoryHeader:
    try:
        return _headers.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise CorruptHistory(
            f"the first line is not a header ({error}); give the bytes that dump_history wrote", line
        ) from error


# Single entries


def encode_entry(entry: Entry) -> bytes:
    """One entry as one line of JSON."""
    if _is_newer(entry):
        return _encoder.encode(entry.data)  # type: ignore[union-attr]
    if any(_is_unknown(block) for block in _blocks_of(entry)):
        return _encoder.encode(_with_original_blocks(msgspec.to_builtins(entry)))
    try:
        return _encoder.encode(entry)
    except (UnicodeEncodeError, TypeError):  # a name or residue of the caller that is not JSON
        return _encoder.encode(plain(msgspec.to_builtins(entry, enc_hook=plain)))


def decode_entry(line: bytes) -> Entry:
    """The entry on this line. Parts that only a newer version understands are kept as they are."""
    try:
        return _entries.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, UsageError, RecursionError) as error:
        return _read_newer_entry(line, error)


def _is_newer(entry: Entry) -> bool:
    """Whether this is an entry that only a newer version understands."""
    if not isinstance(entry, Note) or entry.kind != UNKNOWN_ENTRY or not isinstance(entry.data, dict):
        return False
    kind = entry.data.get("type")
    return isinstance(kind, str) and kind not in ENTRIES


def _blocks_of(entry: Entry) -> Iterator[Any]:
    if isinstance(entry, UserTurn | SystemTurn | ModelTurn):
        yield from entry.blocks
    elif isinstance(entry, Settled):
        yield from entry.outcome.content


def _is_unknown(block: Any) -> bool:
    return (
        isinstance(block, Opaque)
        and block.kind.startswith(UNKNOWN_BLOCK)
        and block.residue is not None
        and block.residue.origin == OURS
    )


def _with_original_blocks(raw: dict[str, Any]) -> dict[str, Any]:
    """The entry with each unknown block as it was read."""
    place, name = _blocks_in(raw)
    place[name] = [_original_block(block) for block in place[name]]
    return raw


def _original_block(block: dict[str, Any]) -> Any:
    ours = str(block.get("kind", "")).startswith(UNKNOWN_BLOCK) and block.get("residue")
    return (
        block["residue"]["data"]
        if ours and block["residue"]["origin"]["provider"] == OURS.provider
        else block
    )


def _read_newer_entry(line: bytes, error: Exception) -> Entry:
    raw = _object_on(line)
    if raw["type"] not in ENTRIES:
        return Note(UNKNOWN_ENTRY, raw)
    place, name = _blocks_in(raw)
    known = (
        [_as_known_block(block) for block in place.get(name) or ()]
        if isinstance(place.get(name), list)
        else None
    )
    if known is None or known == place[name]:
        raise CorruptHistory(f"an entry has the wrong shape ({error})", line) from error
    place[name] = known
    try:
        entry: Entry = msgspec.convert(raw, Entry)
    except (msgspec.ValidationError, UsageError) as still:
        raise CorruptHistory(f"an entry has the wrong shape ({still})", line) from still
    return entry


def _object_on(line: bytes) -> dict[str, Any]:
    try:
        raw = loads(line)
    except (ValueError, RecursionError) as error:
        raise CorruptHistory(f"an entry is not JSON ({error})", line) from error
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        raise CorruptHistory("an entry must be a JSON object with a 'type'", line)
    return raw


def _blocks_in(raw: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """The object and the field in which an entry holds its blocks."""
    if raw["type"] == "settled":
        outcome = raw.get("outcome")
        return (outcome if isinstance(outcome, dict) else {}), "content"
    return raw, "blocks"


def _as_known_block(block: Any) -> Any:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(kind, str) or kind in BLOCKS:
        return block
    text = block.get("text")
    opaque = Opaque(UNKNOWN_BLOCK + kind, text if isinstance(text, str) else "", Residue(OURS, plain(block)))
    return msgspec.to_builtins(opaque)
