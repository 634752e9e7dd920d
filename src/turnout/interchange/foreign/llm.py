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
from .foreign_transcript import Foreign, Telling, text
from .llm_log import Log, Row, attached

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
    tools = _ToolRows(log)
    for response in responses:
        _tell(response, log, tools, telling)
    telling.say("tool", *tools.results_left())
    return telling.finished(key)


def _tell(response: Row, log: Log, tools: _ToolRows, telling: Telling) -> None:
    if (system := text(response.get("system"))) and system not in telling.system:
        telling.system.append(system)
    results = list(tools.results(response["id"]))
    telling.say("model", *tools.calls_left(results))
    telling.say("tool", *results)
    telling.say("user", *_prompt(response, log))
    origin = Origin("unknown", "", text(response.get("resolved_model")) or text(response.get("model")))
    reply = [Text(said)] if (said := text(response.get("response"))) else []
    telling.say("model", *reply, *tools.calls(response["id"]), origin=origin)


def _prompt(response: Row, log: Log) -> Iterator[Item]:
    if said := text(response.get("prompt")):
        yield Text(said)
    if {"attachments", "prompt_attachments"} <= log.tables:
        yield from map(attached, log.rows(ATTACHED, response["id"]))


class _ToolRows:
    """The calls and results of a log. A response whose own row is lost is known by the ids of its calls."""

    def __init__(self, log: Log) -> None:
        self._log = log
        self._called: set[str] = set()
        self._answered: set[str] = set()

    def calls(self, response: str) -> Iterator[HeardCall]:
        for row in self._rows("tool_calls", "response_id = ?", response):
            self._called.add(text(row.get("tool_call_id")))
            yield HeardCall(text(row.get("tool_call_id")), text(row.get("name")), row.get("arguments"))

    def results(self, response: str) -> Iterator[HeardResult]:
        for row in self._rows("tool_results", "response_id = ?", response):
            self._answered.add(text(row.get("tool_call_id")))
            yield _result(row)

    def calls_left(self, results: list[HeardResult]) -> Iterator[HeardCall]:
        """The calls that these results answer, where the response that made them is missing."""
        for id in dict.fromkeys(result.raw_id for result in results):
            if id and id not in self._called:
                for row in self._rows("tool_calls", f"tool_call_id = ? AND {LOST}", id):
                    yield HeardCall(id, text(row.get("name")), row.get("arguments"))

    def results_left(self) -> Iterator[HeardResult]:
        """Results of calls that were told, where the response that they went with is missing."""
        for id in sorted(self._called - self._answered - {""}):
            for row in self._rows("tool_results", f"tool_call_id = ? AND {LOST}", id):
                yield _result(row)

    def _rows(self, table: str, condition: str, value: str) -> list[Row]:
        if table not in self._log.tables:
            return []
        return self._log.rows(f"SELECT * FROM {table} WHERE {condition} ORDER BY id", value)


LOST = "response_id NOT IN (SELECT id FROM responses)"


def _result(row: Row) -> HeardResult:
    failed = text(row.get("exception"))
    said: Any = row.get("output") or failed or ()
    outcome = Outcome("error" if failed else "complete", said)
    return HeardResult(text(row.get("tool_call_id")), text(row.get("name")), outcome)
