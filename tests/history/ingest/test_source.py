"""`ingest(whole, onto=ingest(prefix))` is `ingest(whole)`, and reads only what is new where it can."""

from __future__ import annotations

import copy
import json
from random import Random
from typing import Any

import msgspec
import pytest
from tests.corpus import ROTATION, SOAK, needs_corpus, share
from tests.handoff import recorded
from tests.history.ingest.both_paths import TARGETS, bodies_of, story_of
from tests.history.ingest.mutants import FORMATS, LISTS, TOOLS, conversation, mutate
from tests.history.ingest.telling import assistant, call, tool, user

from turnout import Outcome, read_request, render
from turnout.errors import UsageError
from turnout.history.ingest import ingest
from turnout.history.log import History

MUTANTS = 5_000 if SOAK else 100  # of each format

BATCH = [user("go"), assistant(None, call("a"), call("b")), tool("a", "1"), tool("b", "2"), assistant("so")]


def assert_continued(prefix: Any, whole: Any, form: str, *targets: str) -> bool:
    """The history is that of the whole, with its bytes; tells whether only what is new was read."""
    before = ingest(prefix, form)
    bodies_of(before, *targets)  # a rendering that is continued too
    after = ingest(whole, form, onto=before)
    fresh = ingest(whole, form)
    assert story_of(after) == story_of(fresh)
    assert after.next_key() == fresh.next_key()
    assert bodies_of(after, *targets) == bodies_of(fresh, *targets)
    if after is not before:
        assert story_of(before) == story_of(ingest(prefix, form))
    return after is before


def cut(body: dict[str, Any], form: str, at: int) -> dict[str, Any]:
    return {**body, LISTS[form]: body[LISTS[form]][:at]}


@pytest.mark.parametrize("form", FORMATS)
def test_every_cut_of_a_conversation_is_continued(form: str) -> None:
    """Also one inside a batch of calls. Where a turn itself is cut in two, the whole is read."""
    continued = cuts = 0
    for seed in range(200 if SOAK else 20):
        body = conversation(form, Random(f"{form} {seed} {ROTATION}"))
        for at in range(len(body[LISTS[form]]) + 1):
            target = TARGETS[(seed + at) % len(TARGETS)]
            continued += assert_continued(cut(body, form, at), body, form, target)
            cuts += 1
    assert continued > cuts * (0.4 if form == "openai-responses" else 0.95), (continued, cuts)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("form", FORMATS)
def test_every_cut_of_a_text_is_continued(form: str, indent: int | None) -> None:
    """JSON text is compared as it was written, with its spaces; only what is new in it is parsed."""
    for seed in range(5):
        body = conversation(form, Random(f"{form} {seed} {ROTATION}"))
        listed = body[LISTS[form]]
        whole = json.dumps(body, indent=indent)
        kinds = [
            assert_continued(json.dumps(cut(body, form, at), indent=indent).encode(), whole, form, TARGETS[0])
            for at in range(len(listed) + 1)
        ]
        assert kinds[-1] and (form == "openai-responses" or all(kinds))


def test_text_that_is_only_almost_json_is_read_too() -> None:
    """The part that was read is not parsed again, and the rest is read as `json` reads it."""
    messages = [{"role": "user", "content": "hi"}, {"role": "user", "content": "a\ud800b"}]
    whole = json.dumps({"messages": messages})
    history = ingest(json.dumps({"messages": messages[:1]}))
    assert story_of(ingest(whole, onto=history)) == story_of(ingest(whole))
    with pytest.raises(UsageError):
        ingest(whole.replace("]", ",]"), onto=ingest(json.dumps({"messages": messages[:1]})))


@pytest.mark.parametrize("texts", [("[1]", "[12]"), ("[1]", "[1 ]"), ("[]", "[1]"), ("[ ]", "[ 1 ]")])
def test_a_number_that_goes_on_is_another_message(texts: tuple[str, str]) -> None:
    """The bytes are the same up to there, but the message does not end there."""
    prefix, whole = (f'{{"messages": {text}}}' for text in texts)
    assert_continued(prefix, whole, "openai-chat")


@needs_corpus
def test_recorded_conversations_are_continued() -> None:
    """A recorded request, cut at a random place."""
    for exchange in share(recorded.requests()):
        form, body = recorded.FORMATS[exchange.meta["family"]], exchange.request
        name = LISTS.get(form, "messages")
        if not isinstance(listed := body.get(name), list):
            continue
        at = Random(exchange.id).randint(0, len(listed))
        assert_continued({**body, name: listed[:at]}, body, form, TARGETS[at % len(TARGETS)])


@pytest.mark.parametrize("form", FORMATS)
def test_mutants_are_continued_to_what_a_whole_read_gives(form: str) -> None:
    """The prefix, the rest or both are damaged; the head of the body may change too."""
    for seed in range(MUTANTS):
        random = Random(f"{form} {0 if SOAK else ROTATION} {seed}")
        body = conversation(form, random)
        name = LISTS[form]
        at = random.randint(0, len(body[name]))
        prefix = cut(body, form, at)
        whole = copy.deepcopy(body)
        if random.random() < 0.6:
            damaged = _as_json(mutate(body[name], random))
            whole[name] = damaged
            prefix[name] = damaged[:at] if random.random() < 0.7 else prefix[name]
        if random.random() < 0.3:
            whole |= random.choice(({"model": "m-3"}, {"tools": []}, {"tools": TOOLS[form] * 2}, {"seed": 1}))
        assert_continued(prefix, whole, form, TARGETS[seed % len(TARGETS)])


def _as_json(messages: Any) -> Any:
    """As a client sends them."""
    try:
        return msgspec.json.decode(msgspec.json.encode(messages))
    except (UnicodeEncodeError, msgspec.DecodeError):
        return json.loads(json.dumps(messages, default=str))


def test_only_what_is_new_is_read() -> None:
    """The history stays the same object, and its first entries are the very same."""
    history = ingest(BATCH[:2])
    first = list(history.entries)
    assert [item.call.raw_id for item in history.open_calls] == ["a", "b"]
    assert ingest(BATCH[:3], onto=history) is history
    assert [item.call.raw_id for item in history.open_calls] == ["b"]
    assert ingest(BATCH, onto=history) is history
    assert all(before is after for before, after in zip(first, history.entries, strict=False))
    assert ingest(BATCH, onto=history) is history
    assert story_of(history) == story_of(ingest(BATCH))


def test_a_changed_message_makes_a_new_history() -> None:
    """The old one stays as it is, and both have the same key."""
    history = ingest(BATCH, key="chat")
    entries = list(history.entries)
    edited = [user("stop"), *BATCH[1:], user("more")]
    after = ingest(edited, onto=history)
    assert after is not history and after.key == "chat"
    assert history.entries == entries
    assert ingest(BATCH[:3], onto=history) is not history


def test_a_history_that_was_written_to_is_not_continued() -> None:
    """What was appended by hand is not in the messages, so the whole is read into a new history."""
    history = ingest(BATCH[:2])
    history.settle(history.open_calls[0].call.id, Outcome("complete", "by hand"))
    after = ingest(BATCH, onto=history)
    assert after is not history
    assert story_of(after) == story_of(ingest(BATCH))


def test_system_text_and_tools_become_those_of_the_new_body() -> None:
    """They lie beside the messages: the history is continued, and renders with the new ones."""
    name, form = "messages", "anthropic"
    first = {"model": "m", "system": "Be brief.", "tools": TOOLS[form], name: [user("hi")]}
    then = {
        **first,
        "system": "Be long.",
        "tools": [],
        name: [user("hi"), {"role": "assistant", "content": "oh"}],
    }
    history = ingest(first, form)
    assert ingest(then, form, onto=history) is history
    assert (history.system, history.tools) == ("Be long.", ())
    assert render(history, TARGETS[0]).body == render(ingest(then, form), TARGETS[0]).body


def test_another_model_or_format_makes_a_new_history() -> None:
    """The model of a body is the origin of its replies, so it must be the same."""
    history = ingest({"model": "m-1", "messages": BATCH})
    assert ingest({"model": "m-2", "messages": BATCH}, onto=history) is not history
    assert ingest({"model": "m-1", "messages": BATCH}, "anthropic", onto=history) is not history
    assert ingest({"model": "m-1", "messages": BATCH}, onto=history) is history


def test_messages_of_the_caller_may_change_after_they_were_read() -> None:
    """The hash is of the messages as they were read, so an edit in place is seen."""
    messages = copy.deepcopy(BATCH)
    history = ingest(messages)
    messages[0]["content"] = "edited"
    after = ingest(messages, onto=history)
    assert after is not history
    assert after.turns[0] != history.turns[0]


def test_a_history_that_was_not_read_can_be_given_too() -> None:
    """One made by hand, or a fork, is not the beginning of a request: the whole is read."""
    assert story_of(ingest(BATCH, onto=History("ingest"))) == story_of(ingest(BATCH))
    assert ingest(BATCH, onto=ingest(BATCH).fork("fork")).key == "fork"


def test_read_request_continues_a_history_and_reads_the_options_anew() -> None:
    """Options belong to a request, not to the conversation."""
    inbound = read_request({"model": "m", "temperature": 0.1, "messages": BATCH[:3]})
    more = read_request({"model": "m", "temperature": 0.7, "messages": BATCH}, onto=inbound.history)
    assert more.history is inbound.history
    assert (more.options.temperature, len(more.history.turns)) == (0.7, 3)
