"""Sessions of Claude Code: the tree of records, branches and compactions."""

from __future__ import annotations

from tests.interchange.foreign.sample_sessions import CLAUDE, claude, lines, refused, told

from turnout.interchange.foreign import READERS


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
