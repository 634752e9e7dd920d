"""opencode's own files: its database, and the folder of older versions."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.interchange.agent_homes import write_opencode_database
from tests.interchange.foreign import sample_sessions as samples
from tests.interchange.foreign.sample_sessions import told

from turnout.errors import UsageError
from turnout.interchange.foreign import read_file
from turnout.interchange.foreign.opencode import read_opencode
from turnout.interchange.foreign.opencode_store import exported_chat, stored_chats


def test_the_database_says_what_the_export_says(tmp_path: Path) -> None:
    """The same history, whether `opencode export` was run or not."""
    path = tmp_path / "opencode.db"
    write_opencode_database(path, tmp_path)
    (chat,) = stored_chats(path)
    assert (chat.id, chat.folder, chat.title) == ("ses_1", str(tmp_path), "A chat")
    exported = read_opencode(json.dumps(samples.OPENCODE).encode(), "k").history
    assert told(read_file("opencode", path, "k").history) == told(exported)


def test_the_folder_of_older_versions_is_read_too(tmp_path: Path) -> None:
    """One file a message and a part; a file that cannot be read is noted, and nothing else is lost."""
    storage = tmp_path / "storage"
    files = {
        "session/p/ses_2.json": {"id": "ses_2", "directory": "/w", "title": "Old", "time": {"updated": 5000}}
    }
    for at, message in enumerate(samples.OPENCODE["messages"]):
        files[f"message/ses_2/m{at}.json"] = message["info"]
        files |= {f"part/m{at}/p{n}.json": part for n, part in enumerate(message["parts"])}
    for name, value in files.items():
        (storage / name).parent.mkdir(parents=True, exist_ok=True)
        (storage / name).write_text(json.dumps(value))
    exported = read_opencode(json.dumps(samples.OPENCODE).encode(), "k").history
    assert stored_chats(storage)[0].updated == 5.0
    assert told(read_opencode(exported_chat(storage, "ses_2"), "k").history) == told(exported)
    (storage / "message/ses_2/m0.json").write_text("{torn")
    assert read_opencode(exported_chat(storage, "ses_2"), "k").history.turns


def test_a_file_that_is_not_a_database_is_said(tmp_path: Path) -> None:
    """The error names the file, and what to do."""
    (tmp_path / "x.db").write_bytes(b"SQLite format 3\0 but broken")
    with pytest.raises(UsageError, match="cannot be read as opencode's database"):
        stored_chats(tmp_path / "x.db")
    write_opencode_database(tmp_path / "opencode.db", tmp_path)
    with pytest.raises(UsageError, match="there is no session"):
        exported_chat(tmp_path / "opencode.db", "ses_9")
