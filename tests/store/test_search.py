"""Full-text search over stored sessions."""

from __future__ import annotations

from tests.build import call, find
from tests.store.stores import MODEL, talk

from turnout.model import Outcome
from turnout.store import Store


def test_words_are_found_wherever_they_were_said(store: Store) -> None:
    """In prompts, replies, arguments and results; all words must be there; new ones are found at once."""
    talk(store, "a", "the blue whale", "A large animal.")
    history = store.open("b")
    history.user("look")
    history.reply(MODEL, [call("read_file", path="whales.txt")])
    history.settle(find(history, "read_file"), Outcome("complete", "Crème brûlée is blue"))

    assert {hit.session for hit in store.search("whale")} == {"a", "b"}
    assert [hit.session for hit in store.search("blue WHALE")] == ["a"]
    assert [hit.session for hit in store.search("creme brulee")] == ["b"]
    assert store.search("whale shark") == store.search("") == store.search('"*') == []
    history.reply(MODEL, "And a shark.")
    (hit,) = store.search("shark")
    assert (hit.session, hit.excerpt, hit.place) == ("b", "And a shark.", 4)
    store.release("b")
    store.delete("b")
    assert store.search("shark") == []
