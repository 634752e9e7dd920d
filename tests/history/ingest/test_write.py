"""The keys of turns that have ids of their own."""

from __future__ import annotations

from tests.history.ingest.telling import (
    asks,
    codes,
    content,
    text,
)

from turnout.history.ingest import ingest


def test_a_turn_id_is_the_turns_key_and_counts_in_its_call_ids() -> None:
    """So that the same session gives the same ids."""
    messages = [
        content("human", text("go"), turnId="t"),
        content("ai", asks("x"), turnId="t|1", provider="kimi"),
    ]
    history = ingest(messages, "icontent")

    from turnout import ids

    assert [turn.key for turn in history.turns] == ["t", "t_1"]
    assert next(iter(history.ledger)).call.id == ids.call_id("kimi", "x", "read", "t_1", 0)


def test_a_turn_id_shared_by_several_contents_is_made_distinct() -> None:
    """The model's turn keeps it first: call ids are made from it."""
    messages = [
        content("human", text("go"), turnId="t"),
        content("ai", text("a"), turnId="t"),
        content("ai", text("b"), turnId="t"),
        content("ai", text("c"), turnId="t.2"),
    ]
    history = ingest(messages, "icontent", key="k")

    assert [turn.key for turn in history.turns] == ["k.1", "t", "t.2", "t.2.2"]
    assert codes(history) == ["shared_turn_id", "shared_turn_id"]


def test_given_keys_keep_out_of_the_way_of_turn_ids() -> None:
    """A key of ours never takes the id of a model turn."""
    messages = [content("human", text("go")), content("ai", text("a"), turnId="k.1")]

    assert [turn.key for turn in ingest(messages, "icontent", key="k").turns] == ["k.2", "k.1"]
