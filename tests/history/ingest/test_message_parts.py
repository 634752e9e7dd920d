"""What readers of all formats share: unchecked values, private state, findings."""

from __future__ import annotations

from turnout.history.ingest.message_parts import ReadContext, dict_of, first_of, list_of, text_of, texts_in
from turnout.model import Origin


def test_unchecked_values_have_one_reading() -> None:
    """None is empty, and a value of another type is wrapped or written as JSON."""
    assert (text_of("a"), text_of(None), text_of([1])) == ("a", "", "[1]")
    assert (list_of([1]), list_of(None), list_of("a")) == ([1], [], ["a"])
    assert (dict_of({"a": 1}), dict_of("a")) == ({"a": 1}, {})
    assert first_of({"a": None, "b": 2, "c": 3}, "a", "b", "c") == 2


def test_texts_are_found_under_the_usual_names() -> None:
    """In order, at any depth; other fields are not text."""
    value = {"title": "one", "content": [{"text": "two"}, "three"], "id": "x"}
    assert list(texts_in(value)) == ["one", "two", "three"]


def test_private_state_without_values_is_none() -> None:
    """A field that was not there leaves nothing behind."""
    context = ReadContext(Origin("anthropic", "", "m"))
    assert context.residue(signature=None) is None
    residue = context.scoped_residue("provider", signature="s", redacted=None)
    assert residue is not None and residue.data == {"signature": "s"} and residue.scope == "provider"


def test_findings_are_shared_between_origins() -> None:
    """One list for a whole conversation."""
    context = ReadContext(Origin("openai"))
    context.speaking_as(Origin("anthropic")).report("empty_id", "a")
    assert [(found.code, found.detail) for found in context.findings] == [("empty_id", "a")]
