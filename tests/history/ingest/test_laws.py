"""Laws of the door: nothing raises, nothing is lost, nothing depends on anything but the messages."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.history.ingest import telling

from turnout import ids
from turnout.diagnostic import CODES
from turnout.history.check import violations
from turnout.history.codec import dump_history, load_history
from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.model import Text

FORMATS = ("openai-chat", "openai-responses", "anthropic", "gemini", "icontent")
EXAMPLES = 1000 if os.environ.get("TURNOUT_SOAK") else 100

FIELDS = """
role content type text user assistant tool system tool_calls tool_call_id id name arguments function input
output tool_use tool_result tool_use_id thinking signature parts functionCall functionResponse args response
speaker blocks human ai tool_call tool_response callId toolName result parameters metadata turnId model image
source data image_url url reasoning summary function_call function_call_output call_id message media code
is_error isComplete error thought hist_tool_1 x
"""
WORDS = st.sampled_from(FIELDS.split())
KEYS = WORDS | st.text(max_size=2)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | WORDS | st.text(max_size=4)
JSON = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=5),
    max_leaves=25,
)
OBJECTS = st.dictionaries(WORDS, JSON, max_size=6)


def holds(history: History) -> None:
    """What is true of every history that came through the door."""
    assert violations(history) == []
    assert {diagnostic.code for diagnostic in history.diagnostics} <= CODES.keys()
    waiting = {item.turn_key for item in history.ledger if item.outcome is None}
    assert waiting <= {turn.key for turn in history.turns[-1:]}
    assert all(ids.is_canonical(item.call.id) for item in history.ledger)
    assert all(turn.blocks for turn in history.turns)
    again = load_history(dump_history(history))
    assert (again.ledger, list(again.turns)) == (history.ledger, list(history.turns))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(JSON, max_size=6), st.sampled_from(FORMATS))
def test_any_list_of_json_values_is_read(messages: list[Any], form: str) -> None:
    """Whatever stands in the list, in whatever format, no exception and a history that holds."""
    holds(ingest(messages, form))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(OBJECTS, max_size=8), st.sampled_from(FORMATS))
def test_any_list_of_objects_is_read(messages: list[Any], form: str) -> None:
    """Objects with the formats' own field names around nonsense are read too."""
    holds(ingest(messages, form))


@settings(max_examples=EXAMPLES, deadline=None)
@given(st.lists(OBJECTS, max_size=4), JSON, JSON, JSON, st.sampled_from(FORMATS))
def test_any_body_around_the_messages_is_read(
    messages: list[Any], system: Any, tools: Any, model: Any, form: str
) -> None:
    """Random bodies never raise."""
    around = {
        "system": system,
        "instructions": system,
        "systemInstruction": system,
        "tools": tools,
        "model": model,
    }
    holds(ingest({**around, "messages": messages, "input": messages, "contents": messages}, form))


# Histories that make some sense

RAW_IDS = st.sampled_from(["a", "b", "c", "", "hist_tool_1", "functions.read:0", "x" * 200])
NAMES = st.sampled_from(["read", "write"])
STEPS = st.lists(
    st.tuples(st.just("call"), st.lists(st.tuples(RAW_IDS, NAMES, st.integers(0, 1)), min_size=1, max_size=3))
    | st.tuples(st.just("result"), st.tuples(RAW_IDS, NAMES | st.just("")))
    | st.tuples(st.sampled_from(["user", "system", "said"]), st.none()),
    max_size=14,
)


def chat(steps: list[Any]) -> list[dict[str, Any]]:
    messages = []
    for number, (kind, what) in enumerate(steps):
        match kind:
            case "call":
                calls = [telling.call(raw_id, name, {"n": n}) for raw_id, name, n in what]
                messages.append(telling.assistant(None, *calls))
            case "result":
                messages.append(telling.tool(what[0], f"result {number}", name=what[1]))
            case "said":
                messages.append(telling.assistant(f"said {number}"))
            case _:
                messages.append({"role": kind, "content": f"said {number}"})
    return messages


def icontent(steps: list[Any]) -> list[dict[str, Any]]:
    contents = []
    for number, (kind, what) in enumerate(steps):
        match kind:
            case "call":
                contents.append(telling.content("ai", *(telling.asks(r, name, n=n) for r, name, n in what)))
            case "result":
                contents.append(
                    telling.content("tool", telling.answers(what[0], f"result {number}", what[1]))
                )
            case _:
                speaker = {"said": "ai", "user": "human"}.get(kind, kind)
                contents.append(telling.content(speaker, telling.text(f"said {number}")))
    return contents


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS, st.sampled_from([("openai-chat", chat), ("icontent", icontent)]))
def test_every_result_is_an_outcome_or_a_note(steps: list[Any], written: Any) -> None:
    """Late, early, repeated, nameless or orphaned: each result is on record exactly once."""
    form, write = written
    history = ingest(write(steps), form)
    holds(history)

    reported = sorted(f"result {number}" for number, (kind, _) in enumerate(steps) if kind == "result")
    kept = [item.outcome.text for item in history.ledger if item.outcome and not item.outcome.synthetic]
    noted = [block["text"] for note in history.notes for block in note.data["content"]]
    assert sorted(kept + noted) == reported


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS)
def test_every_word_and_call_is_kept_in_order(steps: list[Any]) -> None:
    """Turns stand as they were spoken; only a call that was merely written twice is left out."""
    history = ingest(chat(steps))

    words = [f"said {number}" for number, (kind, _) in enumerate(steps) if kind in ("user", "system", "said")]
    heard = [block.text for turn in history.turns for block in turn.blocks if isinstance(block, Text)]
    assert [*history.system.split("\n\n"), *heard] == words if history.system else heard == words

    calls = [(name, n) for kind, what in steps if kind == "call" for _, name, n in what]
    kept = [(item.call.name, item.call.arguments["n"]) for item in history.ledger]
    repeated = telling.codes(history).count("repeated_call")
    assert len(kept) == len(calls) - repeated
    assert set(kept) == set(calls)


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS)
def test_a_call_is_answered_by_its_own_id_where_that_is_possible(steps: list[Any]) -> None:
    """A result whose id some call has never goes to a call of another id."""
    history = ingest(chat(steps))

    known = {raw_id for kind, what in steps if kind == "call" for raw_id, _, _ in what if raw_id}
    by_text = {f"result {number}": what[0] for number, (kind, what) in enumerate(steps) if kind == "result"}
    for item in history.ledger:
        if item.outcome is None or item.outcome.synthetic:
            continue
        reported_as = by_text[item.outcome.text]
        if reported_as in known:
            assert reported_as == (item.call.raw_id or item.call.id)


SPACES = st.sampled_from(["", " ", "\t", "\n ", "\u00a0"])


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS, SPACES, st.lists(SPACES, min_size=14, max_size=14))
def test_spaces_around_ids_change_no_pair(steps: list[Any], of_calls: str, of_results: list[str]) -> None:
    """Whoever added or stripped them, on calls or on results: each call has the result it had without."""
    padded = []
    for (kind, what), spaces in zip(steps, of_results, strict=False):
        if kind == "call":
            what = [(of_calls + raw_id if raw_id else "", name, n) for raw_id, name, n in what]
        elif kind == "result":
            what = (what[0] + spaces, what[1])
        padded.append((kind, what))

    assert outcomes(ingest(chat(padded))) == outcomes(ingest(chat(steps)))


def outcomes(history: History) -> list[Any]:
    return [item.outcome for item in history.ledger]


def test_spaces_tell_two_calls_apart_where_nothing_else_does() -> None:
    """Two ids of one turn that differ by a space only are two calls, and each gets its own result."""
    calls = [telling.call("a", "read", {"n": 1}), telling.call("a ", "read", {"n": 2})]
    history = ingest([telling.assistant(None, *calls), telling.tool("a ", "two"), telling.tool("a", "one")])

    assert [item.outcome.text for item in history.ledger if item.outcome] == ["one", "two"]


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS)
def test_ingest_depends_on_the_messages_alone(steps: list[Any]) -> None:
    """Objects, text and bytes, today and tomorrow: the same bytes on disk."""
    messages = chat(steps)
    first = dump_history(ingest(messages))

    assert dump_history(ingest(messages)) == first
    assert dump_history(ingest(json.dumps(messages))) == first
    assert dump_history(ingest(json.dumps(messages).encode())) == first


@settings(max_examples=EXAMPLES, deadline=None)
@given(STEPS)
def test_more_messages_change_no_id_that_was_given(steps: list[Any]) -> None:
    """Call ids are stable as a foreign history grows, so that a second ingest agrees with the first."""
    before = [item.call.id for item in ingest(chat(steps)).ledger]
    after = [item.call.id for item in ingest([*chat(steps), telling.user("and then?")]).ledger]

    assert after == before


# Cost


def conversation(messages: int) -> list[dict[str, Any]]:
    """Ids that repeat, empty ones, results that come late and calls that are never answered."""
    told: list[dict[str, Any]] = []
    for number in range(messages // 4):
        raw_id = ["call_0", "", f"call_{number}", "call_1"][number % 4]
        told.append(telling.user(f"question {number}"))
        told.append(telling.assistant(None, telling.call(raw_id, "read", {"n": number})))
        told.append(telling.user("wait") if number % 5 == 0 else telling.tool(raw_id, f"answer {number}"))
        told.append(telling.tool(raw_id, "late") if number % 3 == 0 else telling.assistant(f"so {number}"))
    return told


def same_turn(messages: int) -> list[dict[str, Any]]:
    """One turn of very many nameless calls, and their results."""
    calls = [telling.call("", "read", {"n": number}) for number in range(messages // 2)]
    return [telling.assistant(None, *calls), *(telling.tool("", str(n)) for n in range(messages // 2))]


def orphans(messages: int) -> list[dict[str, Any]]:
    """Results under ids that no call has."""
    calls = [telling.call(f"call_{number}", "read") for number in range(messages // 2)]
    strays = [telling.tool(f"other_{number}", name="x") for number in range(messages // 2)]
    return [telling.assistant(None, *calls), *strays]


@pytest.mark.parametrize("told", [conversation, same_turn, orphans])
def test_the_cost_is_linear_in_the_number_of_messages(told: Any) -> None:
    """Four times the messages take four times the steps; a quadratic one would take sixteen times."""
    ratio = _steps(told(2_000)) / _steps(told(500))

    assert ratio < 5, f"four times the messages took {ratio:.1f} times the steps"


def _steps(messages: list[dict[str, Any]]) -> int:
    """How many lines were executed: the same on every machine."""
    count = 0

    def trace(frame: Any, event: str, argument: Any) -> Any:
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        ingest(messages)
    finally:
        sys.settrace(before)
    return count
