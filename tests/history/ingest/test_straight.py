"""The straight path gives what the careful path gives, or steps aside."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest
from tests.corpus import ROTATION, SOAK, Exchange, needs_corpus
from tests.handoff import recorded
from tests.history.ingest.both_paths import TARGETS, bodies_of, read_carefully, story_of
from tests.history.ingest.mutants import FORMATS, LISTS, conversation, mutate

from turnout.history import ingest as door
from turnout.history.ingest import ingest
from turnout.history.log import History
from turnout.model import Origin

MUTANTS = 6_000 if SOAK else 150  # of each format


def is_straight(body: Any, form: str) -> bool:
    found, _ = door.find_format(form)
    listed = door.open_body(body, found).messages
    try:
        door.StraightReader(found, Origin("x"), "ingest").read(listed)
    except door.StepAside:
        return False
    return True


def assert_same(body: Any, form: str, origin: Any = None, *targets: str) -> None:
    straight, careful = ingest(body, form, origin), read_carefully(body, form, origin)
    assert story_of(straight) == story_of(careful)
    assert straight.next_key() == careful.next_key()
    assert bodies_of(straight, *targets) == bodies_of(careful, *targets)


@needs_corpus
def test_recorded_requests_are_read_the_same_by_both_paths() -> None:
    """Every recorded request; and most of them take the straight path."""
    taken: Counter[bool] = Counter()
    for number, exchange in enumerate(recorded.requests()):
        form, body = recorded.FORMATS[exchange.meta["family"]], exchange.request
        target = TARGETS[(number + ROTATION) % len(TARGETS)]
        assert_same(body, form, recorded.origin(exchange), *(TARGETS if SOAK else [target]))
        taken[is_straight(body, form)] += 1
    assert taken[True] > 3 * taken[False], taken


@pytest.mark.parametrize("form", FORMATS)
def test_well_formed_lists_take_the_straight_path(form: str) -> None:
    """Conversations as agents hold them, with several calls in a turn, are never read twice."""
    for seed in range(200):
        body = conversation(form, Random(f"{form} {seed}"))
        assert is_straight(body, form), body
        assert_same(body, form, None, TARGETS[seed % len(TARGETS)])


@pytest.mark.parametrize("form", FORMATS)
def test_mutants_are_read_the_same_by_both_paths(form: str) -> None:
    """Whatever is changed, removed, repeated or moved in a conversation, at any depth."""
    taken: Counter[bool] = Counter()
    sources = _lists_of(form)
    for seed in range(MUTANTS):
        random = Random(f"{form} {0 if SOAK else ROTATION} {seed}")
        messages = random.choice(sources)[:40] if random.random() < 0.3 else _made(form, random)
        for _ in range(random.randint(1, 3)):
            messages = mutate(messages, random)
        body = {LISTS[form]: messages, "model": "m-1"}
        assert_same(body, form, None, TARGETS[seed % len(TARGETS)])
        taken[is_straight(body, form)] += 1
    assert min(taken[True], taken[False]) > MUTANTS / 10, taken


def _made(form: str, random: Random) -> list[Any]:
    messages: list[Any] = conversation(form, random)[LISTS[form]]
    return messages


def _lists_of(form: str) -> list[list[Any]]:
    """The recorded lists of this format, so that their kinds of parts are damaged too."""

    def list_in(exchange: Exchange) -> Any:
        return exchange.request.get(LISTS[form])

    exchanges = [each for each in recorded.requests() if recorded.FORMATS[each.meta["family"]] == form]
    found = [listed for each in exchanges if isinstance(listed := list_in(each), list) and listed]
    return found or [_made(form, Random(0))]


def test_values_of_the_caller_are_not_shared() -> None:
    """What a caller changes in a message afterwards does not change the history."""
    given = {"path": "a"}
    use = {"type": "tool_use", "id": "t1", "name": "read", "input": given}
    history = ingest(
        [{"role": "user", "content": "go"}, {"role": "assistant", "content": [use]}], "anthropic"
    )
    given["path"] = "b"
    assert [item.call.arguments for item in history.ledger] == [{"path": "a"}]


def test_a_list_that_steps_aside_late_has_each_finding_once() -> None:
    """What the straight path found before it stepped aside is not reported again."""
    named = {"role": "user", "name": "ann", "content": "hi"}
    history = ingest([named, {"role": "tool", "tool_call_id": "nobody", "content": "42"}])
    assert [item.code for item in history.diagnostics] == ["speaker_name", "orphaned_result"]


def test_replay_of_what_was_read_gives_the_same_history() -> None:
    """The entries of the straight path make sense to everyone who reads the log."""
    body = conversation("openai-chat", Random(1))
    history = ingest(body)
    assert History.replay(history.entries, history.key).ledger == history.ledger


def test_private_state_that_is_too_deep_is_cut_on_both_paths() -> None:
    """An item of 128 levels has one more as private state of its block."""
    summary: Any = []
    for _ in range(125):
        summary = [summary]
    reasoning = {"type": "reasoning", "id": "rs_1", "summary": {"a": summary}}
    assert_same([reasoning, {"role": "assistant", "content": "so"}], "openai-responses")
