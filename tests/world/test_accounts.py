"""Stored accounts: who can read them, where the secret is, and what a name means."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from turnout.errors import UsageError
from turnout.model import Origin
from turnout.providers import find_provider
from turnout.world.accounts import Account, Accounts, account_named

keyring = pytest.importorskip("keyring", reason="keyring is not installed")
FailingKeyring = pytest.importorskip("keyring.backends.fail").Keyring


class Drawer(keyring.backend.KeyringBackend):  # type: ignore[name-defined,misc]
    """A backend of the real keyring package that keeps its passwords in memory."""

    priority = -1  # of the class, so that keyring does not choose it by itself

    def __init__(self, keeps: bool = True) -> None:
        self.priority = 5
        self.held: dict[tuple[str, str], str] = {}
        self.keeps = keeps

    def set_password(self, service: str, name: str, secret: str) -> None:
        if self.keeps:
            self.held[service, name] = secret

    def get_password(self, service: str, name: str) -> str | None:
        return self.held.get((service, name))

    def delete_password(self, service: str, name: str) -> None:
        del self.held[service, name]


@pytest.fixture(autouse=True)
def no_keyring() -> Iterator[None]:
    """The tests see no keyring of this machine."""
    before = keyring.get_keyring()
    keyring.set_keyring(FailingKeyring())
    yield
    keyring.set_keyring(before)


@pytest.fixture
def drawer(no_keyring: None) -> Drawer:
    made = Drawer()
    keyring.set_keyring(made)
    return made


@pytest.fixture
def accounts(tmp_path: Path) -> Accounts:
    made = Accounts.of({"HOME": str(tmp_path)})
    assert made is not None
    return made


def test_without_a_keyring_the_secret_is_in_a_file_for_its_owner_alone(accounts: Accounts) -> None:
    """The file and its folder have no bits for anyone else."""
    made = accounts.save_account(account_named("openai")[0], "sk-1")
    assert made.kept == "file" and accounts.secret_of(made) == "sk-1"
    assert stat.S_IMODE(accounts.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(accounts.file.parent.stat().st_mode) == 0o700


def test_with_a_keyring_no_secret_is_in_a_file(accounts: Accounts, drawer: Drawer) -> None:
    """The file lists the account; the keyring holds its secret until the account is deleted."""
    made = accounts.save_account(account_named("openai@work")[0], "sk-hidden")
    assert made.kept == "keyring" and accounts.secret_of(made) == "sk-hidden"
    assert b"sk-hidden" not in accounts.file.read_bytes()
    assert accounts.delete_account("openai@work") and not drawer.held and not accounts.all_accounts


def test_a_keyring_that_keeps_nothing_does_not_count(accounts: Accounts, drawer: Drawer) -> None:
    """The secret is read back, so a backend that swallows it is noticed; asked for by name it is an error."""
    drawer.keeps = False
    assert accounts.save_account(account_named("openai")[0], "sk-1").kept == "file"
    with pytest.raises(UsageError, match="--store file"):
        accounts.save_account(account_named("openai")[0], "sk-1", "keyring")


def test_a_secret_moved_to_the_file_leaves_the_keyring(accounts: Accounts, drawer: Drawer) -> None:
    """To sign in anew replaces the account and every copy of its old secret."""
    accounts.save_account(account_named("openai")[0], "sk-old")
    accounts.save_account(account_named("openai")[0], "sk-new", "file")
    assert not drawer.held and [each.secret for each in accounts.all_accounts] == ["sk-new"]


def test_a_secret_is_in_no_repr(accounts: Accounts) -> None:
    """An account may stand in a log or a traceback."""
    made = accounts.save_account(account_named("openai")[0], "sk-1")
    assert "sk-1" not in repr(made) and "sk-1" not in repr(accounts)


def test_a_name_is_a_provider_and_perhaps_a_label() -> None:
    """Aliases count; what cannot name an account is refused with the form that can."""
    assert account_named("claude@work")[0].name == "anthropic@work"
    assert account_named("openai", "http://127.0.0.1:9/v1/")[0].base_url == "http://127.0.0.1:9/v1"
    for wrong in ("openai@", "openai@a b", "openai@../x", "nothing-like-it"):
        with pytest.raises(UsageError):
            account_named(wrong)


def test_a_provider_at_an_address_of_ones_own_needs_it() -> None:
    """Azure's address has the name of a resource in it, which only the user knows."""
    with pytest.raises(UsageError, match="--base-url"):
        account_named("azure")
    assert account_named("azure", "https://me.openai.azure.com/openai/v1")[0].name == "azure"


def test_several_accounts_of_a_provider_are_found_in_order(accounts: Accounts) -> None:
    """A target that names none may use all of them; one that names an account has that one only."""
    for name in ("openai@work", "openai@home", "anthropic"):
        accounts.save_account(account_named(name)[0], "k")
    openai = find_provider("openai")

    def found(endpoint: str) -> list[str]:
        return [each.name for each in accounts.accounts_for(Origin("openai", endpoint, "m"), openai)]

    assert found("") == ["openai@work", "openai@home"]
    assert found("home") == ["openai@home"] and found("elsewhere") == []


def test_a_damaged_file_is_named_and_never_overwritten(accounts: Accounts) -> None:
    """What cannot be read may hold keys: it is an error to read it, and to write over it."""
    accounts.file.parent.mkdir(parents=True)
    accounts.file.write_text("{not json")
    with pytest.raises(UsageError, match=r"accounts\.json"):
        _ = accounts.all_accounts
    with pytest.raises(UsageError, match=r"accounts\.json"):
        accounts.save_account(Account("openai", "https://x"), "k")
    assert accounts.file.read_text() == "{not json"
