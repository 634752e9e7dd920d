"""Tokens and cost of replies, as they are counted for `turnout stats` and the page of numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from turnout import History, ModelTurn, Store, Usage
from turnout.surfaces.shared.usage_counts import CACHED, INPUT, PROMPT, REPLIES, count_use, usage_by_model


def reply(target: str, usage: Usage | None) -> ModelTurn:
    history = History("h")
    history.user("x")
    return history.reply(target, "y", usage=usage)


def test_all_that_was_read_is_counted_alike(tmp_path: Path) -> None:
    """Anthropic's input leaves out what came from a cache, OpenAI's holds it: both prompts count alike."""
    turns = [
        reply("anthropic:claude-sonnet-4-5", Usage(input=100, cached_input=250, cache_write=50)),
        reply("openai:gpt-5.1", Usage(input=400, cached_input=250)),
        reply("openai:gpt-5.1", None),
    ]
    with Store(tmp_path / "s.db") as store:
        count_use(store, turns)
        found = Counter({(count.provider, count.name): count.count for count in store.counters.read()})
    for provider, given, replies in (("anthropic", 100, 1), ("openai", 400, 2)):
        assert found[provider, INPUT] == given and found[provider, REPLIES] == replies
        assert found[provider, PROMPT] == 400 and found[provider, CACHED] == 250


def test_without_a_store_nothing_is_counted() -> None:
    """A run that keeps nothing has nowhere to count, and goes on."""
    count_use(None, [reply("openai:gpt-5.1", Usage(input=1))])


def test_tokens_are_summed_by_model() -> None:
    """Two replies of one model are one sum; what no reply said stays unknown."""
    turns = [reply("openai:gpt-5.1", Usage(input=1, output=2)), reply("openai:gpt-5.1", Usage(input=3))]
    (tokens,) = usage_by_model(turns).values()
    assert tokens.input == 4 and tokens.reasoning is None
