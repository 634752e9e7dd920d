"""Plain shapes are read as the reader of their format reads them, and other shapes are left to it."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from tests.history.ingest.mutants import FORMATS, LISTS, conversation, mutate

from turnout.history.ingest.formats import find_format
from turnout.history.ingest.message_parts import ReadContext
from turnout.history.ingest.messages import read_message
from turnout.history.ingest.plain_shapes import PLAIN_READERS
from turnout.model import Origin

ORIGIN = Origin("openai", "", "m-1")


def read_both(message: Any, form: str) -> tuple[Any, list[Any], list[Any]]:
    """By the plain reader, by the reader of the format, and what that one found."""
    found, _ = find_format(form)
    context = ReadContext(ORIGIN, found.unit)
    read = read_message(0, message, found, context)
    return PLAIN_READERS[form](message, ReadContext(ORIGIN, found.unit)), read, context.findings


@pytest.mark.parametrize("form", FORMATS)
def test_a_plain_message_is_read_as_its_format_reads_it(form: str) -> None:
    """Also when it is damaged: then it is the same, or it is left to the reader of the format."""
    plain = 0
    for seed in range(300):
        random = Random(f"{form} {seed}")
        for message in mutate(conversation(form, random)[LISTS[form]], random):
            heard, read, findings = read_both(message, form)
            if heard is not None:
                assert read == [heard] or read[0].items[0].text == ""
                assert findings == []
                plain += 1
    assert plain > 300


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "a\0b"},
        {"role": "user", "content": "a\ud800b"},
        {"role": "user", "content": ""},
        {"role": "user", "content": ["text"]},
        {"role": "User", "content": "hi"},
        {"role": "user", "content": "hi", "name": "ann"},
        {"role": "tool", "content": "42"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}]},
        "hi",
        None,
    ],
)
def test_another_shape_is_left_to_the_reader_of_the_format(message: Any) -> None:
    """Unclean texts, empty ones, unknown fields and roles in another spelling are not plain."""
    assert PLAIN_READERS["openai-chat"](message, ReadContext(ORIGIN)) is None
