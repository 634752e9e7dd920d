"""Signing in, for any surface: a key that is tried and kept, or a Copilot seat by a code.

A surface asks the user and shows what comes back. `Accounts` lists and deletes what is kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from msgspec import Struct
from msgspec.structs import replace

from ..errors import UsageError
from .accounts import Account, Accounts, Kept, account_named
from .device_login import DeviceCode, DeviceLogin, sign_in_by_device
from .key_trial import KeyTrial, try_key
from .ports import Transport
from .stored_logins import renewed_account


class SignedIn(Struct, frozen=True):
    """What came of a sign-in with a key. `account` is None where the key was not kept."""

    account: Account | None
    trial: KeyTrial


async def sign_in_with_key(
    accounts: Accounts,
    name: str,
    key: str,
    *,
    base_url: str = "",
    kept: Kept = "auto",
    keep_untried: bool = False,
    transport: Transport | None = None,
) -> SignedIn:
    """Try a key, and keep it if the provider accepts it.

    A key that could not be tried (no network, no request that would try it) is kept with `keep_untried`.
    """
    account, provider = account_named(name, base_url)
    if account.kind == "github":
        raise UsageError(f"{account.provider} is signed in with a code; run `turnout login {account.name}`")
    key = key.strip()
    if not key or not key.isascii() or any(letter.isspace() for letter in key):
        raise UsageError("that is not a key: a key is one word of ASCII letters; copy it once more")
    trial = await try_key(provider, key, transport)
    if trial.verdict == "refused" or (trial.verdict == "untried" and not keep_untried):
        return SignedIn(None, trial)
    return SignedIn(accounts.save_account(account, key, kept), trial)


async def sign_in_to_copilot(
    accounts: Accounts,
    name: str,
    login: DeviceLogin,
    show_code: Callable[[DeviceCode], None],
    *,
    base_url: str = "",
    kept: Kept = "auto",
    transport: Transport | None = None,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Account:
    """Sign in at GitHub by a code that the user types there, and keep the seat with its first token."""
    account, _ = account_named(name, base_url)
    token = await sign_in_by_device(login, show_code, transport=transport, sleep=sleep)
    account = replace(account, github=login.github)
    return accounts.save_account(await renewed_account(account, token, transport=transport), token, kept)
