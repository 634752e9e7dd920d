"""Secrets do not get into a cassette, wherever the bytes were cut, and JSON stays JSON."""

from __future__ import annotations

import json
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout import UsageError
from turnout.testing.cassette_redaction import CassetteRedactor

SECRET = "hunter2-hunter2"
BODY = f'data: {{"a": "x {SECRET} y", "token": "tid=1;exp=2", "b": "{SECRET}"}}\n\n'.encode()


@given(st.lists(st.integers(0, len(BODY)), max_size=12))
def test_a_secret_is_found_however_the_body_is_cut(cuts: list[int]) -> None:
    """The chunks together are the redacted body, and there are as many as before."""
    places = [0, *sorted(cuts), len(BODY)]
    chunks = [BODY[start:end] for start, end in pairwise(places)]
    redacted = CassetteRedactor([SECRET]).redact_chunks(chunks)
    assert len(redacted) == len(chunks)
    assert (
        b"".join(redacted) == b'data: {"a": "x [redacted] y", "token": "[redacted]", "b": "[redacted]"}\n\n'
    )


@given(st.text(alphabet='abc"\\\n\té', max_size=20))
def test_json_stays_json(tail: str) -> None:
    """What only looks like a key ends before an escape, so no quote is lost."""
    body = json.dumps({"text": f"api_key = sk-abcdefghijklmnop{tail}", "next": 1})
    redacted = CassetteRedactor([]).redact(body.encode())
    assert json.loads(redacted)["next"] == 1 and b"sk-abcdefghijklmnop" not in redacted


def test_a_body_without_secrets_keeps_its_bytes() -> None:
    """Nothing is encoded anew."""
    body = b'{ "a" : 1.50, "max_tokens": 7, "signature": "ErUBCkYIBRgC" }'
    assert CassetteRedactor([SECRET]).redact_chunks([body[:9], body[9:]]) == [body[:9], body[9:]]


def test_a_secret_in_pieces_is_not_recorded() -> None:
    """A model that repeats a secret over two events is told of; the file would hold it."""
    events = b'data: {"delta": {"text": "hunter2-"}}\n\ndata: {"delta": {"text": "hunter2"}}\n\n'
    with pytest.raises(UsageError, match="spells a secret over several events"):
        CassetteRedactor([SECRET]).check_pieces([events], "https://example.test")
    CassetteRedactor([SECRET]).check_pieces(
        [events.replace(b"hunter2-", b"hunter3-")], "https://example.test"
    )
