"""A body is read the same as objects, text or bytes; messages in a text are parsed when asked for."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest
from tests.history.ingest.mutants import FORMATS, LISTS, conversation

from turnout.errors import UsageError
from turnout.history.ingest.body import open_body, parse_body
from turnout.history.ingest.formats import find_format


@pytest.mark.parametrize("form", FORMATS)
def test_text_and_objects_give_the_same_fields_and_messages(form: str) -> None:
    """Also bytes, and with the fields in another order."""
    found, _ = find_format(form)
    for seed in range(20):
        body = conversation(form, Random(seed))
        text = json.dumps(dict(reversed(body.items())))
        bodies = [open_body(given, found) for given in (body, text, text.encode(), bytearray(text.encode()))]
        assert all(each.messages == body[LISTS[form]] for each in bodies)
        assert all(each.fields == bodies[0].fields for each in bodies)
        assert parse_body(text, found).messages == body[LISTS[form]]


def test_the_messages_of_a_text_are_parsed_when_asked_for() -> None:
    """A broken message is not noticed before, since nobody has read it yet."""
    found, _ = find_format("openai-chat")
    body = open_body(b'{"model": "m", "messages": ["\\\\ud800"]}', found)
    assert body.fields == {"model": "m"}
    assert bytes(body.text or b"") == b'["\\\\ud800"]'


@pytest.mark.parametrize("given", [b'{"messages": 1}', '{"messages": null}', '{"messages": "hi"}', "[1]"])
def test_what_is_not_a_list_in_a_body_is_parsed(given: Any) -> None:
    """One message in place of a list, nothing, or a bare list."""
    found, _ = find_format("openai-chat")
    assert open_body(given, found).messages in ([1], [], ["hi"])


@pytest.mark.parametrize("given", ['"hello"', "7", b"\\xff", '{"input": []}'])
def test_what_is_not_a_body_is_refused(given: Any) -> None:
    """A text that is not JSON, and JSON that holds no messages."""
    found, _ = find_format("openai-chat")
    with pytest.raises(UsageError):
        open_body(given, found)


@pytest.mark.parametrize("as_text", [True, False])
def test_messages_that_name_a_field_are_found_at_any_depth(as_text: bool) -> None:
    """The others are left out, since nobody looks for the field in them."""
    found, _ = find_format("anthropic")
    part = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    messages = [{"role": "user", "content": "go"}, {"role": "user", "content": [part]}]
    body = open_body(json.dumps({"messages": messages}) if as_text else {"messages": messages}, found)
    assert body.messages_that_name("cache_control") == messages[1:]
    assert body.messages_that_name("thinking") == []
