"""Sessions of other programs: what they told, what any provider reads of it, what was kept aside."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import apsw
import pytest
from tests.laws.targets import TARGETS

from turnout import check, render
from turnout.errors import UsageError
from turnout.history.check import violations
from turnout.history.log import History
from turnout.interchange.foreign import READERS, ForeignSession, read_file
from turnout.model import Media, ModelTurn, Text, Thinking, UserTurn


def lines(*records: Any) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def told(history: History, everything: bool = False) -> list[str]:
    """A history at a glance: who said what, which calls were made and how they ended.

    With `everything`, also what a compaction hides.
    """
    said = []
    turns = [entry for entry in history.entries if isinstance(entry, UserTurn | ModelTurn)]
    for turn in turns if everything else history.turns:
        who = type(turn).__name__.removesuffix("Turn").lower()
        words = [block.text for block in turn.blocks if isinstance(block, Text)]
        calls = turn.tool_calls if isinstance(turn, ModelTurn) else ()
        ends = [f"{call.name}={history.interaction(call.id).status}" for call in calls]
        said.append(f"{who}: {' '.join([*words, *ends])}")
    return said


def outcomes(history: History) -> list[str]:
    return [item.outcome.text for item in history.ledger if item.outcome]


def refused(history: History) -> list[str]:
    """What any provider would have against going on with it."""
    history.user("go on")
    return [
        f"{place.origin}: {problem.rule}"
        for place in TARGETS
        if not place.provider.envelope
        for problem in check(place.provider.name, render(history, place).body, model=place.model)
    ]


# One session of each program, with two calls at once


def claude(kind: str, uuid: str, parent: str | None, content: Any, **more: Any) -> dict[str, Any]:
    message: dict[str, Any] = {"role": kind, "content": content}
    if kind == "assistant":
        message |= {"id": more.pop("message_id", uuid), "model": "claude-sonnet-4-5", "type": "message"}
    base = {"type": kind, "uuid": uuid, "parentUuid": parent, "isSidechain": False, "sessionId": "cc-1"}
    return {**base, "message": message, **more}


def use(id: str, **input: Any) -> list[Any]:
    return [{"type": "tool_use", "id": id, "name": "Read", "input": input}]


def result(id: str, text: str, **more: Any) -> list[Any]:
    return [{"type": "tool_result", "tool_use_id": id, "content": text, **more}]


CLAUDE = [
    {"type": "summary", "summary": "Two files", "leafUuid": "x"},
    {"type": "file-history-snapshot", "snapshot": {}},
    claude("user", "u1", None, "read both"),
    claude(
        "assistant", "a1", "u1", [{"type": "thinking", "thinking": "Hm.", "signature": "s"}], message_id="m1"
    ),
    claude("assistant", "a2", "a1", use("t1", file_path="a"), message_id="m1"),
    claude("assistant", "a3", "a2", use("t2", file_path="b"), message_id="m1"),
    claude("user", "r1", "a2", result("t1", "A")),
    claude("user", "r2", "a3", result("t2", "no such file", is_error=True)),
    claude("assistant", "a4", "r2", [{"type": "text", "text": "Only A."}], message_id="m2"),
]

CODEX = [
    {"timestamp": "t", "type": "session_meta", "payload": {"id": "cx-1", "instructions": "Be brief."}},
    {"timestamp": "t", "type": "turn_context", "payload": {"model": "gpt-5.1-codex"}},
    *(
        {"timestamp": "t", "type": "response_item", "payload": payload}
        for payload in (
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "read both"}]},
            {
                "type": "reasoning",
                "summary": [{"type": "summary_text", "text": "Hm."}],
                "encrypted_content": "x",
            },
            {
                "type": "function_call",
                "name": "shell",
                "call_id": "c1",
                "arguments": '{"command":["cat","a"]}',
            },
            {"type": "custom_tool_call", "name": "apply_patch", "call_id": "c2", "input": "*** Begin Patch"},
            {"type": "function_call_output", "call_id": "c1", "output": "A"},
            {"type": "custom_tool_call_output", "call_id": "c2", "output": "Done"},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Only A."}]},
        )
    ),
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "agent_message", "message": "Only A."}},
    {"timestamp": "t", "type": "event_msg", "payload": {"type": "turn_aborted", "reason": "interrupted"}},
]

GEMINI = [
    {"sessionId": "ge-1", "projectHash": "h", "startTime": "t", "lastUpdated": "t"},
    {"id": "1", "timestamp": "t", "type": "user", "content": [{"text": "read both"}]},
    {"id": "2", "timestamp": "t", "type": "gemini", "content": "wrong"},
    {"$rewindTo": "2"},
    {
        "id": "3",
        "timestamp": "t",
        "type": "gemini",
        "content": "",
        "model": "gemini-3-pro",
        "thoughts": [{"subject": "Files", "description": "Read them.", "timestamp": "t"}],
        "toolCalls": [
            {
                "id": "r-1",
                "name": "read_file",
                "args": {"path": "a"},
                "status": "success",
                "result": [
                    {"functionResponse": {"id": "r-1", "name": "read_file", "response": {"output": "A"}}}
                ],
            },
            {"id": "r-2", "name": "read_file", "args": {}, "status": "cancelled", "resultDisplay": "stopped"},
        ],
    },
    {"id": "4", "timestamp": "t", "type": "error", "content": "quota"},
    {"id": "5", "timestamp": "t", "type": "gemini", "content": "Only A.", "model": "gemini-3-pro"},
    {"$set": {"summary": "Two files"}},
]

OPENCODE = {
    "info": {"id": "ses_1", "title": "Two files"},
    "messages": [
        {
            "info": {"role": "user", "id": "m1"},
            "parts": [
                {"type": "text", "text": "read both"},
                {
                    "type": "file",
                    "mime": "image/png",
                    "url": "data:image/png;base64,aGk=",
                    "filename": "a.png",
                },
            ],
        },
        {
            "info": {"role": "assistant", "providerID": "anthropic", "modelID": "claude-sonnet-4-5"},
            "parts": [
                {"type": "step-start"},
                {"type": "reasoning", "text": "Hm."},
                {
                    "type": "tool",
                    "callID": "t1",
                    "tool": "read",
                    "state": {"status": "completed", "input": {"p": "a"}, "output": "A"},
                },
                {
                    "type": "tool",
                    "callID": "t2",
                    "tool": "read",
                    "state": {"status": "error", "input": {}, "error": "no"},
                },
                {"type": "step-finish"},
                {"type": "step-start"},
                {"type": "text", "text": "Only A."},
                {"type": "agent", "name": "x"},
            ],
        },
    ],
}


def pi(id: str, parent: str | None, role: str, content: Any, **more: Any) -> dict[str, Any]:
    message = {"role": role, "content": content, **more}
    return {"type": "message", "id": id, "parentId": parent, "timestamp": "t", "message": message}


PI_MODEL = {"provider": "anthropic", "model": "claude-sonnet-4-5", "api": "anthropic-messages"}
PI = [
    {"type": "session", "version": 3, "id": "pi-1", "timestamp": "t", "cwd": "/x"},
    pi("1", None, "user", "read both"),
    pi("2", "1", "assistant", [{"type": "text", "text": "wrong branch"}], **PI_MODEL),
    pi(
        "3",
        "1",
        "assistant",
        [
            {"type": "thinking", "thinking": "Hm.", "thinkingSignature": "s"},
            {"type": "toolCall", "id": "t1", "name": "read", "arguments": {"path": "a"}},
            {"type": "toolCall", "id": "t2", "name": "read", "arguments": {"path": "b"}},
        ],
        **PI_MODEL,
    ),
    pi(
        "4",
        "3",
        "toolResult",
        [{"type": "text", "text": "A"}],
        toolCallId="t1",
        toolName="read",
        isError=False,
    ),
    pi(
        "5",
        "4",
        "toolResult",
        [{"type": "text", "text": "no"}],
        toolCallId="t2",
        toolName="read",
        isError=True,
    ),
    {"type": "session_info", "id": "6", "parentId": "5", "name": "Two files"},
    {"type": "custom", "id": "7", "parentId": "6", "customType": "x", "data": {}},
    pi("8", "7", "assistant", [{"type": "text", "text": "Only A."}], **PI_MODEL),
]

FILES = {
    "claude-code": lines(*CLAUDE),
    "codex": lines(*CODEX),
    "gemini-cli": lines(*GEMINI),
    "opencode": json.dumps(OPENCODE).encode(),
    "pi": lines(*PI),
}


def read(program: str) -> ForeignSession:
    return READERS[program](FILES[program], "s")


@pytest.mark.parametrize("program", FILES)
def test_a_session_is_told_as_it_was(program: str) -> None:
    """The prompt, the two calls with their ends, the answer; thinking kept; any provider can go on."""
    found = read(program)
    history = found.history
    assert told(history)[0].startswith("user: read both")
    assert told(history)[-1] == "model: Only A."
    (calls,) = [turn for turn in history.turns if isinstance(turn, ModelTurn) and turn.tool_calls]
    assert len(calls.tool_calls) == 2
    assert any(isinstance(block, Thinking) and block.text for block in calls.blocks)
    assert outcomes(history)[0] == "A"
    assert not violations(history)
    assert refused(history) == []


def test_what_is_no_turn_is_kept_and_counted() -> None:
    """Records that a program writes for itself are notes, named in the diagnostics."""
    kept = {program: read(program).kept for program in FILES}
    assert kept == {
        "claude-code": {"file-history-snapshot": 1},
        "codex": {"turn_aborted": 1},
        "gemini-cli": {"rewound message": 1, "error": 1},
        "opencode": {"agent": 1},
        "pi": {"other branch": 1, "custom": 1},
    }
    history = read("codex").history
    (note,) = [note for note in history.notes if note.kind == "codex:turn_aborted"]
    assert note.data["payload"]["reason"] == "interrupted"
    assert [item.detail for item in history.diagnostics if item.code == "foreign_record"] == [
        "1 of kind 'turn_aborted'"
    ]


def test_titles_ids_and_systems_come_along() -> None:
    """As far as the program keeps them."""
    found = {program: (read(program).id, read(program).title) for program in FILES}
    assert found == {
        "claude-code": ("cc-1", "Two files"),
        "codex": ("cx-1", "read both"),
        "gemini-cli": ("ge-1", "Two files"),
        "opencode": ("ses_1", "Two files"),
        "pi": ("pi-1", "Two files"),
    }
    assert read("codex").history.system == "Be brief."


def test_each_turn_says_who_wrote_it() -> None:
    """So that its private state goes back to its issuer and to nobody else."""
    origins = {program: str(read(program).history.turns[-1].origin) for program in FILES}  # type: ignore[union-attr]
    assert origins == {
        "claude-code": "anthropic:claude-sonnet-4-5",
        "codex": "openai-responses:gpt-5.1-codex",
        "gemini-cli": "gemini:gemini-3-pro",
        "opencode": "anthropic:claude-sonnet-4-5",
        "pi": "anthropic:claude-sonnet-4-5",
    }


@pytest.mark.parametrize("program", [name for name in FILES if name != "opencode"])
def test_a_file_that_was_cut_anywhere_can_be_read(program: str) -> None:
    """A torn last line is kept and said; what stood before it is a valid history."""
    whole = FILES[program]
    for cut in range(len(whole) // 20, len(whole), max(1, len(whole) // 23)):
        found = READERS[program](whole[:cut], "s")
        assert not violations(found.history)
        torn = not whole[:cut].endswith(b"\n")
        assert bool(found.kept.get("torn line")) == torn or _whole_by_chance(whole[:cut])
        assert refused(found.history) == []


def _whole_by_chance(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data.rpartition(b"\n")[2]), dict)
    except ValueError:
        return False


# What each program does in its own way


def test_claude_codes_rewound_branch_is_left_out() -> None:
    """The last leaf is where the session stands; the subagent's records are not the main ones."""
    found = READERS["claude-code"](
        lines(
            *CLAUDE,
            claude("user", "u2", "a4", "wrong way"),
            claude("assistant", "a5", "u2", [{"type": "text", "text": "so wrong"}]),
            claude("user", "s1", None, "subagent prompt", isSidechain=True),
            claude("user", "u3", "a4", "right way"),
        ),
        "s",
    )
    assert told(found.history)[-2:] == ["model: Only A.", "user: right way"]
    assert found.kept == {"file-history-snapshot": 1, "other branch": 2, "subagent": 1}
    assert [note.data["uuid"] for note in found.history.notes if "uuid" in note.data] == ["u2", "a5", "s1"]


def test_claude_codes_compaction_becomes_ours() -> None:
    """The summary stands for what came before; the log keeps it."""
    boundary = {"type": "system", "subtype": "compact_boundary", "uuid": "b", "parentUuid": None}
    found = READERS["claude-code"](
        lines(
            *CLAUDE,
            {**boundary, "logicalParentUuid": "a4"},
            claude("user", "u2", "b", "We read A.", isCompactSummary=True, isVisibleInTranscriptOnly=True),
            claude("user", "u3", "u2", "and now?"),
        ),
        "s",
    )
    assert found.history.summary == "We read A."
    assert told(found.history) == ["user: and now?"]
    assert refused(found.history) == []


def test_codexs_compaction_keeps_what_it_kept() -> None:
    """Also where the summary itself is encrypted."""
    kept = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "read both"}]},
        {"type": "compaction", "encrypted_content": "x"},
    ]
    found = READERS["codex"](
        lines(
            *CODEX,
            {"type": "compacted", "payload": {"message": "", "replacement_history": kept}},
            {
                "type": "response_item",
                "payload": {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_text", "text": "on"}],
                },
            },
        ),
        "s",
    )
    assert found.history.summary == "user: read both"
    assert told(found.history) == ["user: on"]


def test_an_old_rollout_has_its_items_bare() -> None:
    """Before there was an envelope."""
    items = [record["payload"] for record in CODEX if record["type"] == "response_item"]
    found = READERS["codex"](lines({"id": "old", "timestamp": "t"}, *items, {"record_type": "state"}), "s")
    assert found.id == "old" and told(found.history)[-1] == "model: Only A."
    assert found.kept == {"state": 1}


def test_gemini_clis_other_files_are_read_too() -> None:
    """A chat as one document, and a checkpoint as a list of contents."""
    messages = [GEMINI[1], *GEMINI[4:7]]
    found = READERS["gemini-cli"](json.dumps({"sessionId": "x", "messages": messages}).encode(), "s")
    assert told(found.history)[-1] == "model: Only A."
    contents = [{"role": "user", "parts": [{"text": "hi"}]}, {"role": "model", "parts": [{"text": "ho"}]}]
    for document in (contents, {"history": contents}):
        found = READERS["gemini-cli"](json.dumps(document).encode(), "s")
        assert told(found.history) == ["user: hi", "model: ho"]


def test_opencodes_summary_is_a_compaction() -> None:
    """And files in prompts are media."""
    assert isinstance(read("opencode").history.turns[0].blocks[1], Media)
    summary = {
        "info": {"role": "assistant", "summary": True},
        "parts": [{"type": "text", "text": "We read A."}],
    }
    after = {"info": {"role": "user"}, "parts": [{"type": "text", "text": "on"}]}
    export = {**OPENCODE, "messages": [*OPENCODE["messages"], summary, after]}  # type: ignore[misc]
    found = READERS["opencode"](b"Exporting\n" + json.dumps(export).encode(), "s")
    assert (found.history.summary, told(found.history)) == ("We read A.", ["user: on"])


def test_pis_compaction_keeps_what_was_kept() -> None:
    """From the entry that it names."""
    cut = {"type": "compaction", "id": "9", "parentId": "8", "summary": "We read.", "firstKeptEntryId": "8"}
    found = READERS["pi"](lines(*PI, cut, pi("10", "9", "user", "on")), "s")
    assert (found.history.summary, told(found.history)) == ("We read.", ["model: Only A.", "user: on"])


def llm_log(path: Path, rows: Iterable[tuple[Any, ...]]) -> None:
    connection = apsw.Connection(str(path))
    connection.execute("""
        CREATE TABLE conversations (id TEXT PRIMARY KEY, name TEXT, model TEXT);
        CREATE TABLE responses (id TEXT PRIMARY KEY, model TEXT, prompt TEXT, system TEXT, response TEXT,
            conversation_id TEXT);
        CREATE TABLE tool_calls (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, arguments TEXT,
            tool_call_id TEXT);
        CREATE TABLE tool_results (id INTEGER PRIMARY KEY, response_id TEXT, name TEXT, output TEXT,
            tool_call_id TEXT, exception TEXT);
        INSERT INTO conversations VALUES ('old', 'Old', 'm'), ('new', 'Two files', 'm');
        INSERT INTO tool_calls VALUES (1, '2', 'read', '{"path": "a"}', 't1'), (2, '2', 'read', '{}', 't2');
        INSERT INTO tool_results VALUES (1, '3', 'read', 'A', 't1', NULL);
        INSERT INTO tool_results VALUES (2, '3', 'read', '', 't2', 'Error: no');
    """)
    connection.executemany("INSERT INTO responses VALUES (?, ?, ?, ?, ?, ?)", list(rows))
    connection.close()


def test_a_conversation_is_taken_from_llms_log(tmp_path: Path) -> None:
    """The latest one, or the one that is named."""
    llm_log(
        tmp_path / "logs.db",
        [
            ("1", "gpt-4o", "hello", None, "hi", "old"),
            ("2", "gpt-4o", "read both", "Be brief.", "", "new"),
            ("3", "gpt-4o", "", None, "Only A.", "new"),
        ],
    )
    found = read_file("llm", tmp_path / "logs.db", "s")
    assert (found.id, found.title, found.history.system) == ("new", "Two files", "Be brief.")
    assert told(found.history) == ["user: read both", "model: read=complete read=error", "model: Only A."]
    assert refused(found.history) == []
    assert told(read_file("llm", tmp_path / "logs.db", "s", "old").history) == ["user: hello", "model: hi"]
    with pytest.raises(UsageError, match="no conversation 'nope'"):
        read_file("llm", tmp_path / "logs.db", "s", "nope")


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


def test_what_is_no_session_is_said(tmp_path: Path) -> None:
    """With the names of what is known."""
    (tmp_path / "x").write_text("nothing")
    with pytest.raises(UsageError, match="no conversation was found"):
        read_file("claude-code", tmp_path / "x", "s")
    with pytest.raises(UsageError, match="not a log of llm"):
        read_file("llm", tmp_path / "x", "s")
    with pytest.raises(UsageError, match="use one of claude-code, codex"):
        read_file("emacs", tmp_path / "x", "s")
    with pytest.raises(UsageError, match="cannot be read"):
        read_file("pi", tmp_path / "missing", "s")
