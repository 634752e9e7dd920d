"""Keys of stored accounts, as sources for `Keys`; the token of a Copilot seat is renewed when it must be.

One process renews a token for all of this machine: it holds a lock meanwhile, and the others take
the new token from the file.
"""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING

from msgspec.structs import replace

from ..errors import ProviderError, TurnoutError
from ..tools.confine.threads import in_daemon
from .accounts import Account, Accounts, is_for_host
from .device_login import read_seat, seat_request
from .file_lock import locked_file_async
from .ports import Transport, WallClock
from .shared_http import SharedHttp
from .small_request import send_small
from .token_source import TokenSource

if TYPE_CHECKING:
    from ..targets.target import Target


class StoredLogins:
    """The stored accounts of a session's user, each as a source of keys."""

    def __init__(self, accounts: Accounts | None) -> None:
        self._accounts = accounts
        self._sources: dict[str, TokenSource] = {}

    def source_for(self, target: Target) -> TokenSource | None:
        """The source of the account that this target is asked with; None where no stored one is."""
        if self._accounts is None:
            return None
        fitting = self._accounts.accounts_for(target.origin, target.provider)
        for account in fitting:
            if is_for_host(account, target.provider.base_url):
                return self._source_of(account, self._accounts)
        return None

    def _source_of(self, account: Account, accounts: Accounts) -> TokenSource:
        if account.name not in self._sources:
            made = CopilotToken if account.kind == "github" else StoredKey
            self._sources[account.name] = made(accounts, account.name)
        return self._sources[account.name]


class StoredKey(TokenSource):
    """The key of an account. It is read again when a server refuses it: the user may have a new one."""

    def __init__(self, accounts: Accounts, name: str) -> None:
        self._accounts = accounts
        self._name = name
        self._read: tuple[Account, str] | None = None

    async def current_token(self) -> str:
        account = self._accounts.find_account(self._name)
        if account is None:  # signed out meanwhile
            return ""
        if self._read is None or self._read[0] != account:
            secret = await in_daemon(partial(self._accounts.secret_of, account))
            if not secret:
                raise _lost_secret(account)
            self._read = (account, secret)
        return self._read[1]

    def note_refused(self, token: str) -> bool:
        before, self._read = self._read, None
        return before is not None and before[0] != self._accounts.find_account(self._name)


class CopilotToken(TokenSource):
    """The token of a Copilot seat, renewed before it ends, and when a server refuses it."""

    def __init__(
        self,
        accounts: Accounts,
        name: str,
        *,
        transport: Transport | None = None,
        wall_clock: WallClock = time.time,
    ) -> None:
        self._accounts = accounts
        self._name = name
        self._transport = transport or SharedHttp()
        self._wall_clock = wall_clock
        self._refused = ""

    async def current_token(self) -> str:
        account = self._accounts.find_account(self._name)
        if account is None:
            return ""
        return account.token if self._is_valid(account) else await self._renew_token(account)

    def note_refused(self, token: str) -> bool:
        self._refused = token
        return bool(token)

    def _is_valid(self, account: Account) -> bool:
        """A clock that was set back makes a token look younger than it is; then it is renewed."""
        now = self._wall_clock()
        in_time = account.renewed_at - 60.0 <= now < account.renew_at
        return bool(account.token) and account.token != self._refused and in_time

    async def _renew_token(self, account: Account) -> str:
        async with locked_file_async(self._accounts.renewal_lock(account)):
            found = self._accounts.find_account(self._name)
            if found is None:
                return ""
            if self._is_valid(found):
                return found.token  # another process has renewed it while we waited
            renewed = await renewed_account(
                found,
                await in_daemon(partial(self._accounts.secret_of, found)),
                transport=self._transport,
                wall_clock=self._wall_clock,
            )
            self._accounts.update_account(renewed)
            return renewed.token


async def renewed_account(
    account: Account, secret: str, *, transport: Transport | None = None, wall_clock: WallClock = time.time
) -> Account:
    """The account of a Copilot seat with a new token. `secret` is the GitHub token."""
    if not secret:
        raise _lost_secret(account)
    try:
        answer = await send_small(transport or SharedHttp(), seat_request(account.github, secret))
    except OSError as error:
        why = str(error) or "no answer in time"
        raise ProviderError(
            f"the Copilot token could not be renewed: {why}; check the network", kind="network"
        ) from error
    now = wall_clock()
    seat = read_seat(answer, now)
    return replace(
        account,
        base_url=seat.api or account.base_url,
        token=seat.token,
        renewed_at=now,
        renew_at=now + seat.seconds,
    )


def _lost_secret(account: Account) -> TurnoutError:
    return ProviderError(
        f"the secret of {account.name} is not in the keyring any more; run `turnout login {account.name}`",
        kind="auth",
    )
