"""Bodies for people: private state is left out, and what is readable stays."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.surfaces.shared.conversation_html.masked_json import (
    SEALED_FROM,
    json_html,
    masked_value,
    pretty_json,
    without_sealed,
)

BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
SPOKEN = [
    "see https://example.org/" + "docs/guide/chapter-12/" * 12,
    "/usr/lib/python3/dist-packages/" + "some_package/sub_module/" * 10 + "ConversationReader.py",
    "nightly-7f3e2a9c-4b1d-4e0f-9a8b-7c6d5e4f3a2b/" * 6,
    "word " * 200,
]


@pytest.mark.parametrize("text", SPOKEN)
def test_addresses_and_paths_stay(text: str) -> None:
    """They are long and without spaces too, but people wrote them to be read."""
    assert without_sealed(text) == text


@given(st.integers(0, 2**32), st.integers(SEALED_FROM, 2000))
def test_sealed_state_is_left_out(seed: int, length: int) -> None:
    """Base64 of any length from the limit on, with or without its slashes, is replaced by its length."""
    drawn = "".join(random.Random(seed).choices(BASE64, k=length))
    for sealed in (drawn, drawn.replace("/", "_").replace("+", "-"), f"tos1.{drawn}"):
        assert (
            without_sealed(f"before {sealed} after") == f"before [{len(sealed):,} characters left out] after"
        )


def test_private_fields_are_left_out_by_their_names() -> None:
    """A signature is private at any length; a short value of such a field is an ordinary word."""
    value = {
        "signature": "c2lnbmF0dXJlIG9mIGEgdGhvdWdodA==",
        "data": "short",
        "nested": [{"token": "t" * 30}],
    }
    shown = pretty_json(value)
    assert "c2lnbmF0" not in shown and "t" * 30 not in shown and '"short"' in shown
    assert masked_value(value)["nested"][0]["token"] == "[30 characters left out]"


def test_ids_of_calls_are_links() -> None:
    """Also an id with characters that HTML gives a meaning."""
    html = json_html(pretty_json({"id": 'a<"b'}), {'a<"b': "call-x"})
    assert html.count('href="#call-x"') == 1 and '<"b' not in html
