"""qwen-code: one JSON line a record, linked by `parentUuid`; a record holds a Gemini content as it was sent.

A compression stores the contents that the model sees from then on. Old versions wrote the same
files as Gemini CLI, and are read as such.
"""

from __future__ import annotations

from ...history.ingest.formats import GEMINI
from ...model import Origin
from ...plain import dict_in, list_in, text_in
from .foreign_transcript import ForeignSession, TranscriptBuilder
from .gemini_cli import read_gemini_cli
from .lines import Record, records_of_lines
from .tree import RecordLink, path_to_last

SPOKEN = frozenset({"user", "assistant", "tool_result"})
BOOKS = frozenset({"ui_telemetry", "file_history_snapshot", "attribution_snapshot", "session_model"})


def read_qwen_code(data: bytes, key: str) -> ForeignSession:
    """The session that a chat file holds."""
    found = records_of_lines(data)
    if not any(_is_record(record) for record in found):
        return read_gemini_cli(data, key)
    builder = TranscriptBuilder("qwen-code", Origin("qwen"))
    path = path_to_last(
        [RecordLink(each["uuid"], text_in(each.get("parentUuid"))) for each in found if _is_record(each)]
    )
    for parent in path.missing:
        builder.context.report("missing_record", parent)
    seen: set[str] = set()
    for record in found:
        if _is_record(record) and record["uuid"] in seen:
            builder.skip_record("repeated line")
        elif _is_record(record) and record["uuid"] not in path.ids:
            builder.keep_record("other branch", record)
        else:
            seen.add(text_in(record.get("uuid")))
            _add_record(record, builder)
    return builder.build_session(key)


def _is_record(record: Record) -> bool:
    return isinstance(record.get("uuid"), str) and "parentUuid" in record and "sessionId" in record


def _add_record(record: Record, builder: TranscriptBuilder) -> None:
    kind, subtype = text_in(record.get("type")), text_in(record.get("subtype"))
    builder.id = builder.id or text_in(record.get("sessionId"))
    message = record.get("message")
    payload = dict_in(record.get("systemPayload"))
    if kind in SPOKEN and isinstance(message, dict):
        origin = Origin("qwen", "", text_in(record.get("model"))) if kind == "assistant" else None
        builder.add_message(GEMINI, message, origin, turn_id=text_in(record.get("uuid")))
    elif subtype == "chat_compression":
        builder.add_compaction(_summary_of(list_in(payload.get("compressedHistory"))))
    elif subtype == "custom_title":
        builder.title = text_in(payload.get("customTitle")) or builder.title
    elif subtype in BOOKS:
        builder.skip_record(subtype)
    else:
        builder.keep_record(subtype or kind or "record", record)


def _summary_of(contents: list[object]) -> str:
    """The texts of the contents that replaced the conversation."""
    parts = [dict_in(part) for content in contents for part in list_in(dict_in(content).get("parts"))]
    return "\n".join(text_in(part.get("text")) for part in parts if part.get("text"))
