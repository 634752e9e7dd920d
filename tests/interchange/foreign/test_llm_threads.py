"""The log of llm from 0.32 on: a tree of messages."""

from __future__ import annotations

from pathlib import Path

import apsw
from tests.interchange.foreign.sample_sessions import llm_log, refused, told

from turnout.interchange.foreign import read_file


def threads_log(path: Path) -> None:
    """A log as llm 0.32 and later keep it: a tree of messages, a fork, an older conversation beside."""
    llm_log(path, [("1", "gpt-4o", "hello", None, "hi", "01a-old")])
    connection = apsw.Connection(str(path))
    connection.execute("""
        CREATE TABLE messages (hash TEXT PRIMARY KEY, parent_hash TEXT, role TEXT, provider_metadata TEXT);
        CREATE TABLE parts (id INTEGER PRIMARY KEY, message_hash TEXT, position INTEGER, type TEXT,
            tool_name TEXT, text TEXT, payload TEXT);
        CREATE TABLE threads (id TEXT PRIMARY KEY, name TEXT, tip_message_hash TEXT);
        CREATE TABLE turns (id TEXT, thread_id TEXT, tip_message_hash TEXT, model TEXT, resolved_model TEXT);
        CREATE TABLE fragments (id INTEGER PRIMARY KEY, content TEXT);
        CREATE TABLE attachments (id TEXT PRIMARY KEY, type TEXT, path TEXT, url TEXT, content BLOB);
        INSERT INTO messages VALUES ('s', NULL, 'system', NULL), ('a', 's', 'user', NULL),
            ('b', 'a', 'assistant', NULL), ('c', 'b', 'tool', NULL), ('d', 'c', 'assistant', NULL),
            ('fork', 'a', 'assistant', NULL);
        INSERT INTO parts (message_hash, position, type, text, payload) VALUES
            ('s', 0, 'text', 'Be brief.', NULL),
            ('a', 1, 'attachment', NULL, '{"attachment": {"id": "png"}}'),
            ('a', 0, 'text', NULL, '{"text_ref": [{"fragment": 1}, {"literal": "read both"}]}'),
            ('b', 0, 'reasoning', 'Two files.', NULL),
            ('b', 1, 'tool_call', NULL, '{"name": "read", "arguments": {"path": "a"}, "tool_call_id": "t1"}'),
            ('b', 2, 'tool_call', NULL, '{"name": "read", "arguments": {}, "tool_call_id": "t2"}'),
            ('c', 0, 'tool_result', NULL, '{"name": "read", "output": "A", "tool_call_id": "t1"}'),
            ('c', 1, 'tool_result', NULL, '{"name": "read", "exception": "no", "tool_call_id": "t2"}'),
            ('d', 0, 'text', 'Only A.', NULL),
            ('fork', 0, 'text', 'Another way.', NULL);
        INSERT INTO threads VALUES ('01b-new', 'Two files', 'd'), ('01b-fork', 'Fork', 'fork');
        INSERT INTO turns VALUES ('1', '01b-new', 'b', 'gpt-5.1', NULL);
        INSERT INTO fragments VALUES (1, 'A fragment. ');
        INSERT INTO attachments VALUES ('png', 'image/png', NULL, NULL, x'89504E470D0A1A0A');
    """)
    connection.close()


def test_a_thread_is_taken_from_a_newer_log_of_llm(tmp_path: Path) -> None:
    """One branch of the tree; what was logged before the tree can still be named."""
    threads_log(path := tmp_path / "logs.db")
    found = read_file("llm", path, "s")
    assert (found.id, found.title, found.history.system) == ("01b-new", "Two files", "Be brief.")
    assert told(found.history) == [
        "user: A fragment. read both",
        "model: read=complete read=error",
        "model: Only A.",
    ]
    opening, reply, *_ = found.history.turns
    assert (opening.blocks[1].mime, reply.blocks[0].text, reply.origin.model) == (
        "image/png",
        "Two files.",
        "gpt-5.1",
    )
    assert refused(found.history) == []
    assert told(read_file("llm", path, "s", "01b-fork").history)[-1] == "model: Another way."
    assert told(read_file("llm", path, "s", "01a-old").history) == ["user: hello", "model: hi"]
