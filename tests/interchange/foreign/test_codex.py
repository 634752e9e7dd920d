"""Rollouts of Codex: compactions, and files of older versions."""

from __future__ import annotations

from tests.interchange.foreign.sample_sessions import CODEX, lines, told

from turnout.interchange.foreign import READERS


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
