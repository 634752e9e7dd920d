"""The accounts that the user has signed in to: which there are, and the secret of each.

The list is one file beside the configuration that only its owner can read. A secret is in the
system's keyring where one works, and in that file otherwise. An account is for one host: its secret
is sent to no other.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from ..errors import UsageError
from ..model import Origin
from ..providers import Provider, find_provider
from .file_lock import locked_file
from .places import Places, write_private
from .system_keyring import delete_from_keyring, read_from_keyring, write_to_keyring

Kept = Literal["auto", "keyring", "file"]
HOMES = ("HOME", "XDG_CONFIG_HOME", "USERPROFILE")
_LABEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Account(Struct, frozen=True, omit_defaults=True):
    """One account: `openai`, or `openai@work` where there are several. `base_url` is what it is for."""

    name: str
    base_url: str
    kind: Literal["key", "github"] = "key"  # github: a Copilot seat, whose token is renewed
    kept: Literal["keyring", "file"] = "file"
    secret: str = ""  # "" where it is in the keyring
    github: str = ""  # where the seat was signed in
    token: str = ""  # of a seat: what requests are sent with, for a few minutes
    renewed_at: float = 0.0  # seconds since 1970, on this machine's clock
    renew_at: float = 0.0

    def __repr__(self) -> str:
        return f"Account({self.name!r}, {self.base_url!r}, kind={self.kind!r}, kept={self.kept!r})"

    @property
    def provider(self) -> str:
        return self.name.partition("@")[0]

    @property
    def label(self) -> str:
        """What tells this account from others of its provider: `work` of `openai@work`."""
        return self.name.partition("@")[2]


class Accounts:
    """The stored accounts of one user."""

    def __init__(self, places: Places, environment: Mapping[str, str] | None = None) -> None:
        self.file = places.config / "accounts.json"
        self._environment = environment or {}
        self._read: tuple[tuple[int, int, int], tuple[Account, ...]] | None = None

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> Accounts | None:
        """The accounts of the user whose home this environment names; None where it names none."""
        if not any(environment.get(name) for name in HOMES):
            return None
        return cls(Places.of(environment), environment)

    # Reading

    @property
    def all_accounts(self) -> tuple[Account, ...]:
        """Every account, in the order of the sign-ins. The file is read again when it has changed."""
        try:
            found = self.file.stat()
        except OSError:
            return ()
        stamp = (found.st_mtime_ns, found.st_size, found.st_ino)
        if self._read is None or self._read[0] != stamp:
            self._read = (stamp, self._read_file())
        return self._read[1]

    def find_account(self, name: str) -> Account | None:
        return next((account for account in self.all_accounts if account.name == name), None)

    def accounts_for(self, origin: Origin, provider: Provider) -> tuple[Account, ...]:
        """The accounts with which a target may be asked: that of its name, or else all of its provider.

        A key in a variable comes first, unless the target names an account.
        """
        mine = [account for account in self.all_accounts if _shares_keys(account, provider)]
        if origin.endpoint and (named := [each for each in mine if each.label == origin.endpoint]):
            return tuple(named[:1])
        if any(self._environment.get(name) for name in provider.key_variables):
            return ()
        return tuple(each for each in mine if not (origin.endpoint and each.label))

    def secret_of(self, account: Account) -> str:
        """The secret of an account, from where it is kept. The keyring may ask the user something."""
        return account.secret if account.kept == "file" else read_from_keyring(account.name)

    def _read_file(self) -> tuple[Account, ...]:
        try:
            return tuple(msgspec.json.decode(self.file.read_bytes(), type=list[Account]))
        except (msgspec.DecodeError, msgspec.ValidationError):
            raise UsageError(
                f"{self.file} is damaged; delete it, and sign in again with `turnout login`"
            ) from None

    # Writing

    def save_account(self, account: Account, secret: str, kept: Kept = "auto") -> Account:
        """Keep an account and its secret; the account says where the secret is now."""
        in_keyring = kept != "file" and write_to_keyring(account.name, secret)
        if kept == "keyring" and not in_keyring:
            raise UsageError(
                "no keyring of this system works; install one with `pip install 'turnout[keyring]'` and a "
                "service such as GNOME Keyring, or use --store file"
            )
        if not in_keyring:
            delete_from_keyring(account.name)  # an older secret must not stay behind
        made = replace(account, kept="keyring" if in_keyring else "file", secret="" if in_keyring else secret)
        self._change_list(lambda known: [*(each for each in known if each.name != made.name), made])
        return made

    def update_account(self, account: Account) -> None:
        """Write the fields of an account anew; one that was deleted meanwhile stays deleted."""
        self._change_list(lambda known: [account if each.name == account.name else each for each in known])

    def delete_account(self, name: str) -> bool:
        """Forget an account and its secret; whether there was one."""
        account = self.find_account(name)
        if account is None:
            return False
        if account.kept == "keyring":
            delete_from_keyring(name)
        self._change_list(lambda known: [each for each in known if each.name != name])
        return True

    def renewal_lock(self, account: Account) -> Path:
        """The file that is locked while the token of an account is renewed."""
        return self.file.with_name(f"accounts.{account.name}.lock")

    def _change_list(self, change: Callable[[tuple[Account, ...]], list[Account]]) -> None:
        with locked_file(self.file.with_name("accounts.lock")):
            known = self._read_file() if self.file.exists() else ()
            write_private(self.file, msgspec.json.encode(change(known)).decode())


def account_named(name: str, base_url: str = "") -> tuple[Account, Provider]:
    """A new account by the name that a user wrote (`openai`, `openai@work`), and its provider."""
    given, _, label = name.partition("@")
    provider = find_provider(given).at(label)
    if "@" in name and not _LABEL.fullmatch(label):
        raise UsageError(f"{name!r} does not name an account; write it as {provider.name}@work")
    if provider.auth == "none":
        raise UsageError(f"{provider.name} needs no key; use it as it is: turnout -m {provider.name}:MODEL")
    place = (base_url or provider.base_url).rstrip("/")
    if (host := urlsplit(place).netloc) != host.lower():
        raise UsageError(
            f"{provider.name} has an address of your own; give it with --base-url, in place of {place}"
        )
    kind: Literal["key", "github"] = "github" if provider.name == "copilot" else "key"
    full_name = f"{provider.name}@{label}" if label else provider.name
    return Account(full_name, place, kind), replace(provider, base_url=place)


def is_for_host(account: Account, base_url: str) -> bool:
    """Whether the secret of an account may be sent to this address."""
    return urlsplit(account.base_url).netloc == urlsplit(base_url).netloc


def _shares_keys(account: Account, provider: Provider) -> bool:
    """Whether this account's key works at a provider: `openai` and `openai-responses` take the same keys."""
    if account.provider == provider.name:
        return True
    try:
        known = find_provider(account.provider)
    except UsageError:  # of a later version, or of a plugin that is not there
        return False
    return bool(set(known.key_variables) & set(provider.key_variables))
