"""opencode's own files: its SQLite database, or the folder of JSON files of older versions.

Both are put together as the document that `opencode export` prints, which one reader reads. The
database is opened for reading only; opencode may be running.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec import Struct

from ...errors import UsageError
from ...plain import dict_in, dumps, loads, text_in
from .lines import Record


class StoredChat(Struct, frozen=True):
    """One session of opencode: its id, folder, title, and when it was used last (seconds)."""

    id: str
    folder: str
    title: str
    updated: float


def is_database(path: Path) -> bool:
    return path.is_file() and path.suffix in (".db", ".sqlite")


def stored_chats(place: Path) -> list[StoredChat]:
    """The sessions of a database, or of a folder `storage`; not those of subagents."""
    rows = _database_rows(place) if is_database(place) else _folder_rows(place)
    return [_chat_of(row) for row in rows if not row.get("parent_id") and not row.get("parentID")]


def exported_chat(place: Path, id: str) -> bytes:
    """The session as `opencode export` would print it."""
    return _export_of_database(place, id) if is_database(place) else _export_of_folder(place, id)


def _chat_of(row: Record) -> StoredChat:
    time = row.get("time_updated") or dict_in(row.get("time")).get("updated") or 0
    return StoredChat(
        text_in(row.get("id")),
        text_in(row.get("directory")),
        text_in(row.get("title")),
        float(time) / 1000 if isinstance(time, int | float) else 0.0,
    )


# The database


def _rows(path: Path, query: str, *values: str) -> list[Record]:
    import apsw  # loaded only when there is a database to read

    found: list[Record] = []
    try:
        with apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY) as db:
            cursor = db.execute(query, values)
            for row in cursor:  # a cursor that gives no row has no description
                found.append(dict(zip((name for name, *_ in cursor.get_description()), row, strict=True)))
    except apsw.Error as error:
        raise UsageError(f"{path} cannot be read as opencode's database ({error}); check the file") from None
    return found


def _database_rows(path: Path) -> list[Record]:
    return _rows(path, "SELECT * FROM session")


def _export_of_database(path: Path, id: str) -> bytes:
    sessions = _rows(path, "SELECT * FROM session WHERE id = ?", id)
    if not sessions:
        raise UsageError(f"there is no session {id!r} in {path}; `turnout rescue` lists them")
    parts: dict[str, list[Any]] = {}
    for row in _rows(path, "SELECT * FROM part WHERE session_id = ? ORDER BY id", id):
        parts.setdefault(row["message_id"], []).append({**_json_of(row), "id": row["id"]})
    messages = [
        {"info": {**_json_of(row), "id": row["id"]}, "parts": parts.get(row["id"], [])}
        for row in _rows(path, "SELECT * FROM message WHERE session_id = ? ORDER BY time_created, id", id)
    ]
    info = {"id": id, "title": sessions[0].get("title"), "revert": _revert_of(sessions[0])}
    return dumps({"info": info, "messages": messages}).encode()


def _json_of(row: Record) -> Record:
    """The data of a row. Data that cannot be read is kept as text, so that the reader notes it."""
    try:
        return dict_in(loads(row.get("data") or "{}"))
    except (ValueError, RecursionError):
        return {"type": "unreadable row", "text": str(row.get("data"))}


def _revert_of(row: Record) -> Any:
    revert = row.get("revert")
    try:
        return loads(revert) if isinstance(revert, str) and revert else None
    except ValueError:
        return None


# The folder of older versions


def _folder_rows(storage: Path) -> list[Record]:
    return [_read_json(path) for path in sorted(storage.glob("session/*/*.json"))]


def _export_of_folder(storage: Path, id: str) -> bytes:
    info = next(({**_read_json(path), "id": id} for path in storage.glob(f"session/*/{id}.json")), {"id": id})
    messages = []
    for path in sorted((storage / "message" / id).glob("*.json")):
        found = sorted((storage / "part" / path.stem).glob("*.json"))
        messages.append({"info": _read_json(path), "parts": [_read_json(part) for part in found]})
    return dumps({"info": info, "messages": messages}).encode()


def _read_json(path: Path) -> Record:
    try:
        return dict_in(loads(path.read_bytes()))
    except (OSError, ValueError, RecursionError) as error:
        return {"type": "unreadable file", "text": f"{path.name}: {error}", "id": path.stem}
