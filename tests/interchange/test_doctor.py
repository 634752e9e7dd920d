"""The doctor: what is wrong, in which layer, what a resume does, and a copy that is valid."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.build import call, conversation, find, model, settled, started, user

from turnout import check, render
from turnout.errors import UsageError
from turnout.history.check import violations
from turnout.history.codec import decode_entry, encode_entry
from turnout.history.log import History
from turnout.interchange.doctor import TARGETS, examine_file, examine_session, repair_history, write_copy
from turnout.interchange.exports import from_jsonl, to_jsonl
from turnout.interchange.unanswered import replay_refusals
from turnout.model import ModelTurn, Origin, Outcome, Settled, Text, ToolCall
from turnout.store import Store
from turnout.targets.target import find_target


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
    assert found.resume == ("nothing is open: it resumes where it stopped",)
    assert found.command == "turnout -r h" and found.unanswered == found.refusals == ()
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
        assert "had not begun: the next prompt answers it as not run" in found.resume[1]
        history.seal()
        history.user("more")
        store.journal("h").draft(ModelTurn("h.9", Origin.parse("openai:gpt-5.1"), (Text("half"),)))
        before = store.log.load("h")
        assert "the reply h.9" in examine_session(store, "h").resume[0]
        assert store.log.load("h") == before


def test_open_calls_are_named_with_what_providers_say_to_them(tmp_path: Path) -> None:
    """Each of them would refuse the messages as they are; none refuses what turnout makes of them."""
    history = conversation(user("go"), model(call("a"), call("b")), settled("a"))
    with stored(tmp_path / "s.db", history) as store:
        found = examine_session(store, "h")

    assert [each.call.name for each in found.unanswered] == ["b"]
    answers = {target: refusal for refusal in found.refusals for target in refusal.targets}
    assert set(answers) == set(TARGETS)
    assert all(refusal.rule and refusal.answer for refusal in answers.values())
    assert "did not have response messages: b" in answers[TARGETS[0]].answer
    assert answers[TARGETS[2]].rule == "ANT-01"
    for target in TARGETS:
        place = find_target(target)
        assert check(place.provider.name, render(found.repaired, place).body, model=place.model) == []


def test_only_what_the_open_calls_cost_is_told() -> None:
    """Ids that Mistral refuses anyway say nothing about the call that was not answered."""
    history = conversation(user("go"), model(call("a_long_id_for_mistral")), settled("a_long_id_for_mistral"))
    assert replay_refusals(history, (), TARGETS) == ()
    history.reply("openai:gpt-5.1", [ToolCall("another_long_id", "b", {})])
    (refusal,) = replay_refusals(history, history.open_calls, ["mistral:mistral-large-latest"])
    assert refusal.rule == "MIS-02"


def test_a_call_that_a_file_never_answers_is_named(tmp_path: Path) -> None:
    """Also in the middle of it, with the command that makes a request that passes."""
    function = {"name": "read", "arguments": "{}"}
    calls = [{"id": "c1", "type": "function", "function": function}]
    messages = [
        {"role": "user", "content": "read"},
        {"role": "assistant", "tool_calls": calls},
        {"role": "user", "content": "never mind"},
        {"role": "assistant", "content": "All right."},
    ]
    (path := tmp_path / "my chat.json").write_text(json.dumps(messages))

    found = examine_file(path, "openai-chat")

    assert [each.call.raw_id for each in found.unanswered] == ["c1"]
    assert all(refusal.rule for refusal in found.refusals)
    assert "never got a result: answered as interrupted" in found.resume[0]
    assert found.command == f"turnout render --from openai-chat --to PROVIDER:MODEL '{path}'"


def test_a_fault_is_named_with_its_layer(tmp_path: Path) -> None:
    """A history that breaks its own rules: which rule, which call."""
    history = conversation(user("go"), model(call("a")), settled("a"), user("more"))
    late = Settled(find(history, "a"), Outcome("error", "too late"))
    history._apply_entry(late)
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
    history._apply_entry(history.turns[1])  # the same turn again
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
    from tests.interchange.foreign.sample_sessions import FILES

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

    made = repair_history(broken)

    assert not violations(made)
    made.user("go on")
    assert not violations(made)
