"""What surfaces call to sign in: a key is tried before it is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from turnout.errors import UsageError
from turnout.world.accounts import Accounts
from turnout.world.sign_in import sign_in_with_key


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel-0123456789"])
def test_what_cannot_be_a_key_is_refused_before_anything_is_sent(tmp_path: Path, key: str) -> None:
    """A header could not carry it; the file is not made."""
    accounts = Accounts.of({"HOME": str(tmp_path)})
    assert accounts is not None
    with pytest.raises(UsageError, match="not a key"):
        asyncio.run(sign_in_with_key(accounts, "openai", key, base_url="http://127.0.0.1:1"))
    assert not accounts.file.exists()


def test_copilot_has_no_key_to_type(tmp_path: Path) -> None:
    """Its sign-in is by a code; the error names the command."""
    accounts = Accounts.of({"HOME": str(tmp_path)})
    assert accounts is not None
    with pytest.raises(UsageError, match="turnout login copilot"):
        asyncio.run(sign_in_with_key(accounts, "copilot", "gho_x"))
