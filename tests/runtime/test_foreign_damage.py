"""Sessions of other programs with something missing: what is left is all there, or it is named.

The law: take any one line (message, row) out of a file as its program writes it. Every marker in
the rest is found in the history that is imported, and whatever became a note is named in a
diagnostic.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.runtime.foreign_files import (
    CLAUDE_CODE,
    DATABASES,
    DOCUMENTS,
    GEMINI_CHECKPOINT,
    LOGS,
    MARKER,
    lines_of,
    write_database,
)
from tests.runtime.test_foreign import refused, told

from turnout.history.check import violations
from turnout.history.codec import encode_entry
from turnout.model import Note
from turnout.runtime.foreign import READERS, Foreign, read_file


def markers(data: bytes | str) -> set[str]:
    return set(MARKER.findall(data.decode() if isinstance(data, bytes) else data))


def markers_kept(found: Foreign) -> set[str]:
    """The markers that went anywhere at all: turns, outcomes, notes, title, system text, diagnostics."""
    history = found.history
    told = [encode_entry(entry).decode() for entry in history.entries]
    told += [found.title, history.system, *(item.detail for item in history.diagnostics)]
    return markers("\n".join(told))


def markers_said(found: Foreign) -> set[str]:
    """The markers in what a model can read: everything but the notes."""
    entries = [entry for entry in found.history.entries if not isinstance(entry, Note)]
    return markers("\n".join(encode_entry(entry).decode() for entry in entries))


def unnamed_notes(found: Foreign) -> list[str]:
    """The kinds of notes that no diagnostic speaks of."""
    named = " ".join(f"{item.code} {item.detail}" for item in found.history.diagnostics)
    kinds = {note.kind.partition(":")[2] or note.kind for note in found.history.notes}
    return [kind for kind in kinds if kind not in named and kind != "sealed"]


def hold(found: Foreign, rest: bytes | str) -> None:
    """The law itself."""
    assert markers(rest) <= markers_kept(found)
    assert unnamed_notes(found) == []
    assert not violations(found.history)


@pytest.mark.parametrize("name", LOGS)
def test_a_whole_file_is_all_there(name: str) -> None:
    """Nothing is missing, so nothing is said to be."""
    program, lines = LOGS[name]
    found = READERS[program](whole := b"\n".join(lines) + b"\n", "s")
    hold(found, whole)
    assert not {"missing_record", "torn_tail", "unreadable_entry"} & {
        item.code for item in found.history.diagnostics
    }
    assert refused(found.history) == []


@pytest.mark.parametrize("name", LOGS)
def test_any_one_line_can_be_missing(name: str) -> None:
    """What stood before it, after it and beside it is there; any provider goes on with it."""
    program, lines = LOGS[name]
    for at in range(len(lines)):
        rest = b"\n".join([*lines[:at], *lines[at + 1 :]]) + b"\n"
        found = READERS[program](rest, "s")
        hold(found, rest)
        assert refused(found.history) == []


@pytest.mark.parametrize("name", [name for name in LOGS if "terminals" not in name])
def test_what_was_said_stays_said(name: str) -> None:
    """A missing line makes no other line a note, but for the results of the calls in it."""
    program, lines = LOGS[name]
    said = markers_said(READERS[program](b"\n".join(lines) + b"\n", "s"))
    for at, line in enumerate(lines):
        rest = [*lines[:at], *lines[at + 1 :]]
        found = READERS[program](b"\n".join(rest) + b"\n", "s")
        elsewhere = markers(b"\n".join(rest))
        lost = (said & elsewhere) - markers_said(found)
        assert lost <= _results_of_calls_in(line, rest), f"line {at + 1}"


def _results_of_calls_in(line: bytes, rest: list[bytes]) -> set[str]:
    calls = [id for id in _call_ids(json.loads(line)) if not any(_calls(other, id) for other in rest)]
    return {mark for other in rest for id in calls if id.encode() in other for mark in markers(other)}


def _call_ids(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        if value.get("type") in ("tool_use", "toolCall"):
            yield value["id"]
        elif value.get("type") in ("function_call", "custom_tool_call", "local_shell_call"):
            yield value["call_id"]
        for item in value.values():
            yield from _call_ids(item)
    elif isinstance(value, list):
        for item in value:
            yield from _call_ids(item)


def _calls(line: bytes, id: str) -> bool:
    return id in _call_ids(json.loads(line))


@pytest.mark.parametrize("name", LOGS)
def test_a_torn_last_line_is_kept_and_named(name: str) -> None:
    """Also where a line in the middle is torn, as when two processes wrote at once."""
    program, lines = LOGS[name]
    for at, line in enumerate(lines):
        torn = line[: len(line) // 2]
        for rest, code in (
            (b"\n".join([*lines[:at], torn]), "torn_tail"),
            (b"\n".join([*lines[:at], torn, *lines[at + 1 :]]) + b"\n", "unreadable_entry"),
        ):
            found = READERS[program](rest, "s")
            hold(found, rest)
            assert code in {item.code for item in found.history.diagnostics}


@pytest.mark.parametrize("name", [name for name in LOGS if "terminals" not in name])
def test_a_record_that_was_written_behind_a_torn_line_is_read(name: str) -> None:
    """As when a program was killed while it wrote, and began anew: only the torn record becomes a note."""
    program, lines = LOGS[name]
    for at, line in enumerate(lines[:-1]):
        glued = line[: len(line) // 2] + lines[at + 1]
        rest = b"\n".join([*lines[:at], glued, *lines[at + 2 :]]) + b"\n"
        found = READERS[program](rest, "s")
        hold(found, rest)
        assert "unreadable_entry" in {item.code for item in found.history.diagnostics}
        without = READERS[program](b"\n".join([*lines[:at], *lines[at + 1 :]]) + b"\n", "s")
        assert markers_said(found) >= markers_said(without)


@pytest.mark.parametrize("name", LOGS)
def test_two_records_on_one_line_are_both_read(name: str) -> None:
    """Nothing is lost where only the end of a line is."""
    program, lines = LOGS[name]
    whole = told(READERS[program](b"\n".join(lines) + b"\n", "s").history, everything=True)
    for at in range(len(lines) - 1):
        glued = [*lines[:at], lines[at] + lines[at + 1], *lines[at + 2 :]]
        found = READERS[program](b"\n".join(glued) + b"\n", "s")
        assert told(found.history, everything=True) == whole


@pytest.mark.parametrize("name", DOCUMENTS)
def test_any_one_message_of_a_document_can_be_missing(name: str) -> None:
    """For files that are one JSON document."""
    program, document = DOCUMENTS[name]
    hold(READERS[program](whole := json.dumps(document).encode(), "s"), whole)
    for at in range(len(document["messages"])):
        messages = [message for place, message in enumerate(document["messages"]) if place != at]
        rest = json.dumps({**document, "messages": messages}).encode()
        found = READERS[program](rest, "s")
        hold(found, rest)
        assert refused(found.history) == []


@pytest.mark.parametrize("name", DOCUMENTS)
def test_any_one_line_of_a_printed_document_can_be_missing(name: str) -> None:
    """Then it is not JSON any more; the messages that are whole are found one by one."""
    program, document = DOCUMENTS[name]
    lines = json.dumps(document, indent=2).encode().split(b"\n")
    for at in range(len(lines)):
        rest = b"\n".join([*lines[:at], *lines[at + 1 :]])
        hold(READERS[program](rest, "s"), rest)


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_that_breaks_off_is_read_up_to_there(name: str) -> None:
    """As when a pipe or a disk was too small. What is left of the last message is kept and named."""
    program, document = DOCUMENTS[name]
    whole = json.dumps(document).encode()
    first = whole.index(b'"messages"') + len(json.dumps(document["messages"][0])) + 20
    for cut in range(first, len(whole), max(1, len(whole) // 60)):
        found = READERS[program](whole[:cut], "s")
        hold(found, whole[:cut])
        codes = {item.code for item in found.history.diagnostics}
        assert "torn_tail" in codes or not whole[:cut].rpartition(b"]}")[2].strip(b" ,]}")


def test_any_one_content_of_a_checkpoint_can_be_missing() -> None:
    """Gemini CLI's `/chat save`."""
    for at in range(len(GEMINI_CHECKPOINT) + 1):
        contents = [content for place, content in enumerate(GEMINI_CHECKPOINT) if place != at]
        rest = json.dumps(contents).encode()
        hold(READERS["gemini-cli"](rest, "s"), rest)


@pytest.mark.parametrize("name", DATABASES)
def test_any_one_row_of_a_log_of_llm_can_be_missing(name: str, tmp_path: Path) -> None:
    """A message that others follow, a response that made calls, a fragment that a prompt shares."""
    tables = DATABASES[name]
    removals = [(table, row) for table, rows in tables.items() for row in rows]
    for number, (table, row) in enumerate([("responses", {}), *removals]):
        rest = {**tables, table: [other for other in tables[table] if other is not row]}
        write_database(path := tmp_path / f"{number}.db", rest)
        found = read_file("llm", path, "s")
        hold(found, json.dumps(_reachable(rest)))
        assert refused(found.history) == []


def _reachable(tables: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """The rows that the thread or conversation leads to: nobody can say whose the others were."""
    responses = [row["id"] for row in tables["responses"]]
    links = [row for row in tables.get("prompt_attachments", []) if row["response_id"] in responses]
    hashes = {row.get(f"{end}_message_hash") for row in tables.get("turns", []) for end in ("parent", "tip")}
    for row in reversed(tables.get("messages", [])):
        hashes |= {row["parent_hash"]} if row["hash"] in hashes else set()
    parts = [row for row in tables.get("parts", []) if row["message_hash"] in hashes]
    leading = json.dumps([links, parts])
    return {
        **tables,
        "parts": parts,
        "attachments": [row for row in tables["attachments"] if row["id"] in leading],
        "fragments": [row for row in tables.get("fragments", []) if "fragment" in leading],
    }


# Single facts


def test_what_stood_before_a_missing_line_of_claude_code_is_there() -> None:
    """The record after it follows the line before it, and the gap is named by the id that is missing."""
    rest = [record for record in CLAUDE_CODE if record.get("uuid") != "a6"]
    found = READERS["claude-code"](b"\n".join(lines_of(*rest)), "s")
    assert "read both" in told(found.history, everything=True)[1]
    assert [item.detail for item in found.history.diagnostics if item.code == "missing_record"] == ["a6"]


def test_a_part_that_a_compaction_left_in_place_stays() -> None:
    """Claude Code names the first record that it kept; the summary stands for what came before."""
    records = copy.deepcopy(CLAUDE_CODE)
    (boundary,) = [record for record in records if record.get("subtype") == "compact_boundary"]
    boundary["compactMetadata"] = {"preservedSegment": {"headUuid": "u3", "tailUuid": "a8"}}
    found = READERS["claude-code"](b"\n".join(lines_of(*records)), "s")
    assert [line.partition(" mk")[0] for line in told(found.history)] == [
        "user: the right way",
        "model: right",
        "user: and now?",
        "model: Done.",
    ]


def test_a_session_that_ends_with_its_summary_can_be_resumed(tmp_path: Path) -> None:
    """As after `/compact`: there is no turn in view, and all is there."""
    ends = [record for record in CLAUDE_CODE if record.get("uuid") not in ("u4", "a9")]
    (path := tmp_path / "x.jsonl").write_bytes(b"\n".join(lines_of(*ends)))
    found = read_file("claude-code", path, "s")
    assert not found.history.turns and found.history.summary.startswith("We read A.")
    assert refused(found.history) == []


def test_a_prompt_that_waited_in_the_queue_is_said() -> None:
    """Claude Code writes it as an attachment; where it is a message too, it is said once."""
    found = READERS["claude-code"](b"\n".join(LOGS["claude-code"][1]), "s")
    assert sum("also c" in line for line in told(found.history, everything=True)) == 1
    prompt = CLAUDE_CODE[-3]["message"]["content"]
    queued = {"type": "queued_command", "prompt": prompt}
    again = [*CLAUDE_CODE, {"type": "attachment", "uuid": "z", "parentUuid": "a9", "attachment": queued}]
    found = READERS["claude-code"](b"\n".join(lines_of(*again)), "s")
    assert sum("and now?" in line for line in told(found.history)) == 1


def test_a_line_that_was_written_twice_is_told_once() -> None:
    """As older versions of Claude Code did on resuming."""
    lines = LOGS["claude-code"][1]
    once, twice = (READERS["claude-code"](b"\n".join(data), "s") for data in (lines, [*lines, *lines]))
    assert told(once.history) == told(twice.history)


def test_an_event_stands_for_an_item_of_codex_that_is_missing() -> None:
    """And only then: what an item says is not said twice."""
    program, lines = LOGS["codex"]
    whole = told(READERS[program](b"\n".join(lines), "s").history)
    rest = [line for line in lines if not (b"and now?" in line and b"response_item" in line)]
    assert len(rest) == len(lines) - 1
    assert told(READERS[program](b"\n".join(rest), "s").history) == whole


def test_a_rewind_to_a_message_that_is_missing_takes_nothing_back() -> None:
    """Gemini CLI itself would forget the whole conversation."""
    program, lines = LOGS["gemini-cli"]
    rest = [line for line in lines if b'"id": "u2"' not in line]
    found = READERS[program](b"\n".join(rest), "s")
    assert "missing_record" in {item.code for item in found.history.diagnostics}
    assert "read both" in json.dumps([note.data for note in found.history.notes])  # compressed later


def test_a_compaction_of_pi_keeps_what_it_kept_though_its_first_entry_is_missing() -> None:
    """The entry that it names may be no message, or its line may be lost."""
    whole = told(READERS["pi"](b"\n".join(LOGS["pi"][1]), "s").history)
    assert [line.partition(" mk")[0] for line in whole] == [
        "user: and then?",
        "user: and now?",
        "model: Done.",
    ]
    rest = [line for line in LOGS["pi"][1] if b'"id": "b3"' not in line]
    assert told(READERS["pi"](b"\n".join(rest), "s").history) == whole
