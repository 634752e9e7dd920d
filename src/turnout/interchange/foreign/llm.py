"""llm: its log, an SQLite database of conversations; the latest is read unless one is named.

Up to 0.31 a response holds the prompt and the reply, the calls that the reply made, and the
results that its prompt brought. From 0.32 on a log is a tree of messages; `llm_threads` reads it.
A log that was migrated has both.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from ...errors import UsageError
from ...history.ingest.message_parts import HeardCall, HeardResult, Item
from ...model import Origin, Outcome, Text
from ...plain import text_in
from . import llm_threads
from .foreign_transcript import ForeignSession, TranscriptBuilder
from .llm_log import LlmLog, Row, media_of_row

LATEST = "SELECT conversation_id FROM responses WHERE conversation_id IS NOT NULL ORDER BY id DESC LIMIT 1"
ATTACHED = """
SELECT a.* FROM attachments a JOIN prompt_attachments p ON p.attachment_id = a.id
WHERE p.response_id = ? ORDER BY p."order"
"""


def read_llm(path: Path, key: str, conversation: str = "") -> ForeignSession:
    """A conversation out of a log."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        with LlmLog(connection) as log:
            return _read_conversation(log, key, conversation)
    except apsw.Error as error:
        raise UsageError(
            f"{path} is not a log of llm ({error}); `llm logs path` prints where it is"
        ) from error


def _read_conversation(log: LlmLog, key: str, conversation: str) -> ForeignSession:
    if "responses" not in log.tables:
        raise UsageError(
            "this database has no table of responses, so it is not a log of llm; "
            "`llm logs path` prints where that is"
        )
    latest = log.rows(LATEST)
    id = conversation or max(  # ids begin with their time
        llm_threads.latest_thread(log), text_in(latest[0]["conversation_id"]) if latest else ""
    )
    if (thread := llm_threads.read_thread(log, key, id)) is not None:
        return thread
    responses = log.rows("SELECT * FROM responses WHERE conversation_id = ? ORDER BY id", id)
    if not responses:
        raise UsageError(f"there is no conversation {id!r} in this log; `llm logs list` shows their ids")
    builder = TranscriptBuilder("llm", Origin("unknown"))
    builder.id = id
    names = log.rows("SELECT name FROM conversations WHERE id = ?", id)
    builder.title = text_in(names[0]["name"]) if names else ""
    tools = _ToolRows(log)
    for response in responses:
        _add_response(response, log, tools, builder)
    builder.add_items("tool", *tools.results_of_lost_responses())
    return builder.build_session(key)


def _add_response(response: Row, log: LlmLog, tools: _ToolRows, builder: TranscriptBuilder) -> None:
    if (system := text_in(response.get("system"))) and system not in builder.system:
        builder.system.append(system)
    results = list(tools.results_of(response["id"]))
    builder.add_items("model", *tools.calls_of_lost_responses(results))
    builder.add_items("tool", *results)
    builder.add_items("user", *_prompt_items(response, log))
    origin = Origin("unknown", "", text_in(response.get("resolved_model")) or text_in(response.get("model")))
    reply = [Text(said)] if (said := text_in(response.get("response"))) else []
    builder.add_items("model", *reply, *tools.calls_of(response["id"]), origin=origin)


def _prompt_items(response: Row, log: LlmLog) -> Iterator[Item]:
    if said := text_in(response.get("prompt")):
        yield Text(said)
    if {"attachments", "prompt_attachments"} <= log.tables:
        yield from map(media_of_row, log.rows(ATTACHED, response["id"]))


class _ToolRows:
    """The calls and results of a log. A response whose row is missing is known by the ids of its calls."""

    def __init__(self, log: LlmLog) -> None:
        self._log = log
        self._called: set[str] = set()
        self._answered: set[str] = set()

    def calls_of(self, response: str) -> Iterator[HeardCall]:
        for row in self._rows("tool_calls", "response_id = ?", response):
            self._called.add(text_in(row.get("tool_call_id")))
            yield HeardCall(text_in(row.get("tool_call_id")), text_in(row.get("name")), row.get("arguments"))

    def results_of(self, response: str) -> Iterator[HeardResult]:
        for row in self._rows("tool_results", "response_id = ?", response):
            self._answered.add(text_in(row.get("tool_call_id")))
            yield _result_of_row(row)

    def calls_of_lost_responses(self, results: list[HeardResult]) -> Iterator[HeardCall]:
        """The calls that these results answer, where the response that made them is missing."""
        for id in dict.fromkeys(result.raw_id for result in results):
            if id and id not in self._called:
                for row in self._rows("tool_calls", f"tool_call_id = ? AND {LOST}", id):
                    yield HeardCall(id, text_in(row.get("name")), row.get("arguments"))

    def results_of_lost_responses(self) -> Iterator[HeardResult]:
        """The results of calls that were read, where the response that they went with is missing."""
        for id in sorted(self._called - self._answered - {""}):
            for row in self._rows("tool_results", f"tool_call_id = ? AND {LOST}", id):
                yield _result_of_row(row)

    def _rows(self, table: str, condition: str, value: str) -> list[Row]:
        if table not in self._log.tables:
            return []
        return self._log.rows(f"SELECT * FROM {table} WHERE {condition} ORDER BY id", value)


LOST = "response_id NOT IN (SELECT id FROM responses)"


def _result_of_row(row: Row) -> HeardResult:
    failed = text_in(row.get("exception"))
    said: Any = row.get("output") or failed or ()
    outcome = Outcome("error" if failed else "complete", said)
    return HeardResult(text_in(row.get("tool_call_id")), text_in(row.get("name")), outcome)
