"""The doctor: what is wrong, in which layer, what a resume does, and a copy that is valid."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.build import call, conversation, find, model, settled, started, user

from turnout.errors import UsageError
from turnout.history.check import violations
from turnout.history.codec import decode_entry, encode_entry
from turnout.history.log import History
from turnout.model import ModelTurn, Origin, Outcome, Settled, Text, ToolCall
from turnout.runtime.doctor import examine_file, examine_session, repair, write_copy
from turnout.runtime.exports import from_jsonl, to_jsonl
from turnout.runtime.store import Store


def stored(path: Path, history: History) -> Store:
    store = Store(path, heartbeat=False)
    store.add(history)
    return store


def test_a_healthy_session_is_well(tmp_path: Path) -> None:
    """And nothing is open."""
    history = conversation(user("go"), model(call("a")), settled("a"), model("done"))
    with stored(tmp_path / "s.db", history) as store:
        found = examine_session(store, "h")
    assert found.is_well and found.layer == "" and not found.findings
    assert found.resume == ("nothing is open: it goes on where it stopped",)
    assert found.repaired.entries == history.entries


def test_the_doctor_says_what_a_resume_will_do(tmp_path: Path) -> None:
    """A reply that broke off, a tool that was running, a call that had not begun; and touches nothing."""
    with Store(tmp_path / "s.db", heartbeat=False) as store:
        history = store.open("h")
        history.user("go")
        history.reply("openai:gpt-5.1", [call("a"), call("b")])
        history.start(find(history, "a"))
        found = examine_session(store, "h")
        assert found.is_well
        assert [line.partition(" ")[0] for line in found.resume] == ["a", "b"]
        assert "answered as interrupted, not run again" in found.resume[0]
        assert "had not begun" in found.resume[1]
        history.seal()
        history.user("more")
        store.journal("h").draft(ModelTurn("h.9", Origin.parse("openai:gpt-5.1"), (Text("half"),)))
        before = store.log.load("h")
        assert "the reply h.9" in examine_session(store, "h").resume[0]
        assert store.log.load("h") == before


def test_a_fault_is_named_with_its_layer(tmp_path: Path) -> None:
    """A history that breaks its own rules: which rule, which call."""
    history = conversation(user("go"), model(call("a")), settled("a"), user("more"))
    late = Settled(find(history, "a"), Outcome("error", "too late"))
    history._take(late)
    path = tmp_path / "s.jsonl"
    path.write_bytes(to_jsonl(history))

    found = examine_file(path)

    assert not found.is_well and found.layer == "history"
    assert [(finding.code, finding.call_id) for finding in found.findings] == [
        ("changed_after_seal", late.call_id)
    ]
    assert not violations(found.repaired)


def test_a_repaired_copy_is_valid_and_never_written_over_anything(tmp_path: Path) -> None:
    """The original stays as it is."""
    history = conversation(user("go"), model(call("a")), settled("a"))
    history._take(history.turns[1])  # the same turn again
    path, copy = tmp_path / "s.jsonl", tmp_path / "copy.jsonl"
    path.write_bytes(before := to_jsonl(history, "My talk"))

    found = examine_file(path)
    write_copy(found, copy)

    again = from_jsonl(copy.read_bytes())
    assert again.title == "My talk" and not violations(again.history)
    assert {note.kind for note in again.history.notes} == {"left_out"}
    assert path.read_bytes() == before
    assert copy.stat().st_mode & 0o777 == 0o600
    with pytest.raises(UsageError, match="nothing is written over"):
        write_copy(found, copy)
    with pytest.raises(UsageError, match="nothing is written over"):
        write_copy(found, path)


def test_a_torn_file_is_not_well(tmp_path: Path) -> None:
    """Something was lost, and it is said what."""
    path = tmp_path / "s.jsonl"
    path.write_bytes(to_jsonl(conversation(user("go"), model("done")))[:-10])
    found = examine_file(path)
    assert [finding.code for finding in found.findings] == ["torn_tail"] and not found.is_well


def test_a_foreign_file_is_recognised(tmp_path: Path) -> None:
    """Without being told whose it is; or as what it is said to be."""
    from tests.runtime.test_foreign import FILES

    for program, data in FILES.items():
        (path := tmp_path / program).write_bytes(data)
        found = examine_file(path)
        assert found.findings[0].detail == f"read as a session of {program}"
        assert found.is_well, found.findings
    (path := tmp_path / "messages.json").write_text('[{"role": "user", "content": "hi"}]')
    assert examine_file(path, "openai-chat").is_well
    with pytest.raises(UsageError, match="is a request, not a session"):
        examine_file(path)


def test_damage_to_the_stores_file_is_said(tmp_path: Path) -> None:
    """In the layer below the history."""
    path = tmp_path / "s.db"
    with stored(path, conversation(user("x" * 50_000), model("done"))) as store:
        store.search("x")
    with open(path, "r+b") as file:
        file.seek(4096 * 3 + 8)
        file.write(b"\xff" * 60)
    with Store(path, heartbeat=False) as store:
        try:
            found = examine_session(store, "h")
        except Exception as error:
            assert "damaged" in str(error)
        else:
            assert found.layer == "store"


@given(st.lists(st.integers(0, 11), max_size=14))
def test_whatever_order_entries_come_in_the_repair_is_valid(order: list[int]) -> None:
    """Shuffled, doubled and missing entries: the boundary keeps the copy valid."""
    whole = conversation(
        user("go"),
        model(call("a"), call("b")),
        started("a"),
        settled("a"),
        settled("b", "no", "error"),
        model("x"),
    )
    whole.compact(whole.turns[0].key, "short")
    whole.user("again")
    whole.reply("openai:gpt-5.1", [ToolCall("c", "c", {})])
    whole.rewind(whole.turns[0].key)
    lines = [encode_entry(entry) for entry in whole.entries]
    broken = History("h")
    broken.entries = [decode_entry(lines[at]) for at in order if at < len(lines)]

    made = repair(broken)

    assert not violations(made)
    made.user("go on")
    assert not violations(made)
