"""llm: its log, an SQLite database of conversations; one of them is taken, the latest unless named.

Up to 0.31 a response holds the prompt and the reply, the calls that the reply made, and the
results that its prompt brought. From 0.32 on a log is a tree of messages; `llm_threads` reads it.
A log that was carried over has both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from ...errors import UsageError
from ...history.ingest.heard import HeardCall, HeardResult, Item
from ...model import Origin, Outcome, Text
from . import llm_threads
from .llm_log import Log, Row, attached
from .telling import Foreign, Telling, text

LATEST = "SELECT conversation_id FROM responses WHERE conversation_id IS NOT NULL ORDER BY id DESC LIMIT 1"
ATTACHED = """
SELECT a.* FROM attachments a JOIN prompt_attachments p ON p.attachment_id = a.id
WHERE p.response_id = ? ORDER BY p."order"
"""


def read(path: Path, key: str, conversation: str = "") -> Foreign:
    """A conversation out of a log."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        with Log(connection) as log:
            return _read(log, key, conversation)
    except apsw.Error as error:
        raise UsageError(f"{path} is no log of llm: {error}") from error


def _read(log: Log, key: str, conversation: str) -> Foreign:
    if "responses" not in log.tables:
        raise UsageError("this database has no table of responses, so it is no log of llm")
    latest = log.rows(LATEST)
    id = conversation or max(  # ids begin with their time
        llm_threads.latest(log), text(latest[0]["conversation_id"]) if latest else ""
    )
    if (thread := llm_threads.read(log, key, id)) is not None:
        return thread
    responses = log.rows("SELECT * FROM responses WHERE conversation_id = ? ORDER BY id", id)
    if not responses:
        raise UsageError(f"there is no conversation {id!r} in this log; `llm logs list` shows their ids")
    telling = Telling("llm", Origin("unknown"))
    telling.id = id
    names = log.rows("SELECT name FROM conversations WHERE id = ?", id)
    telling.title = text(names[0]["name"]) if names else ""
    for response in responses:
        _tell(response, log, telling)
    return telling.finished(key)


def _tell(response: Row, log: Log, telling: Telling) -> None:
    if (system := text(response.get("system"))) and system not in telling.system:
        telling.system.append(system)
    telling.say("tool", *_results(response, log))
    telling.say("user", *_prompt(response, log))
    origin = Origin("unknown", "", text(response.get("resolved_model")) or text(response.get("model")))
    reply = [Text(said)] if (said := text(response.get("response"))) else []
    telling.say("model", *reply, *_calls(response, log), origin=origin)


def _prompt(response: Row, log: Log) -> Iterator[Item]:
    if said := text(response.get("prompt")):
        yield Text(said)
    if {"attachments", "prompt_attachments"} <= log.tables:
        yield from map(attached, log.rows(ATTACHED, response["id"]))


def _calls(response: Row, log: Log) -> Iterator[Item]:
    if "tool_calls" in log.tables:
        for row in log.rows("SELECT * FROM tool_calls WHERE response_id = ? ORDER BY id", response["id"]):
            yield HeardCall(text(row.get("tool_call_id")), text(row.get("name")), row.get("arguments"))


def _results(response: Row, log: Log) -> Iterator[Item]:
    if "tool_results" in log.tables:
        for row in log.rows("SELECT * FROM tool_results WHERE response_id = ? ORDER BY id", response["id"]):
            failed = text(row.get("exception"))
            said: Any = row.get("output") or failed or ()
            outcome = Outcome("error" if failed else "complete", said)
            yield HeardResult(text(row.get("tool_call_id")), text(row.get("name")), outcome)
