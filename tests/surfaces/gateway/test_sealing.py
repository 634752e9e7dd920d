"""Tokens that a client carries: what goes in comes out, and nothing else does."""

from __future__ import annotations

from base64 import b64decode, b64encode, urlsafe_b64encode
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from turnout.errors import UsageError
from turnout.surfaces.gateway.sealing import HiddenThinking, SealedState, Sealer, is_token, sealing_key

ONE, OTHER = Sealer(b"1" * 32), Sealer(b"2" * 32)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**60), 2**60) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)
STATES = st.builds(
    SealedState,
    st.text(),
    st.text(),
    st.text(),
    PLAIN,
    st.sampled_from(["model", "account", "provider"]),
    st.lists(st.builds(HiddenThinking, st.text(), PLAIN), max_size=3).map(tuple),
)


@given(STATES)
def test_what_was_sealed_can_be_opened(state: SealedState) -> None:
    """With the same key, and in each of the alphabets that an SDK may write base64 in."""
    token = ONE.seal(state)
    assert is_token(token) and ONE.open(token) == state
    assert ONE.open(urlsafe_b64encode(b64decode(token)).decode()) == state
    assert ONE.open(token.rstrip("=")) == state
    assert ONE.seal(state) == token


@given(STATES, st.data())
def test_a_changed_token_is_nothing(state: SealedState, data: st.DataObject) -> None:
    """Any other byte, and any other key."""
    token = ONE.seal(state)
    raw = bytearray(b64decode(token))
    at = data.draw(st.integers(6, len(raw) - 1))
    raw[at] ^= data.draw(st.integers(1, 255))
    assert ONE.open(b64encode(bytes(raw)).decode()) is None
    assert OTHER.open(token) is None


@given(st.text())
def test_any_text_can_be_looked_at(text: str) -> None:
    """A forged token raises nothing."""
    assert ONE.open("turnout1" + text) is None


def test_a_key_is_made_once_and_is_private(tmp_path: Path) -> None:
    """From the variable, a file, or our own file; one that is too short is refused."""
    own = tmp_path / "key"
    made = sealing_key("", "", own)
    assert sealing_key("", "", own) == made and own.stat().st_mode & 0o777 == 0o600
    assert sealing_key("v" * 32, "", own) == b"v" * 32
    shared = tmp_path / "shared"
    shared.write_text("f" * 40 + "\n")
    assert sealing_key("", str(shared), own) == b"f" * 40
    with pytest.raises(UsageError, match="32"):
        sealing_key("short", "", own)
    with pytest.raises(UsageError, match="sealing_key_file"):
        sealing_key("", str(tmp_path / "none"), own)
